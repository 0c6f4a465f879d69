"""Symmetric sparse systems with a fixed pattern: analyse once, factorise often.

    P A P^T = L D L^T,   L unit lower triangular, D diagonal.

    pattern = analyse(n, rows, cols)      # once: ordering and the places of L
    factor = factorise(pattern, values)   # as often as the values change
    x = factor.solve(b)                   # b (n,) or (n, k)
    factor.positive, factor.negative      # inertia: signs of the pivots
    factor.dropped                        # (d,) unknowns whose pivot vanished

A is given by entries `A[rows[e], cols[e]] = values[e]`: every pair i != j once, in
either triangle; entries of the same place add up, so element matrices can be given as
they are (one triangle of each).

Rank. A pivot is what remains of a diagonal entry after the eliminated unknowns have
been subtracted. If nothing but rounding remains,

    |D_k| <= drop (|A_kk| + sum_j |L_kj^2 D_j|),

the unknown depends on earlier ones: its pivot is dropped, its column of L is zero, and
`solve` sets it to zero. For a positive semidefinite A (J J^T of dependent
constraints) this finds the rank, and a consistent system is still solved exactly.

Indefinite matrices. Pivots are single diagonal entries in a fixed order. That is
stable for definite and quasi-definite matrices [H J^T; J -C], with H and C positive
definite. Any other matrix may lose digits, or hit a pivot that vanishes although A is
regular. The caller then shifts the diagonal (H + mu I, a small C) until `negative` is
the number it expects (0 at a stable equilibrium, or the number of constraints), and
removes the effect of the shift by repeating the correction.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array

from sim.arrays import Floats, Ints
from sim.kernels import kernel
from sim.ordering import nested_dissection


@dataclass(frozen=True, eq=False)
class Pattern:
    """The places of the entries of A and L, in the order of elimination.

    Attributes
    ----------
    order : (n,) unknowns in the order of their elimination
    slot : (e,) where each given entry is added in the upper triangle of P A P^T
    start, row : (n + 1,), (u,) columns of that upper triangle
    parent : (n,) elimination tree, -1 at a root
    l_start : (n + 1,) where each column of L begins
    """

    n: int
    order: Ints
    slot: Ints
    start: Ints
    row: Ints
    parent: Ints
    l_start: Ints


@dataclass(frozen=True, eq=False)
class Factor:
    """L D L^T of one set of values.

    Attributes
    ----------
    l_row, l_value : (l,) columns of L below the diagonal
    pivot : (n,) D, zero where dropped
    """

    pattern: Pattern
    l_row: Ints
    l_value: Floats
    pivot: Floats

    @cached_property
    def positive(self) -> int:
        return int(np.count_nonzero(self.pivot > 0))

    @cached_property
    def negative(self) -> int:
        return int(np.count_nonzero(self.pivot < 0))

    @cached_property
    def dropped(self) -> Ints:
        """(d,) unknowns that depend on others, ascending."""
        return np.sort(self.pattern.order[self.pivot == 0.0])

    def solve(self, b: Floats) -> Floats:
        """x with A x = b; dropped unknowns are zero."""
        y = np.ascontiguousarray(b[self.pattern.order], dtype=np.float64)
        columns = y if y.ndim == 2 else y[:, None]
        _solve(self.pattern.l_start, self.l_row, self.l_value, self.pivot, columns)
        x = np.empty_like(y)
        x[self.pattern.order] = y
        return x


def analyse(n: int, rows: Ints, cols: Ints, *, order: Ints | None = None) -> Pattern:
    """Choose the order of elimination and find the places of L.

    Parameters
    ----------
    n : number of unknowns
    rows, cols : (e,) places of the entries to come, each pair i != j once
    order : (n,) order of elimination, where the caller knows a good one
    """
    if order is None:
        order = nested_dissection(*_rows_of_graph(n, rows, cols))
    rank = np.empty(n, dtype=np.int64)
    rank[order] = np.arange(n)
    a, b = rank[rows], rank[cols]
    place = np.maximum(a, b) * n + np.minimum(a, b)
    diagonal = np.arange(n) * (n + 1)
    places, slot = np.unique(np.concatenate([place, diagonal]), return_inverse=True)
    start = np.searchsorted(places, np.arange(n + 1) * n)
    row = places % n
    parent, count = _elimination_tree(start, row)
    l_start = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(count)])
    return Pattern(n, order, slot[: len(place)], start, row, parent, l_start)


def factorise(pattern: Pattern, values: Floats, *, drop: float = 1e-11) -> Factor:
    """Factorise A with the given values.

    Parameters
    ----------
    values : (e,) entries at the places given to `analyse`
    drop : a pivot smaller than this, relative to its terms, is dropped
    """
    entries: Floats = np.bincount(  # type: ignore[assignment]
        pattern.slot, values, minlength=len(pattern.row)
    )
    l_row = np.empty(pattern.l_start[-1], dtype=np.int64)
    l_value = np.empty(pattern.l_start[-1])
    pivot = np.empty(pattern.n)
    _factorise(
        pattern.start,
        pattern.row,
        entries,
        pattern.parent,
        pattern.l_start,
        drop,
        l_row,
        l_value,
        pivot,
    )
    return Factor(pattern, l_row, l_value, pivot)


def _rows_of_graph(n: int, rows: Ints, cols: Ints) -> tuple[Ints, Ints]:
    """The graph of A by rows, as `sim.ordering` wants it."""
    own = np.arange(n)
    i, j = np.concatenate([rows, cols, own]), np.concatenate([cols, rows, own])
    graph = coo_array((np.ones(len(i), dtype=np.int8), (i, j)), shape=(n, n)).tocsr()
    graph.sum_duplicates()
    return graph.indptr.astype(np.int64), graph.indices.astype(np.int64)


@kernel
def _elimination_tree(start: Ints, row: Ints) -> tuple[Ints, Ints]:
    """Parents in the elimination tree, and the entries in each column of L."""
    n = len(start) - 1
    parent = np.full(n, -1)
    count = np.zeros(n, dtype=np.int64)
    seen = np.full(n, -1)
    for k in range(n):
        seen[k] = k
        for p in range(start[k], start[k + 1]):
            i = row[p]
            while seen[i] != k:
                if parent[i] < 0:
                    parent[i] = k
                count[i] += 1
                seen[i] = k
                i = parent[i]
    return parent, count


@kernel
def _factorise(
    start: Ints,
    row: Ints,
    entries: Floats,
    parent: Ints,
    l_start: Ints,
    drop: float,
    l_row: Ints,
    l_value: Floats,
    pivot: Floats,
) -> None:
    """L and D row by row: row k of L solves L_k-1 D_k-1 l = A[:k, k]."""
    n = len(start) - 1
    filled = np.zeros(n, dtype=np.int64)
    y = np.zeros(n)
    seen = np.full(n, -1)
    path = np.empty(n, dtype=np.int64)
    reach = np.empty(n, dtype=np.int64)
    for k in range(n):
        seen[k] = k
        top = n
        d = 0.0
        for p in range(start[k], start[k + 1]):
            i = row[p]
            if i == k:
                d += entries[p]
                continue
            y[i] += entries[p]
            length = 0
            while seen[i] != k:
                path[length] = i
                length += 1
                seen[i] = k
                i = parent[i]
            while length > 0:
                length -= 1
                top -= 1
                reach[top] = path[length]
        size = abs(d)
        for t in range(top, n):
            i = reach[t]
            yi = y[i]
            y[i] = 0.0
            begin = l_start[i]
            end = begin + filled[i]
            for p in range(begin, end):
                y[l_row[p]] -= l_value[p] * yi
            lki = yi / pivot[i] if pivot[i] != 0.0 else 0.0
            d -= lki * yi
            size += abs(lki * yi)
            l_row[end] = k
            l_value[end] = lki
            filled[i] += 1
        pivot[k] = d if abs(d) > drop * size else 0.0


@kernel
def _solve(
    l_start: Ints, l_row: Ints, l_value: Floats, pivot: Floats, b: Floats
) -> None:
    """Solve L D L^T x = b in place; b (n, k)."""
    n, k = b.shape
    for i in range(n):
        for p in range(l_start[i], l_start[i + 1]):
            for c in range(k):
                b[l_row[p], c] -= l_value[p] * b[i, c]
    for i in range(n - 1, -1, -1):
        inverse = 1.0 / pivot[i] if pivot[i] != 0.0 else 0.0
        for c in range(k):
            b[i, c] *= inverse
        for p in range(l_start[i], l_start[i + 1]):
            for c in range(k):
                b[i, c] -= l_value[p] * b[l_row[p], c]
        if pivot[i] == 0.0:
            for c in range(k):
                b[i, c] = 0.0
