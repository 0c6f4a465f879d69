"""Rigid motions in the plane, mirrored or not."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats


@dataclass(frozen=True, eq=False)
class PlanarMotion:
    """x -> rotation @ x + translation.

    Attributes
    ----------
    rotation : (2, 2) orthogonal; of determinant -1 where it mirrors
    translation : (2,)
    """

    rotation: Floats
    translation: Floats

    def __call__(self, x: Floats) -> Floats:
        """Move the points `x`, (..., 2)."""
        moved: Floats = x @ self.rotation.T + self.translation
        return moved

    @property
    def mirrored(self) -> bool:
        return bool(np.linalg.det(self.rotation) < 0.0)

    def still(self, angle: float) -> bool:
        """Whether it turns by less than `angle`, rad, and does not mirror."""
        a = float(np.arctan2(self.rotation[1, 0], self.rotation[0, 0]))
        return not self.mirrored and abs(a) < angle


def fit_planar_motion(x: Floats, y: Floats, mirrored: bool = False) -> PlanarMotion:
    """The motion of `x` that is nearest to `y` (n, 2), of the hand asked for."""
    x_mean, y_mean = x.mean(axis=0), y.mean(axis=0)
    u, _, vt = np.linalg.svd((x - x_mean).T @ (y - y_mean))
    hand = -1.0 if mirrored else 1.0
    u[:, 1] *= hand * np.sign(np.linalg.det(u @ vt))
    rotation = (u @ vt).T
    return PlanarMotion(rotation, y_mean - rotation @ x_mean)


def turned(x: Floats, y: Floats, turns: int) -> Iterator[PlanarMotion]:
    """Motions that lay the middle of `x` on that of `y`, evenly round a turn."""
    for hand in (1.0, -1.0):
        for angle in 2.0 * np.pi * np.arange(turns) / turns:
            c, s = np.cos(angle), np.sin(angle)
            rotation = np.array([[c, -hand * s], [s, hand * c]])
            yield PlanarMotion(rotation, y.mean(axis=0) - rotation @ x.mean(axis=0))
