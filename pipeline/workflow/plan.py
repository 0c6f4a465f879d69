"""Plan what conf/workflow.yaml wants, by names.

Composes every configuration and says of every name what decides its run. What can be
refused is refused here, before anything runs. Where one figure is asked for, an entry
that it does not need is left out with a warning if it cannot be planned. The rest is
planned all the same: what a run is called depends on what else there is, and report
and status speak of all of it.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pipeline.config.hydra import Composer
from pipeline.config.workflow_file import WORKFLOW, Workflow
from pipeline.store.plan_file import Document, write_index
from pipeline.store.runs import Job
from pipeline.store.standing import settle, standings
from pipeline.studies.members import write_members
from pipeline.terminal.errors import InputError, one_line
from pipeline.workflow import wanted
from pipeline.workflow.planner import Planner

T = TypeVar("T")


def _each(
    workflow: Workflow, kind: str, entries: Mapping[str, T], plan: Callable[[T], Any]
) -> dict[str, Any]:
    """What `plan` makes of each entry; one that is not needed may be refused."""
    found = {}
    for name, entry in entries.items():
        try:
            found[name] = plan(entry)
        except InputError as error:
            refusal = error
            if not str(error).startswith(str(WORKFLOW)):
                refusal = InputError(f"{WORKFLOW}: {kind}.{name}: {one_line(error)}")
            if workflow.needs(kind, name):
                raise refusal from error
            workflow.leave_out(refusal)
    return found


def planned(workflow: Workflow) -> tuple[Planner, dict[str, Any]]:
    """A planner that holds every job, and what they were planned for."""
    with Composer() as composer:
        planner = Planner(composer)
        compared = _each(
            workflow,
            "comparisons",
            workflow.comparisons,
            lambda entry: wanted.compared(planner, entry),
        )
        _each(
            workflow,
            "series",
            workflow.series,
            lambda entry: wanted.measured_series(planner, entry),
        )
        drawn = _each(
            workflow,
            "figures",
            workflow.figures,
            lambda entry: wanted.figure(planner, entry, compared, workflow.style),
        )
    known = {
        "comparisons": {c: [job.name for job in jobs] for c, jobs in compared.items()},
        "figures": list(drawn),
        "studies": list(planner.studies),
    }
    return planner, known


def planned_jobs(workflow: Workflow) -> list[Job]:
    """The jobs that a plan would hold, with the keys of now; nothing is written."""
    found = standings(planned(workflow)[0].documents())
    return [job for standing in found.values() for job in standing.jobs]


def make_plan(
    workflow: Workflow,
    read_by: Callable[[Mapping[str, Document]], Mapping[str, Any]],
) -> dict[str, Any]:
    """Plan a workflow; write and return the list of its names.

    Parameters
    ----------
    read_by : finds the state of all that a plan was made of, by which it is known
        whether it still holds
    """
    planner, known = planned(workflow)
    found = planner.documents()
    read = dict(read_by(found))
    for study, runs in planner.studies.values():
        write_members(study, runs)
    settle(found)
    left_out = list(workflow.left_out)
    for reason in left_out:
        print(f"warning: left out, for it is not needed: {reason}", file=sys.stderr)
    return write_index(found, {**known, "read": read, "left_out": left_out})
