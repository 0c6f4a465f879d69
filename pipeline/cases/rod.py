"""Soft robots of [Hu20]: the rolling star, the jumper, and their actuator."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pipeline.cases.rod_record import MovingRodCase, common_result, refuse_times
from sim.rod.actuation import Actuator, LeftOfContact, Pulses, Schedule, relative
from sim.rod.equilibrium import settle
from sim.rod.ground import Ground, Plane, gaps, surface
from sim.rod.limits import (
    refuse_unless_count,
    refuse_unless_finite,
    refuse_unless_positive,
)
from sim.rod.options import StepOptions
from sim.rod.paths import centroid
from sim.rod.rod import Material, Rod, moved
from sim.rod.simulate import RodStep, contact_limb
from sim.rod.star import StarShape, jumper, star
from sim.rod.world import Damping, Load, World


def standing(rod: Rod, ground: Ground, x: float) -> Rod:
    """The rod turned with the slope at x and set down there."""
    slope = surface(ground.relief, x)[1]
    turned = moved(rod, by=np.zeros(2), angle=float(np.arctan(slope)))
    placed = moved(turned, by=np.array([x, surface(ground.relief, x)[0]]))
    for _ in range(50):  # the gap is a distance, a lift is vertical
        lift = -float(gaps(ground, placed.nodes).min()) * np.sqrt(1.0 + slope**2)
        placed = moved(placed, by=np.array([0.0, lift]))
    return moved(placed, by=np.array([0.0, 1e-12]))


def last_switched_on(step: RodStep) -> int:
    """The limb whose pulse began last, or -1."""
    begun = np.where(np.isfinite(step.state.pulse), step.state.pulse, -np.inf)
    return int(np.argmax(begun)) if np.isfinite(begun).any() else -1


@dataclass(frozen=True, eq=False)
class StarCase(MovingRodCase):
    """Figs. 4 to 6: the rolling star, from rest, its limbs switched on in turn.

    first : m, where on the ground the robot stands
    refinement : edges are divided by this, N = 84 times it
    """

    shape: StarShape = field(default_factory=StarShape)
    refinement: int = 1
    material: Material = field(default_factory=Material)
    ground: Ground = field(default_factory=Plane)
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
        refuse_unless_count(self, "star", "refinement")
        refuse_unless_finite(self, "star", "first")
        _ = self._unsettled

    @property
    def height(self) -> float:
        """H, the body length of the paper, m."""
        return float(np.ptp(star(self.shape, self.material).nodes[:, 1]))

    @cached_property
    def _unsettled(self) -> World:
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
        rest = settle(replace(self._unsettled, schedule=None), tolerance=1e-7)
        return replace(self._unsettled, rod=replace(self._unsettled.rod, nodes=rest.x))

    def numbers(self, step: RodStep) -> dict[str, float]:
        row = super().numbers(step)
        start = centroid(self.world.rod.nodes, self.world.rod.mass)[0]
        return row | {
            "way_over_H": float((row["x_c"] - start) / self.height),
            "contact_limb": contact_limb(self.world, step.x) + 1,
            "switched_on": last_switched_on(step) + 1,
        }

    def result(self, last: RodStep) -> dict[str, float | str | int | bool]:
        row = self.numbers(last)
        return common_result(last, "duration") | {
            "way_over_H": row["way_over_H"],
            "contact_limb": row["contact_limb"],
            "nodes": len(last.x),
        }


@dataclass(frozen=True, eq=False)
class JumperCase(MovingRodCase):
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
    material: Material = field(default_factory=Material)
    ground: Ground = field(default_factory=Plane)
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
        refuse_unless_positive(self, "jumper", "length", "radius", "turn")
        refuse_unless_count(self, "jumper", "nodes")
        _ = self._unsettled, self._pull, self._pulse

    @property
    def _pull(self) -> Load:
        return Load([0], self.force, self.first_pulse, self.force_duration)

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

    def numbers(self, step: RodStep) -> dict[str, float]:
        x, y = step.x[0]
        return super().numbers(step) | {"x_first": float(x), "y_first": float(y)}

    def result(self, last: RodStep) -> dict[str, float | str | int | bool]:
        moved_by = last.x[0] - self.world.rod.nodes[0]
        return common_result(last, "duration") | {
            "x_first": float(moved_by[0]),
            "y_first": float(moved_by[1]),
        }


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
        refuse_unless_positive(self, "actuator", "duration")
        refuse_unless_count(self, "actuator", "count")
        if self.count < 2:
            raise ValueError(f"actuator: count is {self.count}: give 2 or more")

    def steps(self) -> Iterator[ActuatorStep]:
        law = self.actuator.law
        for k, t in enumerate(np.linspace(0.0, self.duration, self.count)):
            curvature = relative(t, law.least_curvature, law)
            yield ActuatorStep(k, t, curvature, relative(t, law.most_modulus, law))

    def numbers(self, step: ActuatorStep) -> dict[str, float]:
        return {
            "step": step.step,
            "time": step.time,
            "curvature": step.curvature,
            "modulus": step.modulus,
        }

    def arrays(self, step: ActuatorStep) -> dict[str, NDArray[np.generic]]:
        return {"law": np.array([step.time, step.curvature, step.modulus])}

    def fixed_arrays(self) -> dict[str, NDArray[np.generic]]:
        return {}

    def documents(self) -> dict[str, object]:
        return {}

    def result(self, last: ActuatorStep) -> dict[str, float | str | int | bool]:
        return {
            "stop": "duration",
            "curvature_at_end": last.curvature,
            "modulus_at_end": last.modulus,
        }

    def progress(self, step: ActuatorStep) -> str:
        return f"t {step.time:.2f} s"
