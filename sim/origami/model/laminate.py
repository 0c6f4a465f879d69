"""A crease of tied plies, each of which grows by its own strain: how far it curls.

The plies share one plane section: strain e_0 - kappa z across, stress E (e_0 - kappa z
- e_i) in ply i. Neither a force nor a moment is left over the section, which gives e_0
and kappa for any number of plies; of two it is what Timoshenko found (J. Opt. Soc. Am.
11, 1925). Moduli are those of a narrow strip; a crease that stiff panels hold straight
has E / (1 - nu^2) in their place.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats
from sim.limits import refuse_unless_finite, refuse_unless_positive
from sim.origami.model.material import SheetMaterial

ALIKE = 0.01  # share by which a crease may be stiffer or softer than its plies


@dataclass(frozen=True)
class Ply:
    """One material of a laminate: modulus (Pa), thickness (m), expansion (1/K)."""

    modulus: float
    thickness: float
    expansion: float

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "modulus", "thickness", of="ply")
        refuse_unless_finite(self, "expansion", of="ply")


@dataclass(frozen=True)
class Laminate:
    """Plies from the lowest up; panels rise towards the side of the highest."""

    plies: Sequence[Ply]

    def __post_init__(self) -> None:
        if not self.plies:
            raise ValueError("the laminate has no plies: give one or more")

    @property
    def thickness(self) -> float:
        """Of all plies, m."""
        return float(sum(ply.thickness for ply in self.plies))

    def _sections(self) -> tuple[Floats, Floats, Floats]:
        """(p,) stiffness E t of each ply, height of its middle, and E t^3 / 12."""
        E, t = np.array([(ply.modulus, ply.thickness) for ply in self.plies]).T
        middle = np.cumsum(t) - 0.5 * t
        return E * t, middle, E * t**3 / 12.0

    @property
    def rigidity(self) -> float:
        """Bending moment per curvature and width, N m."""
        A, z, own = self._sections()
        neutral = float(A @ z / A.sum())
        return float((A * (z - neutral) ** 2 + own).sum())

    def curvature(self, strains: Sequence[float]) -> float:
        """1/m, positive where the section rises on both sides, of each ply's strain."""
        A, z, _ = self._sections()
        neutral = float(A @ z / A.sum())
        return float(-(A * (z - neutral)) @ np.asarray(strains) / self.rigidity)

    def curl(self) -> float:
        """Curvature per kelvin by which all plies warm, 1/(m K)."""
        return self.curvature([ply.expansion for ply in self.plies])

    def check(self, material: SheetMaterial) -> None:
        """Refuse plies that are not what the material says of a crease."""
        thick = material.crease_thickness
        if abs(self.thickness / thick - 1.0) > 1e-6:
            raise ValueError(
                f"plies are {self.thickness:g} m thick together, and crease_thickness "
                f"is {thick:g}: let them agree"
            )
        alike = 12.0 * self.rigidity / thick**3
        if abs(material.crease_modulus / alike - 1.0) > ALIKE:
            raise ValueError(
                f"crease_modulus is {material.crease_modulus:g} Pa, and the plies bend "
                f"as {alike:.4g} Pa does: give that"
            )
