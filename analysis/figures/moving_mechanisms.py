"""Mechanisms with masses in motion: places, efforts of drivers, energies."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures import style
from analysis.figures.shapes import draw_mechanism, scene_of, view_of
from analysis.figures.sheet import PanelGrid, sheet
from sim.arrays import Floats

COLOURS = (style.SIMULATED, style.SCANNED_EDGE, style.TARGET)
DASHES = ("-", "--", "-.")
LEAST = 1e-17  # share of the energy that is drawn


@dataclass(frozen=True, eq=False)
class MovingMechanismRun:
    """The motion of one run.

    Attributes
    ----------
    r : (steps, n, 3)
    traced : the node whose way is drawn
    shown : steps that are drawn
    table : steps.csv
    """

    label: str
    key: str
    r: Floats
    bodies: tuple[tuple[int, ...], ...]
    traced: int
    shown: Sequence[int]
    table: pd.DataFrame

    @property
    def lost(self) -> Floats:
        """(steps,) energy that nothing accounts for, over the largest kinetic."""
        most = float(self.table["kinetic"].max())
        lost: Floats = self.table["out_of_balance"].abs().to_numpy() / most
        return np.maximum(lost, LEAST)


def motions_of_runs(
    swinging: MovingMechanismRun, driven: MovingMechanismRun, ring: MovingMechanismRun
) -> Figure:
    """Two motions in pictures, the moment of a drive, and what is left of energies."""
    runs = (swinging, driven, ring)
    with style.styled():
        figure, (panels,) = sheet(PanelGrid(4, 43.0, 44.0), more=8.0)
        _draw_way(panels[0], swinging)
        _draw_efforts(panels[1], driven)
        _draw_way(panels[2], ring)
        _draw_balance(panels[3], runs)
        style.put_letters(panels)
        lines = [line for ax in (panels[1], panels[3]) for line in ax.get_lines()]
        node: dict[str, Any] = {"marker": "o", "mfc": "white", "ms": style.size(2.5)}
        drawn = [
            Line2D(
                [], [], color=style.SIMULATED, **node, label="rod or body, nodes (a, c)"
            ),
            Line2D([], [], color=style.TARGET, lw=0.5, label="way of a node (a, c)"),
        ]
        style.legend_below(figure, drawn + lines)
        style.say_below(figure, [(run.label, run.key) for run in runs])
    return figure


def _draw_way(ax: Axes, run: MovingMechanismRun) -> None:
    """A few configurations, the later the darker, and the way of one node."""
    scene = scene_of(run.r, view_of(run.r))
    scene.lines(
        np.stack([run.r[:-1, run.traced], run.r[1:, run.traced]], axis=1),
        style.TARGET,
        0.5,
    )
    for k, step in enumerate(run.shown):
        alpha = 0.25 + 0.75 * (k + 1) / len(run.shown)
        draw_mechanism(scene, run.r[step], run.bodies, alpha=alpha, lift=0.01 * k)
    scene.paint(ax, run.r)
    style.scale_bar(ax, style.round_length(scene.span), style.UNIT)


def _draw_efforts(ax: Axes, run: MovingMechanismRun) -> None:
    """The moment of the drive, and the force across the slide."""
    t = run.table["time"]
    effort = next(c for c in map(str, run.table) if c.startswith("effort_"))
    ax.plot(
        t[1:], run.table[effort][1:], color=style.ERROR, label="moment of the drive (b)"
    )
    ax.plot(
        t[1:],
        run.table["reaction_line_point_0"][1:],
        color=style.ERROR,
        linestyle=":",
        label="force across the slide (b)",
    )
    ax.set_xlabel(r"time $t$ (s)")
    ax.set_ylabel(r"moment (N m), force (N)")


def _draw_balance(ax: Axes, runs: Sequence[MovingMechanismRun]) -> None:
    """What is left of the energies' balance in time."""
    for run, colour, dash in zip(runs, COLOURS, DASHES, strict=True):
        t = run.table["time"]
        label = f"{run.label} (d)"
        ax.semilogy(t, run.lost, color=colour, linestyle=dash, label=label)
    ax.set_ylim(LEAST, 1e-10)
    ax.set_xlabel(r"time $t$ (s)")
    ax.set_ylabel("share left over (-)")
