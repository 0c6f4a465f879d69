"""Clouds too large to pick from: the first point of each voxel stands for the rest.

A kept point is a measured one: an average would have less noise than its neighbours.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.kernels import kernel

COARSER = np.sqrt(2.0)  # factor on the voxel's side when the budget is used up
BITS = 21  # an axis: two million voxels, after which cells are counted again
EMPTY = -1
OCTANTS = 8  # voxels of any size that meet at the origin


@dataclass(frozen=True)
class Thinning:
    """When to thin a cloud, and to what."""

    voxel: float  # side, in the unit of the points; larger where it must be
    most: int  # points that may remain

    def __post_init__(self) -> None:
        if not (self.voxel > 0 and self.most >= OCTANTS):
            raise ValueError(
                f"voxels of {self.voxel:g} and {self.most} points: give a positive "
                f"side and at least {OCTANTS} points"
            )


@dataclass(frozen=True, eq=False)
class Thinned:
    """What is left of a cloud."""

    points: Floats  # (m, 3)
    read: int  # rows, finite or not
    finite: int
    voxel: float  # side that was enough


def thinned(blocks: Iterator[Floats], thinning: Thinning) -> Thinned:
    """Keep the first point of every voxel, in voxels large enough for the budget.

    The voxels grow whenever the budget is used up: what was kept is thinned again, and
    reading goes on.

    Parameters
    ----------
    blocks : the points (m, 3), m of any size
    """
    size = 1 << int(np.ceil(np.log2(2 * thinning.most + 2)))
    table = np.full(size, EMPTY, dtype=np.int64)
    points = np.empty((thinning.most, 3))
    voxel, read, finite, kept = thinning.voxel, 0, 0, 0
    for block in blocks:
        good = block[np.isfinite(block).all(axis=1)]
        read, finite = read + len(block), finite + len(good)
        new = good[_first_of_voxel(_keys(good, voxel), table)]
        while kept + len(new) > thinning.most:
            voxel *= COARSER
            table[:] = EMPTY
            old = points[:kept][_first_of_voxel(_keys(points[:kept], voxel), table)]
            kept = len(old)
            points[:kept] = old
            new = new[_first_of_voxel(_keys(new, voxel), table)]
        points[kept : kept + len(new)] = new
        kept += len(new)
    return Thinned(points[:kept], read, finite, voxel)


def _keys(points: Floats, voxel: float) -> Ints:
    """One number for each voxel."""
    cell = np.floor(points / voxel).astype(np.int64) & ((1 << BITS) - 1)
    keys: Ints = (cell[:, 0] << (2 * BITS)) | (cell[:, 1] << BITS) | cell[:, 2]
    return keys


@kernel
def _first_of_voxel(keys: Ints, table: Ints) -> Bools:
    """Which keys are not in the hash table yet; they are entered.

    The table has a power of two of places, and at least twice the keys entered; a
    block may overfill it, and is then cut short: all its further keys count as new.
    """
    first = np.ones(keys.size, dtype=np.bool_)
    mask = np.uint64(table.size - 1)
    unused = table.size - np.sum(table != EMPTY) - 1
    for i in range(keys.size):
        if unused <= 0:
            break
        mixed = np.uint64(keys[i]) * np.uint64(0x9E3779B97F4A7C15)
        place = (mixed ^ (mixed >> np.uint64(29))) & mask
        while table[place] != EMPTY and table[place] != keys[i]:
            place = (place + np.uint64(1)) & mask
        first[i] = table[place] == EMPTY
        if first[i]:
            table[place] = keys[i]
            unused -= 1
    return first
