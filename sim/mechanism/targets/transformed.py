"""Targets made of another target.

`Moved` is a target moved as a whole, to break a symmetry; `Rescaled` is one for nodes
in another unit of length; `AlongAxis` finds a node's goal in another way ([dJ23],
Discussion).
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.spatial.transform import Rotation

from sim.core.arrays import Floats
from sim.core.options import is_count, is_positive
from sim.mechanism.targets.analytic_surfaces import (
    CheckedTarget,
    Direction,
    Place,
    unit,
)
from sim.mechanism.targets.target_interface import (
    Target,
    Wireframe,
    rounded_of,
    slopes_of,
    smoothed,
)


@dataclass(frozen=True, eq=False)
class Moved(CheckedTarget):
    """`target` turned about the origin by the rotation vector `turn`, then shifted.

    Attributes
    ----------
    turn : rad, along the axis of the turn
    shift : the case's unit
    """

    target: Target
    turn: Place = (0.0, 0.0, 0.0)
    shift: Place = (0.0, 0.0, 0.0)

    def closest(self, points: Floats) -> Floats:
        goals: Floats = self.target.closest(self.into(points)) @ self._R.T
        return goals + self.shift

    @property
    def smooth(self) -> Target:
        return replace(self, target=smoothed(self.target))

    @property
    def rounded(self) -> Target | None:
        surface = rounded_of(self.target)
        return None if surface is None else replace(self, target=surface)

    def slopes(self, points: Floats, goals: Floats) -> Floats | None:
        found = slopes_of(self.target, self.into(points), self.into(goals))
        return None if found is None else self._R @ found @ self._R.T

    def wireframe(self, around: Floats) -> Wireframe:
        vertices, edges = self.target.wireframe(self.into(around))
        return Wireframe(vertices @ self._R.T + self.shift, edges)

    def into(self, points: Floats) -> Floats:
        """Points (p, 3) as the target itself has them, before the motion."""
        return np.asarray((points - self.shift) @ self._R)

    @cached_property
    def _R(self) -> Floats:
        turn = np.asarray(self.turn, dtype=float)
        return np.asarray(Rotation.from_rotvec(turn).as_matrix())


def perturbed(target: Target, *, seed: int, turn: float, shift: float) -> Moved:
    """`target` in a pose that a seed has moved a little.

    Parameters
    ----------
    turn : standard deviation of the turn about each axis, rad
    shift : standard deviation of the shift along each axis, the case's unit
    """
    if not is_count(seed, least=0):
        raise ValueError(f"seed of the pose is {seed}: give a whole number from 0 up")
    for name, value in (("turn", turn), ("shift", shift)):
        if value != 0.0 and not is_positive(value):
            raise ValueError(f"{name} of the pose is {value}: give 0 or more")
    rng = np.random.default_rng(seed)
    by, to = turn * rng.normal(size=3), shift * rng.normal(size=3)
    return Moved(target, tuple(by.tolist()), tuple(to.tolist()))


@dataclass(frozen=True, eq=False)
class Rescaled:
    """`target` for nodes in a unit of length `unit`, which the target is not in."""

    target: Target
    unit: float

    def closest(self, points: Floats) -> Floats:
        return np.asarray(self.target.closest(self.unit * points) / self.unit)

    @property
    def smooth(self) -> Target:
        return replace(self, target=smoothed(self.target))

    def slopes(self, points: Floats, goals: Floats) -> Floats | None:
        return slopes_of(self.target, self.unit * points, self.unit * goals)

    def wireframe(self, around: Floats) -> Wireframe:
        vertices, edges = self.target.wireframe(self.unit * around)
        return Wireframe(vertices / self.unit, edges)


@dataclass(frozen=True, eq=False)
class AlongAxis(CheckedTarget):
    """The point of `target` that a node meets when it moves along `axis`, either way.

    The line is followed by Newton's method on the tangent planes at nearest points.
    A node whose line misses the target keeps its nearest point.
    """

    target: Target
    axis: Direction

    def closest(self, points: Floats) -> Floats:
        axis = unit(self.axis)
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
