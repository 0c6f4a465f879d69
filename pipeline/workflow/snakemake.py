"""Snakemake as a person would call it, with the profile of this project."""

import fcntl
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from pipeline.runs.run_directory import RESULTS
from pipeline.terminal import DONE, FAILED, InputError
from sim.core.imported_code import SOURCE_ROOT

LOGS = RESULTS / "log"
PROFILE = Path("conf/profile/local")
METADATA = Path(".snakemake/metadata")  # what Snakemake knows of finished jobs
LOCK = Path(".snakemake/morphtrack.lock")
_locked: list[IO[str]] = []  # until the process ends
LEAST_FILES = 20  # with 10 open files, Snakemake misses programs that it does not need
# A job is one thread: Snakemake runs as many jobs side by side as there are cores.
THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA")


def job_environment() -> dict[str, str]:
    """This interpreter's commands and this code first; one thread a job."""
    first = {"PATH": Path(sys.executable).parent, "PYTHONPATH": SOURCE_ROOT}
    places = {
        name: os.pathsep.join(filter(None, (str(place), os.environ.get(name))))
        for name, place in first.items()
    }
    return {f"{library}_NUM_THREADS": "1" for library in THREADS} | places


def wait_for_others() -> None:
    """Wait while another Snakemake runs jobs in this folder.

    Each would delete outputs that the other has just made. The kernel frees this lock
    when the process ends; Snakemake's own would outlive a kill.
    """
    LOCK.parent.mkdir(exist_ok=True)
    file = LOCK.open("a")
    _locked.append(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("another Snakemake works in this folder: waiting for it", file=sys.stderr)
        fcntl.flock(file, fcntl.LOCK_EX)


def run_snakemake(
    targets: Sequence[str],
    *,
    profile: Path = PROFILE,
    cores: int | None = None,
    words: Sequence[str] = (),
    study: Sequence[str] = (),
    forcerun: Sequence[str] = (),
) -> int:
    """Make targets, files or rules; the exit status.

    Where Snakemake knows of no job, such as in a copy of a project, every job runs:
    what is there already is found by its key and computed by none.

    Parameters
    ----------
    words : overrides of conf/workflow.yaml
    study : overrides of a study
    forcerun : rules whose jobs run in any case
    """
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files < LEAST_FILES:
        raise InputError(
            f"this shell allows {files} open files, but Snakemake needs {LEAST_FILES}: "
            "raise the limit (ulimit -n)"
        )
    line = [sys.executable, "-m", "snakemake", *targets, "--profile", str(profile)]
    line += ["--quiet", "rules", "host", "reason"]
    line += ["--cores", str(cores)] if cores else []
    settings = {"set": list(words), "study": list(study)}
    stated = [
        f"{name}={json.dumps(value)}" for name, value in settings.items() if value
    ]
    line += ["--config", *stated] if stated else []
    line += ["--forcerun", *forcerun] if forcerun else []
    line += [] if METADATA.is_dir() else ["--forceall"]
    began = time.time()
    done = subprocess.run(line, env={**os.environ, **job_environment()}, check=False)
    if done.returncode == 0:
        return DONE
    print("\n".join(_errors(began)), file=sys.stderr)
    return FAILED


def _errors(since: float) -> Iterator[str]:
    """The error of each job that failed since then, by its log."""
    for log in sorted(LOGS.glob("*/*.log")):
        if log.stat().st_mtime >= since:
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            for line in lines:
                if line.startswith("error: "):
                    yield f"error: {log.parent.name} {log.stem}: {line[7:]}"
