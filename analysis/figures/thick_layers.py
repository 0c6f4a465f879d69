"""Panels with volume on shifted hinges, how far they clear, and layers of a map."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures import style
from analysis.figures.scene import PaintedScene, View, axes_of
from analysis.figures.sheet import PanelGrid, sheet
from analysis.figures.sheets import FoldedSheet, draw_sheet
from sim.arrays import Floats, Ints

THICK_VIEW: View = (28.0, -52.0)  # degrees
LAYER_VIEW: View = (14.0, -60.0)
LOOKS = (("-", style.SIMULATED), ("--", style.SCANNED), ("-.", "#009E73"))
MM = 1e3  # in a metre


@dataclass(frozen=True, eq=False)
class Clearance:
    """How far panels stay apart.

    Attributes
    ----------
    name : of the run
    fold : (s,) degrees, the largest of them
    apart : (s,) m, below zero where panels run into each other
    """

    name: str
    fold: Floats
    apart: Floats


def thick_and_layered(
    folded: tuple[Floats, Ints],
    clear: Sequence[Clearance],
    stop: float,
    layers: tuple[Floats, Ints],
    runs: Sequence[tuple[str, str]],
) -> Figure:
    """Three panels.

    Parameters
    ----------
    folded, layers : (n, 3) m and (t, 3) of faces of four corners, two triangles each
    stop : degrees at which edges meet by the closed form
    """
    with style.styled():
        figure, (plots,) = sheet(PanelGrid(3, 56.0, 48.0), more=6.0)
        _draw_faces(plots[0], *folded, THICK_VIEW)
        plots[1].axhline(0.0, color=style.FAINT, lw=0.5, zorder=1)
        for one, (line, colour) in zip(clear, LOOKS, strict=True):
            label = f"{one.name} (b)"
            plots[1].plot(one.fold, MM * one.apart, line, color=colour, label=label)
        plots[1].plot(
            [stop], [0.0], "o", color="black", mfc="white", ms=style.size(3.5), ls="",
            label="closed form (b)",
        )  # fmt: skip
        plots[1].set_xlabel("largest fold (\N{DEGREE SIGN})")
        plots[1].set_ylabel("clearance of panels (mm)")
        _draw_faces(plots[2], *layers, LAYER_VIEW)
        _number_layers(plots[2], layers[0])
        style.own_ranges(plots)
        style.put_letters(plots)
        style.legend_below(figure, style.labelled_lines(plots[1:2]))
        style.say_below(figure, runs)
    return figure


def _number_layers(ax: Axes, x: Floats) -> None:
    """The number of each square of the map at its left corner, from above."""
    squares = x.reshape(-1, 4, 3)
    for k, corners in enumerate(squares, start=1):
        flat = corners @ axes_of(LAYER_VIEW)[:2].T
        left = tuple(flat[np.argmin(flat[:, 0])])
        style.put_beside(ax, str(k), left, (-3, 0), ha="right", va="center")


def _draw_faces(ax: Axes, x: Floats, triangles: Ints, view: View) -> None:
    scene = PaintedScene(view, float(np.ptp(x, axis=0).max()))
    face = np.arange(len(triangles)) // 2
    draw_sheet(scene, FoldedSheet(x, triangles, face, len(triangles)))
    scene.paint(ax, x)
    style.scale_bar(ax, 0.01, "mm", times=MM)
