"""Likely centres: each voxel of the surface votes for the points p +- R n.

A sphere's votes meet at its centre from many directions; those of a plane, cylinder
or rod spread over a surface and come from one direction. Votes are counted in cubes
of side 0.15 R. The directions u of a cap that is the share f of the sphere have the
mean length 1 - f, so votes of smaller spread do not count. Those of a cylinder have no
part along its axis: the smallest eigenvalue of the mean u u^T, which separates a small
cap from it, ranks the peaks.

Normals n come from voxel moments (`surface`): one pass over the points, one over the
voxels. The normal of a voxel is the direction in which the points of the 3 x 3 x 3
voxels around it spread least. Open3D 0.20 estimates as good ones from the means of the
voxels: centres move no more than with another corner of the grid. But 1.25 million
points take 0.6 s of CPU time more in 2.4, of which importing it takes 0.45; this takes
0.2.
"""

from dataclasses import dataclass

import numpy as np

from analysis.spheres.thresholds import NORMALS
from analysis.spheres.voxel_grid import Grid, Int32s, grid, neighbours
from sim.core.arrays import Bools, Floats, Ints
from sim.core.numba_kernels import kernel


@dataclass(frozen=True, eq=False)
class Surface:
    """The voxels of a scan with the middle of their points and their normals."""

    grid: Grid
    centroids: Floats  # (m, 3) of the points of each voxel, mm
    normals: Floats  # (m, 3) of either sign
    flat: Bools  # (m,) whether the points around form a surface
    bent: Bools  # (m,) whether that surface curves


def surface(points: Floats, h: float, h_max: float) -> Surface:
    """Return normals on voxels of side `h`, grown until they hold three points each.

    Parameters
    ----------
    points : (n, 3) mm
    h, h_max : smallest and largest side, mm
    """
    voxels = grid(points, h)
    while len(points) < 3 * len(voxels.keys) and voxels.h < h_max:
        voxels = grid(points, min(1.25 * voxels.h, h_max))
    moments = _moments(points, voxels.low, voxels.h, voxels.keys, voxels.cube)
    keys = voxels.keys
    centroids, normals, flat = _fit_planes(moments, keys, NORMALS.fewest, NORMALS.flat)
    bent = _bends(normals, flat, keys, NORMALS.plane)
    centroids = voxels.low + centroids * voxels.h
    return Surface(voxels, centroids, normals, flat, bent)


@kernel
def _moments(points: Floats, low: Floats, h: float, keys: Ints, cube: Int32s) -> Floats:
    """(m, 10) sums of 1, x, y, z, xx, xy, xz, yy, yz, zz, in sides from the corner."""
    sums = np.zeros((len(keys), 10))
    mask = (1 << 20) - 1
    x = np.empty(3)
    for p in range(len(points)):
        k = cube[p]
        key = keys[k]
        x[0] = (points[p, 0] - low[0]) / h - (key >> 40)
        x[1] = (points[p, 1] - low[1]) / h - (key >> 20 & mask)
        x[2] = (points[p, 2] - low[2]) / h - (key & mask)
        sums[k, 0] += 1.0
        c = 4
        for a in range(3):
            sums[k, 1 + a] += x[a]
            for b in range(a, 3):
                sums[k, c] += x[a] * x[b]
                c += 1
    return sums


@kernel
def _fit_planes(
    sums: Floats, keys: Ints, fewest: int, flattest: float
) -> tuple[Floats, Floats, Bools]:
    """Centroids in sides from `low`, normals, and where the points lie flat."""
    count = len(keys)
    centroids, normals = np.empty((count, 3)), np.zeros((count, 3))
    flat = np.zeros(count, np.bool_)
    mask = (1 << 20) - 1
    total = np.empty(10)
    C = np.empty((3, 3))
    rows, near = np.zeros(9, np.int64), np.empty(27, np.int64)
    for k in range(count):
        key = keys[k]
        corner = (key >> 40, key >> 20 & mask, key & mask)
        for a in range(3):
            centroids[k, a] = corner[a] + sums[k, 1 + a] / sums[k, 0]
        total[:] = 0.0
        neighbours(keys, k, 1, rows, near)
        for other in range(27):
            if near[other] >= 0:
                i, j, m = other // 9 - 1, other // 3 % 3 - 1, other % 3 - 1
                _add_shifted(total, sums[near[other]], i, j, m)
        if total[0] < fewest:
            continue
        c = 4
        for a in range(3):
            for b in range(a, 3):
                C[a, b] = total[c] / total[0] - (
                    total[1 + a] * total[1 + b] / total[0] ** 2
                )
                C[b, a] = C[a, b]
                c += 1
        spread, directions = np.linalg.eigh(C)
        flat[k] = spread[0] < flattest * spread[1]
        if flat[k]:
            normals[k] = directions[:, 0]
    return centroids, normals, flat


@kernel
def _add_shifted(total: Floats, near: Floats, i: int, j: int, m: int) -> None:
    """Add the moments of the voxel (i, j, m) sides away, about this one's corner."""
    shift = (i, j, m)
    total[0] += near[0]
    c = 4
    for a in range(3):
        total[1 + a] += near[1 + a] + shift[a] * near[0]
        for b in range(a, 3):
            cross = shift[a] * near[1 + b] + shift[b] * near[1 + a]
            total[c] += near[c] + cross + shift[a] * shift[b] * near[0]
            c += 1


