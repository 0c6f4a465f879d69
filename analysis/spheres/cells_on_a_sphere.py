"""Cells on the surface of a sphere, and the cells where something is attached.

Each face of a cube is cut into n x n cells of equal angles and projected on the
sphere; cells differ in area by less than a third. Where a rod, a clamp or another
surface leaves the sphere, its nearest points would bias the centre outwards. So the
fit excludes the cells around attached parts.
"""

import numpy as np

from sim.core.arrays import Bools, Floats, Ints
from sim.core.numba_kernels import kernel


def cell_areas(n: int) -> Floats:
    """(6 n n,) share of the sphere's surface of each cell."""
    t = np.tan((np.arange(n) + 0.5) * np.pi / (2 * n) - np.pi / 4) ** 2
    a, b = 1 + t[:, None], t[None, :]
    face = (a * (1 + b) / (a + b) ** 1.5).ravel()
    return np.tile(face / face.sum() / 6, 6)


def even_directions(count: int) -> Floats:
    """(count, 3) unit vectors spread evenly, on a spiral."""
    k = np.arange(count) + 0.5
    z = 1 - 2 * k / count
    turn = np.pi * (1 + 5**0.5) * k
    s = np.sqrt(1 - z * z)
    return np.column_stack([s * np.cos(turn), s * np.sin(turn), z])


@kernel
def cells(x: Floats, c: Floats, n: int) -> Ints:
    """(k,) cell in which the centre c sees each point x, 0 to 6 n n - 1."""
    return _numbered(_on_faces(x, c), n)


@kernel
def _on_faces(x: Floats, c: Floats) -> Floats:
    """(k, 3) face of the cube, and two angles on it over the angle of the face."""
    out = np.zeros((len(x), 3))
    d = np.empty(3)
    for p in range(len(x)):
        axis = 0
        for a in range(3):
            d[a] = x[p, a] - c[a]
            if abs(d[a]) > abs(d[axis]):
                axis = a
        if d[axis] == 0.0:
            continue
        out[p, 0] = 2 * axis + (d[axis] > 0)
        column = 1
        for a in range(3):
            if a != axis:
                out[p, column] = np.arctan(d[a] / abs(d[axis])) / (np.pi / 2) + 0.5
                column += 1
    return out


@kernel
def _numbered(at: Floats, n: int) -> Ints:
    """(k,) cells of places on faces, n x n a face."""
    out = np.empty(len(at), np.int64)
    for p in range(len(at)):
        row, column = min(int(at[p, 1] * n), n - 1), min(int(at[p, 2] * n), n - 1)
        out[p] = (int(at[p, 0]) * n + row) * n + column
    return out


@kernel
def hidden(
    x: Floats,
    c: Floats,
    R: float,
    n: int,
    fine: int,
    height: float,
    near: float,
    rim: float,
    share: float,
) -> Bools:
    """(k,) points on or close to which others stand higher than `height`.

    A cell (n a side) sticks out with two such points up to `rim` from the centre, or
    with the share `share` of what visible cells hold. Its points hide all within the
    angle `near`, taken between smaller cells (`fine` a side).
    """
    at = _on_faces(x, c)
    coarse, small = _numbered(at, n), _numbered(at, fine)
    side = np.zeros(len(x), np.int64)
    number = np.zeros((6 * n * n, 2))
    for p in range(len(x)):
        r = np.sqrt(
            (x[p, 0] - c[0]) ** 2 + (x[p, 1] - c[1]) ** 2 + (x[p, 2] - c[2]) ** 2
        )
        if abs(r - R) <= height:
            side[p] = 1
        elif R < r < rim:
            side[p] = 2
        if side[p] > 0:
            number[coarse[p], side[p] - 1] += 1.0
    seen = 0
    for k in range(len(number)):
        seen += number[k, 0] > 0
    least = max(2.0, share * number[:, 0].sum() / max(seen, 1))
    count = _renumber(small, 6 * fine * fine)
    ways = np.zeros((2, count, 3))
    for p in range(len(x)):
        if side[p] == 1 or (side[p] == 2 and number[coarse[p], 1] >= least):
            for d in range(3):
                ways[side[p] - 1, small[p], d] += x[p, d] - c[d]
    on, above = _units(ways[0]), _units(ways[1])
    close = np.zeros(count, np.bool_)
    for m in range(len(on)):
        close[int(on[m, 3])] = _is_close(on[m], above, np.cos(near))
    out = np.zeros(len(x), np.bool_)
    for p in range(len(x)):
        out[p] = side[p] == 2 or close[small[p]]
    return out


@kernel
def _renumber(cell: Ints, most: int) -> int:
    """Number the cells that occur from 0 on, in their order; return how many."""
    occurs = np.bincount(cell, minlength=most) > 0
    number = np.cumsum(occurs)
    cell[:] = number[cell] - 1
    return int(number[-1])


@kernel
def _units(ways: Floats) -> Floats:
    """(m, 4) unit vectors of the rows that are not zero, and the rows' numbers."""
    out = np.empty((len(ways), 4))
    m = 0
    for k in range(len(ways)):
        size = np.sqrt(ways[k, 0] ** 2 + ways[k, 1] ** 2 + ways[k, 2] ** 2)
        if size > 0:
            for d in range(3):
                out[m, d] = ways[k, d] / size
            out[m, 3] = k
            m += 1
    return out[:m]


@kernel
def _is_close(u: Floats, above: Floats, least: float) -> bool:
    """Whether u.v exceeds `least` for one of the directions v above."""
    for k in range(len(above)):
        if u[0] * above[k, 0] + u[1] * above[k, 1] + u[2] * above[k, 2] > least:
            return True
    return False
