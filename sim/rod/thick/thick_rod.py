"""A cantilever whose height is no small part of its length."""

from dataclasses import dataclass, field
from math import inf

import numpy as np

from sim.arrays import Floats
from sim.limits import (
    refuse_negative,
    refuse_unless_count,
    refuse_unless_finite,
    refuse_unless_positive,
)
from sim.relaxation import Relaxation
from sim.rod.gravity import GRAVITY


@dataclass(frozen=True)
class Prism:
    """A straight block of rectangular section; `height` lies in the plane of motion.

    m, kg/m^3
    """

    length: float
    width: float
    height: float
    density: float
    poisson: float = 0.499

    def __post_init__(self) -> None:
        names = ("length", "width", "height", "density")
        refuse_unless_positive(self, *names, of="prism")
        if not -1.0 < self.poisson <= 0.5:
            raise ValueError(
                f"prism: poisson is {self.poisson:g}: give one above -1, up to 0.5"
            )

    @property
    def area(self) -> float:
        """m^2."""
        return self.width * self.height

    @property
    def second_moment(self) -> float:
        """m^4."""
        return self.width * self.height**3 / 12.0

    @property
    def shear_area(self) -> float:
        """k A G / E, m^2; k = 10 (1 + nu) / (12 + 11 nu) by Cowper, JAM 33 (1966)."""
        k = 10.0 * (1.0 + self.poisson) / (12.0 + 11.0 * self.poisson)
        return k * self.area / (2.0 * (1.0 + self.poisson))


@dataclass(frozen=True)
class Clamp:
    """What holds the end of a rod.

    Parameters
    ----------
    tilt : rad, how far the unloaded rod points down
    turning : N m/rad
    sinking : N/m
    """

    tilt: float = 0.0
    turning: float = inf
    sinking: float = inf

    def __post_init__(self) -> None:
        refuse_unless_finite(self, "tilt", of="clamp")
        for name in ("turning", "sinking"):
            if not getattr(self, name) > 0.0:
                raise ValueError(
                    f"clamp: {name} is {getattr(self, name):g}: give a stiffness "
                    "above 0, inf for a rigid clamp"
                )


@dataclass(frozen=True)
class TipMass:
    """A mass on the last section: rigid on it, or hung from a point of it.

    Parameters
    ----------
    mass : kg
    beyond, above : m, from the middle of that section to the centre of the mass, or to
        the point that it hangs from
    gyration : m, radius of gyration about its centre
    spring : N/m of what it hangs on, which can pull only; inf for a rigid mass
    retardation : s, of that spring: its force is spring (stretch + retardation rate)
    """

    mass: float = 0.0
    beyond: float = 0.0
    above: float = 0.0
    gyration: float = 0.0
    spring: float = inf
    retardation: float = 0.0

    def __post_init__(self) -> None:
        refuse_negative(self, "mass", "gyration", "retardation", of="tip mass")
        refuse_unless_finite(self, "beyond", "above", of="tip mass")
        if not self.spring > 0.0:
            raise ValueError(
                f"tip mass: spring is {self.spring:g}: give a stiffness above 0, inf "
                "for a rigid mass"
            )
        if self.spring < inf and not (self.mass > 0.0 and self.gyration == 0.0):
            raise ValueError(
                "tip mass: what hangs on a spring needs a mass, and has no gyration"
            )

    @property
    def stretch(self) -> float:
        """kg m/N, of the spring at rest, by gravity."""
        return self.mass / self.spring


@dataclass(frozen=True)
class ThickRod:
    """A straight block, clamped at x = 0, that points along x and may sag along -y.

    Parameters
    ----------
    drag : 1/s, damping force by momentum, of air and whatever else is not the law's
    elements : along the length
    gravity : m/s^2
    """

    block: Prism
    law: Relaxation
    clamp: Clamp = field(default_factory=Clamp)
    tip: TipMass = field(default_factory=TipMass)
    drag: float = 0.0
    elements: int = 8
    gravity: float = GRAVITY

    def __post_init__(self) -> None:
        refuse_unless_count(self, "elements", of="thick rod")
        refuse_negative(self, "drag", "gravity", of="thick rod")

    @property
    def size(self) -> float:
        """Length of an element, m."""
        return self.block.length / self.elements

    @property
    def stiffness(self) -> Floats:
        """(3,) of stretch, shear and bend, by modulus: m^2, m^2, m^4.

        Shear is softened by h^2 / 12 I, what bending within an element of one strain
        leaves out: nodes of a straight rod then lie exactly, MacNeal, Comput. Struct. 8
        (1978).
        """
        block = self.block
        within = self.size**2 / (12.0 * block.second_moment)
        shear = 1.0 / (1.0 / block.shear_area + within)
        return np.array([block.area, shear, block.second_moment])

    @property
    def inertia(self) -> Floats:
        """(n, 3) mass, mass and rotary inertia of nodes, kg, kg m^2; no tip mass."""
        block = self.block
        whole = block.density * self.size
        lumps = np.full(self.elements + 1, whole)
        lumps[[0, -1]] *= 0.5
        by_volume = np.array([block.area, block.area, block.second_moment])
        return np.outer(lumps, by_volume)

    @property
    def weight(self) -> float:
        """N, of rod and tip mass."""
        block = self.block
        own = block.density * block.area * block.length
        return self.gravity * (own + self.tip.mass)

    def straight(self) -> Floats:
        """(n, 3) x, y, angle of the sections of the unloaded rod."""
        along = np.linspace(0.0, self.block.length, self.elements + 1)
        tilt = self.clamp.tilt
        return np.column_stack(
            [along * np.cos(tilt), -along * np.sin(tilt), np.full(len(along), -tilt)]
        )
