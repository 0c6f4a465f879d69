"""A motion case: a mechanism with masses, what drives it, what acts on it.

masses      see `pipeline.formats.structure_masses`; those of the file by default
velocities  [[node, x, y, z], ...] at the start; others move with the least energy
drivers     [{angle: [a, b, c], rate: 360}, ...]: a length [a, b], an angle at b
            about `normal` (z by default), or a place [node, axis]; moved by `rate`
            per s, or by `table`, [[time, change], ...] from its value at the start.
            Angles in degrees
dampers     [{length: [a, b], viscosity: 2}, ...]: a length, an angle [a, b, c] or
            a hinge [i, j, k, l]; moments per rad / s

All in SI units. ToldLengths of a file are in its `unit`, and in m where it names none.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field, model_validator

from pipeline.cases.in_metres import in_metres
from pipeline.cases.moved_most import ToldLengths, moved_most
from pipeline.cases.record import Arrays, Documents, Row, State, Summary, Tables
from pipeline.config.checking import checked
from pipeline.config.models import Coordinate, Entry, Point, Rows, numbers
from pipeline.formats.structure_file import OwnStructure, document
from pipeline.formats.structure_masses import RigidMassEntry, masses_document
from sim.arrays import Floats
from sim.limits import is_count, refuse_unless_positive
from sim.morph.dynamics.drivers import Driver, DriverKind, MotionLaw
from sim.morph.dynamics.forces import Dampers
from sim.morph.dynamics.mechanism import MovingMechanism
from sim.morph.dynamics.motion import motion
from sim.morph.dynamics.motion_state import MotionOptions, MotionState, MotionStep
from sim.morph.dynamics.start import start_state
from sim.morph.statics.driving import Coordinates
from sim.morph.statics.growth import GrowingStructure
from sim.morph.statics.loaded import LoadedStructure

ABOUT_Z = (0.0, 0.0, 1.0)
Node = Annotated[int, Field(ge=0)]
Two = Annotated[tuple[Node, Node], numbers(2)]
Three = Annotated[tuple[Node, Node, Node], numbers(3)]
Four = Annotated[tuple[Node, Node, Node, Node], numbers(4)]


class DriverEntry(Entry):
    """One coordinate that is moved by a law."""

    length: Two | None = None
    angle: Three | None = None
    place: Two | None = None
    rate: Coordinate = 0.0
    table: Rows[Annotated[tuple[Coordinate, Coordinate], numbers(2)]]
    normal: Point = ABOUT_Z

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(part is not None for part in (self.length, self.angle, self.place)) != 1:
            raise ValueError("must have one of length, angle and place")
        if bool(self.table) == bool(self.rate):
            raise ValueError("must have either a rate or a table")
        return self

    @property
    def made(self) -> Driver:
        """As a motion takes it, angles in rad."""
        kinds = {
            DriverKind.LENGTH: self.length,
            DriverKind.ANGLE: self.angle,
            DriverKind.PLACE: self.place,
        }
        kind, nodes = next((k, n) for k, n in kinds.items() if n is not None)
        unit = np.pi / 180.0 if kind is DriverKind.ANGLE else 1.0
        table = [(time, unit * change) for time, change in self.table]
        return Driver(kind, nodes, MotionLaw(unit * self.rate, table), self.normal)


class DamperEntry(Entry):
    """A viscous damper of one coordinate."""

    length: Two | None = None
    angle: Three | None = None
    hinge: Four | None = None
    viscosity: Coordinate

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(part is not None for part in (self.length, self.angle, self.hinge)) != 1:
            raise ValueError("must have one of length, angle and hinge")
        return self


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
        """ToldLengths first, then angles, then hinges, as coordinates have them."""
        kinds = ("length", "angle", "hinge")
        chosen = [
            [(getattr(d, kind), d.viscosity) for d in self.dampers if getattr(d, kind)]
            for kind in kinds
        ]
        lengths, corners, hinges = [[nodes for nodes, _ in rows] for rows in chosen]
        viscosity = np.array([c for rows in chosen for _, c in rows], dtype=np.float64)
        return Dampers(Coordinates.of(lengths, corners, hinges), viscosity)


@dataclass(frozen=True, eq=False)
class MechanismMotionCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    body : structure with springs, hinges, loads and supports: `pipeline.cases.loaded`;
        it moves in m, see `pipeline.cases.in_metres`
    duration, h : s, of the whole and of a step
    every : steps between two records
    gravity : (3,) acceleration
    contact_energy : of the potential of bodies and ranges, force x length
    residual : largest violation of a constraint, dimensionless
    masses, velocities, drivers, dampers : see above
    """

    body: LoadedStructure
    duration: float
    h: float
    every: int = 1
    gravity: Sequence[float] = (0.0, 0.0, -9.81)
    contact_energy: float | None = None
    residual: float = 1e-10
    masses: Sequence[Mapping[str, Any]] = ()
    velocities: Sequence[Sequence[float]] = ()
    drivers: Sequence[Mapping[str, Any]] = ()
    dampers: Sequence[Mapping[str, Any]] = ()

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "duration", "h")
        if not is_count(self.every):
            raise ValueError(f"every is {self.every}: give 1 or more")
        if isinstance(self.body, GrowingStructure):
            raise ValueError(
                "the body has growth, and a motion none: leave it out, or ask "
                "case=loaded_file for rests at values of its field"
            )
        n = len(self.body.structure.r0)
        for node, *_ in self.entries.velocities:
            if node >= n:
                raise ValueError(
                    f"velocities name node {node}: the structure has nodes 0 to {n - 1}"
                )
        _ = self.start

    @cached_property
    def entries(self) -> MotionEntries:
        named = ("masses", "velocities", "drivers", "dampers")
        given = {name: list(getattr(self, name)) for name in named}
        return checked(MotionEntries, given, "case")

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

    def steps(self) -> Iterator[MotionStep]:
        return self._from(None)

    def continued(
        self, state: State
    ) -> tuple["MechanismMotionRecorder", Iterator[MotionStep]]:
        return self.recorder(), self._from(state)

    def _from(self, state: State | None) -> Iterator[MotionStep]:
        start = self.start if state is None else state_from(state)
        made = motion(self.mechanism, self.options, start, self.duration, self.every)
        recorded = 0 if state is None or start.step else 1  # the start itself
        yield from islice(made, recorded, None)

    def recorder(self) -> "MechanismMotionRecorder":
        return MechanismMotionRecorder(self)


