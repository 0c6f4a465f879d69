"""What the chain does, in one row: structure, simulated shape, scan, verdict."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures import style
from analysis.figures.dejong import POINT_COLOUR, MorphedShape, ScannedShape
from analysis.figures.scene import View
from analysis.figures.shapes import (
    best_view,
    draw_mechanism,
    draw_spheres,
    draw_target,
    scene_of,
)
from analysis.figures.sheet import PanelGrid, sheet
from sim.arrays import Floats

HEADS = ("structure", "simulated", "scanned")


def chain(shape: MorphedShape) -> Figure:
    """Panels from left to right: what is designed, computed, printed and found.

    Raises
    ------
    ValueError
        where the shape was not scanned
    """
    if shape.scan is None:
        raise ValueError(f"{shape.title} has no scan: show a comparison")
    with style.styled():
        figure, (panels,) = sheet(PanelGrid(4, 42.0, 44.0), more=6.0)
        view = best_view(shape.final, shape.initial)
        for letter, ax, head in zip("abc", panels, HEADS, strict=False):
            _panel(ax, head, shape, shape.scan, view)
            style.put_letter(ax, letter, head)
        _verdict(panels[3], shape.scan)
        style.put_letter(panels[3], "d", f"compared: {shape.scan.verdict}")
        _legend(figure)
        style.say_below(
            figure, shape.runs, style.SYNTHETIC if shape.scan.synthetic else ""
        )
    return figure


def _legend(figure: Figure) -> None:
    scanned: dict[str, Any] = {
        "lw": 0.0,
        "mfc": style.SCANNED,
        "mec": style.SCANNED_EDGE,
    }
    node: dict[str, Any] = {
        "marker": "o",
        "color": style.SIMULATED,
        "mfc": "white",
        "lw": 0.0,
    }
    point: dict[str, Any] = {"marker": ".", "color": POINT_COLOUR, "lw": 0.0}
    handles = [
        Line2D([], [], label="node", **node),
        Line2D([], [], label="link or body", color=style.SIMULATED),
        Line2D([], [], label="target", color=style.TARGET, lw=0.5),
        Line2D([], [], label="scanned sphere", marker="o", **scanned),
        Line2D([], [], label=r"scanned, $\pm\,2u$", marker="D", **scanned),
        Line2D([], [], label="scan point", **point),
    ]
    style.legend_below(figure, handles)


def plotted_factors(shape: MorphedShape) -> pd.DataFrame:
    """Both shape factors with standard uncertainties; that of a simulation is 0."""
    if shape.scan is None:
        raise ValueError(f"{shape.title} has no scan: show a comparison")
    scan = shape.scan
    S, u = [scan.S_simulated, scan.S], [0.0, scan.S_u]
    return pd.DataFrame({"shape": ["simulated", "scanned"], "S": S, "u": u})


def _panel(
    ax: Axes, head: str, shape: MorphedShape, scan: ScannedShape, view: View
) -> None:
    everything: Floats = shape.final if head != "structure" else shape.initial
    scene = scene_of(everything, view)
    if head == "scanned":
        flat = scene.seen(scan.points)
        ax.plot(*flat.T, ",", color=POINT_COLOUR, rasterized=True, zorder=0)
        draw_spheres(scene, scan.nodes)
    else:
        if head == "simulated":
            draw_target(scene, shape.target)
        draw_mechanism(scene, everything, shape.bodies)
    scene.paint(ax, everything)
    long = style.round_length(scene.span)
    style.scale_bar(ax, long, style.UNIT)


def _verdict(ax: Axes, scan: ScannedShape) -> None:
    """Both shape factors, the scanned one with its expanded uncertainty."""
    bar = scan.k * scan.S_u
    ax.plot([0], [scan.S_simulated], "o", ms=6, color=style.SIMULATED)
    ax.errorbar(
        [1], [scan.S], [bar], fmt="D", ms=5, color=style.SCANNED,
        mec=style.SCANNED_EDGE,
        ecolor=style.SCANNED_EDGE, capsize=4,
    )  # fmt: skip
    ax.set_xlim(-0.6, 1.6)
    ax.set_xticks([0, 1], ["simulated", rf"scanned $\pm\,{scan.k:g}u$"])
    middle = 0.5 * (scan.S_simulated + scan.S)
    half = 2.5 * (abs(scan.S_simulated - scan.S) + bar)
    ax.set_ylim(middle - half, middle + half)
    ax.set_ylabel(r"shape factor $\mathcal{S}$ (-)")
