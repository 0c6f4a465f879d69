"""Stiffness of panels and creases from their material: the bar and hinge formulas."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats
from sim.limits import refuse_unless_positive

DIAGONAL_RATE = 4.0  # bending stiffness of a crease's diagonals, of its lines


@dataclass(frozen=True)
class SheetMaterial:
    """Young's moduli (Pa), thicknesses (m) and Poisson's ratios.

    Parameters
    ----------
    panel_thickness : one for all panels, or one for each
    crease_width : m; with concentrated hinges it only enters their stiffness
    elastic_limit : strain up to which the creases stay elastic; none is known of most
    """

    panel_modulus: float
    crease_modulus: float
    panel_thickness: float | Sequence[float]
    crease_thickness: float
    crease_width: float
    panel_poisson: float = 0.3
    crease_poisson: float = 0.3
    elastic_limit: float | None = None

    def __post_init__(self) -> None:
        refuse_unless_positive(
            self, "panel_modulus", "crease_modulus", "crease_thickness"
        )
        if self.elastic_limit is not None:
            refuse_unless_positive(self, "elastic_limit")
        if not 0 < self.crease_width < np.inf:
            raise ValueError(
                f"crease_width must be positive, not {self.crease_width}: concentrated "
                "hinges need it as well, for their stiffness"
            )
        thickness = np.asarray(self.panel_thickness, dtype=np.float64)
        for number, value in enumerate(np.atleast_1d(thickness)):
            if not 0 < value < np.inf:
                panel = f" of panel {number}" if thickness.ndim else ""
                raise ValueError(
                    f"panel_thickness{panel} must be positive, not {value:g}"
                )
        for name in ("panel_poisson", "crease_poisson"):
            if not -1 < getattr(self, name) < 0.5:
                raise ValueError(
                    f"{name} must lie between -1 and 0.5, not {getattr(self, name)}"
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
