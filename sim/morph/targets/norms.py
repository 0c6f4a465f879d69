"""Other ways to find a node's goal on a target: [dJ23], Discussion."""

from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats
from sim.morph.targets.protocol import Target, Wireframe
from sim.morph.targets.surfaces import Vector, unit


@dataclass(frozen=True, eq=False)
class AlongAxis:
    """The point of `target` that a node meets when it moves along `axis`, either way.

    The line is followed by Newton's method on the tangent planes at nearest points.
    A node whose line misses the target keeps its nearest point.
    """

    target: Target
    axis: Vector

    def __post_init__(self) -> None:
        unit("axis", self.axis)

    def closest(self, points: Floats) -> Floats:
        axis = unit("axis", self.axis)
        x = points.copy()
        near = self.target.closest(points)
        size = np.abs(points).max() + np.linalg.norm(near - points, axis=1).max()
        for _ in range(60):
            d = self.target.closest(x) - x
            squares, slope = np.einsum("pi,pi->p", d, d), d @ axis
            steep = np.abs(slope) > 0.05 * np.sqrt(squares)
            t = np.where(steep, squares / np.where(steep, slope, 1.0), slope)
            x += t[:, None] * axis
            if np.abs(t).max(initial=0.0) <= 1e-15 * size:
                break
        met = np.linalg.norm(self.target.closest(x) - x, axis=1) <= 1e-9 * size
        return np.where(met[:, None], x, near)

    def wireframe(self, around: Floats) -> Wireframe:
        return self.target.wireframe(around)
