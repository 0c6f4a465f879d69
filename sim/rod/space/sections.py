"""Cross-sections of rods in space: what their stiffness and inertia are made of."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sim.arrays import Floats
from sim.limits import refuse_unless_positive

TERMS = 40  # of the series for a rectangle's torsion: 1e-9 of it is left out


class RodSection(NamedTuple):
    """Moments of an area about its material axes d1 and d2.

    Attributes
    ----------
    area : m^2
    second : about d1 and about d2, m^4
    torsion : J of Saint-Venant, m^4
    """

    area: float
    second: tuple[float, float]
    torsion: float

    @property
    def polar(self) -> float:
        """m^4."""
        return self.second[0] + self.second[1]


def disc(radius: float) -> RodSection:
    """A full circle, radius in m."""
    if not radius > 0.0:
        raise ValueError(f"section: radius must be positive, not {radius:g}")
    second = 0.25 * np.pi * radius**4
    return RodSection(np.pi * radius**2, (second, second), 2.0 * second)


def tube(radius: float, bore: float) -> RodSection:
    """A circle with a hole in its middle, radii in m; without one, a full circle."""
    if not 0.0 <= bore < radius:
        raise ValueError(
            f"section: a bore of radius {bore:g} m in one of {radius:g} m leaves "
            "nothing: make it smaller"
        )
    second = 0.25 * np.pi * (radius**4 - bore**4)
    area = np.pi * (radius**2 - bore**2)
    return RodSection(area, (second, second), 2.0 * second)


def rectangle(along_1: float, along_2: float) -> RodSection:
    """A rectangle with its sides, m, along d1 and d2.

    Torsion by Timoshenko and Goodier, Theory of Elasticity, eq. (160).
    """
    for side in (along_1, along_2):
        if not side > 0.0:
            raise ValueError(f"section: side must be positive, not {side:g}")
    b, a = sorted((along_1, along_2))
    odd = 2.0 * np.arange(TERMS) + 1.0
    series = np.sum(np.tanh(0.5 * np.pi * odd * a / b) / odd**5)
    torsion = a * b**3 / 3.0 * (1.0 - 192.0 * b / (np.pi**5 * a) * series)
    second = along_1 * along_2**3 / 12.0, along_2 * along_1**3 / 12.0
    return RodSection(along_1 * along_2, second, float(torsion))


@dataclass(frozen=True)
class SpaceMaterial:
    """Linear and isotropic: Pa, kg/m^3."""

    modulus: float
    density: float
    poisson: float = 0.5

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "modulus", "density", of="material")
        if not -1.0 < self.poisson <= 0.5:
            raise ValueError(
                f"material: poisson is {self.poisson:g}: give one above -1, up to 0.5"
            )

    @property
    def shear(self) -> float:
        """G, Pa."""
        return self.modulus / (2.0 * (1.0 + self.poisson))


class Stiffness(NamedTuple):
    """Of k places along a rod.

    Attributes
    ----------
    stretching : (k,) EA, N
    bending : (k, 2) EI about d1 and d2, N m^2
    twisting : (k,) GJ, N m^2
    """

    stretching: Floats
    bending: Floats
    twisting: Floats


def stiffness(material: SpaceMaterial, sections: list[RodSection]) -> Stiffness:
    """Of a rod of one material with these sections."""
    E, G = material.modulus, material.shear
    return Stiffness(
        E * np.array([s.area for s in sections]),
        E * np.array([s.second for s in sections]),
        G * np.array([s.torsion for s in sections]),
    )
