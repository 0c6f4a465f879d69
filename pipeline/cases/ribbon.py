"""Beams and ribbons of [Hu20], Fig. 2: at rest, and rolling down a slope."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.cases.rod_record import (
    MovingRodCase,
    RodCase,
    common_result,
    refuse_times,
)
from sim.arrays import Floats
from sim.rod.equilibrium import settle
from sim.rod.ground import Plane
from sim.rod.limits import (
    refuse_negative,
    refuse_unless_count,
    refuse_unless_positive,
)
from sim.rod.options import StepOptions
from sim.rod.paths import centroid, route_ratio
from sim.rod.rod import Material, Rod, cantilever, moved, ring
from sim.rod.simulate import RodStep
from sim.rod.world import GRAVITY, Damping, World


@dataclass(frozen=True)
class Ribbon:
    """A closed ribbon, Fig. 2: only Gamma_g = (EI / rho g A)^(1/3) / R counts.

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
        refuse_unless_positive(
            self, "ribbon", "gamma", "perimeter", "density", "thickness", "width"
        )
        refuse_unless_count(self, "ribbon", "nodes")
        if self.nodes < 8:
            raise ValueError(f"ribbon: nodes is {self.nodes}: give 8 or more")

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
class HeavyRingCase(RodCase):
    """Fig. 2c: the shape of a ribbon at rest on a level plane without friction."""

    gamma: float = 1.0
    nodes: int = 120
    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "ribbon", "tolerance")
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
        return common_result(last, "equilibrium") | {
            "gamma": self.gamma,
            "height_over_R": float(last.x[n // 2, 1] / R),
            "width_over_R": float(np.ptp(last.x[:, 0]) / R),
            "contact_fraction": (touching - 1) / n,
            "contact_nodes": touching,
        }


@dataclass(frozen=True, eq=False)
class CantileverCase(RodCase):
    """A clamped beam under W = rho A g L^3 / EI: the elastica, to check against."""

    weight: float = 1.0
    nodes: int = 84
    length: float = 0.1
    material: Material = field(
        default_factory=lambda: Material(4.0e9, 1000.0, 2.0e-4, 2.0e-3)
    )

    def __post_init__(self) -> None:
        refuse_negative(self, "cantilever", "weight")
        refuse_unless_positive(self, "cantilever", "length")
        refuse_unless_count(self, "cantilever", "nodes")
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
        return common_result(last, "equilibrium") | {
            "x_tip_over_L": float(x),
            "drop_over_L": float(-y),
        }


@dataclass(frozen=True, eq=False)
class RibbonCase(MovingRodCase):
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
        refuse_negative(self, "ribbon", "ratio")
        refuse_unless_positive(self, "ribbon", "angle")
        if not self.angle < 80.0:
            raise ValueError(
                f"ribbon: angle is {self.angle} degrees: give one below 80"
            )
        refuse_times(self.duration, self.every)

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
        return self._followed(super().steps())

    def checkpoint(self, step: RodStep) -> dict[str, NDArray[Any]]:
        state = super().checkpoint(step)
        return state | {"shapes": np.array(self._shapes)} if state else {}

    def continued(self, arrays: Mapping[str, NDArray[Any]]) -> Iterator[RodStep]:
        self._shapes[:] = list(arrays["shapes"])
        return self._followed(super().continued(arrays))

    def _followed(self, steps: Iterator[RodStep]) -> Iterator[RodStep]:
        for step in steps:
            self._shapes.append(step.x)
            yield step

    @cached_property
    def _shapes(self) -> list[Floats]:
        return []

    def numbers(self, step: RodStep) -> dict[str, float]:
        x_b, y_b = step.x[0]
        return super().numbers(step) | {"x_b": float(x_b), "y_b": float(y_b)}

    def result(self, last: RodStep) -> dict[str, float | str | int | bool]:
        start = self.world.rod.nodes
        way = centroid(last.x, self.world.rod.mass) - centroid(
            start, self.world.rod.mass
        )
        return common_result(last, "duration") | {
            "gamma": self.ribbon.gamma,
            "ratio": self.ratio,
            "delta": route_ratio(self._shapes, self.world.rod.mass),
            "travelled": float(np.hypot(*way)),
            "friction": self.world.friction,
        }
