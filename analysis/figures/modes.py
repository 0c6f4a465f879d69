"""The independent motions of a mechanism: [dJ23], Fig. 5b."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures.shapes import ABOVE, best_view, draw_mechanism, scene_of, view_of
from analysis.figures.sheet import PanelGrid, sheet
from analysis.figures.style import (
    SCANNED_EDGE,
    SIMULATED,
    UNIT,
    legend_below,
    put_beside,
    put_letter,
    round_length,
    scale_bar,
    size,
    styled,
)
from sim.arrays import Floats

HELD = "#000000"
NUMBERED = 20  # nodes at most, where each has its number
SWING = 0.25  # of the size of the mechanism, the largest displacement drawn


def modes_of_motion(
    r: Floats,
    bodies: tuple[tuple[int, ...], ...],
    modes: Floats,
    title: str,
    unit: str = UNIT,
    held: Sequence[int] = (),
) -> Figure:
    """Each motion as arrows on the mechanism, from above where all is in one plane z.

    Parameters
    ----------
    r : (n, 3) nodes
    modes : (f, n, 3) displacements, in any scale
    unit : of `r`
    held : nodes that are marked as held; where nodes are few all have their numbers
    """
    flat = view_of(np.concatenate([r[None], r + modes])) == ABOVE
    view = ABOVE if flat else best_view(r, r)
    size_of = float(np.ptp(r, axis=0).max()) or 1.0
    with styled():
        figure, (panels,) = sheet(PanelGrid(len(modes), 42.0, 46.0, most=4), more=14.0)
        for i, (ax, mode) in enumerate(zip(panels, modes, strict=True)):
            swing = SWING * size_of * mode / max(float(np.abs(mode).max()), 1e-300)
            moving = np.linalg.norm(swing, axis=1) > 1e-3 * size_of
            everything = np.concatenate([r, r + swing])
            scene = scene_of(everything, view)
            draw_mechanism(scene, r, bodies)
            scene.dots(r[[*held]], HELD, 3.4, lift=0.04)
            scene.arrows(r[moving], swing[moving], SCANNED_EDGE, 0.8)
            scene.paint(ax, everything)
            if len(r) <= NUMBERED:
                _number(ax, scene.seen(r))
            scale_bar(ax, round_length(scene.span), unit)
            put_letter(ax, "abcdefghijklmnopqrstuvwxyz"[i % 26], f"motion {i + 1}")
        handles = [
            Line2D([], [], color=SIMULATED, marker="o", mfc="white", label="structure"),
            Line2D([], [], color=SCANNED_EDGE, label="displacement"),
        ]
        if len(held):
            look: Any = {"marker": "o", "linestyle": "none", "markersize": 3.4}
            handles.append(Line2D([], [], color=HELD, label="held", **look))
        legend_below(figure, handles)
        figure.suptitle(title, fontsize=size(8.0))
    return figure


def _number(ax: Axes, places: Floats) -> None:
    """Write the number of each node beside its place (n, 2) on the panel."""
    for node, place in enumerate(places):
        look: Any = {"fontsize": size(5.0), "color": HELD}
        put_beside(ax, str(node), place, (2.5, 2.5), **look)
