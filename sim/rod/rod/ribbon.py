"""The closed ribbon of [Hu20], Fig. 2."""

from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats
from sim.limits import refuse_unless_count, refuse_unless_positive
from sim.rod.gravity import GRAVITY
from sim.rod.rod.rod import Rod, RodMaterial, ring


@dataclass(frozen=True)
class Ribbon:
    """A closed ribbon, of which only Gamma_g = (EI / rho g A)^(1/3) / R counts.

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
            self, "gamma", "perimeter", "density", "thickness", "width", of="ribbon"
        )
        refuse_unless_count(self, "nodes", of="ribbon")
        if self.nodes < 8:
            raise ValueError(f"ribbon: nodes is {self.nodes}: give 8 or more")

    @property
    def radius(self) -> float:
        return self.perimeter / (2.0 * np.pi)

    @property
    def rod(self) -> Rod:
        cube = (self.gamma * self.radius) ** 3
        modulus = 12.0 * cube * self.density * GRAVITY / self.thickness**2
        material = RodMaterial(modulus, self.density, self.thickness, self.width)
        return ring(self.radius, self.nodes, material)


def polygon_loss(n: int, turns: float) -> float:
    """Part of its spin that a rigid hoop of n nodes loses in rolling `turns` rounds.

    It turns about one node until the next lands, without a bounce. The moment of its
    momentum about that node is kept, so each landing leaves (1 + cos(2 pi / n)) / 2 of
    the spin, a round 1 - pi^2 / n. A ribbon that lies on many nodes loses less.
    """
    return float(1.0 - (0.5 + 0.5 * np.cos(2.0 * np.pi / n)) ** (n * turns))


def lying_edges(x: Floats, last: int) -> float:
    """How many edges a rod lies flat, from node 0 on, whose node `last` is the last.

    x (n, 2). It leaves what is flat without curvature: the place to which the parabola
    through the curvatures of the next three nodes leads back. 0 where it stands on a
    point.
    """
    if last < 1:
        return 0.0
    e = np.diff(x[last : last + 5], axis=0)
    cross = e[:-1, 0] * e[1:, 1] - e[:-1, 1] * e[1:, 0]
    first, *more = np.abs(np.arctan2(cross, np.sum(e[:-1] * e[1:], axis=1)))
    half = 0.5 * (first - 2.0 * more[0] + more[1])
    slope = more[0] - first - half
    under = max(0.0, slope**2 - 4.0 * half * first)
    return float(max(0.0, last + 1 - 2.0 * first / (slope + np.sqrt(under))))
