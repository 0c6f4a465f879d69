"""The node that moved most in a run, as a person is told it."""

from typing import NamedTuple

import numpy as np

from sim.arrays import Floats

SEEN = 1e-6  # of the size, below which a coordinate is told as 0


class ToldLengths(NamedTuple):
    """How places are told: a unit, in m, and whether nodes have no numbers in a file.

    Attributes
    ----------
    metres : how long the unit is
    drawn : nodes are told by where the file draws them
    """

    unit: str = "m"
    metres: float = 1.0
    drawn: bool = False

    def said(self, length: float) -> str:
        """A length that is given in m."""
        return f"{length / self.metres:.4g} {self.unit}".rstrip()


def moved_most(start: Floats, end: Floats, lengths: ToldLengths) -> str:
    """Which node is farthest from its start, by how much, and where it is.

    Parameters
    ----------
    start, end : (n, 2 or 3) m
    """
    way = np.linalg.norm(end - start, axis=1)
    k, size = int(np.argmax(way)), float(np.ptp(start, axis=0).max())
    if not way[k] > 0.0:
        return "no node"
    who = f"node {k}"
    if lengths.drawn:
        who = f"the point drawn at {_place(start[k], size, lengths)}"
    far = f"{lengths.said(float(way[k]))}, the most"
    return f"{who} by {far}, to {_place(end[k], size, lengths)}"


def _place(at: Floats, size: float, lengths: ToldLengths) -> str:
    seen = np.where(np.abs(at) < SEEN * size, 0.0, at) / lengths.metres
    return f"({', '.join(f'{x:.4g}' for x in seen)}) {lengths.unit}".rstrip()
