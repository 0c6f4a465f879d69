"""The elementary constraints: [dJ23], Methods, Structure representation, and Fig. 4.

Every joint is made of these few rows. With d = r_b - r_a, u = r_q - r_p and v = r_t -
r_s (nodes may coincide):

    dist    d.d - constant           a link, Fig. 4b; the constant is its length squared
    dot     d.u - constant           a body-node, Fig. 4d; a universal joint, Fig. 4l
    triple  d.(u x v) - constant     out of a plane, Fig. 4d, 4e
    par     d - lambda u             a point on a line, Fig. 4f; three rows, one unknown
    coin    d                        two nodes at one place, Fig. 4k; three rows
    fix     r_a[axis] - constant     to hold something; not in the paper
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import compress
from typing import NamedTuple

import numpy as np

from sim.core.arrays import Bools, Floats, Ints


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


def dot(
    r: Floats, a: int, b: int, p: int, q: int, constant: float | None = None
) -> Constraint:
    """Keep (r_b - r_a).(r_q - r_p), at its value in `r` (n, 3) by default."""
    if constant is None:
        constant = float((r[b] - r[a]) @ (r[q] - r[p]))
    return Constraint(ConstraintKind.DOT, (a, b, p, q), constant)


def triple(
    r: Floats, edges: tuple[int, int, int, int, int, int], constant: float | None = None
) -> Constraint:
    """Keep the volume spanned by ab, pq and st, edges = (a, b, p, q, s, t)."""
    a, b, p, q, s, t = edges
    if constant is None:
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
