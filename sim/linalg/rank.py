"""Rank of a sparse matrix without squaring it: the pivots of a multifrontal QR.

    A = Q R,    |R_kk| the distance of column k from the span of those before it

A A^T or A^T A knows a singular value only down to the root of what is rounded, 1.5e-8
of the largest; Householder's reflections keep all digits. R has its entries where the
Cholesky factor of A^T A has them, and so the fronts are those of
`sim.linalg.sparse_ldl`: a front takes the rows of A that begin in it and what its
children have left over, and reflects its own columns to triangular form (multifrontal
QR: Duff and Reid, ACM TOMS 9, 1983; Davis, ACM TOMS 38, 2011). A column of which no
more than rounding remains depends on earlier ones and takes no row (Heath, SIAM J. Sci.
Stat. Comput. 3, 1982).
"""

from typing import NamedTuple

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.core.numba_kernels import kernel
from sim.linalg.multifrontal import Fronts


class SparseRows(NamedTuple):
    """A matrix row by row.

    Attributes
    ----------
    start : (r + 1,) where the entries of each row begin
    column, value : (e,) of each entry
    """

    start: Ints
    column: Ints
    value: Floats


def column_pivots(fronts: Fronts, A: SparseRows, drop: float) -> Floats:
    """(n,) |R_kk| over the length of column k, zero where it depends on earlier ones.

    Parameters
    ----------
    fronts : of A^T A, with the order in which columns are taken
    drop : a pivot smaller than this counts as zero
    """
    place = np.empty_like(fronts.order)
    place[fronts.order] = np.arange(len(place))
    filled = np.diff(A.start) > 0
    begins = np.minimum.reduceat(place[A.column], A.start[:-1][filled])
    owner = np.searchsorted(fronts.first, begins, side="right") - 1
    by_front = np.argsort(owner, kind="stable")
    owned = np.searchsorted(owner[by_front], np.arange(len(fronts.first)))
    rows = np.flatnonzero(filled)[by_front]
    length = np.sqrt(np.bincount(A.column, A.value**2, len(place)))
    found = np.empty(len(place))
    found[fronts.order] = _reflect(
        fronts, A, place, owned, rows, length[fronts.order], drop
    )
    return found


@kernel
def _reflect(
    fronts: Fronts,
    A: SparseRows,
    place: Ints,
    owned: Ints,
    rows_of_fronts: Ints,
    length: Floats,
    drop: float,
) -> Floats:
    """The same in the order of elimination.

    Parameters
    ----------
    place : (n,) of each column in this order
    owned, rows_of_fronts : the rows that begin in front s are
        `rows_of_fronts[owned[s]:owned[s + 1]]`
    length : (n,) of the columns in this order
    """
    first, front_start = fronts.first, fronts.front_start
    pivot, local = np.empty_like(length), np.empty(len(length), dtype=np.int64)
    stack = np.empty(len(fronts.scratch) - fronts.widest**2)
    waiting = np.empty(len(fronts.children) + 1, dtype=np.int64)
    heights = np.empty(len(waiting), dtype=np.int64)
    top = count = 0
    for s in range(len(fronts.children)):
        rows = fronts.front_row[front_start[s] : front_start[s + 1]]
        size, width = len(rows), first[s + 1] - first[s]
        for k in range(size):
            local[rows[k]] = k
        height = own = owned[s + 1] - owned[s]
        for c in range(fronts.children[s]):
            height += heights[count - 1 - c]
        F = np.zeros((height, size))
        _own_rows(F, A, rows_of_fronts[owned[s] : owned[s + 1]], place, local)
        for _ in range(fronts.children[s]):
            count -= 1
            child = waiting[count]
            below = fronts.front_row[front_start[child] : front_start[child + 1]]
            below = below[first[child + 1] - first[child] :]
            top -= heights[count] * len(below)
            _take(F, own, stack[top:], heights[count], below, local)
            own += heights[count]
        columns = slice(first[s], first[s + 1])
        done = _eliminate(F, length[columns], drop, pivot[columns])
        left = _triangular(F, done, width)
        for i in range(left):
            for k in range(width, size):
                stack[top] = F[done + i, k]
                top += 1
        waiting[count], heights[count] = s, left
        count += 1
    return pivot


@kernel
def _own_rows(F: Floats, A: SparseRows, rows: Ints, place: Ints, local: Ints) -> None:
    """Add the rows of A that begin in a front to the first ones of F."""
    for i in range(len(rows)):
        for e in range(A.start[rows[i]], A.start[rows[i] + 1]):
            F[i, local[place[A.column[e]]]] += A.value[e]


@kernel
def _eliminate(F: Floats, length: Floats, drop: float, pivot: Floats) -> int:
    """Bring a front's own columns to triangular form; the rows that they take.

    Parameters
    ----------
    length : (w,) of the whole columns
    pivot : (w,) set to what remains of each, of its length
    """
    done = 0
    for k in range(len(pivot)):
        remains = np.sqrt(np.sum(F[done:, k] ** 2))
        ratio = remains / length[k]
        pivot[k] = ratio if ratio > drop else 0.0
        if pivot[k] > 0.0:
            _reflect_column(F, done, k, remains)
            done += 1
    return done


@kernel
def _take(
    F: Floats, begin: int, flat: Floats, height: int, columns: Ints, local: Ints
) -> None:
    """Copy what a child has left over into rows of F from `begin` on."""
    size = len(columns)
    for i in range(height):
        for k in range(size):
            F[begin + i, local[columns[k]]] = flat[i * size + k]


@kernel
def _triangular(F: Floats, done: int, width: int) -> int:
    """Bring what is left of F to no more rows than columns; how many there are."""
    height, size = F.shape
    left: int = height - done
    if left <= size - width:
        return left
    low = done
    for k in range(width, size):
        length = np.sqrt(np.sum(F[low:, k] ** 2))
        if length > 0.0:
            _reflect_column(F, low, k, length)
            low += 1
    return low - done


@kernel
def _reflect_column(F: Floats, low: int, k: int, length: float) -> None:
    """Householder's reflection, after which column k ends with row `low`."""
    height, size = F.shape
    if F[low, k] < 0.0:
        length = -length
    F[low, k] += length
    weight = 1.0 / (length * F[low, k])
    along = np.zeros(size)
    for i in range(low, height):
        v = F[i, k]
        if v != 0.0:
            for j in range(k + 1, size):
                along[j] += v * F[i, j]
    for i in range(low, height):
        v = weight * F[i, k]
        if v != 0.0:
            for j in range(k + 1, size):
                F[i, j] -= v * along[j]
        F[i, k] = 0.0
    F[low, k] = -length
