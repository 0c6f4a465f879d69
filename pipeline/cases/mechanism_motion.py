"""A motion case: a mechanism with masses, what drives it, what acts on it.

All in SI units. Lengths of a file are in its `unit`, and in m where it names none.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Annotated, Any, Self

import numpy as np
from pydantic import model_validator

from pipeline.cases import record
from pipeline.config.config_files import checked
from pipeline.config.value_types import Coordinate, Entry, OneOf, Point, Rows, numbers
from pipeline.io.structure_entries import Node, RigidMassEntry, masses_document
from pipeline.io.structure_file import OwnStructure, document, drawing_of
from sim.core.options import Checked, Count, Positive
from sim.mechanism.dynamics.moving_mechanism import (
    Driver,
    DriverKind,
    MotionLaw,
    MovingMechanism,
)
from sim.mechanism.dynamics.rigid_masses import RigidMass
from sim.mechanism.dynamics.time_loop import (
    MotionOptions,
    MotionState,
    MotionStep,
    motion,
    start_state,
)
from sim.mechanism.dynamics.time_step import Coordinates, Dampers
from sim.mechanism.mobility import rescaled
from sim.mechanism.statics.loaded_structure import GrowingStructure, LoadedStructure


def in_metres(body: LoadedStructure) -> LoadedStructure:
    """The same body with lengths in m; as it is where it names no unit, or m.

    A row's constant is multiplied by the power of a length that it holds, as are
    ranges, springs in force / length, hinges in force x length / rad, moduli of panels
    in force / length^2 and inertias in mass x length^2. Forces are N and masses kg; the
    shape of the file's target is left out.
    """
    structure = body.structure
    if not isinstance(structure, OwnStructure) or structure.metres == 1.0:
        return body
    m, elastic = structure.metres, body.elastic
    made = rescaled(structure, 1.0 / m)
    assert isinstance(made, OwnStructure)
    masses = tuple(_mass_in_metres(mass, m) for mass in structure.masses)
    made = replace(made, masses=masses, target=None, unit="m")
    taken = replace(
        elastic,
        link_stiffness=elastic.link_stiffness / m,
        rest_length=m * elastic.rest_length,
        hinge_stiffness=m * elastic.hinge_stiffness,
        panels=elastic.panels.scaled(m),
    )
    return replace(body, structure=made, elastic=taken)


def _mass_in_metres(mass: RigidMass, m: float) -> RigidMass:
    return replace(
        mass,
        centre=None if mass.centre is None else m * mass.centre,
        inertia=None if mass.inertia is None else m**2 * mass.inertia,
    )


ABOUT_Z = (0.0, 0.0, 1.0)
Two = Annotated[tuple[Node, Node], numbers(2)]
Three = Annotated[tuple[Node, Node, Node], numbers(3)]
Four = Annotated[tuple[Node, Node, Node, Node], numbers(4)]


class DriverEntry(OneOf):
    """One coordinate that is moved by a law."""

    remedy = "give one of length, angle and place"
    among = frozenset(kind.value for kind in DriverKind)

    length: Two | None = None
    angle: Three | None = None
    place: Annotated[tuple[Node, int], numbers(2)] | None = None
    rate: Coordinate = 0.0
    table: Rows[Annotated[tuple[Coordinate, Coordinate], numbers(2)]]
    normal: Point = ABOUT_Z

    @model_validator(mode="after")
    def _moves(self) -> Self:
        if bool(self.table) == bool(self.rate):
            raise ValueError("must have either a rate or a table")
        return self

    @property
    def made(self) -> Driver:
        """As a motion takes it, angles in rad."""
        (kind,) = self.named
        unit = np.pi / 180.0 if self.angle else 1.0
        table = [(time, unit * change) for time, change in self.table]
        law = MotionLaw(unit * self.rate, table)
        return Driver(DriverKind(kind), getattr(self, kind), law, self.normal)


class DamperEntry(OneOf):
    """A viscous damper of one coordinate."""

    remedy = "give one of length, angle and hinge"
    among = frozenset(("length", "angle", "hinge"))

    length: Two | None = None
    angle: Three | None = None
    hinge: Four | None = None
    viscosity: Coordinate


class MotionEntries(Entry):
    """What a case says of a motion besides numbers."""

    masses: Rows[RigidMassEntry]
    velocities: Rows[
        Annotated[tuple[Node, Coordinate, Coordinate, Coordinate], numbers(4)]
    ]
    drivers: Rows[DriverEntry]
    dampers: Rows[DamperEntry]

    @property
    def made_dampers(self) -> Dampers:
        """Lengths first, then angles, then hinges, as coordinates have them."""
        kinds = ("length", "angle", "hinge")
        chosen = [
            [(getattr(d, kind), d.viscosity) for d in self.dampers if getattr(d, kind)]
            for kind in kinds
        ]
        lengths, corners, hinges = [[nodes for nodes, _ in rows] for rows in chosen]
        viscosity = np.array([c for rows in chosen for _, c in rows], dtype=np.float64)
        return Dampers(Coordinates.of(lengths, corners, hinges), viscosity)


@dataclass(frozen=True, eq=False)
class MechanismMotionCase(Checked):
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    body : structure with springs, hinges, loads and supports, which moves in m: see
        `pipeline.cases.equilibrium`
    duration, h : s, of the whole and of a step
    every : steps between two records
    gravity : (3,) acceleration
    contact_energy : of the potential of bodies and ranges, force x length
    residual : largest violation of a constraint, dimensionless
    masses : see `pipeline.io.structure_entries`; those of the file by default
    velocities : [[node, x, y, z], ...] at the start; others move with the least energy
    drivers : [{angle: [a, b, c], rate: 360}, ...]: a length [a, b], an angle at b
        about `normal` (z by default), or a place [node, axis]; moved by `rate` per s,
        or by `table`, [[time, change], ...] from its value at the start, a smooth
        cubic spline through the rows that begins and ends at rest. Angles in degrees
    dampers : [{length: [a, b], viscosity: 2}, ...]: a length, an angle [a, b, c] or a
        hinge [i, j, k, l]; moments per rad / s
    """

    body: LoadedStructure
    duration: Positive
    h: Positive
    every: Count = 1
    gravity: Sequence[float] = (0.0, 0.0, -9.81)
    contact_energy: float | None = None
    residual: float = 1e-10
    masses: Sequence[Mapping[str, Any]] = ()
    velocities: Sequence[Sequence[float]] = ()
    drivers: Sequence[Mapping[str, Any]] = ()
    dampers: Sequence[Mapping[str, Any]] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.body, GrowingStructure):
            raise ValueError(
                "growth does not work in a motion: remove it, or use case=loaded_file "
                "for equilibria at field values"
            )
        _ = self.start

    @cached_property
    def entries(self) -> MotionEntries:
        named = ("masses", "velocities", "drivers", "dampers")
        given = {name: list(getattr(self, name)) for name in named}
        nodes = {"nodes": len(self.body.structure.r0)}
        return checked(MotionEntries, given, "case", nodes)

    @cached_property
    def options(self) -> MotionOptions:
        return MotionOptions(self.h, self.residual)

    @cached_property
    def mechanism(self) -> MovingMechanism:
        body = in_metres(self.body)
        structure, masses = body.structure, tuple(m.made for m in self.entries.masses)
        if not masses and isinstance(structure, OwnStructure):
            masses = structure.masses
        return MovingMechanism(
            body,
            masses,
            np.array(self.gravity, dtype=np.float64),
            self.entries.made_dampers,
            tuple(driver.made for driver in self.entries.drivers),
            self.contact_energy,
        )

    @cached_property
    def start(self) -> MotionState:
        given = {int(j): np.array(v) for j, *v in self.entries.velocities}
        return start_state(self.mechanism, self.options, given)

    def continued(
        self, state: record.State
    ) -> tuple["MechanismMotionRecorder", Iterator[MotionStep]]:
        return self.recorder(), self.steps(state)

    def steps(self, state: record.State | None = None) -> Iterator[MotionStep]:
        """From the start, or from a recorded state."""
        start = self.start if state is None else state_from(state)
        made = motion(self.mechanism, self.options, start, self.duration, self.every)
        recorded = 0 if state is None or start.step else 1  # the start itself
        yield from islice(made, recorded, None)

    def recorder(self) -> "MechanismMotionRecorder":
        return MechanismMotionRecorder(self)


