"""Coordinates by which a structure can be driven, and how its motions change them.

    length   |r_b - r_a|, of a link whose length can change, or of a strut put in
    angle    at the corner b from r_a - r_b to r_c - r_b, about a fixed normal, or
             without a normal from 0 to pi
    hinge    angle of `sim.hinges` between two wings about an axis

With U the motions that the constraints allow (`sim.morph.mobility.mobility`), the
coordinates q change by dq = A dm along the motion U^T m, A = (dq/dr) U^T. Lengths count
in units of L of eq. (13) of [dJ23], and so do motions: A is dimensionless.

Where drivers S hold the structure against forces F of the nodes, their efforts tau do
the same work as F in every motion, A_S^T tau + U F = 0; an angle's moment is L tau.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.hinges import hinge_slopes
from sim.morph.statics.elastic import angles_of
from sim.morph.statics.hinged import rows_of
from sim.morph.structure.constraints import ConstraintKind
from sim.morph.structure.structure import Structure


@dataclass(frozen=True, eq=False)
class Coordinates:
    """What may be driven.

    Attributes
    ----------
    lengths, corners, hinges : (p, 2), (q, 3), (s, 4) nodes
    normal : (3,) about which the angles of corners are counted, or None
    """

    lengths: Ints
    corners: Ints
    hinges: Ints
    normal: Floats | None

    @classmethod
    def of(
        cls,
        lengths: Sequence[Sequence[int]] = (),
        corners: Sequence[Sequence[int]] = (),
        hinges: Sequence[Sequence[int]] = (),
        normal: Sequence[float] | Floats | None = (0.0, 0.0, 1.0),
    ) -> "Coordinates":
        return cls(
            _nodes("lengths", lengths, 2),
            _nodes("corners", corners, 3),
            _nodes("hinges", hinges, 4),
            None if normal is None else _axis(normal),
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

    @property
    def angular(self) -> Bools:
        """Which are angles."""
        return np.arange(len(self)) >= len(self.lengths)

    def levers(self, L: float) -> Floats:
        """(count,) what tau is multiplied by: 1 for forces, L for moments."""
        return np.where(self.angular, L, 1.0)

    def check(self, n: int) -> None:
        """Refuse coordinates of nodes that are not there, and none at all."""
        if not len(self):
            raise ValueError(
                "nothing may be driven, no two bodies share a node: give lengths, "
                "corners or hinges as lists of nodes"
            )
        for name, rows in zip(
            self.names,
            [*self.lengths.tolist(), *self.corners.tolist(), *self.hinges.tolist()],
            strict=True,
        ):
            if not all(0 <= node < n for node in rows) or len(set(rows)) < len(rows):
                raise ValueError(
                    f"{name} cannot be driven: name different nodes from 0 to {n - 1}"
                )

    def values(self, r: Floats, before: Floats | None = None) -> Floats:
        """Lengths, and angles in rad, those closest to `before`."""
        d = r[self.lengths[:, 1]] - r[self.lengths[:, 0]]
        u, v = self._sides(r)
        turn = np.einsum("ij,ij->i", np.cross(u, v), self._axes(u, v))
        corner = np.arctan2(turn, np.einsum("ij,ij->i", u, v))
        out = np.concatenate(
            [np.linalg.norm(d, axis=1), corner, angles_of(self.hinges, r)]
        )
        if before is not None:
            whole = 2.0 * np.pi * np.round((before - out) / (2.0 * np.pi))
            out += np.where(self.angular, whole, 0.0)
        return out

    def slopes(self, r: Floats) -> Floats:
        """(count, n, 3) derivative of each coordinate in the nodes."""
        out, first = np.zeros((len(self), len(r), 3)), len(self.lengths)
        for i, (a, b) in enumerate(self.lengths.tolist()):
            e = (r[b] - r[a]) / np.linalg.norm(r[b] - r[a])
            out[i, a], out[i, b] = -e, e
        u, v = self._sides(r)
        about = self._axes(u, v)
        for i, (a, b, c) in enumerate(self.corners.tolist(), first):
            p, q, normal = u[i - first], v[i - first], about[i - first]
            out[i, a] = -np.cross(normal, p) / (p @ p)
            out[i, c] = np.cross(normal, q) / (q @ q)
            out[i, b] = -out[i, a] - out[i, c]
        work, hessian = np.empty((6, 3, 3)), np.empty((12, 12))
        for i, nodes in enumerate(self.hinges, first + len(self.corners)):
            slope = np.empty(12)
            hinge_slopes(r[nodes], slope, hessian, work)
            out[i, nodes] = slope.reshape(4, 3)
        return out

    def _sides(self, r: Floats) -> tuple[Floats, Floats]:
        """(q, 3) sides of the corners, as seen along the normal."""
        a, b, c = self.corners.T
        u, v = r[a] - r[b], r[c] - r[b]
        if self.normal is None:
            return u, v
        across = np.eye(3) - np.outer(self.normal, self.normal)
        return u @ across, v @ across

    def _axes(self, u: Floats, v: Floats) -> Floats:
        """(q, 3) what each corner turns about; zero where it has no side to turn to."""
        if self.normal is not None:
            return np.tile(self.normal, (len(u), 1))
        n = np.cross(u, v)
        axes: Floats = n / np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-300)
        return axes


def _axis(normal: Sequence[float] | Floats) -> Floats:
    """(3,) of unit length."""
    along = np.array(normal, dtype=np.float64)
    size = float(np.linalg.norm(along))
    if along.shape != (3,) or not 0.0 < size < np.inf:
        raise ValueError(f"normal is {normal}: give the axis of corners as [x, y, z]")
    unit: Floats = along / size
    return unit


def _nodes(name: str, rows: Sequence[Sequence[int]], count: int) -> Ints:
    """(len(rows), count), or which row is not `count` whole numbers."""
    for row in rows:
        whole = all(isinstance(node, int | np.integer) for node in row)
        if len(row) != count or not whole:
            raise ValueError(f"{name} has {row}: give {count} nodes by number")
    return np.array(rows, dtype=np.int64).reshape(-1, count)


def driven_map(coordinates: Coordinates, r: Floats, U: Floats, L: float) -> Floats:
    """(count, f) A, how the motions U (f, n, 3) change the coordinates.

    Parameters
    ----------
    L : unit of lengths
    """
    slopes = coordinates.slopes(r)
    slopes[coordinates.angular] *= L
    A: Floats = np.einsum("inj,fnj->if", slopes, U)
    return A


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
