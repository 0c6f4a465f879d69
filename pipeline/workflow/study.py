"""A study: its runs planned, those that are missing run, tabulated and tracked."""

import argparse
import sys
from typing import Any

from analysis.designs.sampling import Design
from pipeline.config.hydra import Composer
from pipeline.store.leases import sweep_dead
from pipeline.store.plan_file import Batch, documents, read_plan, write_index
from pipeline.store.receipts import read_receipt
from pipeline.store.runs import RESULTS, Job, Ledger, run_record
from pipeline.store.standing import settle
from pipeline.studies.file import Study
from pipeline.studies.members import batches, members, write_members
from pipeline.studies.search_plan import planned_search
from pipeline.terminal.errors import FAILED, InputError
from pipeline.workflow.processes import call, followed
from pipeline.workflow.workflow import Running, fan_out, only_one


def is_settled(job: Job, ledger: Ledger, *, retry_failed: bool) -> bool:
    """Whether nothing is left to run: it has finished, or failed by itself."""
    state = ledger.state(job.key)
    return state == "finished" or (state == "failed" and not retry_failed)


def planned_runs(study: Study) -> list[Job]:
    """The runs of a study, listed as its members; or the search that will find them."""
    with Composer() as composer:
        if study.design is Design.ADAPTIVE:
            return [planned_search(study, composer)]
        found = members(study, composer)
    write_members(study, found)
    return [member.job for member in found]


def written_plan(study: Study, jobs: list[Job], *, retry: bool) -> dict[str, Any]:
    """The plan of a study, written: its runs in batches, or its search."""
    alone = study.design is Design.ADAPTIVE
    dealt = [Batch(tuple(jobs))] if alone else batches(jobs, study.batches)
    studies = {} if alone else {study.name: [job.key for job in jobs]}
    found = documents(dealt, studies)
    settle(found, retry=retry)
    return write_index(found, {"study": study.name}, f"study-{study.name}")


def _received(study: Study) -> bool:
    """Whether every name of the study's plan has its receipt."""
    try:
        names = read_plan(name=f"study-{study.name}")["names"]
    except (InputError, KeyError):
        return False
    return all(read_receipt(name) is not None for name in names)


def run_study(study: Study, options: argparse.Namespace) -> int:
    """Plan, run what is missing, tabulate, track."""
    with only_one():
        sweep_dead(RESULTS)
        jobs = planned_runs(study)
        retry = options.retry_failed
        ledger = Ledger()
        wanted = [j for j in jobs if not is_settled(j, ledger, retry_failed=retry)]
        what = "search" if study.design is Design.ADAPTIVE else "runs"
        print(f"study {study.name}: {len(jobs)} {what}, {len(wanted)} to do")
        if wanted or not _received(study):  # or it was killed before it tabulated
            plan = written_plan(study, jobs, retry=retry)
            with followed() as tracker:
                how = Running(options.profile, options.cores, options.verbose)
                fan_out(plan, list(plan["names"]), how)
                after = [call("study_table", study.name)]
            after.append(tracker.returncode and call("track"))
        else:
            after = [call("study_table", study.name), call("track")]
    ledger = Ledger()
    undone = [j for j in jobs if not is_settled(j, ledger, retry_failed=False)]
    if undone:
        print(f"error: {len(undone)} runs are missing: run it again", file=sys.stderr)
    failed = _failed_search(study, jobs, ledger)
    if failed:
        again = f"morphtrack study {study.name} --retry-failed tries it again"
        print(f"error: search {study.name}: {failed} ({again})", file=sys.stderr)
    return FAILED if undone or failed or any(after) else 0


def _failed_search(study: Study, jobs: list[Job], ledger: Ledger) -> str:
    """Why a search failed by itself; a run that does is a row of the table."""
    failure = ledger.last_failure(jobs[0].key)
    alone = study.design is Design.ADAPTIVE
    return str(run_record(failure)["reason"]) if alone and failure else ""
