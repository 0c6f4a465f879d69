"""Radial residuals of balls, as the scan shows them."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from analysis.figures.sheet import PanelGrid, sheet
from analysis.figures.style import SMALL, colour_bar, size, styled
from sim.arrays import Floats


def form_map(
    points: Floats, centres: Floats, radii: Floats, names: Sequence[str], half_mm: float
) -> Figure:
    """Each ball seen along its mean normal, its points coloured by their residual.

    Parameters
    ----------
    points : (n, 3) mm
    centres, radii : (m, 3), (m,) mm
    half_mm : residual at the ends of the colours
    """
    with styled():
        figure, (panels,) = sheet(PanelGrid(len(centres), 38.0, 40.0, most=4), more=6.0)
        balls = zip(panels, centres, radii, names, strict=True)
        for panel, centre, radius, name in balls:
            d = points[np.abs(points - centre).max(axis=1) < 1.2 * radius] - centre
            r = np.linalg.norm(d, axis=1)
            on = np.abs(r - radius) <= half_mm
            u = d[on] / r[on, None]
            across = _frame(u.mean(axis=0))
            x, y = (radius * u @ across.T).T
            shown = panel.scatter(
                x, y, c=r[on] - radius, s=1.0, cmap="RdBu_r",
                vmin=-half_mm, vmax=half_mm, rasterized=True,
            )  # fmt: skip
            panel.set_aspect("equal")
            panel.set_title(f"sphere {name}", fontsize=size(SMALL))
            panel.set_xticks([])
            panel.set_yticks([])
            panel.set_xlim(-1.1 * radius, 1.1 * radius)
            panel.set_ylim(-1.1 * radius, 1.1 * radius)
        colour_bar(panels[-1], shown, "radial residual (mm)")
    return figure


def _frame(normal: Floats) -> Floats:
    """(2, 3) two axes across a direction."""
    n = normal + np.array([0.0, 0.0, 1e-9])  # a whole sphere has no direction
    n /= np.linalg.norm(n)
    first = np.cross(n, np.eye(3)[np.abs(n).argmin()])
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(n, first)])
