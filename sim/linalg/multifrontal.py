"""The multifrontal factorisation L D L^T: Duff and Reid, ACM TOMS 9 (1983); Liu, SIAM
Review 34 (1992).

Each supernode, columns with the same rows in L, is eliminated in a frontal matrix: a
dense symmetric matrix F over these rows, with the columns' own entries of A and the
update matrices of the supernode's children added in (extend-add). With F11 over the
columns and F21 below them,

    F11 = L1 D L1^T,    L2 = F21 L1^-T D^-1,    U = F22 - L2 D L2^T;

L1 and L2 are stored, and the Schur complement U is the update matrix that waits on a
stack until the parent takes it. `F[k, i]` is row i of column k, i >= k, so that a
column is contiguous. `sim.linalg.elimination_order` prepares the places.
`compliance` solves for many right-hand sides at once.
"""

from typing import NamedTuple

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.core.numba_kernels import kernel

BLOCK = 4  # columns that are subtracted from later ones in one sweep
LARGE = 64  # rows from which a front is eliminated by products of matrices,
PANEL = 16  # this many columns at first,
TILE = 64  # and subtracted from as many later ones at once


class Fronts(NamedTuple):
    """The places of the entries of A and L, in the order of elimination.

    Attributes
    ----------
    order : (n,) unknowns in the order of their elimination
    slot : (e,) where each given entry is added in the lower triangle of P A P^T
    start, row : (n + 1,), (u,) columns of that triangle
    first : (s + 1,) first column of each front
    front_start, front_row : (s + 1,), (q,) rows of each front, its own columns first
    panel : (s + 1,) where the columns of L of each front begin
    children : (s,) how many update matrices are added to each front
    widest : rows of the largest front
    scratch : work space for one front, then the stack of update matrices
    """

    order: Ints
    slot: Ints
    start: Ints
    row: Ints
    first: Ints
    front_start: Ints
    front_row: Ints
    panel: Ints
    children: Ints
    widest: int
    scratch: Floats


@kernel
def factorise_fronts(
    fronts: Fronts,
    values: Floats,
    drop: float,
    L: Floats,
    pivot: Floats,
    definite: bool,
) -> None:
    """Fill L and the pivots, front by front; children come before parents.

    Parameters
    ----------
    definite : end where a pivot is negative
    """
    first, front_start, scratch = fronts.first, fronts.front_start, fronts.scratch
    entries = np.bincount(fronts.slot, values, len(fronts.row)).astype(np.float64)
    terms = np.zeros(len(pivot))
    local = np.empty(len(pivot), dtype=np.int64)
    waiting, place = np.empty((2, len(first)), dtype=np.int64)
    top, count = fronts.widest**2, 0
    for s in range(len(first) - 1):
        rows = fronts.front_row[front_start[s] : front_start[s + 1]]
        size, width = len(rows), first[s + 1] - first[s]
        F = scratch[: size * size].reshape(size, size)
        _place_entries(fronts, entries, s, F, rows, local, terms)
        for _ in range(fronts.children[s]):
            count -= 1
            top = place[count]
            _extend_add(F, scratch[top:], fronts, waiting[count], local)
        D = pivot[first[s] : first[s + 1]]
        _eliminate_columns(F, width, rows, terms, drop, D)
        if definite and np.any(D < 0.0):
            return
        left = size - width
        _copy_triangle(F, L[fronts.panel[s] : fronts.panel[s + 1]].reshape(width, size))
        update = scratch[top : top + left * left].reshape(left, left)
        _copy_triangle(F[width:, width:], update)
        waiting[count], place[count] = s, top
        count, top = count + 1, top + left * left


@kernel
def _place_entries(
    fronts: Fronts, entries: Floats, s: int, F: Floats, rows: Ints, local: Ints,
    terms: Floats,
) -> None:  # fmt: skip
    """A front with the entries of A in its own columns; where its rows are in it."""
    low = fronts.first[s]
    for k in range(len(rows)):
        local[rows[k]] = k
        F[k, k:] = 0.0
    for k in range(fronts.first[s + 1] - low):
        for p in range(fronts.start[low + k], fronts.start[low + k + 1]):
            F[k, local[fronts.row[p]]] += entries[p]
        terms[low + k] += abs(F[k, k])


