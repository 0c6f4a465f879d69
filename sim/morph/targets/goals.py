"""Given goals instead of a shape: one point for each leading node."""

from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats, Ints
from sim.morph.targets.protocol import Wireframe


@dataclass(frozen=True, eq=False)
class Goals:
    """The goals (l, 3) of the leading nodes, in their order."""

    points: Floats

    def closest(self, points: Floats) -> Floats:
        if len(points) != len(self.points):
            raise ValueError(f"{len(self.points)} goals for {len(points)} nodes")
        return self.points.copy()

    def wireframe(self, around: Floats) -> Wireframe:
        del around
        none: Ints = np.zeros((0, 2), dtype=np.int64)
        return Wireframe(self.points, none)
