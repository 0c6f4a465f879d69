"""Making a step: found by its key or computed.

The module that performs it is imported when the step runs: some take seconds, others
need packages that not every run has.
"""

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.runs.run_attempts import run_once
from pipeline.runs.run_directory import RESULTS, Job, Needs, Numbers
from pipeline.runs.run_keys import module_of_step
from pipeline.runs.step_runs import link_files, planned_digest, step_job
from pipeline.terminal import EditedError, InputError


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Do a job by the module of its step; its files go into `out`."""
    module = importlib.import_module(module_of_step(job.step))
    numbers: Numbers = module.perform(job, needs, out)
    return numbers


def make_step(
    step: str,
    config: Mapping[str, Any],
    out: Path,
    *,
    reads: Needs | None = None,
    paths: Sequence[Path] = (),
    tags: Mapping[str, str] | None = None,
    modules: Sequence[str] = (),
    planned: str = "",
) -> Path:
    """The finished run of a step, whose files are in `out`; it is made only once.

    Parameters
    ----------
    out : folder for a person; its name is the name of the run
    reads, paths, tags, modules : see pipeline.runs.step_runs.step_job
    planned : digest of configuration and code that the caller counts on, or ""

    Raises
    ------
    InputError
        if configuration or code changed since the caller planned, or an input while
        the step read it
    """
    name = out.name or out.resolve().name

    made_of: dict[str, Any] = {"reads": reads, "paths": [str(path) for path in paths]}

    def job() -> Job:
        return step_job(step, name, config, tags=tags, modules=modules, **made_of)

    first = job()
    check_planned(first, planned)

    def body(folder: Path) -> Numbers:
        numbers = perform(first, reads or {}, folder)
        if job().identity != first.identity:
            raise EditedError(f"an input of {step} {name}")
        return numbers

    run = run_once(first, body, RESULTS)
    link_files(run, out)
    return run


def check_planned(job: Job, planned: str) -> None:
    """Refuse a job whose configuration or code is not what the caller planned."""
    refuse_unplanned(f"{job.step} {job.name}", planned_digest(job.identity), planned)


def refuse_unplanned(what: str, now: str, planned: str) -> None:
    """Refuse a planned digest, if there is one, that is not the one of now."""
    if planned and planned != now:
        raise InputError(
            f"{what}: configuration or code changed since planning: "
            "run the same command again"
        )
