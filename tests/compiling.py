"""The kernels of the solvers, compiled by one worker while the others begin to test.

Processes compile one after the other (sim/core/numba_kernels): if all waited for all
kernels, one core would work for minutes, and the other would not.
"""

import sys
from collections.abc import Sequence
from contextlib import chdir, suppress
from itertools import islice
from pathlib import Path
from typing import Any

from pipeline.config.build_objects import build
from pipeline.config.hydra import Composer

ROOT = Path(__file__).parents[1]
EDGES = "sim.rods.plane.contact_geometry.EdgeContact"
FIRST_STEPS = {  # cases that call what compiles longest; the rest takes a second each
    "sim.origami": (
        "single_fold",
        "single_fold case.contact.rules=paper",
        "snap_pyramid",
    ),
    "sim.mechanism": ("triangles_solid", "pentapod", "snap_two_bars"),
    "sim.rods": (
        "beam_fit",
        "star_space",
        "tendon_arm",
        f"own_rod case.edge_contact={{_target_:{EDGES}}}",
    ),
}


def compile_once() -> None:
    """Compile the kernels of all solvers that are imported here."""
    for package, cases in FIRST_STEPS.items():
        if package in sys.modules:
            take_first_steps(cases)


def take_first_steps(cases: Sequence[str]) -> None:
    """Compile what cases call; what is wrong with one, the tests tell better."""
    for words in cases:
        with suppress(Exception):
            first_steps(words)


def first_steps(words: str) -> list[Any]:
    """The first three steps of a case with its overrides, or fewer where it ends."""
    with chdir(ROOT):
        composer = Composer()
        config = composer.compose("simulate", f"case={words}".split())
    return list(islice(build(config["case"], "case").steps(), 3))
