"""The independent motions of a mechanism: [dJ23], Fig. 5b."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures import style
from analysis.figures.shapes import ABOVE, best_view, draw_mechanism, scene_of, view_of
from analysis.figures.sheet import PanelGrid, sheet
from sim.arrays import Floats

HELD = "#000000"
NUMBERED = 20  # nodes at most, where each has its number
SWING = 0.25  # of the size of the mechanism, the largest displacement drawn


def modes_of_motion(
    r: Floats,
    bodies: tuple[tuple[int, ...], ...],
    modes: Floats,
    title: str,
    unit: str = style.UNIT,
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
    with style.styled():
        figure, (panels,) = sheet(PanelGrid(len(modes), 42.0, 46.0, most=4), more=14.0)
        for i, (ax, mode) in enumerate(zip(panels, modes, strict=True)):
            swing = SWING * size_of * mode / max(float(np.abs(mode).max()), 1e-300)
            moving = np.linalg.norm(swing, axis=1) > 1e-3 * size_of
            everything = np.concatenate([r, r + swing])
            scene = scene_of(everything, view)
            draw_mechanism(scene, r, bodies)
            scene.dots(r[[*held]], HELD, 3.4, lift=0.04)
            scene.arrows(r[moving], swing[moving], style.SCANNED_EDGE, 0.8)
            scene.paint(ax, everything)
            if len(r) <= NUMBERED:
                _number(ax, scene.seen(r))
            style.scale_bar(ax, style.round_length(scene.span), unit)
            style.put_letter(
                ax, "abcdefghijklmnopqrstuvwxyz"[i % 26], f"motion {i + 1}"
            )
        handles = [
            Line2D(
                [],
                [],
                color=style.SIMULATED,
                marker="o",
                mfc="white",
                label="structure",
            ),
            Line2D([], [], color=style.SCANNED_EDGE, label="displacement"),
        ]
        if len(held):
            look: Any = {"marker": "o", "linestyle": "none", "markersize": 3.4}
            handles.append(Line2D([], [], color=HELD, label="held", **look))
        style.legend_below(figure, handles)
        figure.suptitle(title, fontsize=style.size(8.0))
    return figure


def _number(ax: Axes, places: Floats) -> None:
    """Write the number of each node beside its place (n, 2) on the panel."""
    for node, place in enumerate(places):
        look: Any = {"fontsize": style.size(5.0), "color": HELD}
        style.put_beside(ax, str(node), place, (2.5, 2.5), **look)
