"""Rows that are sums of products, quadratic at most, and their exact derivatives.

With the number 1 after the unknowns, x = (z, 1), each row is

    c = sum_e factor_e s(t)_e x_i x_j,

s a time function where something is driven, else 1. Rows are divided by their unit. For
quadratic c the mean of the ends' gradients is exact: c(z1) - c(z0) = G(z) (z1 - z0)
with G at the midpoint z.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from sim.arrays import Bools, Floats, Ints

Edge = tuple[int, int]


@dataclass(frozen=True, eq=False)
class QuadraticRows:
    """Rows as sums of products.

    Attributes
    ----------
    count, unknowns : m rows, N unknowns
    row, i, j, slot : (e,) of each product; i or j is N for the number 1, slot says
        which time function
    factor : (e,)
    """

    count: int
    unknowns: int
    row: Ints
    i: Ints
    j: Ints
    slot: Ints
    factor: Floats

    def values(self, z: Floats, s: Floats) -> Floats:
        """(m,) c at z (N,), with the time functions s."""
        x = np.append(z, 1.0)
        terms = self.factor * s[self.slot] * x[self.i] * x[self.j]
        return np.bincount(self.row, terms, self.count).astype(np.float64)

    def rounding(self, z: Floats, s: Floats) -> Floats:
        """(m,) by how much rounding of their products may change c at z."""
        x = np.append(z, 1.0)
        terms = np.abs(self.factor * s[self.slot] * x[self.i] * x[self.j])
        sums = np.bincount(self.row, terms, self.count)
        return (np.finfo(np.float64).eps * sums).astype(np.float64)

    def slopes(self, z: Floats, s: Floats, one: float = 1.0) -> Floats:
        """Entries of G at z; with `one` zero, of what is linear in z of it."""
        x, f = np.append(z, one), self.factor * s[self.slot]
        return np.concatenate([f * x[self.j], f * x[self.i]])[self._inside]

    def bends(self, y: Floats, s: Floats) -> Floats:
        """Entries of sum_i y_i Hess c_i."""
        f = self.factor * s[self.slot] * y[self.row]
        return np.concatenate([f, f])[self._bent]

    @cached_property
    def slope_places(self) -> tuple[Ints, Ints]:
        """Rows and columns of the entries of G; those of one place add up."""
        row, col = np.tile(self.row, 2), np.concatenate([self.i, self.j])
        return row[self._inside], col[self._inside]

    @cached_property
    def bend_places(self) -> tuple[Ints, Ints]:
        """Rows and columns of the entries of the second derivatives."""
        row, col = np.concatenate([self.i, self.j]), np.concatenate([self.j, self.i])
        return row[self._bent], col[self._bent]

    @cached_property
    def _inside(self) -> Bools:
        return np.concatenate([self.i, self.j]) < self.unknowns

    @cached_property
    def _bent(self) -> Bools:
        both = (self.i < self.unknowns) & (self.j < self.unknowns)
        return np.tile(both, 2)

    def pulled(self, z: Floats, s: Floats, y: Floats, one: float = 1.0) -> Floats:
        """(N,) G^T y."""
        row, col = self.slope_places
        terms = self.slopes(z, s, one) * y[row]
        return np.bincount(col, terms, self.unknowns).astype(np.float64)

    def along(self, z: Floats, s: Floats, dz: Floats, one: float = 1.0) -> Floats:
        """(m,) G dz."""
        row, col = self.slope_places
        terms = self.slopes(z, s, one) * dz[col]
        return np.bincount(row, terms, self.count).astype(np.float64)

    def dense(self, z: Floats, s: Floats) -> Floats:
        """(m, N) G."""
        G = np.zeros((self.count, self.unknowns))
        np.add.at(G, self.slope_places, self.slopes(z, s))
        return G

    def sparse(self, z: Floats, s: Floats) -> csr_array:
        """(m, N) G."""
        shape = (self.count, self.unknowns)
        return csr_array((self.slopes(z, s), self.slope_places), shape=shape)

    def chosen(self, kept: Bools) -> "QuadraticRows":
        """The kept rows (m,) alone."""
        own, place = kept[self.row], np.cumsum(kept) - 1
        return replace(
            self,
            count=int(np.count_nonzero(kept)),
            row=place[self.row[own]],
            i=self.i[own],
            j=self.j[own],
            slot=self.slot[own],
            factor=self.factor[own],
        )


@dataclass(eq=False)
class RowDraft:
    """Rows while they are written down."""

    unknowns: int
    count: int
    entries: list[tuple[int, int, int, float, int]] = field(default_factory=list)

    def number(self, row: int, factor: float, slot: int = 0) -> None:
        """Add a number."""
        self.entries.append((row, self.unknowns, self.unknowns, factor, slot))

    def single(self, row: int, i: int, factor: float) -> None:
        """Add an unknown."""
        self.entries.append((row, i, self.unknowns, factor, 0))

    def product(self, row: int, i: int, j: int, factor: float, slot: int = 0) -> None:
        """Add a product of two unknowns."""
        self.entries.append((row, i, j, factor, slot))

    def edges(
        self, row: int, d: Edge, u: Edge, along: tuple[int, int], factor: float,
        slot: int = 0,
    ) -> None:  # fmt: skip
        """Add the product of component along[0] of d and along[1] of u, both edges."""
        for a, sign in ((d[1], 1.0), (d[0], -1.0)):
            for b, other in ((u[1], 1.0), (u[0], -1.0)):
                i, j = 3 * a + along[0], 3 * b + along[1]
                self.product(row, i, j, factor * sign * other, slot)

    def scalar(self, row: int, d: Edge, u: Edge, factor: float, slot: int = 0) -> None:
        """Add d . u."""
        for c in range(3):
            self.edges(row, d, u, (c, c), factor, slot)

    def cross(
        self, row: int, d: Edge, u: Edge, axis: int, factor: float, slot: int = 0
    ) -> None:
        """Add component `axis` of d x u."""
        j, k = (axis + 1) % 3, (axis + 2) % 3
        self.edges(row, d, u, (j, k), factor, slot)
        self.edges(row, d, u, (k, j), -factor, slot)

    def along(self, row: int, d: Edge, w: int) -> None:
        """Add d . w, w three unknowns from `w` on."""
        for c in range(3):
            self.product(row, 3 * d[1] + c, w + c, 1.0)
            self.product(row, 3 * d[0] + c, w + c, -1.0)

    def made(self, scale: Floats) -> QuadraticRows:
        """The rows, each divided by its `scale` (m,)."""
        entries = np.array(self.entries, dtype=np.float64).reshape(-1, 5)
        row, i, j, slot = entries[:, [0, 1, 2, 4]].astype(np.int64).T
        factor = entries[:, 3] / scale[row]
        return QuadraticRows(self.count, self.unknowns, row, i, j, slot, factor)
