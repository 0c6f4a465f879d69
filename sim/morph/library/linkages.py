"""The four-bar linkage, turned through a whole turn of its crank."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats
from sim.limits import refuse_unless_positive
from sim.morph.structure.constraints import (
    Constraint,
    ConstraintKind,
    ConstraintTable,
    dist,
    fix,
)
from sim.morph.structure.structure import Structure

CORNERS = ((3, 0, 1), (0, 1, 2), (1, 2, 3), (2, 3, 0))  # at A, B, C and D


@dataclass(frozen=True)
class FourBar:
    """Links AB, BC, CD in the plane z = 0; A is the origin, D on the axis x.

    The crank AB turns all around: with the shortest link at the ground, and the
    shortest and the longest together shorter than the others (Grashof).
    """

    ground: float = 2.0
    crank: float = 0.8
    coupler: float = 2.2
    rocker: float = 1.6

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "ground", "crank", "coupler", "rocker")
        others = (self.ground, self.coupler, self.rocker)
        longest = max(others)
        if not (
            self.crank < min(others) and self.crank + longest < sum(others) - longest
        ):
            raise ValueError(
                f"crank {self.crank} does not turn all around: make it the shortest "
                "link, and with the longest shorter than the other two together"
            )

    def nodes(self, angle: float) -> Floats:
        """(4, 3) A, B, C, D at an angle of the crank, rad; C above BD."""
        B = self.crank * np.array([np.cos(angle), np.sin(angle)])
        D = np.array([self.ground, 0.0])
        d = D - B
        apart = float(np.linalg.norm(d))
        along = (self.coupler**2 - self.rocker**2 + apart**2) / (2.0 * apart)
        up = np.sqrt(max(self.coupler**2 - along**2, 0.0))
        e = d / apart
        C = B + along * e + up * np.array([-e[1], e[0]])
        r = np.zeros((4, 3))
        r[1, :2], r[2, :2], r[3, :2] = B, C, D
        return r

    def structure(self, angle: float) -> Structure:
        """A and D held, B and C in the plane."""
        r = self.nodes(angle)
        rows = [*fix(r, 0), *fix(r, 3), dist(r, 0, 1), dist(r, 1, 2), dist(r, 2, 3)]
        rows += [Constraint(ConstraintKind.FIX, (node, 2), 0.0) for node in (1, 2)]
        bodies = ((0, 1), (1, 2), (2, 3))
        return Structure(r, ConstraintTable.of(rows), np.arange(4), bodies)

    def turn(self, increments: int) -> Iterator[tuple[float, Floats]]:
        """Angles of the crank, rad, and nodes at them."""
        for angle in np.linspace(0.0, 2.0 * np.pi, increments + 1):
            yield float(angle), self.nodes(float(angle))
