"""The elementary constraints: [dJ23], Methods, Structure representation, and Fig. 4.

Every joint is made of these few rows. With d = r_b - r_a, u = r_q - r_p and v = r_t -
r_s (nodes may coincide):

    dist    d.d - constant           a link, Fig. 4b; the constant is its length squared
    dot     d.u - constant           a body-node, Fig. 4d; a universal joint, Fig. 4l
    triple  d.(u x v) - constant     out of a plane, Fig. 4d, 4e
    par     d - lambda u             a point on a line, Fig. 4f; three rows, one unknown
    coin    d                        two nodes at one place, Fig. 4k; three rows
    fix     r_a[axis] - constant     to hold something; not in the paper

These are the residuals c(z) of eq. (4); their derivatives make the Jacobian J of
eq. (8). One small function a kind returns its residual, and adds the gradients for its
nodes a, b, p, q, s, t to the blocks `B[at[0]]`, `B[at[1]]`, ... in the order of
`TOUCHES`. What is not linear in c is a sum of the products in `CURVED`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import compress
from typing import NamedTuple

import numpy as np

from sim.core.arrays import Bools, Floats, Ints
from sim.core.numba_kernels import kernel
from sim.mechanism.jacobian_pattern import JacobianLayout


class ConstraintKind(IntEnum):
    DIST = 0
    DOT = 1
    TRIPLE = 2
    PAR = 3
    COIN = 4
    FIX = 5


NODES = np.array([2, 4, 6, 4, 2, 1])  # nodes of each kind; FIX also holds an axis
ROWS = np.array([1, 1, 1, 3, 3, 1])  # rows of each kind
DEGREE = np.array([2, 2, 3, 1, 1, 1])  # power of a length in its residual
WITHOUT_CONSTANT = (ConstraintKind.PAR, ConstraintKind.COIN)


def starts(counts: Ints) -> Ints:
    """(q + 1,) where each of q runs of `counts` entries begins, and where all end."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


class Constraint(NamedTuple):
    """One elementary constraint.

    `nodes` are in the order a, b, p, q, s, t; the second entry of FIX is the axis.
    """

    kind: ConstraintKind
    nodes: tuple[int, ...]
    constant: float = 0.0


def dist(r: Floats, a: int, b: int) -> Constraint:
    """Keep the distance that a and b have in `r` (n, 3)."""
    d = r[b] - r[a]
    return Constraint(ConstraintKind.DIST, (a, b), float(d @ d))


def dot(r: Floats, a: int, b: int, p: int, q: int) -> Constraint:
    """Keep (r_b - r_a).(r_q - r_p) at its value in `r` (n, 3)."""
    constant = float((r[b] - r[a]) @ (r[q] - r[p]))
    return Constraint(ConstraintKind.DOT, (a, b, p, q), constant)


def triple(r: Floats, edges: tuple[int, int, int, int, int, int]) -> Constraint:
    """Keep the volume spanned by ab, pq and st, edges = (a, b, p, q, s, t)."""
    a, b, p, q, s, t = edges
    constant = float((r[b] - r[a]) @ np.cross(r[q] - r[p], r[t] - r[s]))
    return Constraint(ConstraintKind.TRIPLE, edges, constant)


def par(a: int, b: int, p: int, q: int) -> Constraint:
    """Keep ab parallel to pq; adds the multiplier lambda, ab = lambda pq."""
    return Constraint(ConstraintKind.PAR, (a, b, p, q))


def coin(a: int, b: int) -> Constraint:
    """Keep a and b at one place."""
    return Constraint(ConstraintKind.COIN, (a, b))


def fix(r: Floats, a: int) -> list[Constraint]:
    """Hold a where it is in `r` (n, 3)."""
    return [
        Constraint(ConstraintKind.FIX, (a, axis), float(r[a, axis]))
        for axis in range(3)
    ]


