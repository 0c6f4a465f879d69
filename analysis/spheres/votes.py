"""Where could centres be: each voxel of the surface votes for the points p +- R n.

A sphere's votes meet at its centre, those of a plane, cylinder or rod spread over a
surface. Votes are counted in cubes of side 0.15 R.
"""

import numpy as np

from analysis.spheres.grid import Int32s, _slot, grid
from analysis.spheres.normals import Surface
from sim.arrays import Floats, Ints
from sim.kernels import kernel

CUBE = 0.15  # side of a voting cube over R


def peaks(scan: Surface, radius: float, fewest: float) -> tuple[Floats, Floats]:
    """Return likely centres, most votes first.

    Parameters
    ----------
    scan : voxels with normals
    radius : R, mm
    fewest : votes that make a peak

    Returns
    -------
    centres : (k, 3) mm
    votes : (k,) in the 3 x 3 x 3 cubes around each
    """
    p, n = scan.centroids[scan.flat], scan.normals[scan.flat]
    if not len(p):
        return np.empty((0, 3)), np.empty(0)
    votes = np.concatenate([p + radius * n, p - radius * n])
    cubes = grid(votes, CUBE * radius)
    counts = np.bincount(cubes.cube, minlength=len(cubes.keys))
    sums = np.zeros((len(cubes.keys), 4))
    sums[:, 0] = counts
    for d in range(3):
        sums[:, 1 + d] = np.bincount(cubes.cube, votes[:, d], len(cubes.keys))
    centres, heights = _local_maxima(
        sums, cubes.keys, cubes.slots, cubes.numbers, fewest
    )
    best = np.argsort(-heights, kind="stable")
    return centres[best], heights[best]


@kernel
def _local_maxima(
    sums: Floats, keys: Ints, slots: Ints, numbers: Int32s, fewest: float
) -> tuple[Floats, Floats]:
    """Mean vote and votes of every block of 27 cubes that has more than its 26 shifts.

    A block needs `fewest` votes, and its middle cube at least a 27th of them.
    """
    steps = np.empty(27, np.int64)
    for i in range(3):
        for j in range(3):
            for k in range(3):
                steps[9 * i + 3 * j + k] = ((i - 1) << 40) + ((j - 1) << 20) + k - 1
    blocks = np.zeros(len(keys))
    for m in range(len(keys)):
        if 27 * sums[m, 0] >= fewest:
            for step in steps:
                at = _slot(slots, keys[m] + step)
                if slots[at] != -1:
                    blocks[m] += sums[numbers[at], 0]
    centres = np.empty((len(keys), 3))
    heights = np.empty(len(keys))
    found = 0
    total = np.empty(4)
    for m in range(len(keys)):
        if blocks[m] < fewest:
            continue
        total[:] = 0.0
        highest = True
        for step in steps:
            at = _slot(slots, keys[m] + step)
            if slots[at] != -1:
                other = numbers[at]
                total += sums[other]
                rival = blocks[other]
                if rival > blocks[m] or (rival == blocks[m] and other < m):
                    highest = False
        if highest:
            centres[found] = total[1:] / total[0]
            heights[found] = blocks[m]
            found += 1
    return centres[:found].copy(), heights[:found].copy()
