"""A structure before and after its link lengths were made for its targets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from analysis.figures import style
from analysis.figures.shapes import (
    LineDrawing,
    draw_mechanism,
    draw_target,
    scene_of,
    view_of,
)
from analysis.figures.sheet import PanelGrid, sheet
from sim.arrays import Floats, Ints

REACHED = 1e-8  # E below which a target counts as met


@dataclass(frozen=True, eq=False)
class LengthSearch:
    """A search for lengths.

    Parameters
    ----------
    r : (steps, T, n, 3) ends of the morphs to the T targets
    links, change : (l, 2), (l,) the links and the last relative change of each
    E : (steps, T)
    """

    label: str
    key: str
    r: Floats
    bodies: tuple[tuple[int, ...], ...]
    links: Ints
    change: Floats
    E: Floats
    targets: Sequence[LineDrawing]


def lengths_for_targets(shown: LengthSearch) -> Figure:
    """A row a target: the end before, the end after, E by step."""
    with style.styled():
        figure, groups = _panels(shown.E)
        span = 100.0 * max(float(np.abs(shown.change).max()), 1e-9)
        colours = ScalarMappable(Normalize(-span, span), style.ON_WHITE)
        everything = [
            np.concatenate([shown.r[0, t], shown.r[-1, t], target.vertices])
            for t, target in enumerate(shown.targets)
        ]
        long = style.round_length(min(np.ptp(own, axis=0).max() for own in everything))
        for t, (panels, own) in enumerate(zip(groups, everything, strict=True)):
            _draw_row(panels, t, shown, own, colours)
            style.scale_bar(panels[0], long, style.UNIT)
        style.colour_bar(groups[-1][1], colours, "change of length of a link (%)")
        node: dict[str, Any] = {
            "marker": "o",
            "color": style.SIMULATED,
            "mfc": "white",
            "lw": 0.0,
        }
        handles = [
            Line2D([], [], label="node", **node),
            Line2D([], [], label="link or body", color=style.SIMULATED),
            Line2D([], [], label="target", color=style.TARGET, lw=0.5),
            Line2D(
                [], [], label=r"$\mathcal{E}$", marker="o", mfc="white", color="black"
            ),
        ]
        style.legend_below(figure, handles)
        style.say_below(figure, [(shown.label, shown.key)])
    return figure


def _panels(E: Floats) -> tuple[Figure, list[list[Axes]]]:
    """Three panels a target: two pictures, and E beside them, or below if there is any.

    A column has no room for all three side by side.
    """
    three = PanelGrid(3, 44.0, 46.0)
    if three.columns == three.count:
        return sheet(*[three] * E.shape[1], more=13.0)
    pictures, curve = PanelGrid(2, 44.0, 46.0), PanelGrid(1, 44.0, 34.0)
    drawn = [(E[:, t] > REACHED).any() for t in range(E.shape[1])]
    rows = [[pictures, curve] if any_above else [pictures] for any_above in drawn]
    figure, groups = sheet(*[grid for row in rows for grid in row], more=13.0)
    left = iter(groups)
    return figure, [[ax for _ in row for ax in next(left)] for row in rows]


def _draw_row(
    panels: Sequence[Axes],
    t: int,
    shown: LengthSearch,
    everything: Floats,
    colours: ScalarMappable,
) -> None:
    r, target = shown.r[:, t], shown.targets[t]
    for ax, s in zip(panels, (0, -1), strict=False):
        scene = scene_of(everything, view_of(r))
        draw_target(scene, target)
        draw_mechanism(scene, r[s], shown.bodies)
        if s:
            shades = colours.to_rgba(100.0 * shown.change)
            scene.lines(r[s][shown.links], shades, 2.0, lift=0.012)
        scene.paint(ax, everything)
        name = "first lengths" if s == 0 else "lengths found"
        text = rf"{name}: $\mathcal{{E}}$ {style.above(shown.E[s, t], REACHED)}"
        style.put_letter(ax, "abcdefgh"[t], text) if s == 0 else ax.set_title(text)
    for ax in panels[2:]:
        _draw_error(ax, shown.E[:, t])


def _draw_error(ax: Axes, E: Floats) -> None:
    """E by step; a target that every step reaches has no curve."""
    ax.set_xlabel("step $s$ (-)", labelpad=0)
    ax.set_ylabel(r"distance error $\mathcal{E}$ (-)", labelpad=1)
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.set_xlim(-0.4, len(E) - 0.6)
    seen = np.where(E > REACHED, E, np.nan)
    if np.isfinite(seen).any():
        ax.semilogy(seen, "-o", color="black", mfc="white", ms=style.size(3.0))
    else:
        ax.set_axis_off()
    if not (E > REACHED).all():
        said = rf"{int((E <= REACHED).sum())} of {len(E)} steps:"
        said += "\n" rf"$\mathcal{{E}}$ {style.above(0.0, REACHED)}"
        at, ha, va = (0.5, "center", "center")
        if seen[0] > REACHED:
            at, ha, va = (0.95, "right", "top")
        ax.text(at, at, said, transform=ax.transAxes, ha=ha, va=va)