@dataclass(frozen=True, eq=False)
class ConstraintTable:
    """Constraints as arrays, in the order of their rows.

    Attributes
    ----------
    kind : (q,) a Kind each
    nodes : (q, 6) nodes a, b, p, q, s, t; -1 where a kind has fewer
    constant : (q,)
    owners : the link, body or joint that each is part of, "" for none; or none at all
    """

    kind: Ints
    nodes: Ints
    constant: Floats
    owners: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, constraints: Sequence[Constraint], owners: tuple[str, ...] = ()
    ) -> "ConstraintTable":
        kind = np.array([c.kind for c in constraints], dtype=np.int64)
        nodes = np.full((len(constraints), 6), -1, dtype=np.int64)
        for i, c in enumerate(constraints):
            nodes[i, : len(c.nodes)] = c.nodes
        constant = np.array([c.constant for c in constraints], dtype=np.float64)
        return cls(kind, nodes, constant, owners if any(owners) else ())

    @classmethod
    def links(cls, r: Floats, ends: Ints) -> "ConstraintTable":
        """Links between the nodes `ends` (l, 2) with the lengths they have in `r`."""
        nodes = np.full((len(ends), 6), -1, dtype=np.int64)
        nodes[:, :2] = ends
        d = r[ends[:, 1]] - r[ends[:, 0]]
        kind = np.full(len(ends), int(ConstraintKind.DIST), dtype=np.int64)
        return cls(kind, nodes, np.einsum("ij,ij->i", d, d))

    def __len__(self) -> int:
        return len(self.kind)

    def followed_by(self, more: "ConstraintTable") -> "ConstraintTable":
        """These constraints, then `more`."""
        return ConstraintTable(
            np.append(self.kind, more.kind),
            np.append(self.nodes, more.nodes, axis=0),
            np.append(self.constant, more.constant),
            self._all_owners + more._all_owners if self.owners or more.owners else (),
        )

    def only(self, held: Bools) -> "ConstraintTable":
        """Those of these constraints that `held` (q,) marks."""
        owners = tuple(compress(self.owners, held))
        return ConstraintTable(
            self.kind[held], self.nodes[held], self.constant[held], owners
        )

    @property
    def _all_owners(self) -> tuple[str, ...]:
        return self.owners or ("",) * len(self)

    @property
    def first_row(self) -> Ints:
        """(q + 1,) the rows of constraint i are first_row[i] ... first_row[i + 1]."""
        return starts(ROWS[self.kind])

    @property
    def multipliers(self) -> int:
        """How many unknowns lambda the constraints add."""
        return int(np.count_nonzero(self.kind == ConstraintKind.PAR))

    def name(self, i: int) -> str:
        """What a person calls constraint i: whose it is, its kind and its nodes."""
        owner = self.owners[i] if self.owners else ""
        return f"{owner}: {self._own_name(i)}" if owner else self._own_name(i)

    def _own_name(self, i: int) -> str:
        used = self.nodes[i, : NODES[self.kind[i]]].tolist()
        kind = ConstraintKind(self.kind[i])
        if kind is ConstraintKind.FIX:
            return f"fix({used[0]}, {'xyz'[self.nodes[i, 1]]})"
        return f"{kind.name.lower()}({', '.join(map(str, used))})"

    def name_of_row(self, row: int) -> str:
        """What a person calls the constraint that has this row."""
        return self.name(int(np.searchsorted(self.first_row, row, side="right")) - 1)


DIST, DOT, TRIPLE, PAR, COIN, FIX = map(int, ConstraintKind)
LAMBDA = 6  # stands for the multiplier among the nodes a, b, p, q, s, t = 0 ... 5
TOUCHES = (  # what each row of a kind has gradients for
    (0, 1),
    (0, 1, 2, 3),
    (0, 1, 2, 3, 4, 5),
    (0, 1, 2, 3, LAMBDA),
    (0, 1),
    (0,),
)
ONE, ZERO = 7, 8  # stand for places that are 1, and 0, along every axis


def _products(one: int, other: int) -> list[tuple[int, int, int]]:
    """Ends of the edge `one` and of the edge `other`, and the sign of their product."""
    ends = ((0, 0, 1), (0, 1, -1), (1, 0, -1), (1, 1, 1))
    return [(2 * one + a, 2 * other + b, sign) for a, b, sign in ends]


# The terms f (x_head - x_tail) x_a x_b of each kind that is not linear, by the row, the
# node and the axis of a and of b, f, head, tail and the axis of both.
CURVED = {
    ConstraintKind.DIST: [
        (0, a, i, b, i, f, ONE, ZERO, 0)
        for a, b, f in ((0, 0, 1), (1, 1, 1), (1, 0, -2))
        for i in range(3)
    ],
    ConstraintKind.DOT: [
        (0, a, i, b, i, f, ONE, ZERO, 0)
        for a, b, f in _products(0, 1)
        for i in range(3)
    ],
    ConstraintKind.TRIPLE: [
        (0, a, (k + 1 + s) % 3, b, (k + 2 - s) % 3, f - 2 * f * s, 2 * w + 1, 2 * w, k)
        for w in (2, 0, 1)
        for a, b, f in _products((w + 1) % 3, (w + 2) % 3)
        for k in (2, 0, 1)
        for s in (0, 1)
    ],
    ConstraintKind.PAR: [
        (i, 2 + b, i, LAMBDA, 0, 1 - 2 * b, ONE, ZERO, 0)
        for i in range(3)
        for b in (0, 1)
    ],
}


