"""Processes of a study, found by what they do, and killed at a moment of their life."""

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

LOOK_SECONDS = 0.01

# What stands in the command line of each kind of process.
KINDS = {
    "job": "-m pipeline.run",
    "tracker": "-m pipeline.track",
    "Snakemake": "-m snakemake",
    "server": "mlflow",
    "command": "-m pipeline.study",
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


def kill_one(
    folder: Path,
    kind: str,
    life: float,
    chance: random.Random,
    goes_on: Callable[[], bool],
) -> float | None:
    """kill -9 of one process of a kind, at a random moment of its life.

    Returns
    -------
    the moment, s after such a process began; None if it had ended by then
    """
    while not processes(folder, kind):
        if not goes_on():
            return None
        time.sleep(LOOK_SECONDS)
    moment = chance.uniform(0.0, life)
    time.sleep(moment)
    there = processes(folder, kind)
    if not there:
        return None
    try:
        os.kill(chance.choice(there), signal.SIGKILL)
    except ProcessLookupError:
        return None
    return moment
