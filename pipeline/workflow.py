"""Make what conf/workflow.yaml wants: python -m pipeline.workflow [--figure NAME].

Plan, run what is missing, bring it into MLflow, write the report. Track and report run
whatever failed before them. Exit status: 0 all is there; 1 something ran and failed;
2 refused before anything ran.
"""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.arguments import OneLineParser, profile_directory
from pipeline.errors import FAILED, InputError, command
from pipeline.files import point_to
from pipeline.owners import sweep_dead
from pipeline.plan import make_plan
from pipeline.plan_file import stamp
from pipeline.runs import RESULTS, finished
from pipeline.workflow_file import read_workflow

PROFILE = Path("conf/profile/local")
TABLE = "pipeline.study_table"

# A job is one thread: Snakemake runs as many jobs side by side as there are cores.
THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA")
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in THREADS}


@contextlib.contextmanager
def only_one(results: Path = RESULTS) -> Iterator[None]:
    """Hold the lock of this results folder; a second holder is refused.

    A command that is refused inside leaves no folder that was not there before.
    """
    new = not results.exists()
    results.mkdir(parents=True, exist_ok=True)
    with (results / "lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            raise InputError(
                f"{results} is in use by process {file.read().strip() or 'unknown'}: "
                "wait for it, or stop it"
            ) from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        try:
            yield
        except InputError:
            if new and list(results.iterdir()) == [results / "lock"]:
                shutil.rmtree(results)
            raise


def all_done(plan: Mapping[str, Any]) -> bool:
    """Whether every batch of the plan has its stamp."""
    return all(
        stamp(entry["step"], batch).is_file()
        for batch, entry in plan["batches"].items()
    )


def _environment() -> dict[str, str]:
    """This interpreter first on the PATH, one thread a job."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**os.environ, **ONE_THREAD, "PATH": path}


def fan_out(plan: Mapping[str, Any], profile: Path, cores: int | None) -> int:
    """Let Snakemake run the batches that have no stamp."""
    words = [sys.executable, "-m", "snakemake", "--profile", str(profile)]
    words += ["--config", f"plan={plan['file']}"]
    if cores:
        words += ["--cores", str(cores)]
    return subprocess.run(words, env=_environment(), check=False).returncode


def step(module: str, words: Sequence[str] = ()) -> int:
    """Run `python -m module` in a process of its own; return its exit status."""
    line = [sys.executable, "-m", module, *words]
    return subprocess.run(line, env=_environment(), check=False).returncode


def point_names(plan: Mapping[str, Any], results: Path = RESULTS) -> None:
    """Let results/<step>/<name> point to the run that the plan means by that name.

    The runs of a study share the name of their case: its table tells them apart.
    """
    for key, entry in plan["batches"].items():
        if entry["study"]:
            continue
        link = results / entry["step"] / entry["name"]
        directory = finished(key, results)
        if directory is not None:
            point_to(link, directory)
        elif link.is_symlink():
            link.unlink()  # what it points to is another run's


@contextlib.contextmanager
def followed() -> Iterator["subprocess.Popen[str]"]:
    """One process brings runs into MLflow while the block works, then concludes.

    Yields
    ------
    that process; its exit status is known after the block
    """
    line = [sys.executable, "-m", "pipeline.track", "--follow"]
    tracker = subprocess.Popen(
        line, stdin=subprocess.PIPE, env=_environment(), text=True
    )
    try:
        yield tracker
    finally:
        tracker.communicate()  # the end of its input tells it to conclude


@command
def main(argv: list[str] | None = None) -> int:
    """Make the figures and everything that they are made of."""
    parser = OneLineParser(prog="python -m pipeline.workflow", description=__doc__)
    parser.add_argument("--figure", default="", help="make only this figure")
    parser.add_argument("--profile", type=profile_directory, default=PROFILE)
    parser.add_argument("--cores", type=int, help="jobs side by side")
    options = parser.parse_args(argv)
    workflow = read_workflow()
    with only_one():
        sweep_dead(RESULTS)
        plan = make_plan(workflow, options.figure)
        if all_done(plan):
            print("nothing to run: every run of the plan is there")
            point_names(plan)
            failures = [step("pipeline.report"), step("pipeline.track")]
        else:
            with followed() as tracker:
                fan_out(plan, options.profile, options.cores)
                failures = [step(TABLE, [study]) for study in plan["studies"]]
                point_names(plan)
                failures.append(step("pipeline.report"))  # which MLflow gets too
            failures.append(tracker.returncode and step("pipeline.track"))
    return FAILED if any(failures) or not all_done(plan) else 0


if __name__ == "__main__":
    sys.exit(main())
