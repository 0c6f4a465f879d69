"""A mechanism that moves: what it weighs, what acts on it, what drives it."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.linalg import qr
from scipy.sparse import csr_array, diags_array, kron

from sim.arrays import Bools, Floats, Ints
from sim.limits import is_positive
from sim.morph.dynamics.constraint_rows import (
    OF_FRAME,
    drafted,
    frames_of,
    unknowns_at,
)
from sim.morph.dynamics.drivers import SLOTS, Driver, DriverKind
from sim.morph.dynamics.forces import Dampers, Forces
from sim.morph.dynamics.masses import RigidMass, mass_matrix
from sim.morph.dynamics.rows import QuadraticRows
from sim.morph.dynamics.sparse_rows import (
    dependent_unknown,
    independent_rows,
    shares_of,
)
from sim.morph.dynamics.step import StepEquations, TimeNumbers
from sim.morph.statics.driving import Coordinates, released
from sim.morph.statics.loaded import LoadedStructure
from sim.morph.statics.potential import PotentialEnergy
from sim.morph.structure.constraints import ROWS, ConstraintKind
from sim.morph.structure.measures import characteristic_length
from sim.morph.structure.structure import Structure
from sim.once import once_per_owner

DENSE = 400  # rows up to which ranks are found with dense matrices
INDEPENDENT = 1e-9  # share of a row that is new, from which on it is kept
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
            raise ValueError("a motion has no target: leave springs to it out")
        if not self.masses:
            raise ValueError("nothing has a mass: give `masses`")
        if self.structure.is_limited and not is_positive(self.contact_energy):
            raise ValueError(
                f"contact_energy is {self.contact_energy}, and there are bodies or "
                "ranges: give about the kinetic energy of an impact"
            )
        self.dampers.coordinates.check(len(self.structure.r0))
        for driver in self.drivers:
            driver.check(self.structure.r0)
        self._refuse_massless_motions()

    @cached_property
    def structure(self) -> Structure:
        """Without the links that are driven."""
        lengths = [d.nodes for d in self.drivers if d.kind is DriverKind.LENGTH]
        return released(self.loaded.structure, Coordinates.of(lengths))

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

    def time_numbers(self, t0: float, t1: float) -> TimeNumbers:
        """Of a step."""
        (s0, ds0), (s1, ds1) = self.numbers(t0), self.numbers(t1)
        return TimeNumbers(s0, s1, ds0, ds1)

    def independent(self, z: Floats, t: float) -> Bools:
        """(m,) rows at z (N,) that depend on no others, by QR with pivots.

        Of many rows those that are farthest from depending are not sought.
        """
        if self.is_large:
            return independent_rows(self._sparse_rows(z, t), INDEPENDENT)
        G = self.rows.dense(z, self.numbers(t)[0]) * self._unit_of_unknowns
        length = np.linalg.norm(G, axis=1)
        G = G / np.where(length > 0.0, length, 1.0)[:, None]
        kept = np.zeros(len(G), dtype=np.bool_)
        if len(G):
            R, order = qr(G.T, mode="r", pivoting=True)
            kept[order[: np.count_nonzero(np.abs(R.diagonal()) > INDEPENDENT)]] = True
        return kept

    @property
    def is_large(self) -> bool:
        """Whether ranks are sought without a dense matrix."""
        return self.rows.count > DENSE

    def _sparse_rows(self, z: Floats, t: float) -> csr_array:
        """(m, N) G at z (N,) in units of the unknowns."""
        G = self.rows.sparse(z, self.numbers(t)[0])
        return self.in_units(G)

    def in_units(self, rows: csr_array) -> csr_array:
        """Rows (m, N) in units of the unknowns."""
        return csr_array(rows @ diags_array(self._unit_of_unknowns))

    @cached_property
    def _unit_of_unknowns(self) -> Floats:
        """(N,) L for nodes, 1 for multipliers, L^2 for frames."""
        n, k = len(self.structure.r0), self.structure.constraints.multipliers
        unit = np.full(self.rows.unknowns, self.size)
        unit[3 * n : 3 * n + k], unit[3 * n + k :] = 1.0, self.size**2
        return unit

    def sharing(self, z: Floats, t: float, kept: Bools, lam: Floats) -> Bools:
        """(m,) rows whose force may be another: they share one with a dropped row.

        Parameters
        ----------
        lam : (m,) forces of the rows; where all that may share carry none, none does
        """
        shared = ~kept
        if kept.all():
            return shared
        G = self.rows.dense(z, self.numbers(t)[0]) * self._unit_of_unknowns
        carried = np.abs(lam) * np.linalg.norm(G, axis=1)
        if self.is_large:
            parts = shares_of(csr_array(G[kept]), G[~kept])
        else:
            parts = np.asarray(np.linalg.lstsq(G[kept].T, G[~kept].T, rcond=None)[0])
        shared[:] = False
        for row, part in zip(np.flatnonzero(~kept), parts.T, strict=True):
            both = np.append(np.flatnonzero(kept)[np.abs(part) > SHARES], row)
            if carried[both].max() > SHARES * carried.max():
                shared[both] = True
        return shared

    def _refuse_massless_motions(self) -> None:
        """Every motion that the constraints leave must have a kinetic energy."""
        z = unknowns_at(self.structure, self.structure.r0)
        if self.is_large:
            rows, mass = self._sparse_rows(z, 0.0), self.in_units(self.mass)
            unknown = dependent_unknown(rows, mass, INDEPENDENT)
            if unknown is not None:
                raise _massless(self._node_of(unknown))
            return
        G = self.rows.dense(z, self.numbers(0.0)[0]) * self._unit_of_unknowns
        _, sizes, axes = np.linalg.svd(G)
        rank = int(np.count_nonzero(sizes > INDEPENDENT * sizes.max(initial=1e-300)))
        free = (axes[rank:] * self._unit_of_unknowns).T
        if not free.shape[1]:
            return
        energy, ways = np.linalg.eigh(free.T @ (self.mass @ free))
        if energy[0] > 1e-12 * energy[-1]:
            return
        n = len(self.structure.r0)
        moved = np.linalg.norm((free @ ways[:, 0])[: 3 * n].reshape(n, 3), axis=1)
        raise _massless(int(np.argmax(moved)))

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


def _massless(node: int) -> ValueError:
    return ValueError(
        f"node {node} can move where nothing has a mass: add one to `masses`, or hold "
        "it"
    )


@once_per_owner
def equations_with(mechanism: MovingMechanism, kept: bytes) -> StepEquations:
    """Of a step, with the kept rows (m,) of booleans; made once."""
    heavy = mechanism.total_mass / len(mechanism.structure.r0)
    rows = mechanism.rows.chosen(np.frombuffer(kept, dtype=np.bool_))
    return StepEquations(rows, mechanism.mass, mechanism.forces, mechanism.size, heavy)
