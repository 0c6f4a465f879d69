"""Processes that a workflow starts beside its own."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pipeline.store.runs import RESULTS
from pipeline.workflow.graph import job_environment

PATIENCE_SECONDS = 20.0  # for Snakemake to end its jobs


def environment() -> dict[str, str]:
    """What a process of ours is given: this code first, one thread a job."""
    return {**os.environ, **job_environment()}


def command_line(name: str, words: Sequence[str] = ()) -> list[str]:
    """What calls a command of ours in a process of its own."""
    return [sys.executable, "-m", "pipeline", name, *words]


def call(name: str, *words: str) -> int:
    """Run a command of ours in a process of its own; return its exit status."""
    line = command_line(name, words)
    return subprocess.run(line, env=environment(), check=False).returncode


def call_silently(name: str, *words: str) -> int:
    """The same, but for its errors."""
    line = command_line(name, words)
    quiet = subprocess.DEVNULL
    return subprocess.run(line, env=environment(), stdout=quiet, check=False).returncode


@contextlib.contextmanager
def to_log(
    log: Path, words: Sequence[str], names: Mapping[str, str]
) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that says what it says to a file; Ctrl-C waits for its end.

    Parameters
    ----------
    names : that it finds in its environment beside the usual ones
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as file:
        process = subprocess.Popen(
            words, env={**environment(), **names}, stdout=file, stderr=subprocess.STDOUT
        )
        try:
            yield process
        finally:  # Ctrl-C reaches its jobs and it as it reaches us
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE_SECONDS)
            process.terminate()


def deaf_to_ctrl_c() -> None:
    """Leave Ctrl-C to the caller: the end of the input is what ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def followed() -> Iterator["subprocess.Popen[str]"]:
    """One process brings runs into MLflow while the block works, then concludes.

    Yields
    ------
    that process; its exit status is known after the block
    """
    line = command_line("track", ["--follow"])
    log = RESULTS / "log" / "track.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as file:
        tracker = subprocess.Popen(
            line,
            stdin=subprocess.PIPE,
            stdout=file,
            stderr=file,
            env=environment(),
            text=True,
            preexec_fn=deaf_to_ctrl_c,
        )
        try:
            yield tracker
        finally:
            tracker.communicate()  # the end of its input tells it to conclude
