"""What the chain does, in one row: structure, simulated shape, scan, verdict."""

import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D

from analysis.figures.dejong import POINT_COLOUR, MorphedShape, ScannedShape
from analysis.figures.shapes import (
    best_view,
    draw_mechanism,
    draw_spheres,
    draw_target,
    frame,
)
from analysis.figures.style import (
    FULL_WIDTH,
    RC,
    SCANNED,
    SCANNED_EDGE,
    SIMULATED,
    provenance,
)
from sim.arrays import Floats

HEIGHT = 2.35  # inches
HEADS = ("structure", "simulated", "scanned", "compared")


def chain(shape: MorphedShape) -> Figure:
    """Panels from left to right: what is designed, computed, printed and found.

    Raises
    ------
    ValueError
        where the shape was not scanned
    """
    if shape.scan is None:
        raise ValueError(f"{shape.title} has no scan: show a comparison")
    with rc_context(RC):
        figure = Figure(figsize=(FULL_WIDTH, HEIGHT))
        view = best_view(shape.final, shape.initial)
        for k, head in enumerate(HEADS[:3]):
            ax = figure.add_axes((0.005 + 0.235 * k, 0.1, 0.225, 0.8), projection="3d")
            _panel(ax, head, shape, shape.scan, view)
        ax = figure.add_axes((0.81, 0.27, 0.175, 0.5))
        _verdict(ax, shape.scan)
        for k, head in enumerate(HEADS):
            figure.text(
                0.118 + 0.235 * k if k < 3 else 0.897,
                0.93,
                head,
                ha="center",
                weight="bold",
            )
        runs, synthetic = list(shape.runs), shape.scan.synthetic
        figure.text(0.01, 0.02, provenance(runs, synthetic), size=5.5)
    return figure


def plotted_factors(shape: MorphedShape) -> pd.DataFrame:
    """Both shape factors with standard uncertainties; that of a simulation is 0."""
    if shape.scan is None:
        raise ValueError(f"{shape.title} has no scan: show a comparison")
    scan = shape.scan
    S, u = [scan.S_simulated, scan.S], [0.0, scan.S_u]
    return pd.DataFrame({"shape": ["simulated", "scanned"], "S": S, "u": u})


def _panel(
    ax: Axes3D,
    head: str,
    shape: MorphedShape,
    scan: ScannedShape,
    view: tuple[float, float],
) -> None:
    everything: Floats = shape.final if head != "structure" else shape.initial
    if head == "scanned":
        ax.scatter(*scan.points.T, s=0.4, c=POINT_COLOUR, linewidths=0)
        draw_spheres(ax, scan.nodes)
    else:
        if head == "simulated":
            draw_target(ax, shape.target)
        draw_mechanism(ax, everything, shape.bodies)
    frame(ax, everything, view)


def _verdict(ax: Axes, scan: ScannedShape) -> None:
    """Both shape factors, the scanned one with its expanded uncertainty."""
    bar = scan.k * scan.S_u
    ax.plot([0], [scan.S_simulated], "o", ms=6, color=SIMULATED)
    ax.errorbar(
        [1], [scan.S], [bar], fmt="D", ms=5, color=SCANNED, mec=SCANNED_EDGE,
        ecolor=SCANNED_EDGE, capsize=4,
    )  # fmt: skip
    ax.set_xlim(-0.6, 1.6)
    ax.set_xticks([0, 1], ["simulated", f"scanned ± {scan.k:g} u"])
    middle = 0.5 * (scan.S_simulated + scan.S)
    half = 2.5 * (abs(scan.S_simulated - scan.S) + bar)
    ax.set_ylim(middle - half, middle + half)
    ax.set_ylabel("shape factor S")
    ax.set_title(f"verdict: {scan.verdict}", weight="bold")