@kernel
def _dot3(a: Floats, b: Floats) -> float:
    return float(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


@kernel
def _dot(z: Floats, nodes: Ints, other: int, at: Ints, B: Floats) -> float:
    """d.u: gradient +u on b, -u on a, +d on q, -d on p.

    Parameters
    ----------
    other : place of p among the nodes; that of a for a distance, d.d
    """
    value = 0.0
    for i in range(3):
        d = z[nodes[1], i] - z[nodes[0], i]
        u = z[nodes[other + 1], i] - z[nodes[other], i]
        value += d * u
        B[at[0], i] -= u
        B[at[1], i] += u
        B[at[other], i] -= d
        B[at[other + 1], i] += d
    return value


@kernel
def _triple(z: Floats, nodes: Ints, at: Ints, B: Floats) -> float:
    """d.(u x v): gradient u x v on d, v x d on u, d x u on v."""
    value = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        dj, dk = z[nodes[1], j] - z[nodes[0], j], z[nodes[1], k] - z[nodes[0], k]
        uj, uk = z[nodes[3], j] - z[nodes[2], j], z[nodes[3], k] - z[nodes[2], k]
        vj, vk = z[nodes[5], j] - z[nodes[4], j], z[nodes[5], k] - z[nodes[4], k]
        value += (z[nodes[1], i] - z[nodes[0], i]) * (uj * vk - uk * vj)
        B[at[0], i] -= uj * vk - uk * vj
        B[at[1], i] += uj * vk - uk * vj
        B[at[2], i] -= vj * dk - vk * dj
        B[at[3], i] += vj * dk - vk * dj
        B[at[4], i] -= dj * uk - dk * uj
        B[at[5], i] += dj * uk - dk * uj
    return value


@kernel
def _par(z: Floats, nodes: Ints, lam: float, at: Ints, c: Floats, B: Floats) -> None:
    """d - lambda u: three rows; gradient -u on lambda."""
    for i in range(3):
        d = z[nodes[1], i] - z[nodes[0], i]
        u = z[nodes[3], i] - z[nodes[2], i]
        c[i] = d - lam * u
        B[at[5 * i], i] -= 1.0
        B[at[5 * i + 1], i] += 1.0
        B[at[5 * i + 2], i] += lam
        B[at[5 * i + 3], i] -= lam
        B[at[5 * i + 4], 0] -= u


@kernel
def _par_without_lambda(z: Floats, nodes: Ints, at: Ints, c: Floats, B: Floats) -> None:
    """N.d with N two unit vectors normal to u; lambda = d.u / u.u drops out.

    Two rows that say the same of the nodes as the three with lambda; the third row
    stays zero.
    """
    d = z[nodes[1]] - z[nodes[0]]
    u = z[nodes[3]] - z[nodes[2]]
    lam = _dot3(d, u) / _dot3(u, u)
    u /= np.sqrt(_dot3(u, u))
    axis = np.argmin(np.abs(u))
    first = -u[axis] * u
    first[axis] += 1.0
    first /= np.sqrt(_dot3(first, first))
    c[:] = 0.0
    for row in range(2):
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            N = first[i] if row == 0 else u[j] * first[k] - u[k] * first[j]
            c[row] += N * d[i]
            B[at[5 * row], i] -= N
            B[at[5 * row + 1], i] += N
            B[at[5 * row + 2], i] += lam * N
            B[at[5 * row + 3], i] -= lam * N


@kernel
def evaluate(
    layout: JacobianLayout, z: Floats, eliminate: bool, c: Floats, B: Floats
) -> None:
    """Residuals c (m,) and Jacobian blocks B (blocks, 3) of all constraints.

    Parameters
    ----------
    z : (n + k, 3) state
    eliminate : write the par rows without lambda
    """
    kind, nodes, constant = layout.kind, layout.nodes, layout.constant
    first_row, first_block = layout.first_row, layout.first_block
    B[:] = 0.0
    lam = layout.n
    for e in range(len(kind)):
        at = layout.place[first_block[e] : first_block[e + 1]]
        rows = c[first_row[e] : first_row[e + 1]]
        if kind[e] == DIST:
            rows[0] = _dot(z, nodes[e], 0, at, B) - constant[e]
        elif kind[e] == DOT:
            rows[0] = _dot(z, nodes[e], 2, at, B) - constant[e]
        elif kind[e] == TRIPLE:
            rows[0] = _triple(z, nodes[e], at, B) - constant[e]
        elif kind[e] == PAR:
            if eliminate:
                _par_without_lambda(z, nodes[e], at, rows, B)
            else:
                _par(z, nodes[e], z[lam, 0], at, rows, B)
            lam += 1
        elif kind[e] == COIN:
            for i in range(3):
                rows[i] = z[nodes[e, 1], i] - z[nodes[e, 0], i]
                B[at[2 * i], i] -= 1.0
                B[at[2 * i + 1], i] += 1.0
        else:
            rows[0] = z[nodes[e, 0], nodes[e, 1]] - constant[e]
            B[at[0], nodes[e, 1]] += 1.0