NUMBERS = ("step", "energy", "driven", "damped", "worst")
ARRAYS = ("z", "v", "lam", "mu", "kept")


def state_arrays(state: MotionState) -> Arrays:
    """A state as arrays, by name."""
    numbers = np.array([getattr(state, name) for name in NUMBERS], dtype=np.float64)
    return {name: getattr(state, name) for name in ARRAYS} | {"numbers": numbers}


def state_from(arrays: State) -> MotionState:
    """What `state_arrays` took apart."""
    step, *numbers = arrays["numbers"].tolist()
    z, v, lam, mu, kept = (np.array(arrays[name]) for name in ARRAYS)
    return MotionState(int(step), z, v, lam, mu, kept, *numbers)


@dataclass(eq=False)
class MechanismMotionRecorder:
    """Records a motion: energies, momenta, what is violated, reactions and efforts."""

    case: MechanismMotionCase
    last: MotionStep = field(init=False)

    def see(self, step: MotionStep) -> None:
        self.last = step

    def row(self, step: MotionStep) -> Row:
        mechanism = self.case.mechanism
        efforts = zip(mechanism.drivers, step.effort.tolist(), strict=True)
        reactions = zip(mechanism.parts[0], step.reaction.tolist(), strict=True)
        return {
            "step": step.state.step,
            "time": step.time,
            "kinetic": step.kinetic,
            "potential": step.potential,
            **_along_axes("momentum", step.momentum),
            **_along_axes("angular_momentum", step.angular),
            "driven": step.driven,
            "damped": step.damped,
            "out_of_balance": step.balance,
            "residual": step.residual,
            "hidden_residual": step.hidden,
            "iterations": step.iterations,
            "substeps": step.substeps,
            **{_column("effort", driver.name): effort for driver, effort in efforts},
            **{_column("reaction", part): force for part, force in reactions},
        }

    def arrays(self, step: MotionStep) -> Arrays:
        return {"r": step.r, "v": step.v}

    def progress(self, step: MotionStep) -> str:
        return f"t {step.time:.3f} s"

    def state(self, step: MotionStep) -> Arrays:
        """What every later step depends on; nothing where none is left."""
        left = step.time < self.case.duration - 0.5 * self.case.h
        return state_arrays(step.state) if left else {}

    def documents(self) -> Documents:
        told = masses_document(self.case.mechanism.masses)
        structure = document(self.case.mechanism.loaded.structure)
        return {"structure.json": structure | {"masses": told}}

    def fixed_arrays(self) -> Arrays:
        return {"mass": self.case.mechanism.node_mass.toarray()}

    def tables(self) -> Tables:
        return {}

    @property
    def _lengths(self) -> ToldLengths:
        """Those of the file."""
        structure = self.case.body.structure
        if isinstance(structure, OwnStructure) and structure.unit:
            return ToldLengths(structure.unit, structure.metres)
        return ToldLengths()

    def summary(self) -> Summary:
        step, mechanism = self.last, self.case.mechanism
        return {
            "stop": "duration",
            "nodes": len(step.r),
            "time": step.time,
            "steps": step.state.step,
            "moved": moved_most(mechanism.loaded.structure.r0, step.r, self._lengths),
            "mass": mechanism.total_mass,
            "energy": step.kinetic + step.potential,
            "driven": step.driven,
            "damped": step.damped,
            "out_of_balance": step.balance,
            "residual": step.worst,
            "redundant": int(np.count_nonzero(~step.state.kept)),
        }


def _column(kind: str, name: str) -> str:
    """Of steps.csv: letters, digits and _ alone."""
    letters = re.sub(r"\W+", "_", name).strip("_")
    return f"{kind}_{letters}"


def _along_axes(name: str, vector: Floats) -> Row:
    return {f"{name}_{a}": float(x) for a, x in zip("xyz", vector, strict=True)}
