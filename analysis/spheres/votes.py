"""Where could centres be: each voxel of the surface votes for the points p +- R n.

A sphere's votes meet at its centre from many directions; those of a plane, cylinder
or rod spread over a surface and come from one direction. Votes are counted in cubes
of side 0.15 R. The directions u of a cap that is the share f of the sphere have the
mean length 1 - f, so votes of smaller spread do not count. Those of a cylinder have no
part along its axis: the smallest eigenvalue of the mean u u^T, which tells a small cap
from it, ranks the peaks.
"""

import numpy as np

from analysis.spheres.grid import grid, neighbours
from analysis.spheres.normals import Surface
from analysis.spheres.symmetric import eigenvalues
from analysis.spheres.thresholds import NORMALS
from sim.arrays import Floats, Ints
from sim.kernels import kernel

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
    total = np.empty(13)
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
            xx, xy, xz, yy, yz, zz = total[7:]
            heights[found] = 3 * eigenvalues(xx, xy, xz, yy, yz, zz)[0]
            found += 1
    return centres[:found].copy(), heights[:found].copy()
