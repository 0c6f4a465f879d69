"""A structure before and after its link lengths were made for its targets."""

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Line3DCollection

from analysis.figures.shapes import LineDrawing, best_view, draw_mechanism, draw_target
from analysis.figures.shapes import frame as frame_of
from analysis.figures.style import FAINT, FULL_WIDTH, RC, provenance
from sim.arrays import Floats, Ints

ROW_HEIGHT = 2.1  # inches
MAP = "viridis"
REACHED = 1e-8  # E below which a target counts as met


@dataclass(frozen=True, eq=False)
class LengthSearch:
    """A search for lengths.

    Parameters
    ----------
    r : (steps, T, n, 3) ends of the morphs to the T targets
    links, change : (l, 2), (l,) the links and the last relative change of each
    E : (steps, T)
    """

    label: str
    key: str
    r: Floats
    bodies: tuple[tuple[int, ...], ...]
    links: Ints
    change: Floats
    E: Floats
    targets: Sequence[LineDrawing]


def lengths_for_targets(shown: LengthSearch) -> Figure:
    """A row a target: the end before, the end after, E by step."""
    number = len(shown.targets)
    with mpl.rc_context(RC):
        height = ROW_HEIGHT * number + 0.75
        figure = Figure(figsize=(FULL_WIDTH, height))
        span = 100.0 * max(float(np.abs(shown.change).max()), 1e-9)
        colours = ScalarMappable(Normalize(-span, span), MAP)
        for t in range(number):
            bottom = (0.75 + ROW_HEIGHT * (number - 1 - t)) / height
            _draw_row(figure, t, shown, colours, (bottom, ROW_HEIGHT / height))
        ax = figure.add_axes((0.2, 0.45 / height, 0.3, 0.09 / height))
        bar = figure.colorbar(colours, cax=ax, orientation="horizontal")
        bar.set_label("change of length, %", fontsize=6.5, labelpad=1)
        foot = provenance([(shown.label, shown.key)], synthetic=False)
        figure.text(0.5, 0.04 / height, foot, ha="center", fontsize=5.0, color=FAINT)
    return figure


def _draw_row(
    figure: Figure,
    t: int,
    shown: LengthSearch,
    colours: ScalarMappable,
    place: tuple[float, float],
) -> None:
    bottom, height = place
    r, target = shown.r[:, t], shown.targets[t]
    everything = np.concatenate([r[0], r[-1], target.vertices])
    flat = np.ptp(r[..., 2]) <= 1e-9 * np.ptp(r)
    view = (90.0, -90.0) if flat else best_view(r[-1], r[0])
    for column, s in enumerate((0, -1)):
        at = (0.35 * column, bottom, 0.35, 0.9 * height)
        ax = figure.add_axes(at, projection="3d")
        draw_target(ax, target)
        draw_mechanism(ax, r[s], shown.bodies)
        if s:
            _draw_links(ax, r[s], shown, colours)
        frame_of(ax, everything, view)
        name = "first lengths" if s == 0 else "lengths found"
        E = shown.E[s, t]
        size = f"= {E:.2g}" if E > REACHED else f"< {REACHED:g}"
        ax.set_title(rf"{name}: $\mathcal{{E}}$ {size}", fontsize=7, y=0.97)
    ax2 = figure.add_axes((0.8, bottom + 0.18 * height, 0.18, 0.66 * height))
    ax2.semilogy(
        np.maximum(shown.E[:, t], REACHED),
        "-o",
        color="black",
        mfc="white",
        ms=3.0,
        lw=0.8,
    )
    ax2.set_xlabel("$s$", labelpad=0)
    ax2.set_ylabel(r"$\mathcal{E}$", labelpad=1)
    ax2.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    figure.text(0.01, bottom + 0.85 * height, "abcdefgh"[t], fontsize=8)


def _draw_links(
    ax: Axes3D, r: Floats, shown: LengthSearch, colours: ScalarMappable
) -> None:
    lines = Line3DCollection(
        r[shown.links], colors=colours.to_rgba(100.0 * shown.change), linewidths=2.0
    )
    ax.add_collection3d(lines)
