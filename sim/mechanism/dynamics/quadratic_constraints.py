"""The constraints of a structure as quadratic rows that no rotation changes.

A row that rotations leave alone, and that is quadratic, has an exact discrete gradient
at the midpoint of a step which puts no moment on the whole (Gonzalez, Physica D 132,
1999). Distances and dot products are such rows. A triple product d . (u x v) - k is
cubic, and a point on a line, d - lambda u, is a vector that turns with the whole. Both
become such rows by a frame: two edges u, v whose normal and products are unknowns,

    w.u = 0,  w.v = 0,  w.w - alpha beta + gamma^2 = 0,
    alpha - u.u = 0,  beta - v.v = 0,  gamma - u.v = 0.

Then a triple product is d.w - k, and a point is on a line if

    d.u - lambda alpha = 0,  d.v - lambda gamma = 0,  d.w = 0,

v another edge of the body of the line. A line of two nodes that are in no body with
others stays a vector, of which angular momentum is conserved to the order of h^2 alone.

The rows are sums of products. With the number 1 after the unknowns, x = (z, 1), each
row is

    c = sum_e factor_e s(t)_e x_i x_j,

s a time function where something is driven, else 1. Rows are divided by their unit. For
quadratic c the mean of the ends' gradients is exact: c(z1) - c(z0) = G(z) (z1 - z0)
with G at the midpoint z.

Ranks are found by reflections (`sim.linalg.rank`), least changes and shares of rows by
sparse LU of

    [ M  A^T ]
    [ A  0   ],

which is regular where the rows of A are independent and M is positive along what they
leave (Nocedal and Wright, sect. 16.1).
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import block_array, csr_array, diags_array, eye_array, triu, vstack
from scipy.sparse.linalg import splu

from sim.core.arrays import Bools, Floats, Ints
from sim.linalg.rank import SparseRows, column_pivots
from sim.linalg.sparse_ldl import analyse
from sim.mechanism.constraints import DEGREE, ROWS, ConstraintKind
from sim.mechanism.object_cache import once_per_owner
from sim.mechanism.shape_measures import characteristic_length
from sim.mechanism.structure import Structure

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
        _, _, other, slot, factor = self.entries
        x = np.empty(self.unknowns + 1)
        x[:-1], x[-1] = z, one
        return factor * s[slot] * x[other]

    @property
    def slope_places(self) -> tuple[Ints, Ints]:
        """Rows and columns of the entries of G; those of one place add up."""
        return self.entries[:2]

    @cached_property
    def entries(self) -> tuple[Ints, Ints, Ints, Ints, Floats]:
        """Of G: row, column, unknown that it is linear in, slot and factor."""
        col, other = np.concatenate([[self.i, self.j], [self.j, self.i]], axis=1)
        parts = np.tile([self.row, self.slot], 2)
        row, slot, factor = *parts, np.tile(self.factor, 2)
        own = col < self.unknowns
        return row[own], col[own], other[own], slot[own], factor[own]

    def along(self, slopes: Floats, dz: Floats) -> Floats:
        """(m,) G dz, by the entries of G."""
        row, col = self.slope_places
        return np.bincount(row, slopes * dz[col], self.count).astype(np.float64)

    def dense(self, z: Floats, s: Floats) -> Floats:
        """(m, N) G."""
        G = np.zeros((self.count, self.unknowns))
        np.add.at(G, self.slope_places, self.slopes(z, s))
        return G

    def sparse(self, z: Floats, s: Floats) -> csr_array:
        """(m, N) G."""
        shape = (self.count, self.unknowns)
        return csr_array((self.slopes(z, s), self.slope_places), shape=shape)

    def only(self, chosen: Bools) -> "QuadraticRows":
        """The chosen rows (m,) alone."""
        own, place = chosen[self.row], np.cumsum(chosen) - 1
        return replace(
            self,
            count=int(np.count_nonzero(chosen)),
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
        """The rows, each divided by its `scale` (m,); equal products add up."""
        entries = np.array(self.entries, dtype=np.float64).reshape(-1, 5)
        products = entries[:, [0, 1, 2, 4]].astype(np.int64)
        products[:, 1:3].sort(axis=1)
        products, same = np.unique(products, axis=0, return_inverse=True)
        row, i, j, slot = np.ascontiguousarray(products.T)
        factor = np.bincount(same, entries[:, 3], len(row)) / scale[row]
        return QuadraticRows(self.count, self.unknowns, row, i, j, slot, factor)


# height of a node over a line, of its length, above which it is off the line
FLAT = 1e-6
OF_FRAME = 6  # unknowns w, alpha, beta, gamma of a frame, and as many rows


class RowFrame(NamedTuple):
    """Two edges whose normal and products are unknowns of their own.

    Attributes
    ----------
    constraint : that they belong to
    first : its first unknown, and row
    """

    constraint: int
    u: Edge
    v: Edge
    first: tuple[int, int]


@once_per_owner
def frames_of(structure: Structure) -> tuple[RowFrame, ...]:
    """Those of triple products, and of lines in a body with a node off them."""
    found: list[RowFrame] = []
    table = structure.constraints
    z, c = 3 * len(structure.r0) + table.multipliers, int(ROWS[table.kind].sum())
    for e, kind in enumerate(table.kind.tolist()):
        p, q, s, t = table.nodes[e, 2:].tolist()
        first = z + OF_FRAME * len(found), c + OF_FRAME * len(found)
        off_line = (
            _node_off_line(structure, p, q) if kind == ConstraintKind.PAR else None
        )
        if kind == ConstraintKind.TRIPLE:
            found.append(RowFrame(e, (p, q), (s, t), first))
        elif off_line is not None:
            found.append(RowFrame(e, (p, q), (p, off_line), first))
    return tuple(found)


def _node_off_line(structure: Structure, p: int, q: int) -> int | None:
    """A node of a body of p and q that is farthest off their line, if one is off it."""
    r, far = structure.r0, dict[int, float]()
    for body in structure.bodies:
        if p in body and q in body:
            for j in set(body) - {p, q}:
                area = np.linalg.norm(np.cross(r[q] - r[p], r[j] - r[p]))
                far[j] = float(area / np.sum((r[q] - r[p]) ** 2))
    most = max(far, key=lambda j: far[j], default=None)
    return most if most is not None and far[most] > FLAT else None


def drafted(structure: Structure, more: int) -> tuple[RowDraft, Floats]:
    """The rows of a structure, and their units (m,).

    First the rows of its constraints in their order, then six for each frame, then
    `more` that are still empty.
    """
    table, frames = structure.constraints, frames_of(structure)
    extra, L = OF_FRAME * len(frames), characteristic_length(structure.r0) or 1.0
    unknowns = 3 * len(structure.r0) + table.multipliers + extra
    draft = RowDraft(unknowns, int(ROWS[table.kind].sum()) + extra + more)
    scale = np.full(draft.count, L**2)
    of, lam = {frame.constraint: frame for frame in frames}, 3 * len(structure.r0)
    for e, row in enumerate(table.first_row[:-1].tolist()):
        kind = ConstraintKind(table.kind[e])
        k, nodes = float(table.constant[e]), tuple(table.nodes[e].tolist())
        scale[row : row + ROWS[kind]] = L ** float(DEGREE[kind])
        if kind is ConstraintKind.DIST and k > 0.0:
            scale[row] = k
        if kind is ConstraintKind.PAR:
            _write_line(draft, row, lam, nodes, of.get(e))
            scale[row : row + 3] = (L**2, L**2, L**3) if e in of else L
            lam += 1
        else:
            _write(draft, row, kind, nodes, of.get(e))
            draft.number(row, -k)
    for frame in frames:
        _write_frame(draft, frame)
        row = frame.first[1]
        scale[row : row + 3] = L**3, L**3, L**4
    return draft, scale


def _write(
    draft: RowDraft, row: int, kind: ConstraintKind, nodes: tuple[int, ...],
    frame: RowFrame | None,
) -> None:  # fmt: skip
    """A row of any kind but a line, without its constant; ValueError of another."""
    a, b, p, q, *_ = nodes
    if kind is ConstraintKind.DIST:
        draft.scalar(row, (a, b), (a, b), 1.0)
    elif kind is ConstraintKind.DOT:
        draft.scalar(row, (a, b), (p, q), 1.0)
    elif frame is not None:
        draft.along(row, (a, b), frame.first[0])
    elif kind is ConstraintKind.COIN:
        for c in range(3):
            draft.single(row + c, 3 * b + c, 1.0)
            draft.single(row + c, 3 * a + c, -1.0)
    elif kind is ConstraintKind.FIX:
        draft.single(row, 3 * a + b, 1.0)
    else:
        raise ValueError(
            f"{kind.name.lower()} constraints do not work in a motion: remove them, "
            "or run a morph or an equilibrium"
        )


def _write_line(
    draft: RowDraft, row: int, lam: int, nodes: tuple[int, ...], frame: RowFrame | None
) -> None:
    """Three rows of a point on a line."""
    a, b, p, q, *_ = nodes
    if frame is None:
        for c in range(3):
            draft.single(row + c, 3 * b + c, 1.0)
            draft.single(row + c, 3 * a + c, -1.0)
            draft.product(row + c, lam, 3 * q + c, -1.0)
            draft.product(row + c, lam, 3 * p + c, 1.0)
        return
    w = frame.first[0]
    draft.scalar(row, (a, b), frame.u, 1.0)
    draft.product(row, lam, w + 3, -1.0)
    draft.scalar(row + 1, (a, b), frame.v, 1.0)
    draft.product(row + 1, lam, w + 5, -1.0)
    draft.along(row + 2, (a, b), w)


def _write_frame(draft: RowDraft, frame: RowFrame) -> None:
    """Six rows that make w the normal of u and v, up to its sign."""
    w, row = frame.first
    draft.along(row, frame.u, w)
    draft.along(row + 1, frame.v, w)
    for c in range(3):
        draft.product(row + 2, w + c, w + c, 1.0)
    draft.product(row + 2, w + 3, w + 4, -1.0)
    draft.product(row + 2, w + 5, w + 5, 1.0)
    pairs = ((frame.u, frame.u), (frame.v, frame.v), (frame.u, frame.v))
    for i, (one, other) in enumerate(pairs, 3):
        draft.single(row + i, w + i, 1.0)
        draft.scalar(row + i, one, other, -1.0)


def unknowns_at(structure: Structure, r: Floats) -> Floats:
    """(N,) nodes `r` (n, 3), then multipliers, then frames."""
    table = structure.constraints
    par = table.nodes[table.kind == ConstraintKind.PAR]
    d, u = (r[par[:, h]] - r[par[:, h - 1]] for h in (1, 3))
    lam = np.einsum("ij,ij->i", d, u) / np.einsum("ij,ij->i", u, u)
    parts = [r.ravel(), lam]
    for frame in frames_of(structure):
        u, v = (r[b] - r[a] for a, b in (frame.u, frame.v))
        parts += [np.cross(u, v), [u @ u, v @ v, u @ v]]
    return np.concatenate(parts)


def independent_rows(G: csr_array, drop: float) -> Bools:
    """(m,) rows that those eliminated before them do not say.

    Parameters
    ----------
    G : (m, N)
    drop : share of a row that is new, up to which it is dropped
    """
    A = csr_array(G.T)
    A.eliminate_zeros()
    same = csr_array((np.ones_like(A.data), A.indices, A.indptr), A.shape)
    pairs = triu(same.T @ same, k=1).tocoo()
    places = [x.astype(np.int64) for x in (pairs.row, pairs.col)]
    by_unknown = SparseRows(
        A.indptr.astype(np.int64), A.indices.astype(np.int64), A.data.astype(np.float64)
    )
    fronts = analyse(A.shape[1], *places).fronts
    return np.asarray(column_pivots(fronts, by_unknown, drop) > 0.0, np.bool_)


def dependent_unknown(G: csr_array, mass: csr_array, drop: float) -> int | None:
    """One of the unknowns of a motion that no row stops and no mass feels, if any.

    Parameters
    ----------
    G, mass : (m, N) and (N, N)
    """
    felt = vstack([_unit_rows(G), _unit_rows(mass)])
    chosen = independent_rows(csr_array(felt.T), drop)
    return None if chosen.all() else int(np.argmin(chosen))


def least_change(A: csr_array, change: Floats, mass: csr_array | None = None) -> Floats:
    """(N,) the least x with A x = change, in the norm of `mass` if there is one.

    Parameters
    ----------
    A, change : (m, N) independent rows, (m,)
    """
    M = eye_array(A.shape[1], format="csr") if mass is None else mass
    right = np.concatenate([np.zeros(A.shape[1]), change])
    return np.asarray(_saddle(A, M, right)[: A.shape[1]])


def shares_of(G: csr_array, others: Floats) -> Floats:
    """(m, d) of independent rows (m, N) in others (d, N), which they combine to."""
    right = np.vstack([others.T, np.zeros((G.shape[0], len(others)))])
    return np.asarray(
        _saddle(G, eye_array(G.shape[1], format="csr"), right)[G.shape[1] :]
    )


def _saddle(A: csr_array, M: csr_array, right: Floats) -> Floats:
    """The solution, improved once."""
    K = block_array([[M, A.T], [A, None]], format="csc")
    solve = splu(K).solve
    x = solve(right)
    return np.asarray(x + solve(right - K @ x), np.float64)


def _unit_rows(A: csr_array) -> csr_array:
    """Those that are not zero, each of length 1."""
    length = np.sqrt(np.asarray(A.power(2).sum(axis=1)).ravel())
    own = length > 0.0
    return csr_array(diags_array(1.0 / length[own]) @ csr_array(A)[own])
