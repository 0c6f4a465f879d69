"""A structure at rest with the forces in its links, and the limit of rigid links."""

from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Line3DCollection

from analysis.figures.shapes import LineDrawing, best_view, draw_target
from analysis.figures.shapes import frame as frame_of
from analysis.figures.style import FAINT, FULL_WIDTH, RC, SIMULATED, provenance
from sim.arrays import Floats, Ints

MAP = "PuOr_r"
HEIGHT = 2.9  # inches
SUPPORT = "#000000"


@dataclass(frozen=True, eq=False)
class AtRest:
    """Equilibria of one structure with ever stiffer links.

    Parameters
    ----------
    r0, r : (n, 3) at the beginning and at the equilibrium shown
    links, tension : (l, 2), (l,) positive where pulled
    held : (h,) supported nodes
    compliance, away, force_error : (s,) of the elastic links relative to the case's;
        distance of the nodes and difference of the forces to those with rigid links
    """

    label: str
    key: str
    r0: Floats
    r: Floats
    links: Ints
    tension: Floats
    held: Ints
    target: LineDrawing
    compliance: Floats
    away: Floats
    force_error: Floats


def order(compliance: Floats, error: Floats, last: int = 4) -> float:
    """Slope of log error over log compliance, of the stiffest `last`."""
    stiffest = np.argsort(compliance)[:last]
    slope = np.polyfit(np.log(compliance[stiffest]), np.log(error[stiffest]), 1)[0]
    return float(slope)


def forces_and_limit(shown: AtRest) -> Figure:
    """The shape coloured by tension; errors over compliance with a slope of one."""
    with mpl.rc_context(RC):
        figure = Figure(figsize=(FULL_WIDTH, HEIGHT))
        ax = figure.add_axes((0.0, 0.1, 0.52, 0.88), projection="3d")
        colours = _draw_shape(ax, shown)
        bar_at = figure.add_axes((0.14, 0.13, 0.24, 0.03))
        bar = figure.colorbar(colours, cax=bar_at, orientation="horizontal")
        bar.set_label("tension of a link (force)", labelpad=1)
        _draw_limit(figure.add_axes((0.63, 0.2, 0.35, 0.72)), shown)
        for x, letter in ((0.01, "a"), (0.555, "b")):
            figure.text(x, 0.94, letter, fontsize=8)
        foot = provenance([(shown.label, shown.key)], synthetic=False)
        figure.text(0.5, 0.01, foot, ha="center", fontsize=5.0, color=FAINT)
    return figure


def _draw_shape(ax: Axes3D, shown: AtRest) -> ScalarMappable:
    span = max(float(np.abs(shown.tension).max(initial=0.0)), 1e-12)
    colours = ScalarMappable(Normalize(-span, span), MAP)
    draw_target(ax, shown.target)
    under = Line3DCollection(shown.r[shown.links], colors="#404040", linewidths=2.4)
    ax.add_collection3d(under)
    over = Line3DCollection(
        shown.r[shown.links], colors=colours.to_rgba(shown.tension), linewidths=1.7
    )
    ax.add_collection3d(over)
    if len(shown.held):
        ax.scatter(*shown.r[shown.held].T, s=14, marker="s", color=SUPPORT, zorder=5)
    view = best_view(shown.r, shown.r0)
    frame_of(ax, np.concatenate([shown.r, shown.target.vertices]), view)
    return colours


def _draw_limit(ax: Axes, shown: AtRest) -> None:
    soft = (shown.compliance > 0.0) & (shown.away > 0.0)
    x = shown.compliance[soft]
    if len(x) < 2:
        ax.set_axis_off()
        ax.text(0.5, 0.5, "one compliance only", ha="center", transform=ax.transAxes)
        return
    errors = (
        (shown.away[soft], "nodes, rms / $L$", "o", SIMULATED, "-"),
        (shown.force_error[soft], "tensions, relative", "s", "#D55E00", "--"),
    )
    for error, name, marker, colour, line in errors:
        slope = f"{name}: order {order(x, error):.2f}"
        ax.loglog(x, error, line, marker=marker, color=colour, mfc="white", label=slope)
    first = float(shown.away[soft][np.argmin(x)])
    guide = np.array([x.min(), 100.0 * x.min()])
    ax.loglog(guide, 0.4 * first * guide / x.min(), ":", color="black", label="slope 1")
    ax.set_xlabel("compliance of the links, relative to the case's")
    ax.set_ylabel("difference to rigid links")
    ax.legend(loc="lower right")
