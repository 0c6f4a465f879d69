"""A target moved as a whole, to break a symmetry ([dJ23], Discussion)."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from sim.arrays import Floats
from sim.limits import is_count, is_positive
from sim.morph.targets.protocol import Target, Wireframe
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
        R = Rotation.from_rotvec(np.asarray(self.turn, dtype=float)).as_matrix()
        goals: Floats = self.target.closest((points - self.shift) @ R) @ R.T
        return goals + self.shift

    def wireframe(self, around: Floats) -> Wireframe:
        R = Rotation.from_rotvec(np.asarray(self.turn, dtype=float)).as_matrix()
        vertices, edges = self.target.wireframe((around - self.shift) @ R)
        return Wireframe(vertices @ R.T + self.shift, edges)


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
