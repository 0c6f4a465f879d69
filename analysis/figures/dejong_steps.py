"""Figs 2 and 5 of [dJ23]: selected steps of a morph, each with its E and S."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures import style
from analysis.figures.scene import PaintedScene
from analysis.figures.shapes import (
    LineDrawing,
    draw_mechanism,
    draw_target,
    scene_of,
    view_of,
)
from analysis.figures.sheet import PanelGrid, sheet
from sim.arrays import Floats, Ints

COLUMNS = 4
WIDTH, HEIGHT = 42.0, 44.0  # mm of a panel
NOTHING = 1e-12  # E below which it is rounding
GOAL = "#D55E00"
MODES = (style.SIMULATED, style.SCANNED_EDGE, "#009E73")


@dataclass(frozen=True, eq=False)
class MorphHistory:
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
    target: LineDrawing
    E: Floats
    S: Floats


def selected_steps(S: Floats) -> Ints:
    """First and last step, and those between at which S has come equally far."""
    gone = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(S)))])
    wanted = np.linspace(0.0, gone[-1], COLUMNS)
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
    paths: Sequence[MorphHistory], first: Sequence[FirstStep] = ()
) -> Figure:
    """A row a morph: nodes, links and bodies at selected steps, and their goals.

    Parameters
    ----------
    first : for each path, or for none: its first step, in a row above it
    """
    each = 2 if first else 1
    with style.styled():
        figure, rows = sheet(
            *[PanelGrid(COLUMNS, WIDTH, HEIGHT)] * (each * len(paths)), more=10.0
        )
        for i, history in enumerate(paths):
            if first:
                _draw_first(rows[each * i], history, first[i])
            letter = "e" if first else "abcdefgh"[i]
            _draw_row(rows[each * i + each - 1], letter, history)
        _legend(figure, paths, bool(first))
        style.say_below(figure, [(p.label, p.key) for p in paths])
    return figure


def _legend(figure: Figure, paths: Sequence[MorphHistory], first: bool) -> None:
    """What the marks are, of those that are drawn."""
    cross = {"marker": "+", "ms": 5.0, "lw": 0.0, "color": style.TARGET}
    points = not any(len(path.target.edges) for path in paths)
    looks: dict[str, dict[str, Any]] = {
        "node": {"marker": "o", "color": style.SIMULATED, "mfc": "white", "lw": 0.0},
        "link or body": {"color": style.SIMULATED},
        "target": cross if points else {"color": style.TARGET, "lw": 0.5},
        "goal of a node": {"marker": "o", "ms": 2.0, "color": GOAL, "lw": 0.0},
    }
    if first:
        looks["way to a goal"] = {"color": GOAL, "marker": ">", "ms": 2.5}
        for k, colour in enumerate(MODES):
            looks[f"admissible motion {k + 1}"] = {
                "color": colour,
                "marker": ">",
                "ms": 2.5,
            }
        looks["after eq. (11)"] = {"color": style.ERROR}
    handles = [Line2D([], [], label=name, **look) for name, look in looks.items()]
    style.legend_below(figure, handles)


def _draw_first(axes: Sequence[Axes], history: MorphHistory, first: FirstStep) -> None:
    """Goals, admissible motions, eq. (11), eq. (12)."""
    r, g, moved = history.r[0], history.g[0], first.projected
    everything = np.concatenate([r, moved, history.r[1], history.target.vertices])
    led = np.linalg.norm(g - r, axis=1) > 0
    panels = ("goals", "admissible motions", "eq. (11)", "eq. (12)")
    for column, (ax, name) in enumerate(zip(axes, panels, strict=True)):
        scene = scene_of(everything, view_of(history.r))
        draw_target(scene, history.target)
        if column < 3:
            draw_mechanism(scene, r, history.bodies, alpha=1.0 if column < 2 else 0.3)
        if column == 0:
            scene.arrows(r[led], (g - r)[led], GOAL)
        if column == 1:
            _draw_modes(scene, r, first.modes, 0.12 * scene.span)
        if column >= 2:
            pale = 1.0 if column == 2 else 0.3
            draw_mechanism(scene, moved, history.bodies, colour=style.ERROR, alpha=pale)
        if column == 2:
            scene.arrows(r, moved - r, style.ERROR, 0.5)
        if column == 3:
            draw_mechanism(scene, first.corrected, history.bodies)
        scene.paint(ax, everything)
        style.put_letter(ax, "abcd"[column], name)
    style.scale_bar(axes[0], style.round_length(scene.span), style.UNIT)


def _draw_modes(scene: PaintedScene, r: Floats, modes: Floats, swing: float) -> None:
    """The motions that lie in the plane of a flat structure, or the first ones."""
    flat = np.abs(modes[..., 2]).max(axis=1) <= 1e-6 * np.abs(modes).max(axis=(1, 2))
    if flat.any():
        modes = modes[flat]
    for mode, colour in zip(modes, MODES, strict=False):
        scene.arrows(r, swing * mode / np.abs(mode).max(), colour, 0.6)


def _draw_row(axes: Sequence[Axes], letter: str, history: MorphHistory) -> None:
    chosen = selected_steps(history.S)
    states = history.r[chosen].reshape(-1, 3)
    everything = np.concatenate([states, history.target.vertices])
    for ax in axes[len(chosen) :]:
        ax.set_axis_off()
    for ax, s in zip(axes, chosen, strict=False):
        _draw_state(ax, history, int(s), everything, s == chosen[-1])
        E, S = style.above(history.E[s], NOTHING), history.S[s]
        said = rf"$s$ = {s}: $\mathcal{{E}}$ {E}, $\mathcal{{S}}$ = {S:.3f}"
        if s == chosen[0]:
            style.put_letter(
                axes[0], letter, f"{history.label.replace('_', ' ')}\n{said}".strip()
            )
            long = style.round_length(np.ptp(everything, axis=0).max())
            style.scale_bar(ax, long, style.UNIT)
        else:
            ax.set_title(said)


def _draw_state(
    ax: Axes,
    history: MorphHistory,
    s: int,
    own: Floats,
    last: bool,
) -> None:
    """A step, in a panel with room for `own`; goals but at the last."""
    scene = scene_of(own, view_of(history.r))
    draw_target(scene, history.target)
    draw_mechanism(scene, history.r[s], history.bodies)
    led = np.linalg.norm(history.g[s] - history.r[s], axis=1) > 0
    if not last:
        scene.dots(history.g[s][led], GOAL, 1.6, lift=0.05)
    scene.paint(ax, own)