@kernel
def _bends(normals: Floats, flat: Bools, keys: Ints, plane: float) -> Bools:
    """(m,) false where the normals two voxels around are parallel: a plane.

    On a sphere of eight voxels' radius they are 14 to 25 degrees apart.
    """
    bent = np.zeros(len(keys), np.bool_)
    rows, near = np.zeros(9, np.int64), np.empty(27, np.int64)
    for m in range(len(keys)):
        neighbours(keys, m, 2, rows, near)
        total, count = 0.0, 0
        for s in range(27):
            if s == 13 or near[s] == -1 or not flat[near[s]]:
                continue
            n = normals[near[s]]
            cos = 0.0
            for d in range(3):
                cos += n[d] * normals[m, d]
            total += 1 - cos * cos
            count += 1
        bent[m] = flat[m] and (count <= 3 or total >= plane * count)
    return bent


def radial(
    normals: Floats, flat: Bools, voxel: Int32s, x: Floats, least: float
) -> Bools:
    """(k,) which x (k, 3), in those voxels, lie on a surface whose normal points to
    zero: the cosine is above `least`."""
    along = np.abs((normals[voxel] * x).sum(axis=1))
    return np.asarray(flat[voxel] & (along > least * np.sqrt((x**2).sum(axis=1))))


PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def peaks(
    scan: Surface, radius: float, fewest: float, cap: float
) -> tuple[Floats, Floats]:
    """Return likely centres, most votes times roundness of their directions first.

    Parameters
    ----------
    scan : voxels with normals
    radius : R, mm
    fewest : votes that make a peak
    cap : smallest share of a sphere that their directions must span

    Returns
    -------
    centres : (k, 3) mm
    votes : (k,) in the 3 x 3 x 3 cubes around each, times thrice the smallest
        eigenvalue of their mean u u^T, which is a third on a whole sphere
    """
    p, n = scan.centroids[scan.bent], scan.normals[scan.bent]
    if not len(p):
        return np.empty((0, 3)), np.empty(0)
    votes = np.concatenate([p + radius * n, p - radius * n])
    cubes = grid(votes, NORMALS.cube * radius)
    counts = np.bincount(cubes.cube, minlength=len(cubes.keys))
    sums = np.zeros((len(cubes.keys), 13))
    sums[:, 0] = counts
    ways = np.concatenate([n, -n])
    for d in range(3):
        sums[:, 1 + d] = np.bincount(cubes.cube, votes[:, d], len(cubes.keys))
        sums[:, 4 + d] = np.bincount(cubes.cube, ways[:, d], len(cubes.keys))
    for k, (a, b) in enumerate(PAIRS):
        square = ways[:, a] * ways[:, b]
        sums[:, 7 + k] = np.bincount(cubes.cube, square, len(cubes.keys))
    centres, heights = _local_maxima(sums, cubes.keys, fewest, cap)
    best = np.argsort(-heights, kind="stable")
    return centres[best], heights[best]


@kernel
def _sum_blocks(votes: Floats, keys: Ints, fewest: float) -> Floats:
    """(m,) votes of the 27 cubes around each that has a 27th of `fewest`, else 0."""
    blocks = np.zeros(len(keys))
    rows, near = np.zeros(9, np.int64), np.empty(27, np.int64)
    for m in range(len(keys)):
        if 27 * votes[m] >= fewest:
            neighbours(keys, m, 1, rows, near)
            for other in near:
                if other >= 0:
                    blocks[m] += votes[other]
    return blocks


@kernel
def _local_maxima(
    sums: Floats, keys: Ints, fewest: float, cap: float
) -> tuple[Floats, Floats]:
    """Mean vote and votes of every block of 27 cubes that has more than its 26 shifts.

    A block needs `fewest` votes, and its middle cube at least a 27th of them.
    """
    blocks = _sum_blocks(sums[:, 0], keys, fewest)
    rows, near = np.zeros(9, np.int64), np.empty(27, np.int64)
    centres = np.empty((len(keys), 3))
    heights = np.empty(len(keys))
    found = 0
    total, C = np.empty(13), np.empty((3, 3))
    for m in range(len(keys)):
        if blocks[m] < fewest:
            continue
        total[:] = 0.0
        highest = True
        neighbours(keys, m, 1, rows, near)
        for other in near:
            if other >= 0:
                total += sums[other]
                rival = blocks[other]
                if rival > blocks[m] or (rival == blocks[m] and other < m):
                    highest = False
        narrow = 0.0
        for d in range(4, 7):
            narrow += (total[d] / total[0]) ** 2
        if highest and narrow < (1 - cap) ** 2:
            centres[found] = total[1:4] / total[0]
            for k in range(6):
                C[PAIRS[k][0], PAIRS[k][1]] = C[PAIRS[k][1], PAIRS[k][0]] = total[7 + k]
            heights[found] = 3 * np.linalg.eigvalsh(C)[0]
            found += 1
    return centres[:found].copy(), heights[:found].copy()
