"""Clouds too large to pick from: the first point of each voxel stands for the rest.

A kept point is a measured one: an average would have less noise than its neighbours.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.kernels import kernel

COARSER = 1.3  # factor on the voxel's side when too many points remain
BITS = 21  # an axis: two million voxels, after which cells are counted again
EMPTY = -1


@dataclass(frozen=True)
class Thinning:
    """When to thin a cloud, and to what."""

    voxel: float  # side, in the unit of the points; larger where it must be
    most: int  # points that may remain


@dataclass(frozen=True, eq=False)
class Thinned:
    """What is left of a cloud."""

    points: Floats  # (m, 3)
    read: int  # rows, finite or not
    finite: int
    voxel: float  # side that was enough


def thinned(blocks: Callable[[], Iterator[Floats]], thinning: Thinning) -> Thinned:
    """Keep the first point of every voxel, in voxels large enough for the budget.

    Parameters
    ----------
    blocks : gives the points (m, 3) anew at each call
    """
    voxel = thinning.voxel
    while True:
        kept = _kept(blocks(), voxel, thinning.most)
        if kept is not None:
            return kept
        voxel *= COARSER


def _kept(blocks: Iterator[Floats], voxel: float, most: int) -> Thinned | None:
    """What voxels of this side leave; None if that is more than `most` points."""
    size = 1 << int(np.ceil(np.log2(2 * most + 2)))
    table = np.full(size, EMPTY, dtype=np.int64)
    points = np.empty((most, 3))
    read = finite = kept = 0
    for block in blocks:
        good = block[np.isfinite(block).all(axis=1)]
        read, finite = read + len(block), finite + len(good)
        new = good[_first_of_voxel(_keys(good, voxel), table)]
        if kept + len(new) > most:
            return None
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
    room = table.size - np.sum(table != EMPTY) - 1
    for i in range(keys.size):
        if room <= 0:
            break
        mixed = np.uint64(keys[i]) * np.uint64(0x9E3779B97F4A7C15)
        place = (mixed ^ (mixed >> np.uint64(29))) & mask
        while table[place] != EMPTY and table[place] != keys[i]:
            place = (place + np.uint64(1)) & mask
        first[i] = table[place] == EMPTY
        if first[i]:
            table[place] = keys[i]
            room -= 1
    return first
