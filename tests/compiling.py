"""The kernels of the solvers, compiled by one worker for all before the first test.

Two workers that begin with cold caches would compile the same kernels at the same time,
and the first test to use one would seem slow.
"""

import fcntl
import sys
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

from pipeline.config.build_objects import build
from pipeline.config.hydra import Composer

ROOT = Path(__file__).parents[1]
FIRST_STEPS = {  # cases that call what compiles longest; the rest takes a second each
    "sim.origami": (
        "single_fold",
        "single_fold case.contact.rules=paper",
        "snap_pyramid",
    ),
    "sim.mechanism": ("triangles_solid", "pentapod", "snap_two_bars"),
    "sim.rods": ("bumps", "beam_fit"),
}


def compile_once(locks: Path) -> None:
    """Return when the kernels of all solvers that are imported here are compiled.

    Parameters
    ----------
    locks : folder that the workers share
    """
    waiting = [package for package in FIRST_STEPS if package in sys.modules]
    for package in list(waiting):
        with suppress(BlockingIOError), locked(locks / package, fcntl.LOCK_NB):
            take_first_steps(FIRST_STEPS[package])
            waiting.remove(package)
    for package in waiting:
        with locked(locks / package):
            pass


@contextmanager
def locked(path: Path, or_else: int = 0) -> Iterator[None]:
    """Hold a file for oneself; with LOCK_NB, BlockingIOError if another has it."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX | or_else)
        yield


def take_first_steps(cases: Sequence[str]) -> None:
    """Compile what cases call; what is wrong with one, the tests tell better."""
    for words in cases:
        with suppress(Exception):
            first_steps(words)


def first_steps(words: str) -> list[Any]:
    """The first three steps of a case with its overrides, or fewer where it ends."""
    with chdir(ROOT), Composer() as composer:
        config = composer.compose("simulate", f"case={words}".split())
    return list(islice(build(config["case"], "case").steps(), 3))
