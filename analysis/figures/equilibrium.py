"""A structure at rest with the forces in its links, and the limit of rigid links."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures import style
from analysis.figures.scene import PIECES
from analysis.figures.shapes import LineDrawing, best_view, draw_target, scene_of
from analysis.figures.sheet import PanelGrid, sheet
from sim.arrays import Floats, Ints

MAP = "PuOr_r"
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
    with style.styled():
        figure, ((ax, limit),) = sheet(PanelGrid(2, 80.0, 68.0, (1.15, 1.0)))
        colours, marks = _draw_shape(ax, shown)
        style.colour_bar(ax, colours, "tension of a link (unit of force)")
        _draw_limit(limit, shown)
        for letter, panel in (("a", ax), ("b", limit)):
            style.put_letter(panel, letter)
        style.legend_below(figure, marks)
        style.say_below(figure, [(shown.label, shown.key)])
    return figure


def _draw_shape(ax: Axes, shown: AtRest) -> tuple[ScalarMappable, list[Line2D]]:
    """What a colour stands for, and what each mark is."""
    span = max(float(np.abs(shown.tension).max(initial=0.0)), 1e-12)
    colours = ScalarMappable(Normalize(-span, span), MAP)
    everything = np.concatenate([shown.r, shown.target.vertices])
    scene = scene_of(everything, best_view(shown.r, shown.r0))
    draw_target(scene, shown.target)
    ends = shown.r[shown.links]
    scene.lines(ends, "#404040", 2.4)
    # above all that comes nearer along a piece, whose casing else covers the last one
    scene.lines(ends, colours.to_rgba(shown.tension), 1.7, lift=0.004 + 1.1 / PIECES)
    scene.dots(shown.r[shown.held], SUPPORT, 4.0, lift=0.05)
    scene.paint(ax, everything)
    style.scale_bar(ax, style.round_length(scene.span), style.UNIT)
    marks = [
        Line2D([], [], label="held node", marker="o", color=SUPPORT, lw=0.0, ms=4.0),
        Line2D([], [], label="link", color="#404040", lw=2.0),
        Line2D([], [], label="target", color=style.TARGET, lw=0.5),
    ]
    return colours, marks


def _draw_limit(ax: Axes, shown: AtRest) -> None:
    soft = (shown.compliance > 0.0) & (shown.away > 0.0)
    x = shown.compliance[soft]
    if len(x) < 2:
        ax.set_axis_off()
        ax.text(0.5, 0.5, "one compliance only", ha="center", transform=ax.transAxes)
        return
    errors = (
        (shown.away[soft], "nodes, rms / $L$", "o", style.SIMULATED, "-"),
        (shown.force_error[soft], "tensions, relative", "s", "#D55E00", "--"),
    )
    for error, name, marker, colour, line in errors:
        slope = f"{name}: order {order(x, error):.2f}"
        ax.loglog(x, error, line, marker=marker, color=colour, mfc="white", label=slope)
    first = float(shown.away[soft][np.argmin(x)])
    guide = np.array([x.min(), 100.0 * x.min()])
    ax.loglog(guide, 0.4 * first * guide / x.min(), ":", color="black", label="slope 1")
    ax.set_xlabel("compliance of the links / that of the case (-)")
    ax.set_ylabel("difference to rigid links (-)")
    ax.legend(loc="lower right")
