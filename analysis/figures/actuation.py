"""Drivers along a path, the barrier between stable states, creases that go together."""

from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Line3DCollection

from analysis.figures.shapes import best_view
from analysis.figures.shapes import frame as frame_of
from analysis.figures.style import FAINT, FULL_WIDTH, RC, SIMULATED, provenance
from sim.arrays import Floats, Ints

HEIGHT = 2.6  # inches
HIGHEST = 1e3  # condition that is drawn
LEGEND: dict[str, Any] = {
    "handlelength": 2.0,
    "columnspacing": 0.9,
    "handletextpad": 0.4,
}
LINES = (
    (SIMULATED, "-", 1.4),
    ("#E69F00", "--", 1.0),
    ("#009E73", "-.", 1.0),
    ("#000000", ":", 1.2),
)


@dataclass(frozen=True, eq=False)
class Turn:
    """A linkage along its turn: conditions (s, 4) of the joints as only driver."""

    angle: Floats
    condition: Floats
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Snap:
    """Energy along a driven coordinate.

    Parameters
    ----------
    moved, energy : (s,)
    rests : moved, energy, stable of each rest without the driver
    """

    moved: Floats
    energy: Floats
    rests: pd.DataFrame


@dataclass(frozen=True, eq=False)
class Folds:
    """A folded sheet: creases (c, 2), how far each goes, which one is the driver."""

    r: Floats
    creases: Ints
    panels: tuple[tuple[int, ...], ...]
    gain: Floats
    chosen: Ints


def drivers_and_barriers(
    turn: Turn, snap: Snap, folds: Folds, runs: list[tuple[str, str]]
) -> Figure:
    """Conditions of the joints; energy with its rests; creases by how far they go."""
    with mpl.rc_context(RC):
        figure = Figure(figsize=(FULL_WIDTH, HEIGHT))
        _draw_turn(figure.add_axes((0.07, 0.2, 0.26, 0.66)), turn)
        _draw_snap(figure.add_axes((0.42, 0.2, 0.23, 0.66)), snap)
        ax = figure.add_axes((0.67, 0.2, 0.33, 0.78), projection="3d")
        colours = _draw_folds(ax, folds)
        bar_at = figure.add_axes((0.745, 0.2, 0.18, 0.03))
        bar = figure.colorbar(colours, cax=bar_at, orientation="horizontal")
        bar.set_label("turn of a crease by that of the driver (red)", labelpad=1)
        for x, letter in ((0.005, "a"), (0.355, "b"), (0.675, "c")):
            figure.text(x, 0.93, letter, fontsize=8)
        foot = provenance(runs, synthetic=False)
        figure.text(0.5, 0.01, foot, ha="center", fontsize=5.0, color=FAINT)
    return figure


def _draw_turn(ax: Axes, turn: Turn) -> None:
    for i, name in enumerate(turn.names):
        colour, line, width = LINES[i % len(LINES)]
        shown = np.minimum(turn.condition[:, i], HIGHEST)
        degrees = np.degrees(turn.angle)
        ax.semilogy(degrees, shown, line, color=colour, lw=width, label=name)
    ax.set_xlim(0.0, 360.0)
    ax.set_xticks([0, 90, 180, 270, 360])
    ax.set_ylim(1.0, HIGHEST)
    ax.set_xlabel("angle of the crank, degrees")
    ax.set_ylabel(r"$\sigma_\mathrm{max} / \sigma_\mathrm{min}$ of one driver")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, **LEGEND)


def _draw_snap(ax: Axes, snap: Snap) -> None:
    ax.plot(snap.moved, snap.energy, color=SIMULATED)
    for stable, marker, name in ((1, "o", "stable"), (0, "^", "barrier")):
        chosen = snap.rests[snap.rests["stable"] == stable]
        ax.plot(
            chosen["moved"],
            chosen["energy"],
            marker,
            color="black",
            mfc="white" if stable else "black",
            ms=4.5,
            label=name,
        )
    ax.set_xlabel("way of the driven node (length)")
    ax.set_ylabel(r"energy $\Pi$ (force $\times$ length)")
    ax.legend(loc="upper left")


def _draw_folds(ax: Axes3D, folds: Folds) -> ScalarMappable:
    ratio = folds.gain / folds.gain[folds.chosen].max()
    colours = ScalarMappable(
        Normalize(float(ratio.min()), float(ratio.max())), "viridis"
    )
    rims = [folds.r[[*panel, panel[0]]] for panel in folds.panels]
    ax.add_collection3d(Line3DCollection(rims, colors="#9a9a9a", linewidths=0.5))
    passive = np.delete(np.arange(len(ratio)), folds.chosen)
    lines = folds.r[folds.creases[passive]]
    shades = colours.to_rgba(ratio[passive])
    ax.add_collection3d(Line3DCollection(lines, colors=shades, linewidths=1.8))
    driver = folds.r[folds.creases[folds.chosen]]
    ax.add_collection3d(Line3DCollection(driver, colors="#D55E00", linewidths=4.0))
    frame_of(ax, folds.r, best_view(folds.r, folds.r))
    return colours
