"""Folding sequences of a pattern with several creases: [ZF19], Sect. 5c."""

from enum import Enum

import numpy as np

from sim.arrays import Floats
from sim.origami.loading.phases import check_sequence
from sim.origami.model.mesh import BarHingeMesh


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


class SequenceVerdict(Enum):
    """How the corner of a box ends."""

    LOCK = "lock"
    NO = "no"
    JAMMED = "jammed"
    UNDECIDED = "undecided"  # of several draws


def verdict(
    mesh: BarHingeMesh, x: Floats, *, wall: int, first: int, second: int, reach: float
) -> SequenceVerdict:
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
        return SequenceVerdict.JAMMED
    return SequenceVerdict.LOCK if heights[0] * heights[1] < 0 else SequenceVerdict.NO
