"""Making a step: found by its key or computed.

The module that performs it is imported when the step runs: some take seconds, others
need packages that not every run has.
"""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.runs.run_attempts import run_once
from pipeline.runs.run_directory import RESULTS, Job, Needs, Numbers
from pipeline.runs.run_keys import module_of_step
from pipeline.runs.step_jobs import link_files, planned_digest, step_job
from pipeline.terminal import EditedError, InputError


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Do a job by the module of its step; its files go into `out`."""
    module = importlib.import_module(module_of_step(job.step))
    numbers: Numbers = module.perform(job, needs, out)
    return numbers


def finished_step(
    step: str,
    name: str,
    config: Mapping[str, Any],
    *,
    planned: str = "",
    results: Path = RESULTS,
    **inputs: Any,
) -> Path:
    """The finished run of a step; it is made only once.

    Parameters
    ----------
    planned : digest of configuration and code that the caller counts on, or ""
    inputs : reads, paths, tags and more, see pipeline.runs.step_jobs.step_job

    Raises
    ------
    InputError
        if configuration or code changed since the caller planned, or an input while
        the step read it
    """

    def job() -> Job:
        return step_job(step, name, config, **inputs)

    first = job()
    check_planned(first, planned)

    def body(folder: Path) -> Numbers:
        numbers = perform(first, inputs.get("reads") or {}, folder)
        if job().identity != first.identity:
            raise EditedError(f"an input of {step} {name}")
        return numbers

    return run_once(first, body, results)


def make_step(step: str, config: Mapping[str, Any], out: Path, **more: Any) -> Path:
    """As `finished_step`, with its files in a folder, whose name is that of the run.

    Raises
    ------
    InputError
        if the folder is one that the step reads
    """
    for role, folders in (more.get("reads") or {}).items():
        for folder in [folders] if isinstance(folders, Path) else folders:
            if folder.resolve() == out.resolve():
                raise InputError(
                    f"--out {out} is what {step} reads as {role}: give another name"
                )
    run = finished_step(step, out.name or out.resolve().name, config, **more)
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
