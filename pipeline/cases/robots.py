"""The robots of [Hu20]: star, jumper, actuator; computing times."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np

from pipeline.cases.record import Arrays, Recorder, Row, Summary, along_axes
from pipeline.cases.rod_record import MovingRod
from pipeline.terminal import machine
from sim.core.options import Checked, Count, Finite, Positive, counted
from sim.rods.plane.actuation import Actuator, LeftOfContact, Pulses, Schedule, relative
from sim.rods.plane.builders import StarShape, jumper, star
from sim.rods.plane.ground import Ground, GroundPlane, set_on_ground
from sim.rods.plane.markers import centroid
from sim.rods.plane.options import StepOptions
from sim.rods.plane.rod import Rod, RodMaterial
from sim.rods.plane.simulate import RodSimulator, contact_limb
from sim.rods.plane.state import RodStep
from sim.rods.plane.statics import solve_static
from sim.rods.plane.world import Damping, NodeLoad, World


def last_switched_on(step: RodStep) -> int:
    """The limb whose pulse began last, or -1."""
    begun = np.where(np.isfinite(step.state.pulse), step.state.pulse, -np.inf)
    return int(np.argmax(begun)) if np.isfinite(begun).any() else -1


@dataclass(frozen=True, eq=False, kw_only=True)
class GroundRobot(MovingRod):
    """A robot on a ground, where its weight bends it before it moves.

    Attributes
    ----------
    material : modulus, Pa, density, kg/m^3, thickness and width, m
    ground : height over x
    friction : coefficient
    actuator : how a limb unbends after a pulse: the law of eq. (7)
    damping : of bending and stretching
    options : time step and tolerances
    """

    material: RodMaterial = field(default_factory=RodMaterial)
    ground: Ground = field(default_factory=GroundPlane)
    friction: float = 0.8
    actuator: Actuator = field(default_factory=Actuator)
    damping: Damping = field(default_factory=Damping)
    options: StepOptions = field(default_factory=StepOptions)

    def as_built(self, rod: Rod, first: float = 0.0) -> World:
        """A rod set on the ground, the first of it at a place x, m."""
        return World(
            set_on_ground(rod, self.ground, first),
            self.ground,
            self.friction,
            damping=self.damping,
            actuator=self.actuator,
        )


def at_rest(unsettled: World) -> World:
    """The same, bent by its weight."""
    rest = solve_static(replace(unsettled, schedule=None), tolerance=1e-7)
    return replace(unsettled, rod=replace(unsettled.rod, nodes=rest.x))


@dataclass(frozen=True, eq=False)
class StarCase(GroundRobot):
    """Figs. 4 to 6: the rolling star, from rest, its limbs switched on in turn.

    Attributes
    ----------
    first : m, where on the ground the robot stands
    refinement : edges are divided by this, N = 84 times it
    shape : radii and limbs
    schedule : which limb is switched on when
    duration : s
    every : steps between two records
    """

    of: ClassVar[str] = "star"
    shape: StarShape = field(default_factory=StarShape)
    refinement: Count = 1
    first: Finite = 0.0
    schedule: Schedule = field(default_factory=lambda: LeftOfContact(0.0, 3.0))
    duration: Positive = 12.0
    every: Count = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.unsettled

    @cached_property
    def height(self) -> float:
        """H, the body length of the paper, m."""
        return float(np.ptp(star(self.shape, self.material).nodes[:, 1]))

    @cached_property
    def unsettled(self) -> World:
        """As it is built, before its weight bends it."""
        robot = star(self.shape.refined(self.refinement), self.material)
        return replace(self.as_built(robot, self.first), schedule=self.schedule)

    @cached_property
    def world(self) -> World:
        return at_rest(self.unsettled)

    def columns(self, step: RodStep) -> Row:
        """How far it has come, and which limbs carry and push it."""
        mass = self.world.rod.mass
        x_c, start = (centroid(x, mass)[0] for x in (step.x, self.world.rod.nodes))
        return {
            "way_over_H": float((float(x_c) - start) / self.height),
            "contact_limb": contact_limb(self.world, step.x) + 1,
            "switched_on": last_switched_on(step) + 1,
        }

    def ends(self, last: RodStep) -> Summary:
        row = self.columns(last)
        del row["switched_on"]
        return {**row, "nodes": len(last.x)}


@dataclass(frozen=True, eq=False)
class JumperCase(GroundRobot):
    """Fig. 7: one limb with a pull of its wire on the first node.

    The paper prints neither the shape nor the force (they are in its supplement).
    Length and radius are those of its tape and its text; that the arc turns by 270
    degrees above a straight foot, and that the force is 0, are assumptions. So this
    shows the motion of such a limb, and claims no agreement with Fig. 7.

    Attributes
    ----------
    length : of the foot, m
    radius : of the arc, m
    turn : of the arc, degrees
    nodes : their number
    force : on the first node, N
    force_duration : s
    first_pulse : when the limb is first switched on, s
    duration : s
    every : steps between two records
    """

    of: ClassVar[str] = "jumper"
    length: Positive = 55.0e-3
    radius: Positive = 5.0e-3
    turn: Positive = 270.0  # degrees
    nodes: Count = 56
    force: tuple[float, float] = (0.0, 0.0)
    force_duration: float = 0.25
    first_pulse: float = 0.0
    duration: Positive = 3.0
    every: Count = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self._unsettled, self._pull, self._pulse

    @property
    def _pull(self) -> NodeLoad:
        return NodeLoad([0], self.force, self.first_pulse, self.force_duration)

    @property
    def _pulse(self) -> Pulses:
        return Pulses([self.first_pulse], [0])

    @cached_property
    def _unsettled(self) -> World:
        turn = float(np.radians(self.turn))
        rod = jumper(self.length, self.radius, turn, self.nodes, self.material)
        return self.as_built(rod)

    @cached_property
    def world(self) -> World:
        start = at_rest(self._unsettled)
        return replace(start, schedule=self._pulse, load=self._pull)

    def columns(self, step: RodStep) -> Row:
        return along_axes("{}_first", step.x[0])

    def ends(self, last: RodStep) -> Summary:
        return {**along_axes("{}_first", last.x[0] - self.world.rod.nodes[0])}


@dataclass(frozen=True)
class ActuatorStep:
    """kbar / kbar0 and E / E0 at a time after a pulse began."""

    step: int
    time: float
    curvature: float
    modulus: float


@dataclass(frozen=True, eq=False)
class ActuatorCase(Checked):
    """Fig. 3: natural curvature and modulus of a limb after one pulse, eq. (7).

    Attributes
    ----------
    actuator : the law
    duration : s
    count : of times at which it is evaluated
    """

    of: ClassVar[str] = "actuator"
    actuator: Actuator = field(default_factory=Actuator)
    duration: Positive = 3.0
    count: Annotated[int, counted(2)] = 601

    def steps(self) -> Iterator[ActuatorStep]:
        law = self.actuator.law
        for k, t in enumerate(np.linspace(0.0, self.duration, self.count)):
            curvature = relative(t, law.least_curvature, law)
            yield ActuatorStep(k, t, curvature, relative(t, law.most_modulus, law))

    def recorder(self) -> "ActuatorRecorder":
        return ActuatorRecorder(self)


class ActuatorRecorder(Recorder[ActuatorCase, ActuatorStep]):
    """Records the law."""

    def row(self, step: ActuatorStep) -> Row:
        return asdict(step)

    def arrays(self, step: ActuatorStep) -> Arrays:
        return {"law": np.array([step.time, step.curvature, step.modulus])}

    def progress(self, step: ActuatorStep) -> str:
        return f"t {step.time:.2f} s"

    def summary(self) -> Summary:
        return {
            "stop": "duration",
            "curvature_at_end": self.last.curvature,
            "modulus_at_end": self.last.modulus,
        }


MOST = "_most"  # ends the columns of the slowest repeats


@dataclass(frozen=True)
class TimingStep:
    """CPU time over simulated time for one step length, by ground.

    Attributes
    ----------
    repeats : of each ground
    """

    step: int
    h: float
    repeats: dict[str, tuple[float, ...]]


@dataclass(frozen=True, eq=False)
class ComputingTimeCase(Checked):
    """CPU time of the compiled loop with N = 84, the least and the largest of repeats.

    Its numbers are those of the machine, which it names, and of the hour that ran it.

    Attributes
    ----------
    grounds : by name
    step_lengths : s
    duration : s, simulated each time
    repeats : of each run
    """

    of: ClassVar[str] = "computing time"
    grounds: dict[str, Ground]
    step_lengths: list[float]
    duration: Positive = 3.0
    repeats: Count = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        for h in self.step_lengths:
            StepOptions(h=h)
        if not (self.grounds and self.step_lengths):
            raise ValueError(
                "grounds and step_lengths must not be empty: give one or more of each"
            )

    def steps(self) -> Iterator[TimingStep]:
        worlds = {
            name: StarCase(ground=ground, duration=self.duration).world
            for name, ground in self.grounds.items()
        }
        self._cost(next(iter(worlds.values())), self.step_lengths[-1])  # compiles
        for k, h in enumerate(self.step_lengths):
            costs = {name: self._cost(world, h) for name, world in worlds.items()}
            yield TimingStep(k, h, costs)

    def _cost(self, world: World, h: float) -> tuple[float, ...]:
        taken = []
        for _ in range(self.repeats):
            loop = RodSimulator(world, StepOptions(h=h), None)
            start = time.process_time()
            if not loop.run_to(1 << 40, self.duration):
                raise loop.failure()
            taken.append((time.process_time() - start) / self.duration)
        return tuple(taken)

    def recorder(self) -> "TimingRecorder":
        return TimingRecorder(self)


def extremes(repeats: Mapping[str, Sequence[float]]) -> Row:
    """The least and the largest of the repeats of each ground, in columns."""
    least: Row = {name: min(taken) for name, taken in repeats.items()}
    return least | {f"{name}{MOST}": max(taken) for name, taken in repeats.items()}


class TimingRecorder(Recorder[ComputingTimeCase, TimingStep]):
    """Records what was measured."""

    def row(self, step: TimingStep) -> Row:
        return {"step": step.step, "h": step.h, **extremes(step.repeats)}

    def arrays(self, step: TimingStep) -> Arrays:
        return {"ratios": np.array([min(taken) for taken in step.repeats.values()])}

    def progress(self, step: TimingStep) -> str:
        return f"h {1e3 * step.h:g} ms"

    def summary(self) -> Summary:
        lengths = self.last.step + 1
        return {"stop": "measured", "step_lengths": lengths, "machine": machine()}
