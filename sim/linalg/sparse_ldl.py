"""Symmetric sparse systems with a fixed pattern: analyse once, factorise often.

    P A P^T = L D L^T,   L unit lower triangular, D diagonal.

    pattern = analyse(n, rows, cols)      # once: ordering and the places of L
    factor = factorise(pattern, values)   # as often as the values change
    x = factor.solve(b)                   # b (n,) or (n, k)
    factor.positive, factor.negative      # inertia: signs of the pivots
    factor.dropped                        # (d,) unknowns whose pivot vanished

Columns with the same places in L, a supernode, are eliminated together in one dense
front (`sim.linalg.multifrontal`), so that most of the work runs over contiguous memory.
The places of L are found by `sim.linalg.elimination_order`.

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
definite (Vanderbei, SIAM J. Optim. 5, 1995). Any other matrix may lose digits, or hit
a pivot that vanishes although A is regular. The caller then shifts the diagonal
(inertia correction: H + mu I, a small C) until `negative` is
the number it expects (0 at a stable equilibrium, or the number of constraints), and
removes the effect of the shift by repeating the correction.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.linalg.elimination_order import (
    elimination_tree,
    front_rows,
    front_sizes,
    minimum_degree,
    postorder,
    stack_size,
    supernodes,
)
from sim.linalg.multifrontal import Fronts, factorise_fronts, solve_fronts

DROP = 1e-11  # relative size of a pivot of which only rounding is left
SPARE_FACTORS = 2  # whose memory is reused


@dataclass(frozen=True, eq=False)
class SparsityPattern:
    """What is found once for all values.

    Attributes
    ----------
    fronts : the places of the entries of A and L
    spare : memory of deleted factors. Fresh memory comes page by page, and asking
        for it took as long as the arithmetic
    """

    n: int
    fronts: Fronts
    spare: list[Floats]

    def memory(self) -> tuple[Floats, Floats]:
        """For L and the pivots of one factor."""
        L = self.spare.pop() if self.spare else np.empty(self.fill)
        return L, np.empty(self.n)

    def take_back(self, L: Floats) -> None:
        """Reuse the memory of a deleted factor for the next."""
        if len(self.spare) < SPARE_FACTORS:
            self.spare.append(L)

    @contextmanager
    def lent(self) -> Iterator[tuple[Floats, Floats]]:
        """Memory for L and the pivots of a temporary factor."""
        L, pivot = self.memory()
        try:
            yield L, pivot
        finally:
            self.take_back(L)

    @property
    def order(self) -> Ints:
        """(n,) unknowns in the order of their elimination."""
        return self.fronts.order

    @property
    def fill(self) -> int:
        """Entries of L that are stored, zeros among them."""
        return int(self.fronts.panel[-1])


@dataclass(frozen=True, eq=False)
class Factor:
    """L D L^T of one set of values.

    Attributes
    ----------
    L : (fill,) columns of L, front by front
    pivot : (n,) D, zero where dropped
    """

    pattern: SparsityPattern
    L: Floats
    pivot: Floats

    def __del__(self) -> None:
        self.pattern.take_back(self.L)

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
        fronts = self.pattern.fronts
        columns = np.ascontiguousarray(b.T, dtype=np.float64)
        if b.ndim == 1:
            return solve_fronts(fronts, self.L, self.pivot, columns)
        each = [solve_fronts(fronts, self.L, self.pivot, column) for column in columns]
        return np.stack(each, axis=1)


def analyse(
    n: int, rows: Ints, cols: Ints, *, order: Ints | None = None
) -> SparsityPattern:
    """Choose the order of elimination and find the places of L.

    Parameters
    ----------
    n : number of unknowns
    rows, cols : (e,) places of the entries to come, each pair i != j once
    order : (n,) order of elimination, where the caller knows a good one
    """
    if order is None:
        order = minimum_degree(n, rows, cols)
    start, row, _ = _triangle(n, order, rows, cols, upper=True)
    parent, count = elimination_tree(start, row)
    after = postorder(parent)  # columns of a front become neighbours
    rank = np.empty(n + 1, dtype=np.int64)
    rank[after], rank[n] = np.arange(n), -1
    order, parent, count = order[after], rank[parent[after]], count[after]
    first = supernodes(parent, count)
    start, row, slot = _triangle(n, order, rows, cols, upper=False)
    sizes, above = front_sizes(first, parent, count)
    front_start = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
    front_row = front_rows(start, row, first, above, front_start)
    widths = np.diff(first)
    panel = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(widths * sizes)])
    children = np.bincount(above[above >= 0], minlength=len(widths)).astype(np.int64)
    widest = int(sizes.max(initial=0))
    scratch = np.empty(widest**2 + stack_size(sizes - widths, children))
    fronts = Fronts(
        order, slot, start, row, first, front_start, front_row, panel, children,
        widest, scratch,
    )  # fmt: skip
    return SparsityPattern(n, fronts, [])


def factorise(
    pattern: SparsityPattern,
    values: Floats,
    *,
    drop: float = DROP,
    definite: bool = False,
) -> Factor:
    """Factorise A with the given values.

    Parameters
    ----------
    values : (e,) entries at the places given to `analyse`
    drop : a pivot smaller than this, relative to its terms, is dropped
    definite : end at the first negative pivot, of an A that is to be positive definite;
        such a factor says no more than that it is not
    """
    L, pivot = pattern.memory()
    factorise_fronts(pattern.fronts, values, drop, L, pivot, definite)
    return Factor(pattern, L, pivot)


def _triangle(
    n: int, order: Ints, rows: Ints, cols: Ints, *, upper: bool
) -> tuple[Ints, Ints, Ints]:
    """Columns of a triangle of P A P^T with its diagonal: start, rows, given slots."""
    rank = np.empty(n, dtype=np.int64)
    rank[order] = np.arange(n)
    a, b, own = rank[rows], rank[cols], np.arange(n)
    low = np.concatenate([np.minimum(a, b), own])
    high = np.concatenate([np.maximum(a, b), own])
    start, row, slot = sorted_places((n, n), *((high, low) if upper else (low, high)))
    return start, row, slot[: len(rows)]


class LowerPlaces(NamedTuple):
    """Entries in a lower triangle: rows, columns, and which numbers they are."""

    rows: Ints
    cols: Ints
    taken: Ints


def lower_places(rows: Ints, cols: Ints) -> LowerPlaces:
    """Where the matrices of elements go, with rows (e, w) and columns (e, v).

    Numbers below zero stand for what is no unknown.
    """
    row, col = np.broadcast_arrays(rows[:, :, None], cols[:, None, :])
    taken = np.flatnonzero((row >= col) & (col >= 0))
    return LowerPlaces(row.ravel()[taken], col.ravel()[taken], taken)


def sorted_places(
    shape: tuple[int, int], major: Ints, minor: Ints
) -> tuple[Ints, Ints, Ints]:
    """Places (e,) of entries in their order, each once.

    Returns
    -------
    start, minor : (shape[0] + 1,), (u,) the places of each major one
    slot : (e,) which of them each entry has
    """
    keys, slot = np.unique(major * shape[1] + minor, return_inverse=True)
    start = np.searchsorted(keys, shape[1] * np.arange(shape[0] + 1))
    return start.astype(np.int64), keys % shape[1], slot.astype(np.int64)
