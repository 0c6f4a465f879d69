"""Folding sequences of a pattern with several creases: [ZF19], Sect. 5c."""

from collections.abc import Iterator
from enum import Enum
from itertools import product

import numpy as np

from sim.arrays import Floats
from sim.origami.mesh import Mesh
from sim.origami.phases import check_sequence


def weak_orderings(creases: int) -> Iterator[tuple[int, ...]]:
    """Every folding sequence: the stage of each crease, stages without a gap.

    There are 1, 3, 13, 75, 541, ... of them for 1, 2, 3, 4, 5, ... creases, the
    ordered Bell numbers.
    """
    for stages in product(range(1, creases + 1), repeat=creases):
        if set(stages) == set(range(1, max(stages) + 1)):
            yield stages


def parse_sequence(text: str) -> tuple[int, ...]:
    """The stages in "1-2-2-3"."""
    words = str(text).split("-")
    if not all(word.isdecimal() for word in words):
        raise ValueError(
            f"sequence {text!r} is not stages joined by hyphens, such as 1-2-2-3"
        )
    stages = tuple(int(word) for word in words)
    check_sequence(stages)
    return stages


class Verdict(Enum):
    """How the corner of a box ends."""

    LOCK = "lock"
    NO = "no"
    JAMMED = "jammed"


def verdict(
    mesh: Mesh, x: Floats, *, wall: int, first: int, second: int, reach: float
) -> Verdict:
    """Whether a wall panel ended between two others, which holds it in place.

    Parameters
    ----------
    x : (n, 3) m
    wall, first, second : numbers of panels
    reach : the two others count where their centres are within this distance of the
        wall's plane, m; elsewhere the folding was stopped on its way
    """
    corner = x[mesh.corner[mesh.corner_panel == wall]]
    middle = corner.mean(axis=0)
    normal = np.linalg.svd(corner - middle)[2][2]
    heights = [float((x[mesh.centre[p]] - middle) @ normal) for p in (first, second)]
    if max(abs(h) for h in heights) > reach:
        return Verdict.JAMMED
    return Verdict.LOCK if heights[0] * heights[1] < 0 else Verdict.NO
