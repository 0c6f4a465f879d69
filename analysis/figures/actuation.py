"""Drivers along a path, the barrier between stable states, creases that go together."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures import style
from analysis.figures.colours import ON_WHITE
from analysis.figures.shapes import best_view, scene_of
from analysis.figures.sheet import PanelGrid, sheet
from sim.arrays import Floats, Ints

HIGHEST = 1e3  # condition that is drawn
PEAK = 20.0  # condition above which a peak is taken for a position without hold
DRIVER, RIM = "#D55E00", "#9A9A9A"
LINES = (
    (style.SIMULATED, "-", 1.4),
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
    with style.styled():
        figure, ((first, second, third),) = sheet(PanelGrid(3, 58.0, 56.0), more=6.0)
        _draw_turn(first, turn)
        _draw_snap(second, snap)
        colours = _draw_folds(third, folds)
        style.colour_bar(third, colours, "turn of a crease / of the driver (-)")
        for letter, ax in (("a", first), ("b", second), ("c", third)):
            style.put_letter(ax, letter)
        marks = [line for ax in (first, second) for line in ax.get_lines()]
        marks += [
            Line2D([], [], color=DRIVER, lw=4.0, label="driver"),
            Line2D([], [], color=RIM, lw=0.5, label="rim of a panel"),
        ]
        style.legend_below(figure, marks)
        style.say_below(figure, runs)
    return figure


def through_infinity(angle: Floats, condition: Floats) -> tuple[Floats, Floats]:
    """A condition by angle, finely, and up to infinity where a joint cannot drive.

    The reciprocal of the condition is a distance from the positions at which a joint
    loses its hold, and passes zero there: it is given its sign back at every peak
    above `PEAK`, and between samples it is a straight line.
    """
    middle, sides = condition[1:-1], np.maximum(condition[:-2], condition[2:])
    peaks = np.flatnonzero((middle > sides) & (middle > PEAK)) + 1
    turned = np.zeros(len(angle), dtype=np.int64)
    for peak in peaks:  # zero lies on the side of the larger neighbour
        after = condition[peak + 1] > condition[peak - 1]
        turned[peak + int(after) :] += 1
    signed = (1.0 - 2.0 * (turned % 2)) / condition
    fine = np.linspace(angle[0], angle[-1], 40 * len(angle))
    with np.errstate(divide="ignore"):
        return fine, 1.0 / np.abs(np.interp(fine, angle, signed))


def _draw_turn(ax: Axes, turn: Turn) -> None:
    for i, name in enumerate(turn.names):
        colour, line, width = LINES[i % len(LINES)]
        fine, condition = through_infinity(np.degrees(turn.angle), turn.condition[:, i])
        shown = np.minimum(condition, 10.0 * HIGHEST)
        ax.semilogy(fine, shown, line, color=colour, lw=width, label=name)
    ax.set_xlim(0.0, 360.0)
    ax.set_xticks([0, 90, 180, 270, 360])
    ax.set_ylim(1.0, HIGHEST)
    ax.set_xlabel("angle of the crank (\N{DEGREE SIGN})")
    ax.set_ylabel(r"condition $\sigma_\mathrm{max} / \sigma_\mathrm{min}$ (-)")


def _draw_snap(ax: Axes, snap: Snap) -> None:
    ax.plot(snap.moved, snap.energy, color="black", label="energy")
    for stable, marker, name in ((1, "o", "stable"), (0, "^", "barrier")):
        chosen = snap.rests[snap.rests["stable"] == stable]
        ax.plot(
            chosen["moved"],
            chosen["energy"],
            marker,
            color="black",
            mfc="white" if stable else "black",
            ms=style.size(4.5),
            label=name,
        )
    ax.set_xlabel(f"way of the driven node ({style.UNIT})")
    ax.set_ylabel(r"energy $\Pi$ (force $\times$ length)")


def _draw_folds(ax: Axes, folds: Folds) -> ScalarMappable:
    ratio = folds.gain / folds.gain[folds.chosen].max()
    span = Normalize(float(ratio.min()), float(ratio.max()))
    colours = ScalarMappable(span, ON_WHITE)
    scene = scene_of(folds.r, best_view(folds.r, folds.r))
    rims = [folds.r[[*panel, panel[0]]] for panel in folds.panels]
    sides = np.concatenate([np.stack([rim[:-1], rim[1:]], axis=1) for rim in rims])
    scene.lines(sides, RIM, 0.5)
    passive = np.delete(np.arange(len(ratio)), folds.chosen)
    shades = colours.to_rgba(ratio[passive])
    scene.lines(folds.r[folds.creases[passive]], shades, 1.8, lift=0.01)
    scene.lines(folds.r[folds.creases[folds.chosen]], DRIVER, 4.0, lift=0.02)
    scene.paint(ax, folds.r)
    style.scale_bar(ax, style.round_length(scene.span), style.UNIT)
    return colours
