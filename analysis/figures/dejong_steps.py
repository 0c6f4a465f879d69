"""Figs 2 and 5 of [dJ23]: selected steps of a morph, each with its E and S."""

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D

from analysis.figures.shapes import (
    LineDrawing,
    draw_capsules,
    draw_mechanism,
    draw_target,
    frame,
    view_of,
)
from analysis.figures.style import (
    ERROR,
    FAINT,
    FULL_WIDTH,
    RC,
    SCANNED_EDGE,
    SHAPE,
    SIMULATED,
    TARGET,
    provenance,
)
from sim.arrays import Floats, Ints

COLUMNS = 4
ROW_HEIGHT = 2.0  # inches


@dataclass(frozen=True, eq=False)
class MorphHistory:
    """A morph, step by step.

    Parameters
    ----------
    label, key : what the row is called, and the run behind it
    r, g : (steps, n, 3) nodes and their goals, in the case's unit
    E, S : (steps,)
    capsules : two nodes and a radius each; seen where the structure stays in a plane
    """

    label: str
    key: str
    r: Floats
    g: Floats
    bodies: tuple[tuple[int, ...], ...]
    target: LineDrawing
    E: Floats
    S: Floats
    capsules: tuple[tuple[int, int, float], ...] = ()


def selected_steps(S: Floats, number: int = COLUMNS) -> Ints:
    """First and last step, and those between at which S has come equally far."""
    gone = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(S)))])
    wanted = np.linspace(0.0, gone[-1], number)
    chosen = np.searchsorted(gone, wanted - 1e-12 * gone[-1])
    chosen[-1] = len(S) - 1
    found: Ints = np.unique(chosen)
    return found


@dataclass(frozen=True, eq=False)
class FirstStep:
    """What one step of the algorithm consists of: Fig. 5a-d of [dJ23].

    Parameters
    ----------
    modes : (f, n, 3) admissible motions
    projected : (n, 3) nodes after eq. (11)
    corrected : (n, 3) nodes after eq. (12)
    """

    modes: Floats
    projected: Floats
    corrected: Floats


def steps_of_morphs(
    paths: Sequence[MorphHistory],
    first: Sequence[FirstStep] = (),
    *,
    enlarge: bool = False,
) -> Figure:
    """A row a morph: nodes, links and bodies at selected steps, and their goals.

    Parameters
    ----------
    first : for each path, or for none: its first step, in a row above it
    enlarge : let the last step fill its panel, which says by how much
    """
    each = 2 if first else 1
    with mpl.rc_context(RC):
        rows = each * len(paths)
        height = ROW_HEIGHT * rows + 0.35
        figure = Figure(figsize=(FULL_WIDTH, height))
        for i, history in enumerate(paths):
            if first:
                _draw_first(figure, each * i, rows, history, first[i])
            label = history.label if not first else ""
            _draw_row(figure, each * i + each - 1, rows, history, label, enlarge)
        foot = provenance([(p.label, p.key) for p in paths], synthetic=False)
        figure.text(0.5, 0.1 / height, foot, ha="center", fontsize=5.0, color=FAINT)
        figure.subplots_adjust(0.0, 0.28 / height, 1.0, 0.97, 0.0, 0.1)
    return figure


def _draw_first(
    figure: Figure, row: int, rows: int, history: MorphHistory, first: FirstStep
) -> None:
    """Goals, admissible motions, eq. (11), eq. (12)."""
    r, g, moved = history.r[0], history.g[0], first.projected
    size = float(np.ptp(r))
    everything = np.concatenate([r, moved, history.r[1], history.target.vertices])
    led = np.linalg.norm(g - r, axis=1) > 0
    panels = ("goals", "admissible motions", "eq. (11)", "eq. (12)")
    for column, name in enumerate(panels):
        place = row * COLUMNS + column + 1
        ax = figure.add_subplot(rows, COLUMNS, place, projection="3d")
        draw_target(ax, history.target)
        if column < 3:
            draw_mechanism(ax, r, history.bodies, alpha=1.0 if column < 2 else 0.3)
        if column == 0:
            ax.quiver(*r[led].T, *(g - r)[led].T, color=SCANNED_EDGE, linewidth=0.7)
        if column == 1:
            _draw_modes(ax, r, first.modes, 0.12 * size)
        if column == 2:
            draw_mechanism(ax, moved, history.bodies, colour=ERROR)
            ax.quiver(*r.T, *(moved - r).T, color=ERROR, linewidth=0.5)
        if column == 3:
            draw_mechanism(ax, moved, history.bodies, colour=ERROR, alpha=0.3)
            draw_mechanism(ax, first.corrected, history.bodies)
        frame(ax, everything, view_of(history.r))
        ax.set_title(f"{'abcd'[column]}  {name}", fontsize=7, y=-0.02)


def _draw_modes(ax: Axes3D, r: Floats, modes: Floats, swing: float) -> None:
    """The motions that lie in the plane of a flat structure, or the first ones."""
    flat = np.abs(modes[..., 2]).max(axis=1) <= 1e-6 * np.abs(modes).max(axis=(1, 2))
    if flat.any():
        modes = modes[flat]
    for mode, colour in zip(modes, (SIMULATED, SCANNED_EDGE, SHAPE), strict=False):
        arrows = swing * mode / np.abs(mode).max()
        ax.quiver(*r.T, *arrows.T, color=colour, linewidth=0.6)


def _draw_row(
    figure: Figure,
    row: int,
    rows: int,
    history: MorphHistory,
    label: str,
    enlarge: bool,
) -> None:
    chosen = selected_steps(history.S)
    view = view_of(history.r)
    everything = np.concatenate(
        [history.r[chosen].reshape(-1, 3), history.target.vertices]
    )
    for column, s in enumerate(chosen):
        place = row * COLUMNS + column + 1
        ax = figure.add_subplot(rows, COLUMNS, place, projection="3d")
        draw_target(ax, history.target)
        if view[0] == 90.0:
            draw_capsules(ax, history.r[s], history.capsules)
        draw_mechanism(ax, history.r[s], history.bodies)
        led = np.linalg.norm(history.g[s] - history.r[s], axis=1) > 0
        if s != chosen[-1]:
            ax.scatter(*history.g[s][led].T, s=1.5, color=TARGET, depthshade=False)
        own = everything
        if enlarge and s == chosen[-1]:
            own = np.concatenate([history.r[s], history.target.vertices])
        frame(ax, own, view)
        E, S = history.E[s], history.S[s]
        measures = rf"$\mathcal{{E}}$ = {E:.2g},  $\mathcal{{S}}$ = {S:.3f}"
        if own is not everything:
            larger = np.ptp(everything, axis=0).max() / np.ptp(own, axis=0).max()
            ax.text2D(
                0.9, 0.92, f"x {larger:.1f}", transform=ax.transAxes, fontsize=6.5,
                ha="right",
            )  # fmt: skip
        ax.set_title(f"$s$ = {s}:  {measures}", fontsize=6.5, y=-0.02)
        if column == 0 and label:
            label = f"{'abcdefgh'[row]}  {label}"
            ax.text2D(0.02, 0.98, label, transform=ax.transAxes, fontsize=8, va="top")