@kernel
def _copy_triangle(source: Floats, target: Floats) -> None:
    """The columns of a lower triangle, as far as `target` has them."""
    for k in range(len(target)):
        for i in range(k, target.shape[1]):
            target[k, i] = source[k, i]


@kernel
def _extend_add(
    F: Floats, flat: Floats, fronts: Fronts, child: int, local: Ints
) -> None:
    """Extend-add: a child's update matrix, at the places of its rows in the front."""
    width = fronts.first[child + 1] - fronts.first[child]
    rows = fronts.front_row[
        fronts.front_start[child] + width : fronts.front_start[child + 1]
    ]
    size = len(rows)
    U = flat[: size * size].reshape(size, size)
    for k in range(size):
        column = F[local[rows[k]]]
        for i in range(k, size):
            column[local[rows[i]]] += U[k, i]


@kernel
def _eliminate_columns(
    F: Floats, width: int, rows: Ints, terms: Floats, drop: float, pivot: Floats
) -> None:
    """L D L^T of the first `width` columns; the rest becomes their Schur complement.

    Right-looking: BLOCK columns are finished one after the other, then subtracted from
    all later ones in one sweep. In a large front that sweep ends with the PANEL; of p
    finished panels, as many as the lowest bit of p says are then subtracted from as
    many later ones, so that each has all before it when its turn comes and products
    are of matrices as large as can be (recursive elimination: Gustavson, IBM J. Res.
    Dev. 41, 1997, without the calls).
    """
    size = len(F)
    large = size >= LARGE
    for begin in range(0, width, PANEL):
        end = min(begin + PANEL, width)
        for low in range(begin, end, BLOCK):
            high = min(low + BLOCK, end)
            _finish(F, low, high, rows, terms, drop, pivot)
            _subtract(F, low, high, end if large else size, pivot)
        count = end // PANEL
        ahead = PANEL * (count & -count)
        if large and end < width:
            _subtract_panels(F, end - ahead, end, min(end + ahead, width), pivot)
    if large:
        _subtract_panels(F, 0, width, size, pivot)


@kernel
def _finish(
    F: Floats, low: int, high: int, rows: Ints, terms: Floats, drop: float,
    pivot: Floats,
) -> None:  # fmt: skip
    """Pivots and entries of L of a few columns, one after the other."""
    size = len(F)
    for k in range(low, high):
        column = F[k]
        for j in range(low, k):
            weight = F[j, k] * pivot[j]
            done = F[j]
            for i in range(k, size):
                column[i] -= weight * done[i]
        d = column[k]
        pivot[k] = d if abs(d) > drop * terms[rows[k]] else 0.0
        inverse = 1.0 / pivot[k] if pivot[k] != 0.0 else 0.0
        column[k] = 1.0
        for i in range(k + 1, size):
            column[i] *= inverse
        if drop > 0.0:
            for i in range(k + 1, size):
                terms[rows[i]] += column[i] * column[i] * abs(pivot[k])


@kernel
def _subtract(F: Floats, low: int, high: int, end: int, pivot: Floats) -> None:
    """Subtract at most four finished columns from later ones, up to `end`."""
    if high - low < BLOCK:
        for j in range(low, high):
            done = F[j]
            for k in range(high, end):
                weight = done[k] * pivot[j]
                column = F[k]
                for i in range(k, len(F)):
                    column[i] -= weight * done[i]
        return
    a, b, c, d = F[low], F[low + 1], F[low + 2], F[low + 3]
    for k in range(high, end):
        wa, wb = a[k] * pivot[low], b[k] * pivot[low + 1]
        wc, wd = c[k] * pivot[low + 2], d[k] * pivot[low + 3]
        column = F[k]
        for i in range(k, len(F)):
            column[i] -= wa * a[i] + wb * b[i] + wc * c[i] + wd * d[i]


