"""What is moved by a prescribed law: a length, an angle or a coordinate of a node.

    length  |r_b - r_a| = q(t)          d.d - q^2 = 0
    place   r_a[axis] = q(t)
    angle   from u = r_a - r_b to v = r_c - r_b about a constant normal n,
            sin q (u.v - (u.n)(v.n)) - cos q n.(u x v) = 0

Each is a quadratic row whose numbers s(t) change in time (`sim.morph.dynamics.rows`). A
law says by how much q differs from its value at the start. The effort of a driver is
the force, or the moment of an angle, that does the work effort x dq.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import CubicSpline

from sim.arrays import Floats
from sim.choice import Choice
from sim.limits import is_finite
from sim.morph.dynamics.rows import RowDraft


class DriverKind(Choice):
    LENGTH = "length"
    ANGLE = "angle"
    PLACE = "place"


NODES = {DriverKind.LENGTH: 2, DriverKind.ANGLE: 3, DriverKind.PLACE: 2}
SLOTS = {DriverKind.LENGTH: 1, DriverKind.ANGLE: 2, DriverKind.PLACE: 1}


@dataclass(frozen=True, eq=False)
class MotionLaw:
    """By how much a driven coordinate differs from its start, in time.

    Attributes
    ----------
    rate : constant, per s
    table : rows (time, change) in place of a rate, with a cubic between them that
        begins and ends at rest; before and after them nothing moves
    """

    rate: float = 0.0
    table: Sequence[tuple[float, float]] = ()

    def __post_init__(self) -> None:
        if not is_finite(self.rate):
            raise ValueError(f"the rate of a driver is {self.rate}: give a number")
        rows = np.array(self.table, dtype=np.float64).reshape(-1, 2)
        if len(rows) and (
            len(rows) < 2
            or not (np.isfinite(rows).all() and (np.diff(rows[:, 0]) > 0.0).all())
        ):
            raise ValueError(
                f"the table of a driver is {rows.tolist()}: give two rows or more "
                "(time, change), with times that rise"
            )

    @cached_property
    def _spline(self) -> CubicSpline:
        rows = np.array(self.table, dtype=np.float64)
        return CubicSpline(rows[:, 0], rows[:, 1], bc_type="clamped")

    def change(self, t: float) -> float:
        """At a time."""
        if not self.table:
            return self.rate * t
        ends = self.table[0][0], self.table[-1][0]
        return float(self._spline(min(max(t, ends[0]), ends[1])))

    def speed(self, t: float) -> float:
        """Its derivative at a time."""
        if not self.table:
            return self.rate
        inside = self.table[0][0] <= t <= self.table[-1][0]
        return float(self._spline(t, 1)) if inside else 0.0


@dataclass(frozen=True, eq=False)
class Driver:
    """One coordinate that is moved.

    Attributes
    ----------
    nodes : (a, b) of a length, (a, b, c) of an angle at b, (node, axis) of a place
    law : length, or rad
    normal : (3,) about which an angle counts
    """

    kind: DriverKind
    nodes: tuple[int, ...]
    law: MotionLaw
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)

    @property
    def name(self) -> str:
        """What a person calls it."""
        if self.kind is DriverKind.PLACE:
            return f"place({self.nodes[0]}, {'xyz'[self.nodes[1]]})"
        return f"{self.kind.value}({', '.join(map(str, self.nodes))})"

    def check(self, r0: Floats) -> None:
        """Refuse nodes that are not there, and angles that are none."""
        nodes = self.nodes[:1] if self.kind is DriverKind.PLACE else self.nodes
        if (
            len(self.nodes) != NODES[self.kind]
            or not all(0 <= node < len(r0) for node in nodes)
            or len(set(nodes)) < len(nodes)
            or (self.kind is DriverKind.PLACE and self.nodes[1] not in (0, 1, 2))
        ):
            raise ValueError(
                f"the driver {self.kind.value} of {list(self.nodes)}: name "
                f"{NODES[self.kind]} different nodes from 0 to {len(r0) - 1}, of a "
                "place a node and its axis, 0 to 2"
            )
        if self.kind is not DriverKind.ANGLE:
            return
        n, u, v = self._axis, *self._sides(r0)
        shorter = min(float(np.linalg.norm(a - (a @ n) * n)) for a in (u, v))
        if not shorter > 1e-9 * max(np.linalg.norm(u), np.linalg.norm(v)):
            raise ValueError(
                f"the driver {self.name} has a side along its normal "
                f"{list(self.normal)}: give another normal"
            )

    def start(self, r0: Floats) -> float:
        """Its value in `r0` (n, 3)."""
        if self.kind is DriverKind.PLACE:
            return float(r0[self.nodes])
        if self.kind is DriverKind.LENGTH:
            a, b = self.nodes
            return float(np.linalg.norm(r0[b] - r0[a]))
        n, u, v = self._axis, *self._sides(r0)
        return float(np.arctan2(n @ np.cross(u, v), u @ v - (u @ n) * (v @ n)))

    def write(self, draft: RowDraft, row: int, slot: int) -> None:
        """Its row, whose numbers in time begin at `slot`."""
        if self.kind is DriverKind.PLACE:
            draft.single(row, 3 * self.nodes[0] + self.nodes[1], 1.0)
            draft.number(row, -1.0, slot)
        elif self.kind is DriverKind.LENGTH:
            a, b = self.nodes
            draft.scalar(row, (a, b), (a, b), 1.0)
            draft.number(row, -1.0, slot)
        else:
            a, b, c = self.nodes
            n, u, v = self._axis, (b, a), (b, c)
            draft.scalar(row, u, v, 1.0, slot)
            for i in range(3):
                draft.cross(row, u, v, i, -float(n[i]), slot + 1)
                for j in range(3):
                    draft.edges(row, u, v, (i, j), -float(n[i] * n[j]), slot)

    def numbers(self, q: float, speed: float) -> tuple[list[float], list[float]]:
        """s and its rate, at the value q and its rate."""
        if self.kind is DriverKind.PLACE:
            return [q], [speed]
        if self.kind is DriverKind.LENGTH:
            return [q * q], [2.0 * q * speed]
        sin, cos = float(np.sin(q)), float(np.cos(q))
        return [sin, cos], [cos * speed, -sin * speed]

    def lever(self, r: Floats, q: float) -> float:
        """d(row)/dq: what the force of the row is multiplied by, for the effort."""
        if self.kind is DriverKind.PLACE:
            return -1.0
        if self.kind is DriverKind.LENGTH:
            return -2.0 * q
        n, u, v = self._axis, *self._sides(r)
        across = float(n @ np.cross(u, v))
        return float(np.cos(q) * (u @ v - (u @ n) * (v @ n)) + np.sin(q) * across)

    @property
    def _axis(self) -> Floats:
        n = np.array(self.normal, dtype=np.float64)
        length = np.linalg.norm(n)
        if n.shape != (3,) or not 0.0 < length < np.inf:
            raise ValueError(
                f"the normal of a driver is {list(self.normal)}: give [x, y, z]"
            )
        unit: Floats = n / length
        return unit

    def _sides(self, r: Floats) -> tuple[Floats, Floats]:
        a, b, c = self.nodes
        return r[a] - r[b], r[c] - r[b]
