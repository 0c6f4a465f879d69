"""Processes of a study, found by what they do, and killed at a moment of their life."""

import contextlib
import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

LOOK_SECONDS = 0.01

# What stands in the command line of each kind of process.
KINDS = {
    "job": "morphtrack run",
    "tracker": "-m pipeline track",
    "Snakemake": "-m snakemake",
    "server": "mlflow",
    "command": "-m pipeline study",
}


def processes(folder: Path, kind: str) -> list[int]:
    """Living processes of a kind that work in `folder`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            if KINDS[kind] in line and (process / "cwd").readlink() == folder:
                found.append(int(process.name))
        except OSError:
            continue  # it ended meanwhile
    return found


def lives(folder: Path, goes_on: Callable[[], bool]) -> dict[str, float]:
    """How long each kind of process lives while something goes on, s."""
    first: dict[str, float] = {}
    last: dict[str, float] = {}
    while goes_on():
        for kind in KINDS:
            if processes(folder, kind):
                last[kind] = time.monotonic()
                first.setdefault(kind, last[kind])
        time.sleep(LOOK_SECONDS)
    return {kind: last[kind] - first[kind] for kind in first}


@dataclass(frozen=True)
class Killing:
    """What came of an attempt to kill a process.

    Parameters
    ----------
    moment : s after such a process was first seen
    late : whether it had ended by itself at that moment
    """

    moment: float
    late: bool


def kill_one(
    folder: Path,
    kind: str,
    life: float,
    chance: random.Random,
    goes_on: Callable[[], bool],
) -> Killing:
    """kill -9 of one process of a kind, at a random moment of its life."""
    while not processes(folder, kind):
        if not goes_on():
            return Killing(life, late=True)
        time.sleep(LOOK_SECONDS)
    seen = time.monotonic()
    due = seen + chance.uniform(0.0, life)
    while goes_on() and (there := processes(folder, kind)):
        if time.monotonic() >= due:
            with contextlib.suppress(ProcessLookupError):
                os.kill(chance.choice(there), signal.SIGKILL)
                return Killing(time.monotonic() - seen, late=False)
        time.sleep(LOOK_SECONDS)
    return Killing(time.monotonic() - seen, late=True)
