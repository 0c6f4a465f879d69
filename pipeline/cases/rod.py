"""Soft robots of [Hu20]: the rolling star, the jumper, and their actuator."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from pipeline.cases.record import Arrays, Documents, Row, State, Summary, Tables
from pipeline.cases.rod_record import RodRecorder, moving, refuse_times, rod_state
from sim.limits import (
    refuse_unless_count,
    refuse_unless_finite,
    refuse_unless_positive,
)
from sim.rod.actuation.actuation import (
    Actuator,
    LeftOfContact,
    Pulses,
    Schedule,
    relative,
)
from sim.rod.contact.ground import Ground, GroundPlane
from sim.rod.contact.standing import standing
from sim.rod.rod.paths import centroid
from sim.rod.rod.rod import RodMaterial
from sim.rod.rod.star import StarShape, jumper, star
from sim.rod.stepping.equilibrium import settle
from sim.rod.stepping.options import StepOptions
from sim.rod.stepping.simulate import contact_limb
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.world import Damping, NodeLoad, World


def last_switched_on(step: RodStep) -> int:
    """The limb whose pulse began last, or -1."""
    begun = np.where(np.isfinite(step.state.pulse), step.state.pulse, -np.inf)
    return int(np.argmax(begun)) if np.isfinite(begun).any() else -1


@dataclass(frozen=True, eq=False)
class StarCase:
    """Figs. 4 to 6: the rolling star, from rest, its limbs switched on in turn.

    first : m, where on the ground the robot stands
    refinement : edges are divided by this, N = 84 times it
    """

    shape: StarShape = field(default_factory=StarShape)
    refinement: int = 1
    material: RodMaterial = field(default_factory=RodMaterial)
    ground: Ground = field(default_factory=GroundPlane)
    first: float = 0.0
    friction: float = 0.8
    schedule: Schedule = field(default_factory=lambda: LeftOfContact(0.0, 3.0))
    actuator: Actuator = field(default_factory=Actuator)
    damping: Damping = field(default_factory=Damping)
    duration: float = 12.0
    every: int = 10
    options: StepOptions = field(default_factory=StepOptions)

    def __post_init__(self) -> None:
        refuse_times(self.duration, self.every)
        refuse_unless_count(self, "refinement", of="star")
        refuse_unless_finite(self, "first", of="star")
        _ = self.unsettled

    @cached_property
    def height(self) -> float:
        """H, the body length of the paper, m."""
        return float(np.ptp(star(self.shape, self.material).nodes[:, 1]))

    @cached_property
    def unsettled(self) -> World:
        """As it is built, before its weight bends it."""
        robot = star(self.shape.refined(self.refinement), self.material)
        return World(
            standing(robot, self.ground, self.first),
            self.ground,
            self.friction,
            damping=self.damping,
            actuator=self.actuator,
            schedule=self.schedule,
        )

    @cached_property
    def world(self) -> World:
        rest = settle(replace(self.unsettled, schedule=None), tolerance=1e-7)
        return replace(self.unsettled, rod=replace(self.unsettled.rod, nodes=rest.x))

    def steps(self) -> Iterator[RodStep]:
        return moving(self)

    def continued(self, state: State) -> tuple[RodRecorder, Iterator[RodStep]]:
        return self.recorder(), moving(self, state)

    def recorder(self) -> RodRecorder:
        return RodRecorder(
            self, "duration", self.ends, self.columns, partial(rod_state, self)
        )

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
class JumperCase:
    """Fig. 7: one limb with a pull of its wire on the first node.

    The paper prints neither the shape nor the force (they are in its supplement).
    Length and radius are those of its tape and its text; that the arc turns by 270
    degrees above a straight foot, and that the force is 0, are assumptions. So this
    shows the motion of such a limb, and claims no agreement with Fig. 7.
    """

    length: float = 55.0e-3
    radius: float = 5.0e-3
    turn: float = 270.0  # degrees
    nodes: int = 56
    material: RodMaterial = field(default_factory=RodMaterial)
    ground: Ground = field(default_factory=GroundPlane)
    friction: float = 0.8
    force: tuple[float, float] = (0.0, 0.0)
    force_duration: float = 0.25
    first_pulse: float = 0.0
    actuator: Actuator = field(default_factory=Actuator)
    damping: Damping = field(default_factory=Damping)
    duration: float = 3.0
    every: int = 2
    options: StepOptions = field(default_factory=StepOptions)

    def __post_init__(self) -> None:
        refuse_times(self.duration, self.every)
        refuse_unless_positive(self, "length", "radius", "turn", of="jumper")
        refuse_unless_count(self, "nodes", of="jumper")
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
        return World(
            standing(rod, self.ground, 0.0),
            self.ground,
            self.friction,
            damping=self.damping,
            actuator=self.actuator,
        )

    @cached_property
    def world(self) -> World:
        rest = settle(self._unsettled, tolerance=1e-7)
        start = replace(self._unsettled.rod, nodes=rest.x)
        return replace(
            self._unsettled, rod=start, schedule=self._pulse, load=self._pull
        )

    def steps(self) -> Iterator[RodStep]:
        return moving(self)

    def continued(self, state: State) -> tuple[RodRecorder, Iterator[RodStep]]:
        return self.recorder(), moving(self, state)

    def recorder(self) -> RodRecorder:
        return RodRecorder(
            self, "duration", self._ends, self._columns, partial(rod_state, self)
        )

    def _columns(self, step: RodStep) -> Row:
        x, y = step.x[0]
        return {"x_first": float(x), "y_first": float(y)}

    def _ends(self, last: RodStep) -> Summary:
        x, y = last.x[0] - self.world.rod.nodes[0]
        return {"x_first": float(x), "y_first": float(y)}


@dataclass(frozen=True)
class ActuatorStep:
    """kbar / kbar0 and E / E0 at a time after a pulse began."""

    step: int
    time: float
    curvature: float
    modulus: float


@dataclass(frozen=True, eq=False)
class ActuatorCase:
    """Fig. 3: natural curvature and modulus of a limb after one pulse, eq. (7)."""

    actuator: Actuator = field(default_factory=Actuator)
    duration: float = 3.0
    count: int = 601

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "duration", of="actuator")
        refuse_unless_count(self, "count", of="actuator")
        if self.count < 2:
            raise ValueError(f"actuator: count is {self.count}: give 2 or more")

    def steps(self) -> Iterator[ActuatorStep]:
        law = self.actuator.law
        for k, t in enumerate(np.linspace(0.0, self.duration, self.count)):
            curvature = relative(t, law.least_curvature, law)
            yield ActuatorStep(k, t, curvature, relative(t, law.most_modulus, law))

    def recorder(self) -> "ActuatorRecorder":
        return ActuatorRecorder()


@dataclass(eq=False)
class ActuatorRecorder:
    """Records the law."""

    last: ActuatorStep = field(init=False)

    def see(self, step: ActuatorStep) -> None:
        self.last = step

    def row(self, step: ActuatorStep) -> Row:
        return asdict(step)

    def arrays(self, step: ActuatorStep) -> Arrays:
        return {"law": np.array([step.time, step.curvature, step.modulus])}

    def progress(self, step: ActuatorStep) -> str:
        return f"t {step.time:.2f} s"

    def documents(self) -> Documents:
        return {}

    def fixed_arrays(self) -> Arrays:
        return {}

    def tables(self) -> Tables:
        return {}

    def summary(self) -> Summary:
        return {
            "stop": "duration",
            "curvature_at_end": self.last.curvature,
            "modulus_at_end": self.last.modulus,
        }
