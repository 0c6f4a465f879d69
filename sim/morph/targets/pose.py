"""A target moved as a whole, to break a symmetry ([dJ23], Discussion)."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.spatial.transform import Rotation

from sim.arrays import Floats
from sim.limits import is_count, is_positive
from sim.morph.targets.protocol import (
    Target,
    Wireframe,
    rounded_of,
    slopes_of,
    smoothed,
)
from sim.morph.targets.surfaces import Vector, vector


@dataclass(frozen=True, eq=False)
class Moved:
    """`target` turned about the origin by the rotation vector `turn`, then shifted.

    Attributes
    ----------
    turn : rad, along the axis of the turn
    shift : the case's unit
    """

    target: Target
    turn: Vector = (0.0, 0.0, 0.0)
    shift: Vector = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        vector("turn", self.turn)
        vector("shift", self.shift)

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
        before: Floats = (points - self.shift) @ self._R
        return before

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
