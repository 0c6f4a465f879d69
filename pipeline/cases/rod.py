"""Rods and soft robots on rough ground, [Hu20]: the cases of Figs. 2 to 7."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sim.arrays import Floats
from sim.rod.actuation import Actuator, LeftOfContact, Pulses, Schedule, relative
from sim.rod.coulomb import OPEN
from sim.rod.equilibrium import settle
from sim.rod.ground import Ground, Plane, gaps, surface
from sim.rod.paths import centroid, route_ratio
from sim.rod.rod import Material, Rod, cantilever, moved, ring
from sim.rod.simulate import (
    GRAVITY,
    Damping,
    Load,
    RodStep,
    StepOptions,
    World,
    contact_limb,
    simulate,
)
from sim.rod.star import StarShape, jumper, star

GROUND_POINTS = 400  # of the drawn ground


class _RodCase:
    """What the cases of this module record of a step."""

    world: World

    def numbers(self, step: RodStep) -> dict[str, float]:
        x_c, y_c = centroid(step.x, self.world.rod.mass)
        return {
            "step": step.step,
            "time": step.time,
            "x_c": x_c,
            "y_c": y_c,
            "kinetic": step.kinetic,
            "stretching": step.stretching,
            "bending": step.bending,
            "gravity": step.gravity,
            "contacts": int(np.count_nonzero(step.contact != OPEN)),
            "residual": step.residual,
            "complementarity": step.complementarity,
            "iterations": step.iterations,
            "substeps": step.substeps,
            "h": step.h,
        }

    def arrays(self, step: RodStep) -> dict[str, NDArray[np.generic]]:
        return {
            "x": step.x,
            "v": step.v,
            "reaction": step.reaction,
            "contact": step.contact,
        }

    def fixed_arrays(self) -> dict[str, NDArray[np.generic]]:
        rod = self.world.rod
        return {
            "edges": rod.edges,
            "edge_limb": rod.edge_limb,
            "mass": rod.mass,
            "ground": self._drawn_ground(),
        }

    def _drawn_ground(self) -> Floats:
        """(k, 2) points of the ground around the start, or none."""
        if self.world.ground is None:
            return np.empty((0, 2))
        middle = self.world.rod.nodes[:, 0].mean()
        reach = 6.0 * np.ptp(self.world.rod.nodes, axis=0).max()
        x = np.linspace(middle - reach, middle + reach, GROUND_POINTS)
        relief = self.world.ground.relief
        return np.array([[p, surface(relief, p)[0]] for p in x])

    def documents(self) -> dict[str, object]:
        return {}

    def progress(self, step: RodStep) -> str:
        return f"t {step.time:.3f} s"


def _common_result(step: RodStep, stop: str) -> dict[str, float | str | int | bool]:
    return {
        "stop": stop,
        "time": step.time,
        "steps": step.step,
        "energy": step.energy,
        "residual": step.residual,
        "complementarity": step.complementarity,
    }


@dataclass(frozen=True)
class Ribbon:
    """A closed ribbon of [Hu20], Fig. 2: only Gamma_g = (EI / rho g A)^(1/3) / R counts.

    perimeter : m, 0.3 in the paper; the density and thickness are free, the modulus
    follows from gamma
    """

    gamma: float = 2.0
    nodes: int = 100
    perimeter: float = 0.3
    density: float = 1912.0
    thickness: float = 1.0e-3
    width: float = 18.0e-3

    def __post_init__(self) -> None:
        if not (self.gamma > 0.0 and self.perimeter > 0.0 and self.nodes >= 8):
            raise ValueError(
                f"ribbon: gamma {self.gamma}, perimeter {self.perimeter} m, "
                f"{self.nodes} nodes: give positive numbers and 8 nodes or more"
            )

    @property
    def radius(self) -> float:
        return self.perimeter / (2.0 * np.pi)

    @property
    def rod(self) -> Rod:
        cube = (self.gamma * self.radius) ** 3
        modulus = 12.0 * cube * self.density * GRAVITY / self.thickness**2
        material = Material(modulus, self.density, self.thickness, self.width)
        return ring(self.radius, self.nodes, material)


@dataclass(frozen=True, eq=False)
class HeavyRingCase(_RodCase):
    """Fig. 2c: the shape of a ribbon at rest on a level plane without friction."""

    gamma: float = 1.0
    nodes: int = 120
    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        _ = self.world

    @cached_property
    def ribbon(self) -> Ribbon:
        return Ribbon(self.gamma, self.nodes)

    @cached_property
    def world(self) -> World:
        return World(self.ribbon.rod, Plane(), friction=0.0)

    def steps(self) -> Iterator[RodStep]:
        yield settle(self.world, tolerance=self.tolerance)

    def result(self, last: RodStep) -> dict[str, float | str | int | bool]:
        R, n = self.ribbon.radius, self.nodes
        touching = int(np.count_nonzero(last.reaction[:, 1] > 0.0))
        return _common_result(last, "equilibrium") | {
            "gamma": self.gamma,
            "height_over_R": float(last.x[n // 2, 1] / R),
            "width_over_R": float(np.ptp(last.x[:, 0]) / R),
            "contact_fraction": (touching - 1) / n,
            "contact_nodes": touching,
        }


@dataclass(frozen=True, eq=False)
class CantileverCase(_RodCase):
    """A clamped beam under W = rho A g L^3 / EI: the elastica, to check against."""

    weight: float = 1.0
    nodes: int = 84
    length: float = 0.1
    material: Material = field(
        default_factory=lambda: Material(4.0e9, 1000.0, 2.0e-4, 2.0e-3)
    )

    def __post_init__(self) -> None:
        if not self.weight >= 0.0:
            raise ValueError(f"cantilever: weight is {self.weight}: give 0 or more")
        if self.nodes < 4:
            raise ValueError(f"cantilever: nodes is {self.nodes}: give 4 or more")
        _ = self.world

    @cached_property
    def world(self) -> World:
        m = self.material
        g = self.weight * m.bending / (m.line_density * self.length**3)
        return World(cantilever(self.length, self.nodes, m), gravity=(0.0, -g))

    def steps(self) -> Iterator[RodStep]:
        yield settle(self.world)

    def result(self, last: RodStep) -> dict[str, float | str | int | bool]:
        x, y = last.x[-1] / self.length
        return _common_result(last, "equilibrium") | {
            "x_tip_over_L": float(x),
            "drop_over_L": float(-y),
        }


@dataclass(frozen=True, eq=False)
class RibbonCase(_RodCase):
    """Fig. 2a, b: a ribbon at rest is let go on a slope.

    ratio : mu / tan(theta); angle : theta, degrees, down towards +x
    every : steps between two records
    """

    ribbon: Ribbon = field(default_factory=Ribbon)
    ratio: float = 1.0
    angle: float = 10.0
    duration: float = 3.0
    every: int = 10
    damping: Damping = field(default_factory=lambda: Damping(beta=1.0e-3))
    options: StepOptions = field(default_factory=lambda: StepOptions(h=1.0e-3))

    def __post_init__(self) -> None:
        if not (self.ratio >= 0.0 and 0.0 < self.angle < 80.0):
            raise ValueError(
                f"ribbon: ratio {self.ratio}, angle {self.angle} degrees: give a ratio "
                "of 0 or more and an angle between 0 and 80"
            )
        _refuse_times(self.duration, self.every)

    @cached_property
    def world(self) -> World:
        """The ribbon in the shape that the weight across the slope gives it."""
        theta = np.radians(self.angle)
        rod = self.ribbon.rod
        across = (0.0, -GRAVITY * float(np.cos(theta)))
        flat = World(rod, Plane(), friction=0.0, gravity=across)
        settled = replace(rod, nodes=settle(flat).x)
        start = moved(settled, by=np.zeros(2), angle=-float(theta))
        return World(
            start,
            Plane(-self.angle),
            friction=self.ratio * float(np.tan(theta)),
            damping=self.damping,
        )

    def steps(self) -> Iterator[RodStep]:
        self._shapes.clear()
        for step in simulate(self.world, self.options, self.duration, every=self.every):
            self._shapes.append(step.x)
            yield step

    @cached_property
    def _shapes(self) -> list[Floats]:
        return []

    def numbers(self, step: RodStep) -> dict[str, float]:
        x_b, y_b = step.x[0]
        return super().numbers(step) | {"x_b": x_b, "y_b": y_b}

    def result(self, last: RodStep) -> dict[str, float | str | int | bool]:
        start = self.world.rod.nodes
        way = centroid(last.x, self.world.rod.mass) - centroid(
            start, self.world.rod.mass
        )
        return _common_result(last, "duration") | {
            "delta": route_ratio(self._shapes, self.world.rod.mass),
            "travelled": float(np.hypot(*way)),
            "friction": self.world.friction,
        }


def _refuse_times(duration: float, every: int) -> None:
    if not (duration > 0.0 and every >= 1):
        raise ValueError(
            f"case: duration {duration} s, every {every} steps: give a positive time "
            "and 1 or more"
        )


def standing(rod: Rod, ground: Ground, x: float) -> Rod:
    """The rod turned with the slope at x and set down there."""
    slope = surface(ground.relief, x)[1]
    turned = moved(rod, by=np.zeros(2), angle=float(np.arctan(slope)))
    placed = moved(turned, by=np.array([x, surface(ground.relief, x)[0]]))
    for _ in range(50):  # the gap is a distance, a lift is vertical
        lift = -float(gaps(ground, placed.nodes).min()) * np.sqrt(1.0 + slope**2)
        placed = moved(placed, by=np.array([0.0, lift]))
    return moved(placed, by=np.array([0.0, 1e-12]))


@dataclass(frozen=True, eq=False)
class StarCase(_RodCase):
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
        _refuse_times(self.duration, self.every)
        if not self.refinement >= 1:
            raise ValueError(f"star: refinement is {self.refinement}: give 1 or more")
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
        return replace(
            self._unsettled, rod=replace(self._unsettled.rod, nodes=rest.x)
        )

    def steps(self) -> Iterator[RodStep]:
        return simulate(self.world, self.options, self.duration, every=self.every)

    def numbers(self, step: RodStep) -> dict[str, float]:
        row = super().numbers(step)
        start = centroid(self.world.rod.nodes, self.world.rod.mass)[0]
        return row | {
            "way_over_H": (row["x_c"] - start) / self.height,
            "contact_limb": contact_limb(self.world, step.x) + 1,
        }

    def result(self, last: RodStep) -> dict[str, float | str | int | bool]:
        row = self.numbers(last)
        return _common_result(last, "duration") | {
            "way_over_H": row["way_over_H"],
            "contact_limb": row["contact_limb"],
            "nodes": len(last.x),
        }


@dataclass(frozen=True, eq=False)
class JumperCase(_RodCase):
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
    every: int = 4
    options: StepOptions = field(default_factory=StepOptions)

    def __post_init__(self) -> None:
        _refuse_times(self.duration, self.every)
        _ = self._unsettled

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
        pull = Load([0], self.force, self.first_pulse, self.force_duration)
        schedule = Pulses([self.first_pulse], [0])
        return replace(self._unsettled, rod=start, schedule=schedule, load=pull)

    def steps(self) -> Iterator[RodStep]:
        return simulate(self.world, self.options, self.duration, every=self.every)

    def numbers(self, step: RodStep) -> dict[str, float]:
        x, y = step.x[0]
        return super().numbers(step) | {"x_first": x, "y_first": y}

    def result(self, last: RodStep) -> dict[str, float | str | int | bool]:
        moved_by = last.x[0] - self.world.rod.nodes[0]
        return _common_result(last, "duration") | {
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
        _refuse_times(self.duration, self.count - 1)

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
