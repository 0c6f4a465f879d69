"""The logging process of a command, or of all jobs of a session of Snakemake.

The process is this module, run with RESULTS and SINCE as its arguments. At the end it
prints where the runs are, and it goes on by itself if its caller does not wait.
"""

import atexit
import contextlib
import gc
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from pipeline.runs.child_process import Process, start_child
from pipeline.runs.run_directory import RESULTS
from pipeline.terminal import InputError, one_line

if TYPE_CHECKING:
    from pipeline.tracking.unlogged_runs import Logger


LOGGER = "MORPHTRACK_LOGGER"  # the number of the process that logs
COMMAND_SECONDS, SESSION_SECONDS = 3.0, 30.0  # to wait for its end
CLOCK_SECONDS = 0.1  # by which times of files may be behind the clock

_session: list[Process] = []  # the handlers of a Snakefile share no names
_left: list[Process] = []  # that go on by themselves


@contextlib.contextmanager
def logged(results: Path = RESULTS) -> Iterator[None]:
    """Bring the runs that the block makes into MLflow; say where they are.

    A child process follows them from the start, so that it imports MLflow meanwhile. At
    the end of the block it is waited for, 3 s at most, and goes on by itself if it
    needs longer. Within a session, its process logs.
    """
    process = None if LOGGER in os.environ else _start(results)
    patience = COMMAND_SECONDS
    try:
        yield
    except (InputError, KeyboardInterrupt):
        patience = 0.0  # nothing was made
        raise
    finally:
        if process is not None:
            _conclude(process, patience)


def start_session(results: Path = RESULTS) -> None:
    """Start the process that logs for all jobs, unless there is one already."""
    process = None if LOGGER in os.environ else _start(results)
    _session.extend([] if process is None else [process])


def end_session() -> None:
    """Let that process conclude, and say where the runs of the session are."""
    while _session:
        _conclude(_session.pop(), SESSION_SECONDS)


def _start(results: Path) -> Process | None:
    since = str(time.time() - CLOCK_SECONDS)
    try:
        process = start_child(__name__, str(results), since)
    except OSError as error:
        _warn(f"MLflow cannot log: {error}: run `morphtrack track` later")
        return None
    os.environ[LOGGER] = str(process.pid)
    return process


def _conclude(process: Process, seconds: float) -> None:
    """End the input of a process, wait for it, and print what it says."""
    os.environ.pop(LOGGER, None)
    try:
        text, _ = process.communicate("end", timeout=seconds)
    except subprocess.TimeoutExpired:
        _left.append(process)
        if seconds:
            _warn(
                f"MLflow needs more than {seconds:g} s: process {process.pid} goes on "
                "logging in the background"
            )
        return
    for line in text.splitlines():
        print(line, file=sys.stderr if line.startswith("warning: ") else sys.stdout)
    if process.returncode:
        _warn(
            "logging to MLflow failed; see results/mlflow/log.txt: run `morphtrack "
            "track` later"
        )


def _warn(text: str) -> None:
    print(f"warning: {text}", file=sys.stderr)


SELDOM = 1_000_000  # new objects between two looks for cycles
POLL_SECONDS = 0.1
LATER = 10  # niceness: what computes and draws goes first
LAST_SECONDS = 2.0  # of a command that is killed
WAIT_SECONDS = 600.0  # for another logging process, after the end of the input


def follow(results: Path, since: float) -> Iterator[str]:
    """Log until the input ends, conclude, and say where the runs are.

    Parameters
    ----------
    since : when the command began, s from 1970
    """
    held: tuple[Logger, IO[str]] | None = None
    parent = os.getppid()
    while (ended := _input(POLL_SECONDS)) is None:
        held = held or _begun(results, since)
        if held:
            held[0].follow()
    if not ended:
        _wait_for_death(parent)
    end = time.monotonic() + WAIT_SECONDS
    while not (held := held or _begun(results, since)):
        if not _has_runs(results) or time.monotonic() > end:
            return
        time.sleep(POLL_SECONDS)
    logger, _ = held
    logger.conclude()
    yield from (f"warning: {text}" for text in (*logger.notes, *logger.unreadable))
    if ids := logger.logged:
        what = f"run {ids[0]}" if len(ids) == 1 else f"{len(ids)} runs"
        yield f"MLflow   {what} in {logger.store.name}"
    if logger.trouble:
        remedy = "run `morphtrack track` later"
        yield f"warning: MLflow cannot log: {logger.trouble}: {remedy}"


def _input(seconds: float) -> bytes | None:
    """Wait; what has come, b"" if the command was killed, None if nothing happened."""
    ready, _, _ = select.select([0], [], [], seconds)
    return os.read(0, 1024) if ready else None


def _wait_for_death(parent: int) -> None:
    """Wait until the kernel has freed the locks of a killed command."""
    end = time.monotonic() + LAST_SECONDS
    while os.getppid() == parent and time.monotonic() < end:
        time.sleep(POLL_SECONDS / 5)


def _has_runs(results: Path) -> bool:
    """Whether there is a run; a command that is refused leaves no folder."""
    places = (results / name for name in ("running", "runs", "failed"))
    return any(next(place.iterdir(), None) for place in places if place.is_dir())


def _begun(results: Path, since: float) -> "tuple[Logger, IO[str]] | None":
    """A logger and the lock that it needs; None if another process has it."""
    if not _has_runs(results):
        return None
    from pipeline.tracking.unlogged_runs import (  # they take a while
        PLACE,
        Logger,
        try_lock,
    )

    lock = try_lock(results)
    if lock is None:
        return None
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    os.dup2(os.open(results / PLACE / "log.txt", flags, 0o666), 2)
    return Logger(results, since), lock


def main() -> None:
    """Follow the runs of the folder that the arguments name."""
    results, since = sys.argv[1:]
    os.nice(LATER)
    gc.set_threshold(SELDOM, *gc.get_threshold()[1:])  # else half of an import
    atexit.register(gc.freeze)
    try:
        lines = list(follow(Path(results), float(since)))
    except (InputError, OSError) as error:
        lines = [f"warning: MLflow cannot log: {one_line(error)}"]
    with contextlib.suppress(BrokenPipeError):  # the command did not wait
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
