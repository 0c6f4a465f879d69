"""Surface normals from voxel moments: one pass over the points, one over the voxels.

The normal of a voxel is the direction in which the points of the 3 x 3 x 3 voxels
around it spread least.
"""

from dataclasses import dataclass

import numpy as np

from analysis.spheres.grid import Grid, Int32s, _slot, grid
from analysis.spheres.symmetric import eigenvalues
from sim.arrays import Bools, Floats, Ints
from sim.kernels import kernel

FLAT = 0.25  # spread along the normal over spread across it, largest of a surface
FEWEST = 5  # points that a normal is computed from
PLANE = 0.03  # mean squared sine between normals two voxels apart, largest of a plane


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
    centroids, normals, flat = _fit_planes(
        moments, voxels.keys, voxels.slots, voxels.numbers
    )
    bent = _bends(normals, flat, voxels.keys, voxels.slots, voxels.numbers)
    centroids = voxels.low + centroids * voxels.h
    return Surface(voxels, centroids, normals, flat.astype(bool), bent)


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
    sums: Floats, keys: Ints, slots: Ints, numbers: Int32s
) -> tuple[Floats, Floats, Ints]:
    """Centroids in sides from `low`, normals, and 1 where the points lie flat."""
    count = len(keys)
    centroids = np.empty((count, 3))
    normals = np.zeros((count, 3))
    flat = np.zeros(count, np.int64)
    mask = (1 << 20) - 1
    total = np.empty(10)
    s = np.empty(3)
    C = np.empty((3, 3))
    for k in range(count):
        key = keys[k]
        corner = (key >> 40, key >> 20 & mask, key & mask)
        for a in range(3):
            centroids[k, a] = corner[a] + sums[k, 1 + a] / sums[k, 0]
        total[:] = 0.0
        for i in range(-1, 2):
            for j in range(-1, 2):
                for m in range(-1, 2):
                    other = key + (i << 40) + (j << 20) + m
                    at = _slot(slots, other)
                    if slots[at] == -1:
                        continue
                    near = sums[numbers[at]]
                    s[0], s[1], s[2] = i, j, m
                    total[0] += near[0]
                    c = 4
                    for a in range(3):
                        total[1 + a] += near[1 + a] + near[0] * s[a]
                        for b in range(a, 3):
                            total[c] += (
                                near[c]
                                + s[a] * near[1 + b]
                                + s[b] * near[1 + a]
                                + s[a] * s[b] * near[0]
                            )
                            c += 1
        if total[0] < FEWEST:
            continue
        c = 4
        for a in range(3):
            for b in range(a, 3):
                C[a, b] = total[c] / total[0] - (
                    total[1 + a] * total[1 + b] / total[0] ** 2
                )
                C[b, a] = C[a, b]
                c += 1
        flat[k] = _least_spread(C, normals[k])
    return centroids, normals, flat


@kernel
def _least_spread(C: Floats, n: Floats) -> int:
    """Put into n the eigenvector of C's smallest eigenvalue; 1 if that one is small.

    The vector comes from the longest cross product of two rows of C - least I.
    """
    d, e, f = C[0, 1], C[0, 2], C[1, 2]
    least, middle, _ = eigenvalues(C[0, 0], d, e, C[1, 1], f, C[2, 2])
    if least > FLAT * middle:
        return 0
    r0, r1, r2 = C[0, 0] - least, C[1, 1] - least, C[2, 2] - least
    longest = 0.0
    for k in range(3):
        if k == 0:
            x, y, z = d * f - e * r1, e * d - r0 * f, r0 * r1 - d * d
        elif k == 1:
            x, y, z = d * r2 - e * f, e * e - r0 * r2, r0 * f - d * e
        else:
            x, y, z = r1 * r2 - f * f, f * e - d * r2, d * f - r1 * e
        size = x * x + y * y + z * z
        if size > longest:
            longest = size
            n[0], n[1], n[2] = x, y, z
    if longest == 0.0:
        return 0
    size = np.sqrt(longest)
    for k in range(3):
        n[k] /= size
    return 1


@kernel
def _bends(
    normals: Floats, flat: Ints, keys: Ints, slots: Ints, numbers: Int32s
) -> Bools:
    """(m,) false where the normals two voxels around are parallel: a plane.

    On a sphere of eight voxels' radius they are 14 to 25 degrees apart.
    """
    steps = np.empty(27, np.int64)
    for i in range(3):
        for j in range(3):
            for k in range(3):
                step = ((i - 1) << 40) + ((j - 1) << 20) + k - 1
                steps[9 * i + 3 * j + k] = 2 * step
    bent: Bools = flat == 1
    for m in range(len(keys)):
        total, count = 0.0, 0
        for s in range(27):
            at = _slot(slots, keys[m] + steps[s])
            if s == 13 or slots[at] == -1 or flat[numbers[at]] == 0:
                continue
            n = normals[numbers[at]]
            cos = 0.0
            for d in range(3):
                cos += n[d] * normals[m, d]
            total += 1 - cos * cos
            count += 1
        if count > 3 and total < PLANE * count:
            bent[m] = False
    return bent
