"""Which of two materials each strut is of: a pattern that a shape alone gives away."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures import style
from analysis.figures.sheet import PanelGrid, sheet
from sim.arrays import Bools, Floats, Ints

MAP = "cividis_r"
OTHER = "#B0B0B0"  # struts of one material


@dataclass(frozen=True, eq=False)
class PatternSearch:
    """A search for a pattern.

    Parameters
    ----------
    r : (steps, n, 3) rests at the last value of the field
    bars, chosen : (l, 2), (g,) elastic links, and which of them may be of two materials
    share : (steps, g) of the second material
    decided : (steps,) whether each is of one or the other
    E : (steps,) the largest of the shapes
    goals : (t, 3) places that nodes shall take
    """

    label: str
    key: str
    r: Floats
    bars: Ints
    chosen: Ints
    share: Floats
    decided: Bools
    E: Floats
    goals: Floats


def pattern_from_shape(shown: PatternSearch) -> Figure:
    """The strip at the first and last step; shares and E by step."""
    with style.styled():
        figure, ((first, last), (shares, error)) = sheet(
            PanelGrid(2, 80.0, 34.0), PanelGrid(2, 80.0, 52.0), more=12.0
        )
        colours = ScalarMappable(Normalize(0.0, 1.0), MAP)
        for ax, s, letter in ((first, 0, "a"), (last, -1, "b")):
            _draw_strip(ax, shown, s, colours)
            E = rf"$\mathcal{{E}}$ {style.above(shown.E[s], 1e-8)}"
            style.put_letter(ax, letter, f"step {s % len(shown.E)}: {E}")
        style.scale_bar(last, style.round_length(np.ptp(shown.r[0, :, 0])), style.UNIT)
        style.compare([first, last], "strip")
        _draw_shares(shares, shown)
        style.put_letter(shares, "c")
        _draw_error(error, shown)
        style.put_letter(error, "d")
        bar = figure.colorbar(colours, ax=shares, pad=0.02, aspect=30)
        bar.set_label("share of the second material (-)")
        style.legend_below(figure, _marks(colours))
        style.say_below(figure, [(shown.label, shown.key)])
    return figure


def _draw_strip(
    ax: Axes, shown: PatternSearch, s: int, colours: ScalarMappable
) -> None:
    ends = shown.r[s][shown.bars][:, :, :2]
    plain = np.delete(ends, shown.chosen, axis=0)
    ax.add_collection(LineCollection(list(plain), colors=OTHER, lw=style.size(0.8)))
    shades = colours.to_rgba(shown.share[s])
    own = LineCollection(
        list(ends[shown.chosen]), colors=shades, lw=style.size(2.2), zorder=2
    )
    ax.add_collection(own)
    ax.plot(*shown.goals.T[:2], "o", color=style.TARGET, mfc="none", ms=style.size(3.0))
    everything = np.concatenate([shown.r[:, :, :2].reshape(-1, 2), shown.goals[:, :2]])
    low, high = everything.min(axis=0), everything.max(axis=0)
    edge = 0.06 * (high - low).max()
    ax.set(xlim=(low[0] - edge, high[0] + edge), ylim=(low[1] - edge, high[1] + edge))
    ax.set_aspect("equal")
    ax.set_axis_off()


def _draw_shares(ax: Axes, shown: PatternSearch) -> None:
    ax.imshow(shown.share.T, MAP, aspect="auto", vmin=0.0, vmax=1.0, origin="lower",
              interpolation="nearest")  # fmt: skip
    ax.set_xlabel("step $s$ (-)")
    ax.set_ylabel("strut (-)")


def _draw_error(ax: Axes, shown: PatternSearch) -> None:
    steps = np.arange(len(shown.E))
    for decided, look in (
        (False, {"color": style.ERROR, "lw": style.size(1.0)}),
        (True, {"color": style.ERROR, "marker": "D", "mfc": "white", "lw": 0.0}),
    ):
        E = np.where(shown.decided == decided, shown.E, np.nan)
        ax.semilogy(steps, E, ms=style.size(3.5), **look)
    ax.set_xlabel("step $s$ (-)")
    ax.set_ylabel(r"distance error $\mathcal{E}$ (-)")


def _marks(colours: ScalarMappable) -> list[Line2D]:
    bold, (first, second) = style.size(2.2), colours.to_rgba(np.array([0.0, 1.0]))
    return [
        Line2D([], [], label="first material", color=first, lw=bold),
        Line2D([], [], label="second material", color=second, lw=bold),
        Line2D([], [], label="one material for all", color=OTHER),
        Line2D([], [], label="goal of a node", marker="o", color=style.TARGET,
               mfc="none", lw=0.0),
        Line2D([], [], label=r"$\mathcal{E}$, shares free", color=style.ERROR),
        Line2D([], [], label=r"$\mathcal{E}$, decided", marker="D", color=style.ERROR,
               mfc="white", lw=0.0),
    ]  # fmt: skip