@kernel
def _subtract_panels(F: Floats, low: int, high: int, end: int, pivot: Floats) -> None:
    """Subtract finished columns from those up to `end`, tile by tile."""
    scaled = np.empty((high - low) * TILE)
    for a in range(high, end, TILE):
        b = min(a + TILE, end)
        S = scaled[: (high - low) * (b - a)].reshape(high - low, b - a)
        for j in range(low, high):
            for k in range(a, b):
                S[j - low, k - a] = F[j, k] * pivot[j]
        product = np.dot(S.T, np.ascontiguousarray(F[low:high, a:]))
        for k in range(b - a):
            column = F[a + k]
            for i in range(len(F) - a):
                column[a + i] -= product[k, i]


@kernel
def solve_fronts(fronts: Fronts, L: Floats, pivot: Floats, b: Floats) -> Floats:
    """x with L D L^T x = b, in the given order of the unknowns."""
    first, front_start, panel = fronts.first, fronts.front_start, fronts.panel
    n = len(pivot)
    y, x = np.empty(n), np.empty(n)
    workspace = np.empty(fronts.widest)
    for k in range(n):
        y[k] = b[fronts.order[k]]
    for s in range(len(first) - 1):
        rows = fronts.front_row[front_start[s] : front_start[s + 1]]
        size, width = len(rows), first[s + 1] - first[s]
        columns = L[panel[s] : panel[s + 1]].reshape(width, size)
        for i in range(size):
            workspace[i] = y[rows[i]]
        for k in range(width):
            column, value = columns[k], workspace[k]
            for i in range(k + 1, size):
                workspace[i] -= column[i] * value
        for i in range(size):
            y[rows[i]] = workspace[i]
    for s in range(len(first) - 2, -1, -1):
        rows = fronts.front_row[front_start[s] : front_start[s + 1]]
        size, width = len(rows), first[s + 1] - first[s]
        columns = L[panel[s] : panel[s + 1]].reshape(width, size)
        for i in range(width, size):
            workspace[i] = y[rows[i]]
        for k in range(width - 1, -1, -1):
            d = pivot[first[s] + k]
            value = y[rows[k]] / d if d != 0.0 else 0.0
            column = columns[k]
            for i in range(k + 1, size):
                value -= column[i] * workspace[i]
            workspace[k] = value if d != 0.0 else 0.0
            y[rows[k]] = workspace[k]
    for k in range(n):
        x[fronts.order[k]] = y[k]
    return x


@kernel
def _forward(fronts: Fronts, L: Floats, b: Floats, y: Floats) -> None:
    """y (n, k) <- L^-1 P b, columns side by side."""
    n, many = b.shape
    front_start = fronts.front_start
    for r in range(n):
        for c in range(many):
            y[r, c] = b[fronts.order[r], c]
    for s in range(len(fronts.first) - 1):
        rows = fronts.front_row[front_start[s] : front_start[s + 1]]
        size, width = len(rows), fronts.first[s + 1] - fronts.first[s]
        columns = L[fronts.panel[s] : fronts.panel[s + 1]].reshape(width, size)
        for k in range(width):
            done = y[rows[k]]
            for i in range(k + 1, size):
                weight, later = columns[k, i], y[rows[i]]
                for c in range(many):
                    later[c] -= weight * done[c]


@kernel
def compliance(fronts: Fronts, L: Floats, pivot: Floats, b: Floats) -> Floats:
    """b^T A^-1 b (k, k) of columns b (n, k); dropped pivots give nothing."""
    y = np.empty(b.shape)
    _forward(fronts, L, b, y)
    over = np.empty(b.shape)
    for r in range(len(pivot)):
        by = 1.0 / pivot[r] if pivot[r] != 0.0 else 0.0
        for c in range(b.shape[1]):
            over[r, c] = by * y[r, c]
    W = y.T @ over
    return 0.5 * (W + W.T)
