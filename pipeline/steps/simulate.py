"""Run one case.

The steps that the case's solver yields go to steps.csv (numbers) and steps.npz
(arrays); run.json says what ran and how it ended.
"""

from pathlib import Path

from pipeline.steps.recording import Case, record_steps
from pipeline.store.attempts import record_run
from pipeline.store.case_job import sound_case
from pipeline.store.runs import Job, Needs, Numbers, run_record
from pipeline.terminal.errors import InputError, RunFailedError, one_line
from sim.convergence import NotConvergedError

DEFAULT_RUN_DIR = "results"  # as conf/simulate.yaml says; it means: by key


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Run a planned job."""
    del needs  # a simulation reads no other run
    return run_case(sound_case(job.config), job, out)


def run_case(case: Case, job: Job, out: Path) -> Numbers:
    """Run the case of a planned job, built already."""
    return record_steps(case, job.name, out, job.config.get("record_every", 1))


def run_in(directory: Path, job: Job) -> Path:
    """Run in a folder of the user's choice, never over what is there already."""
    if (directory / "run.json").is_file():
        if run_record(directory)["key"] == job.key:
            return directory
        raise InputError(f"{directory} holds another run: choose a new hydra.run.dir")
    if directory.is_dir() and any(directory.iterdir()):
        raise InputError(f"{directory} is not empty: choose a new hydra.run.dir")
    directory.mkdir(parents=True, exist_ok=True)
    try:
        record_run(directory, job, lambda out: perform(job, {}, out))
    except NotConvergedError as error:
        raise RunFailedError(f"{one_line(error)} (kept in {directory})") from error
    return directory
