"""The surface of a sphere cut into cells, and the cells where something sticks out.

Each face of a cube is cut into n x n cells of equal angles and projected on the
sphere; cells differ in area by less than a third. Where a rod, a clamp or another
surface leaves the sphere, its points close to the sphere would pull the centre
outwards, so the cells around whatever sticks out are left out of the fit.
"""

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.kernels import kernel

SLOPE = 0.7  # height over distance at which attachments leave the sphere, smallest
RIM = 1.35  # what sticks out is looked for up to this many radii
SHARE = 0.2  # of the points that a visible cell holds: as many sticking out hide it


def cell_areas(n: int) -> Floats:
    """(6 n n,) share of the sphere's surface of each cell."""
    t = np.tan((np.arange(n) + 0.5) * np.pi / (2 * n) - np.pi / 4) ** 2
    a, b = 1 + t[:, None], t[None, :]
    face = (a * (1 + b) / (a + b) ** 1.5).ravel()
    return np.tile(face / face.sum() / 6, 6)


@kernel
def cells(x: Floats, c: Floats, n: int) -> Ints:
    """(k,) cell in which the centre c sees each point x, 0 to 6 n n - 1."""
    out = np.empty(len(x), np.int64)
    d = np.empty(3)
    for p in range(len(x)):
        axis = 0
        for a in range(3):
            d[a] = x[p, a] - c[a]
            if abs(d[a]) > abs(d[axis]):
                axis = a
        if d[axis] == 0.0:
            out[p] = 0
            continue
        cell = 2 * axis + (d[axis] > 0)
        for a in range(3):
            if a != axis:
                angle = np.arctan(d[a] / abs(d[axis])) / (np.pi / 2) + 0.5
                cell = cell * n + min(int(angle * n), n - 1)
        out[p] = cell
    return out


@kernel
def hidden(
    x: Floats, c: Floats, R: float, cell: Ints, n: int, height: float, share: float
) -> Bools:
    """(6 n n,) cells on or close to which points stand higher than `height`.

    A cell sticks out with two points, or with the share `share` of what visible
    cells hold; then all cells within height / SLOPE plus one cell of them are hidden.
    """
    above = np.zeros((6 * n * n, 4))
    on = np.zeros((6 * n * n, 4))
    for p in range(len(x)):
        d0, d1, d2 = x[p, 0] - c[0], x[p, 1] - c[1], x[p, 2] - c[2]
        r = np.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
        if abs(r - R) <= height:
            t = on[cell[p]]
        elif R < r < RIM * R:
            t = above[cell[p]]
        else:
            continue
        t[0] += 1.0
        t[1] += d0 / r
        t[2] += d1 / r
        t[3] += d2 / r
    seen, points = 0, 0.0
    for k in range(6 * n * n):
        if on[k, 0] > 0:
            seen += 1
            points += on[k, 0]
    least = max(2.0, share * points / max(seen, 1))
    near = np.cos(height / SLOPE / R + 0.25 * np.pi / n)
    out = np.zeros(6 * n * n, np.bool_)
    for k in range(6 * n * n):
        if above[k, 0] < least:
            continue
        out[k] = True
        size = np.sqrt(above[k, 1] ** 2 + above[k, 2] ** 2 + above[k, 3] ** 2)
        for m in range(6 * n * n):
            if on[m, 0] > 0 and not out[m]:
                dot = (
                    above[k, 1] * on[m, 1]
                    + above[k, 2] * on[m, 2]
                    + above[k, 3] * on[m, 3]
                )
                out[m] = dot > near * size * np.sqrt(
                    on[m, 1] ** 2 + on[m, 2] ** 2 + on[m, 3] ** 2
                )
    return out
