"""A sparse grid of cubes: which cube holds which point, and who its neighbours are.

Cubes are numbered by a hash table (`pandas.factorize`), so a scan of any extent costs
memory only where it has points. Their numbers follow the order of their keys, row by
row: a loop over cubes meets their neighbours in order too, and bisection finds a row.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sim.core.arrays import Floats, Ints
from sim.core.numba_kernels import kernel

Int32s = NDArray[np.int32]

SPAN = 1 << 20  # cubes a side that a key can tell apart; three sides fill 60 bits


@dataclass(frozen=True, eq=False)
class Grid:
    """The cubes of side `h` that hold points."""

    low: Floats  # (3,) corner of cube (0, 0, 0), mm
    h: float  # side, mm
    keys: Ints  # (m,) key of each cube, ascending
    cube: Int32s  # (n,) cube of each point, or none where `members` has them


def grid(points: Floats, h: float) -> Grid:
    """Sort points into cubes of side h.

    Parameters
    ----------
    points : (n, 3) mm
    h : side, mm
    """
    lowest, highest = bounds(points)
    low = lowest - 2.0 * h  # two empty cubes all round
    extent = float((highest - low).max()) / h
    if extent > SPAN - 4:
        raise ValueError(
            f"the scan is {extent:.1e} cells of {h:g} mm wide, but at most {SPAN:.0e} "
            "are supported: remove far outliers, or check the unit"
        )
    cube, keys = pd.factorize(_keys(points, low, h), sort=True)
    return Grid(low, h, np.asarray(keys, np.int64), cube.astype(np.int32))


@kernel
def bounds(points: Floats) -> tuple[Floats, Floats]:
    """Corners of the box around the points; numpy takes ten times as long."""
    lowest, highest = points[0].copy(), points[0].copy()
    for p in range(len(points)):
        for d in range(3):
            lowest[d] = min(lowest[d], points[p, d])
            highest[d] = max(highest[d], points[p, d])
    return lowest, highest


@kernel
def _key(points: Floats, p: int, low: Floats, h: float) -> int:
    """Of the cube that holds the point p."""
    key = 0
    for d in range(3):
        key = key << 20 | int((points[p, d] - low[d]) / h)
    return key


@kernel
def _keys(points: Floats, low: Floats, h: float) -> Ints:
    """(n,) of the cubes that hold the points."""
    keys = np.empty(len(points), np.int64)
    for p in range(len(points)):
        keys[p] = _key(points, p, low, h)
    return keys


@kernel
def holding(points: Floats, some: Ints, low: Floats, h: float, keys: Ints) -> Int32s:
    """Cube of some of the points; quick where one follows another of the same cube."""
    cube = np.empty(len(some), np.int32)
    previous, number = -1, 0
    for k in range(len(some)):
        key = _key(points, some[k], low, h)
        if key != previous:
            previous, number = key, int(np.searchsorted(keys, key))
        cube[k] = number
    return cube


@kernel
def neighbours(keys: Ints, m: int, reach: int, rows: Ints, near: Ints) -> None:
    """Put into near (27,) the cubes `reach` cubes around the cube m, -1 where none is.

    Steps follow as (i, j, k) in base three. Start with rows (9,) of zeros, which keep
    where the rows of cubes around were met: m must not fall from call to call.
    """
    for row in range(9):
        i, j = row // 3 - 1, row % 3 - 1
        key = keys[m] + reach * ((i << 40) + (j << 20) - 1)
        at = rows[row]
        while at < len(keys) and keys[at] < key:
            at += 1
        rows[row] = at
        for k in range(3):
            while at < len(keys) and keys[at] < key:
                at += 1
            there = at < len(keys) and keys[at] == key
            near[3 * row + k] = at if there else -1
            key += reach


@kernel
def members(cube: Int32s, cubes: int) -> tuple[Ints, Int32s]:
    """Return `first`, `order`: cube k holds order[first[k]:first[k + 1]]."""
    first = np.zeros(cubes + 1, np.int64)
    first[1:] = np.cumsum(np.bincount(cube, minlength=cubes))
    place = first[:-1].copy()
    order = np.empty(len(cube), np.int32)
    for p in range(len(cube)):
        k = cube[p]
        order[place[k]] = p
        place[k] += 1
    return first, order


@kernel
def within(
    points: Floats,
    low: Floats,
    h: float,
    keys: Ints,
    first: Ints,
    order: Int32s,
    centre: Floats,
    reach: float,
) -> Ints:
    """Indices of the points closer to the centre than `reach`, cube by cube."""
    lowest, highest = np.empty(3, np.int64), np.empty(3, np.int64)
    for d in range(3):
        lowest[d] = max(0, int((centre[d] - reach - low[d]) / h))
        highest[d] = min(SPAN - 1, int((centre[d] + reach - low[d]) / h))
    near = np.empty(1024, np.int64)
    count = 0
    for i in range(lowest[0], highest[0] + 1):
        for j in range(lowest[1], highest[1] + 1):
            row = i << 40 | j << 20
            cube = np.searchsorted(keys, row | lowest[2])
            end = cube
            while end < len(keys) and keys[end] <= row | highest[2]:
                end += 1
            most = count + first[end] - first[cube]
            if most > len(near):
                grown = np.empty(2 * most, np.int64)
                grown[:count] = near[:count]
                near = grown
            for m in range(first[cube], first[end]):
                p = order[m]
                square = 0.0
                for d in range(3):
                    square += (points[p, d] - centre[d]) ** 2
                if square < reach * reach:
                    near[count] = p
                    count += 1
    return near[:count].copy()
