"""The ellipsoid: its nearest point solves one equation in one unknown."""

from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats
from sim.kernels import kernel
from sim.morph.targets.lattice import lattice
from sim.morph.targets.protocol import Wireframe
from sim.morph.targets.surfaces import Vector, on_sphere, positive, vector

FOCAL = 1e-6  # of 1 + t / a_i^2, where nearest points jump to another side


@kernel
def closest_on_ellipsoid(points: Floats, a: Floats) -> Floats:
    """Nearest points of sum (x_i / a_i)^2 = 1.

    The nearest point of p is x_i = a_i^2 p_i / (t + a_i^2), with t the largest root of

        F(t) = sum (a_i p_i / (t + a_i^2))^2 - 1.

    F falls and is convex right of -min a_i^2, so that Newton's method rises to the root
    from t = max (a_i |p_i| - a_i^2), where F >= 0, without overshooting. A point in a
    plane of symmetry near the centre has F < 0 there: t stays, and the coordinate of
    the shortest axis makes up what is missing, on the positive side.

    Parameters
    ----------
    points : (n, 3)
    a : (3,) semi-axes
    """
    x, t = np.empty((len(points), 3)), np.full(len(points), -np.inf)
    shortest = np.argmin(a)
    for j in range(len(points)):
        for i in range(3):
            t[j] = np.maximum(t[j], a[i] * abs(points[j, i]) - a[i] ** 2)
    _rise_to_roots(points, a, t)
    for j in range(len(points)):
        missing = 1.0
        for i in range(3):
            shifted = t[j] + a[i] ** 2
            x[j, i] = 0.0 if shifted <= 0.0 else a[i] ** 2 * points[j, i] / shifted
            missing -= (x[j, i] / a[i]) ** 2
        if t[j] + a[shortest] ** 2 <= 0.0 and missing > 0.0:
            x[j, shortest] = a[shortest] * np.sqrt(missing)
    return x


@kernel
def _rise_to_roots(points: Floats, a: Floats, t: Floats) -> None:
    """Newton's method for F, of all points until each has arrived."""
    least, arrived = a.min() ** 2, False
    term, share = np.empty(3), np.empty(3)
    for _ in range(100):
        if arrived:
            break
        arrived = True
        for j in range(len(points)):
            for i in range(3):
                term[i] = share[i] = 0.0
                if points[j, i] != 0.0:
                    shifted = t[j] + a[i] ** 2
                    term[i] = a[i] * points[j, i] / shifted
                    share[i] = term[i] ** 2 / shifted
            slope = share[0] + share[1] + share[2]
            if slope > 0.0:
                F = term[0] ** 2 + term[1] ** 2 + term[2] ** 2 - 1.0
                step = max(0.5 * (F / slope), 0.0)
                t[j] += step
                arrived &= step <= 4e-16 * (abs(t[j]) + least)


@dataclass(frozen=True)
class Ellipsoid:
    """Semi-axes along x, y, z about `centre`."""

    semi_axes: Vector
    centre: Vector = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        for value in vector("semi_axes", self.semi_axes):
            positive("semi_axes", float(value))
        vector("centre", self.centre)

    def closest(self, points: Floats) -> Floats:
        a, centre = np.asarray(self.semi_axes), np.asarray(self.centre)
        return centre + closest_on_ellipsoid(points - centre, a)

    def slopes(self, points: Floats, goals: Floats) -> Floats:
        """(n, 3, 3) dg/dr, from r = g + t N with N = (g_i / a_i^2), N.dg = 0:

        A^-1 - A^-1 N (A^-1 N)^T / (N.A^-1 N),   A = diag(1 + t / a_i^2)
        """
        squares = np.square(self.semi_axes)
        N = (goals - self.centre) / squares
        t = np.sum((points - goals) * N, axis=1) / np.sum(N * N, axis=1)
        stretch = 1.0 / np.maximum(1.0 + t[:, None] / squares, FOCAL)
        v = stretch * N
        found: Floats = stretch[:, :, None] * np.eye(3)
        found -= v[:, :, None] * v[:, None, :] / np.sum(v * N, axis=1)[:, None, None]
        return found

    def wireframe(self, around: Floats) -> Wireframe:
        """Meridians about the z axis, from the pole on the side of `around`.

        They end where a sheet laid over the pole without stretching would end.
        """
        a, centre = np.asarray(self.semi_axes), np.asarray(self.centre)
        d = around - centre
        side = 1.0 if d[:, 2].mean() >= 0.0 else -1.0
        reach = float(np.linalg.norm(d[:, :2] - d[:, :2].mean(axis=0), axis=1).max())
        end = min(reach / float(a.mean()), 0.9 * np.pi)
        rings = max(2, round(end / 0.4))
        return lattice(
            lambda s, t: centre + a * [1.0, 1.0, side] * on_sphere(s, t),
            (end / rings, end),
            (0.0, 2.0 * np.pi),
            (rings - 1, 12),
        )
