"""Figs 2 and 5 of [dJ23]: selected steps of a morph, each with its E and S."""

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from analysis.figures.shapes import (
    Wireframe,
    best_view,
    draw_mechanism,
    draw_target,
    frame,
)
from analysis.figures.style import FAINT, FULL_WIDTH, RC, TARGET, provenance
from sim.arrays import Floats, Ints

COLUMNS = 4
ROW_HEIGHT = 2.0  # inches


@dataclass(frozen=True, eq=False)
class MorphPath:
    """A morph, step by step.

    Parameters
    ----------
    label, key : what the row is called, and the run behind it
    r, g : (steps, n, 3) nodes and their goals, in the case's unit
    E, S : (steps,)
    """

    label: str
    key: str
    r: Floats
    g: Floats
    bodies: tuple[tuple[int, ...], ...]
    target: Wireframe
    E: Floats
    S: Floats


def selected_steps(S: Floats, number: int = COLUMNS) -> Ints:
    """First and last step, and those between at which S has come equally far."""
    gone = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(S)))])
    wanted = np.linspace(0.0, gone[-1], number)
    chosen = np.searchsorted(gone, wanted - 1e-12 * gone[-1])
    chosen[-1] = len(S) - 1
    found: Ints = np.unique(chosen)
    return found


def steps_of_morphs(paths: Sequence[MorphPath], *, from_above: bool = False) -> Figure:
    """A row a morph: nodes, links and bodies at selected steps, and their goals.

    Parameters
    ----------
    from_above : look along -z, as at a structure that moves in a plane
    """
    with mpl.rc_context(RC):
        height = ROW_HEIGHT * len(paths) + 0.35
        figure = Figure(figsize=(FULL_WIDTH, height))
        for row, path in enumerate(paths):
            _draw_row(figure, row, len(paths), path, from_above)
        foot = provenance([(p.label, p.key) for p in paths], synthetic=False)
        figure.text(0.5, 0.02, foot, ha="center", fontsize=5.0, color=FAINT)
        figure.subplots_adjust(0.0, 0.05, 1.0, 0.97, 0.0, 0.1)
    return figure


def _draw_row(
    figure: Figure, row: int, rows: int, path: MorphPath, from_above: bool
) -> None:
    chosen = selected_steps(path.S)
    view = (90.0, -90.0) if from_above else best_view(path.r[-1], path.r[0])
    everything = np.concatenate([path.r[chosen].reshape(-1, 3), path.target.vertices])
    for column, s in enumerate(chosen):
        place = row * COLUMNS + column + 1
        ax = figure.add_subplot(rows, COLUMNS, place, projection="3d")
        draw_target(ax, path.target)
        draw_mechanism(ax, path.r[s], path.bodies)
        led = np.linalg.norm(path.g[s] - path.r[s], axis=1) > 0
        if s != chosen[-1]:
            ax.scatter(*path.g[s][led].T, s=1.5, color=TARGET, depthshade=False)
        frame(ax, everything, view)
        measures = (
            rf"$\mathcal{{E}}$ = {path.E[s]:.2g},  $\mathcal{{S}}$ = {path.S[s]:.3f}"
        )
        ax.set_title(f"$s$ = {s}:  {measures}", fontsize=6.5, y=-0.02)
        if column == 0:
            label = f"{'abcdefgh'[row]}  {path.label}"
            ax.text2D(0.02, 0.98, label, transform=ax.transAxes, fontsize=8, va="top")
