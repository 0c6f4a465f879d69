"""A mechanism that moves: what it weighs, what acts on it, what drives it.

A driver moves a length, an angle or a coordinate of a node by a prescribed law:

    length  |r_b - r_a| = q(t)          d.d - q^2 = 0
    place   r_a[axis] = q(t)
    angle   from u = r_a - r_b to v = r_c - r_b about a constant normal n,
            sin q (u.v - (u.n)(v.n)) - cos q n.(u x v) = 0

Each is a quadratic row whose numbers s(t) change in time
(`sim.mechanism.dynamics.quadratic_constraints`). A law says by how much q differs from
its value at the start. The effort of a driver is the force, or the moment of an angle,
that does the work effort x dq.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.linalg import qr
from scipy.sparse import csr_array, diags_array, kron

from sim.core.arrays import Bools, Floats, Ints, among
from sim.core.options import Choice, is_finite, is_positive
from sim.mechanism.constraints import ROWS, ConstraintKind
from sim.mechanism.dynamics.quadratic_constraints import (
    OF_FRAME,
    QuadraticRows,
    RowDraft,
    dependent_unknown,
    drafted,
    frames_of,
    independent_rows,
    shares_of,
    unknowns_at,
)
from sim.mechanism.dynamics.rigid_masses import RigidMass, mass_matrix
from sim.mechanism.dynamics.time_step import (
    Dampers,
    Forces,
    StepEquations,
    TimeNumbers,
)
from sim.mechanism.object_cache import once_per_owner
from sim.mechanism.shape_measures import characteristic_length
from sim.mechanism.statics.loaded_structure import LoadedStructure
from sim.mechanism.statics.potential_energy import PotentialEnergy
from sim.mechanism.structure import Structure


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
    table : rows (time, change) in place of a rate, joined by a smooth cubic spline that
        begins and ends at rest; before and after them nothing moves
    """

    rate: float = 0.0
    table: Sequence[tuple[float, float]] = ()

    def __post_init__(self) -> None:
        if not is_finite(self.rate):
            raise ValueError(f"the rate of a driver must be finite, not {self.rate}")
        rows = np.array(self.table, dtype=np.float64).reshape(-1, 2)
        if len(rows) and (
            len(rows) < 2
            or not (np.isfinite(rows).all() and (np.diff(rows[:, 0]) > 0.0).all())
        ):
            raise ValueError(
                f"the table of a driver is {rows.tolist()}: give two or more rows "
                "(time, change) in order of increasing time"
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
                f"the driver {self.kind.value} has nodes {list(self.nodes)}: name "
                f"{NODES[self.kind]} different nodes from 0 to {len(r0) - 1} (for a "
                "place: a node and an axis from 0 to 2)"
            )
        if self.kind is not DriverKind.ANGLE:
            return
        n, u, v = self._axis, *self._sides(r0)
        shorter = min(float(np.linalg.norm(a - (a @ n) * n)) for a in (u, v))
        if not shorter > 1e-9 * max(np.linalg.norm(u), np.linalg.norm(v)):
            raise ValueError(
                f"the driver {self.name} has a normal along one of its sides: turn it"
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
        return np.asarray(n / length)

    def _sides(self, r: Floats) -> tuple[Floats, Floats]:
        a, b, c = self.nodes
        return r[a] - r[b], r[c] - r[b]


DENSE = 400  # rows up to which the best independent ones are sought
INDEPENDENT = 1e-9  # new share of a row above which it is independent
SHARES = 1e-6  # of a dropped row, or of the largest force, that is nothing


@dataclass(frozen=True, eq=False)
class MovingMechanism:
    """A structure with masses in motion; a link whose length is driven is released.

    Attributes
    ----------
    loaded : constraints, springs, hinges, panels and loads; no springs to a target
    gravity : (3,) acceleration
    contact_energy : kappa of the potential of bodies and ranges, force x length; must
        be given where there are some
    """

    loaded: LoadedStructure
    masses: tuple[RigidMass, ...]
    gravity: Floats = field(default_factory=lambda: np.zeros(3))
    dampers: Dampers = field(default_factory=Dampers.none)
    drivers: tuple[Driver, ...] = ()
    contact_energy: float | None = None

    def __post_init__(self) -> None:
        if self.gravity.shape != (3,) or not np.isfinite(self.gravity).all():
            raise ValueError(
                f"gravity is {self.gravity.tolist()}: give the acceleration [x, y, z]"
            )
        if self.loaded.spring.any():
            raise ValueError("motions support no springs to a target: remove them")
        if not self.masses:
            raise ValueError("no node or body has a mass: give `masses`")
        if self.loaded.structure.is_limited and not is_positive(self.contact_energy):
            raise ValueError(
                f"contact_energy is {self.contact_energy}, but bodies and ranges need "
                "it: give about the kinetic energy of an impact"
            )
        self.dampers.coordinates.check(len(self.loaded.structure.r0))
        for driver in self.drivers:
            driver.check(self.loaded.structure.r0)
        self._refuse_massless_motions()

    @cached_property
    def structure(self) -> Structure:
        """Without the links that are driven."""
        table = self.loaded.structure.constraints
        lengths = [d.nodes for d in self.drivers if d.kind is DriverKind.LENGTH]
        driven = among(table.nodes[:, :2], np.array(lengths).reshape(-1, 2))
        rigid = table.only(~(driven & (table.kind == ConstraintKind.DIST)))
        return replace(self.loaded.structure, constraints=rigid)

    @cached_property
    def rows(self) -> QuadraticRows:
        """All rows: of constraints, of frames, and one a driver."""
        return self._rows_and_units[0]

    @cached_property
    def units(self) -> Floats:
        """(m,) what the rows were divided by."""
        return self._rows_and_units[1]

    @cached_property
    def _rows_and_units(self) -> tuple[QuadraticRows, Floats]:
        draft, scale = drafted(self.structure, len(self.drivers))
        first, slot = draft.count - len(self.drivers), 1
        for row, driver in enumerate(self.drivers, first):
            driver.write(draft, row, slot)
            slot += SLOTS[driver.kind]
            start = driver.start(self.structure.r0)
            scale[row] = start**2 if driver.kind is DriverKind.LENGTH else scale[row]
            scale[row] = self.size if driver.kind is DriverKind.PLACE else scale[row]
        return draft.made(scale), scale

    @cached_property
    def size(self) -> float:
        """L of eq. (13) of [dJ23]."""
        return characteristic_length(self.structure.r0) or 1.0

    @cached_property
    def node_mass(self) -> csr_array:
        """(n, n) M between nodes."""
        return mass_matrix(self.structure.r0, self.masses)

    @cached_property
    def mass(self) -> csr_array:
        """(N, N) M, zero for multipliers and frames."""
        M = kron(self.node_mass, np.eye(3)).tocoo()
        shape = (self.rows.unknowns, self.rows.unknowns)
        return csr_array((M.data, (M.row, M.col)), shape=shape)

    @cached_property
    def total_mass(self) -> float:
        return sum(mass.mass for mass in self.masses)

    @cached_property
    def forces(self) -> Forces:
        loaded = replace(self.loaded, structure=self.structure)
        potential = PotentialEnergy.of(loaded)
        met = potential.obstacles and potential.obstacles.in_motion
        kappa = float(self.contact_energy or 0.0)
        potential = replace(potential, obstacles=met, kappa=kappa)
        weight = self.node_mass.sum(axis=1)[:, None] * self.gravity
        return Forces(potential, weight + self.loaded.force, self.dampers)

    def numbers(self, t: float) -> tuple[Floats, Floats]:
        """s of the driven rows at a time, 1 before them, and its rates."""
        s, ds = [1.0], [0.0]
        for driver, start in zip(self.drivers, self.starts, strict=True):
            now = driver.numbers(start + driver.law.change(t), driver.law.speed(t))
            s, ds = s + now[0], ds + now[1]
        return np.array(s), np.array(ds)

    @cached_property
    def starts(self) -> list[float]:
        """Values of the drivers at the start."""
        return [driver.start(self.structure.r0) for driver in self.drivers]

    def time_numbers(self, t: float, h: float) -> TimeNumbers:
        """Of a step."""
        (s0, ds0), (s1, ds1) = self.numbers(t), self.numbers(t + h)
        return TimeNumbers(h, s0, s1, ds0, ds1)

    def independent_rows(self, z: Floats, t: float) -> Bools:
        """(m,) rows at z (N,) that depend on none of the others, by QR with pivots.

        Above `DENSE` rows those that are farthest from depending are not sought.
        """
        if self.rows.count > DENSE:
            return independent_rows(self._sparse_rows(z, t), INDEPENDENT)
        G = self.rows.dense(z, self.numbers(t)[0]) * self.unit_of_unknowns
        length = np.linalg.norm(G, axis=1)
        G = G / np.where(length > 0.0, length, 1.0)[:, None]
        chosen = np.zeros(len(G), dtype=np.bool_)
        if len(G):
            R, order = qr(G.T, mode="r", pivoting=True)
            chosen[order[: np.count_nonzero(np.abs(R.diagonal()) > INDEPENDENT)]] = True
        return chosen

    def _sparse_rows(self, z: Floats, t: float) -> csr_array:
        """(m, N) G at z (N,) in units of the unknowns."""
        G = self.rows.sparse(z, self.numbers(t)[0])
        return self.in_units(G)

    def in_units(self, rows: csr_array) -> csr_array:
        """Rows (m, N) in units of the unknowns."""
        return csr_array(rows @ diags_array(self.unit_of_unknowns))

    @cached_property
    def unit_of_unknowns(self) -> Floats:
        """(N,) L for nodes, 1 for multipliers, L^2 for frames."""
        n, k = len(self.structure.r0), self.structure.constraints.multipliers
        unit = np.full(self.rows.unknowns, self.size)
        unit[3 * n : 3 * n + k], unit[3 * n + k :] = 1.0, self.size**2
        return unit

    def sharing(self, z: Floats, t: float, chosen: Bools, lam: Floats) -> Bools:
        """(m,) rows whose force may be another: they share one with a dropped row.

        Parameters
        ----------
        lam : (m,) forces of the rows; where all that may share carry none, none does
        """
        shared = ~chosen
        if chosen.all():
            return shared
        G = self.rows.dense(z, self.numbers(t)[0]) * self.unit_of_unknowns
        carried = np.abs(lam) * np.linalg.norm(G, axis=1)
        parts = shares_of(csr_array(G[chosen]), G[~chosen])
        shared[:] = False
        for row, part in zip(np.flatnonzero(~chosen), parts.T, strict=True):
            both = np.append(np.flatnonzero(chosen)[np.abs(part) > SHARES], row)
            if carried[both].max() > SHARES * carried.max():
                shared[both] = True
        return shared

    def _refuse_massless_motions(self) -> None:
        """Every motion that the constraints leave must have a kinetic energy."""
        z = unknowns_at(self.structure, self.structure.r0)
        rows, mass = self._sparse_rows(z, 0.0), self.in_units(self.mass)
        unknown = dependent_unknown(rows, mass, INDEPENDENT)
        if unknown is not None:
            raise ValueError(
                f"node {self._node_of(unknown)} can move without moving any mass: add "
                "one to `masses`, or fix the node"
            )

    def _node_of(self, unknown: int) -> int:
        """The node of a coordinate, or the first one of what a multiplier is of."""
        if unknown < 3 * len(self.structure.r0):
            return unknown // 3
        row = self.rows.row[(self.rows.i == unknown) | (self.rows.j == unknown)][0]
        return int(self.rows.i[self.rows.row == row].min()) // 3

    @cached_property
    def parts(self) -> tuple[list[str], Ints]:
        """Names of what has rows of its own, and which of them each row (m,) is of.

        Links, bodies and joints by their names, `support j` of a held node, drivers.
        """
        table, names = self.structure.constraints, dict[str, int]()
        own: list[int] = []
        for e, kind in enumerate(table.kind.tolist()):
            owner = table.owners[e] if table.owners else ""
            if kind == ConstraintKind.FIX:
                owner = owner or f"support {table.nodes[e, 0]}"
            own.append(names.setdefault(owner or table.name(e), len(names)))
        of = np.repeat(own, ROWS[table.kind]).astype(np.int64)
        framed = [own[frame.constraint] for frame in frames_of(self.structure)]
        of = np.append(of, np.repeat(np.array(framed, np.int64), OF_FRAME))
        driven = len(names) + np.arange(len(self.drivers))
        names_of_drivers = [f"driver {driver.name}" for driver in self.drivers]
        return [*names, *names_of_drivers], np.append(of, driven)

    @cached_property
    def felt(self) -> tuple[Ints, Ints, Ints]:
        """Parts (p,) of the forces on single nodes, the entries of G that they are made
        of, and where in (p, 3) each is added."""
        (row, col), n = self.rows.slope_places, len(self.structure.r0)
        entries = np.flatnonzero(col < 3 * n)
        node, axis = np.divmod(col[entries], 3)
        on = self.parts[1][row[entries]] * n + node
        pairs, of_pair = np.unique(on, return_inverse=True)
        return pairs // n, entries, 3 * of_pair + axis


@once_per_owner
def equations_with(mechanism: MovingMechanism, chosen: bytes) -> StepEquations:
    """Of a step, with the independent rows (m,) of booleans; made once."""
    heavy = mechanism.total_mass / len(mechanism.structure.r0)
    rows = mechanism.rows.only(np.frombuffer(chosen, dtype=np.bool_))
    mass, size = mechanism.mass.tocoo(), mechanism.size
    return StepEquations(rows, mass, mechanism.forces, size, heavy)
