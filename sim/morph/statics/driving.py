"""Lengths and angles of a structure that dampers act on or drivers change.

length   |r_b - r_a|
angle    at the corner b from r_a - r_b to r_c - r_b, from 0 to pi
hinge    angle of `sim.hinges` between two wings about an axis
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sim.arrays import Floats, Ints
from sim.hinges import hinge_slopes
from sim.morph.statics.hinged import rows_of
from sim.morph.structure.constraints import ConstraintKind
from sim.morph.structure.structure import Structure


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Lengths, corners and hinges by their nodes (p, 2), (q, 3), (s, 4)."""

    lengths: Ints
    corners: Ints
    hinges: Ints

    @classmethod
    def of(
        cls,
        lengths: Sequence[Sequence[int]] = (),
        corners: Sequence[Sequence[int]] = (),
        hinges: Sequence[Sequence[int]] = (),
    ) -> "Coordinates":
        return cls(
            _nodes("lengths", lengths, 2),
            _nodes("corners", corners, 3),
            _nodes("hinges", hinges, 4),
        )

    def __len__(self) -> int:
        return len(self.lengths) + len(self.corners) + len(self.hinges)

    @property
    def names(self) -> list[str]:
        """What each is called, with its nodes."""
        parts = (("length", self.lengths), ("angle", self.corners))
        return [
            f"{kind}({', '.join(map(str, nodes))})"
            for kind, rows in (*parts, ("hinge", self.hinges))
            for nodes in rows.tolist()
        ]

    def check(self, n: int) -> None:
        """Refuse coordinates of nodes that are not there."""
        for name, rows in zip(
            self.names,
            [*self.lengths.tolist(), *self.corners.tolist(), *self.hinges.tolist()],
            strict=True,
        ):
            if not all(0 <= node < n for node in rows) or len(set(rows)) < len(rows):
                raise ValueError(
                    f"{name} cannot be damped: name different nodes from 0 to {n - 1}"
                )

    def slopes(self, r: Floats) -> Floats:
        """(count, n, 3) derivative of each coordinate in the nodes."""
        out, first = np.zeros((len(self), len(r), 3)), len(self.lengths)
        for i, (a, b) in enumerate(self.lengths.tolist()):
            e = (r[b] - r[a]) / np.linalg.norm(r[b] - r[a])
            out[i, a], out[i, b] = -e, e
        a, b, c = self.corners.T
        u, v = r[a] - r[b], r[c] - r[b]
        n = np.cross(u, v)
        about = n / np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-300)
        for i, (one, corner, other) in enumerate(self.corners.tolist(), first):
            p, q, normal = u[i - first], v[i - first], about[i - first]
            out[i, one] = -np.cross(normal, p) / (p @ p)
            out[i, other] = np.cross(normal, q) / (q @ q)
            out[i, corner] = -out[i, one] - out[i, other]
        work, hessian = np.empty((6, 3, 3)), np.empty((12, 12))
        for i, nodes in enumerate(self.hinges, first + len(self.corners)):
            slope = np.empty(12)
            hinge_slopes(r[nodes], slope, hessian, work)
            out[i, nodes] = slope.reshape(4, 3)
        return out


def _nodes(name: str, rows: Sequence[Sequence[int]], count: int) -> Ints:
    """(len(rows), count), or which row is not `count` whole numbers."""
    for row in rows:
        whole = all(isinstance(node, int | np.integer) for node in row)
        if len(row) != count or not whole:
            raise ValueError(f"{name} has {row}: give {count} nodes by number")
    return np.array(rows, dtype=np.int64).reshape(-1, count)


def released(structure: Structure, coordinates: Coordinates) -> Structure:
    """The structure without the links that are driven: their lengths may change."""
    table = structure.constraints
    driven = {frozenset(pair) for pair in coordinates.lengths.tolist()}
    ends = table.nodes[:, :2].tolist()
    kept = np.array(
        [
            not (kind == ConstraintKind.DIST and frozenset(pair) in driven)
            for kind, pair in zip(table.kind, ends, strict=True)
        ],
        dtype=np.bool_,
    )
    return replace(structure, constraints=rows_of(table, kept))
