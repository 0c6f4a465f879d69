"""The stiffness of panels and creases: the bar and hinge formulas of [ZF19]."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sim.core.arrays import Floats
from sim.core.options import Checked, Positive, Requirement

Poisson = Annotated[
    float, Requirement("between -1 and 0.5", lambda ratio: -1.0 < ratio < 0.5)
]


@dataclass(frozen=True)
class SheetMaterial(Checked):
    """Young's moduli (Pa), thicknesses (m) and Poisson's ratios.

    Parameters
    ----------
    panel_thickness : one for all panels, or one for each
    crease_width : m; with concentrated hinges it only enters their stiffness
    elastic_limit : strain up to which the creases stay elastic; none is known of most
    """

    panel_modulus: Positive
    crease_modulus: Positive
    panel_thickness: float | Sequence[float]
    crease_thickness: Positive
    crease_width: Positive
    panel_poisson: Poisson = 0.3
    crease_poisson: Poisson = 0.3
    elastic_limit: Positive | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        thickness = np.asarray(self.panel_thickness, dtype=np.float64)
        for number, value in enumerate(np.atleast_1d(thickness)):
            if not 0 < value < np.inf:
                panel = f" of panel {number}" if thickness.ndim else ""
                raise ValueError(
                    f"panel_thickness{panel} must be positive, not {value:g}"
                )

    def thicknesses(self, panels: int) -> Floats:
        """(panels,) thickness of each panel, m."""
        given = np.atleast_1d(np.asarray(self.panel_thickness, dtype=np.float64))
        if len(given) not in (1, panels):
            raise ValueError(
                f"panel_thickness has {len(given)} values for {panels} panels: give "
                "one for all, or one for each"
            )
        return np.broadcast_to(given, (panels,)).copy()

    def panel_bar(self, thickness: float, area: float, length: float) -> float:
        """EA of a panel's bars, N: EA = 2 E t A / ((1 - nu) sum of their lengths)."""
        section = 2 * thickness * area / ((1 - self.panel_poisson) * length)
        return self.panel_modulus * section

    def panel_hinge(self, thickness: float, length: float) -> float:
        """Bending stiffness of a panel about a spoke, N m: L E t^3 / 12 W."""
        return length * self.panel_modulus * thickness**3 / (12 * self.crease_width)

    def crease_across(self, length: float) -> float:
        """EA of the bars that cross a crease, N: E l t / (2 (1 - nu^2))."""
        section = length * self.crease_thickness / (2 * (1 - self.crease_poisson**2))
        return self.crease_modulus * section

    def crease_diagonal(self, length: float) -> float:
        """EA of a crease's diagonals and centre line, N.

        E (l^2 + W^2)^(3/2) t / (4 (1 + nu) l W).
        """
        W, t = self.crease_width, self.crease_thickness
        section = (length**2 + W**2) ** 1.5 * t / (length * W)
        return float(self.crease_modulus * section / (4 * (1 + self.crease_poisson)))

    def crease_line(self, length: float) -> float:
        """Stiffness of one of the three lines about which a crease bends, N m.

        L E t^3 / 4 W: three in series have L E t^3 / 12 W.
        """
        bending = self.crease_modulus * self.crease_thickness**3
        return length * bending / (4 * self.crease_width)

    def whole_crease(self, length: float) -> float:
        """Stiffness of a crease that is one hinge, N m: L E t^3 / 12 W."""
        return self.crease_line(length) / 3
