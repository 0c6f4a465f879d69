"""Sections of planar rods: what a rod weighs and resists, of its size and material."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sim.limits import refuse_negative, refuse_unless_positive


class Section(Protocol):
    """What a planar rod needs to know of its section."""

    @property
    def stretching(self) -> float:
        """EA, N."""
        ...

    @property
    def bending(self) -> float:
        """EI about the axis out of the plane, N m^2."""
        ...

    @property
    def line_density(self) -> float:
        """rho A, kg/m."""
        ...


@dataclass(frozen=True)
class RoundSection:
    """A round rod, or a tube where it has a bore."""

    modulus: float  # Pa
    density: float  # kg/m^3
    diameter: float  # m
    bore: float = 0.0  # m, diameter of the hole

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "modulus", "density", "diameter", of="section")
        refuse_negative(self, "bore", of="section")
        if not self.bore < self.diameter:
            raise ValueError(
                f"section: a bore of {self.bore:g} m in a diameter of "
                f"{self.diameter:g} m leaves nothing: make it smaller"
            )

    @property
    def area(self) -> float:
        """A, m^2."""
        return 0.25 * np.pi * (self.diameter**2 - self.bore**2)

    @property
    def stretching(self) -> float:
        return self.modulus * self.area

    @property
    def bending(self) -> float:
        return self.modulus * np.pi * (self.diameter**4 - self.bore**4) / 64.0

    @property
    def line_density(self) -> float:
        return self.density * self.area