NUMBERS = ("step", "energy", "driven", "damped", "worst")
ARRAYS = ("z", "v", "lam", "mu", "independent")


def state_arrays(state: MotionState) -> record.Arrays:
    """A state as arrays, by name."""
    numbers = np.array([getattr(state, name) for name in NUMBERS], dtype=np.float64)
    return {name: getattr(state, name) for name in ARRAYS} | {"numbers": numbers}


def state_from(arrays: record.State) -> MotionState:
    """What `state_arrays` took apart."""
    step, *numbers = arrays["numbers"].tolist()
    z, v, lam, mu, kept = (np.array(arrays[name]) for name in ARRAYS)
    return MotionState(int(step), z, v, lam, mu, kept, *numbers)


class MechanismMotionRecorder(record.Recorder[MechanismMotionCase, MotionStep]):
    """Records a motion: energies, momenta, what is violated, reactions and efforts."""

    def row(self, step: MotionStep) -> record.Row:
        mechanism = self.case.mechanism
        efforts = zip(mechanism.drivers, step.effort.tolist(), strict=True)
        reactions = zip(mechanism.parts[0], step.reaction.tolist(), strict=True)
        return {
            "step": step.state.step,
            **record.attributes(step, "time", "kinetic", "potential"),
            **record.along_axes("momentum_{}", step.momentum),
            **record.along_axes("angular_momentum_{}", step.angular),
            **record.attributes(step, "driven", "damped"),
            "out_of_balance": step.balance,
            "residual": step.residual,
            "hidden_residual": step.hidden,
            **record.attributes(step, "iterations", "substeps"),
            **{_column("effort", driver.name): effort for driver, effort in efforts},
            **{_column("reaction", part): force for part, force in reactions},
        }

    def arrays(self, step: MotionStep) -> record.Arrays:
        return {"r": step.r, "v": step.v}

    def progress(self, step: MotionStep) -> str:
        return f"t {step.time:.3f} s"

    def state(self, step: MotionStep) -> record.Arrays:
        """What every later step depends on; nothing where none is left."""
        left = step.time < (1.0 - 1e-9) * self.case.duration
        return state_arrays(step.state) if left else {}

    def documents(self) -> record.Documents:
        masses = masses_document(self.case.mechanism.masses)
        structure = document(self.case.mechanism.loaded.structure)
        return {"structure.json": structure | {"masses": masses}}

    def fixed_arrays(self) -> record.Arrays:
        return {"mass": self.case.mechanism.node_mass.toarray()}

    def summary(self) -> record.Summary:
        step, mechanism = self.last, self.case.mechanism
        structure, lengths = self.case.body.structure, record.LengthUnit()
        if isinstance(structure, OwnStructure) and structure.unit:
            lengths = record.LengthUnit(structure.unit, structure.metres)
        return {
            "stop": "duration",
            "nodes": len(step.r),
            "time": step.time,
            "steps": step.state.step,
            "moved": record.moved_most(mechanism.loaded.structure.r0, step.r, lengths),
            "mass": mechanism.total_mass,
            "energy": step.kinetic + step.potential,
            **record.attributes(step, "driven", "damped"),
            "out_of_balance": step.balance,
            "residual": step.worst,
            "redundant": int(np.count_nonzero(~step.state.independent)),
            **drawing_of(structure),
        }


def _column(kind: str, name: str) -> str:
    """Of steps.csv: letters, digits and _ alone."""
    letters = re.sub(r"\W+", "_", name).strip("_")
    return f"{kind}_{letters}"
