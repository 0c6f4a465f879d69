"""Other ways to find a node's goal on a target: [dJ23], Discussion."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from sim.arrays import Floats, Ints
from sim.morph.targets.cloud import CloudTarget
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


@dataclass(frozen=True, eq=False)
class BothWays:
    """Goals that also cover the target, after the Hausdorff distance.

    Every point of the cloud pulls the node nearest to it, with the weight
    (distance / largest distance)^power, and every node is pulled with the weight 1 to
    the point nearest to it; its goal is the weighted mean. Large powers leave only the
    point that makes the Hausdorff distance.
    """

    cloud: CloudTarget
    power: float = 4.0

    def __post_init__(self) -> None:
        if not self.power >= 0.0:
            raise ValueError(f"power is {self.power}: it must not be negative")

    def closest(self, points: Floats) -> Floats:
        distance, owner = _nearest(points, self.cloud.points)
        weight = (distance / max(float(distance.max()), 1e-300)) ** self.power
        total = 1.0 + np.bincount(owner, weight, len(points))
        goals: Floats = self.cloud.closest(points)
        pulled = self.cloud.points * weight[:, None]
        for i in range(3):
            goals[:, i] += np.bincount(owner, pulled[:, i], len(points))
        return goals / total[:, None]

    def wireframe(self, around: Floats) -> Wireframe:
        return self.cloud.wireframe(around)


def _nearest(points: Floats, asked: Floats) -> tuple[Floats, Ints]:
    """Distance to, and number of, the nearest of `points` to each of `asked`."""
    distance, owner = cKDTree(points).query(asked)
    return np.asarray(distance, dtype=np.float64), np.asarray(owner, dtype=np.int64)
