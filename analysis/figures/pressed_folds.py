"""Fig. 7 of [ZF19]: folds that are pressed, and what the constants of contact do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from mpl_toolkits.mplot3d import Axes3D

from analysis.figures.origami_runs import (
    SERIES,
    OrigamiRun,
    picture,
    put_letter,
    say_runs,
)
from analysis.figures.sheets import ARROW, CREASE, EDGE, PANEL
from analysis.figures.style import FULL_WIDTH, RC
from sim.arrays import Floats, Ints

MARKS = ["o", "s"]
VIEW = (14.0, -62.0)  # degrees
FORCE = 0.006  # m, arrow of a load or of the largest contact force


@dataclass(frozen=True, eq=False)
class PressedFold:
    """A run of two phases: a strip is folded, then pressed.

    Parameters
    ----------
    held, loaded : nodes on supports, and those that carry the load
    d0_edge, d0_centre : distance at which contact begins, m
    """

    run: OrigamiRun
    held: Ints
    loaded: Ints
    d0_edge: float
    d0_centre: float

    @property
    def folded(self) -> int:
        """The step at the end of folding."""
        return int(self.run.phase(0)["step"].iloc[-1])

    @property
    def load(self) -> float:
        """All of it at the end, N."""
        return float(self.run.table["load"].iloc[-1] * np.sqrt(len(self.loaded)))

    def nodes(self, panel: int) -> Ints:
        """Corners and centre of a panel."""
        own: Ints = np.unique(self.run.triangles[self.run.triangle_panel == panel])
        return own


@dataclass(frozen=True, eq=False)
class Sweeps:
    """Numbers of Fig. 7g to k.

    Parameters
    ----------
    ke, d0 : value, load (N), height (m)
    ratio : ratio, share of the contact force at centres and at edges
    reactions : case, x_over_L, support, simulated, statics (N)
    """

    ke: pd.DataFrame
    d0: pd.DataFrame
    ratio: pd.DataFrame
    reactions: pd.DataFrame

    def tables(self) -> dict[str, pd.DataFrame]:
        """By name, as they are written."""
        return {k: getattr(self, k) for k in ("ke", "d0", "ratio", "reactions")}


def behaviour_of_contact(
    single: PressedFold,
    double: PressedFold,
    loaded: Sequence[PressedFold],
    sweeps: Sweeps,
) -> Figure:
    """Fig. 7: what is pressed, how ke and d0 act, and reactions beside statics.

    Parameters
    ----------
    loaded : those of (e) and (f): d0 large, then small
    """
    with rc_context(RC):
        figure = Figure(figsize=(FULL_WIDTH, 7.4))
        _set_up(figure, single, double)
        _side_view(figure.add_axes((0.07, 0.50, 0.26, 0.20)), single)
        for k, pressed in enumerate(loaded):
            ax = picture(
                figure, (0.34 + 0.33 * k, 0.50, 0.32, 0.20), pressed.run, -1,
                view=VIEW, arrow=FORCE,
                title=f"loaded, $d_0$ = {1e3 * pressed.d0_edge:g} mm",
            )  # fmt: skip
            put_letter(ax, "ef"[k])
        places = _plots(figure)
        _heights(next(places), sweeps.ke, "$k_e$ (J)", 1.0, "g")
        _heights(next(places), sweeps.d0, "$d_0$ (mm)", 1e3, "h")
        _force_shares(next(places), sweeps.ratio)
        for letter, (fold, own) in zip(
            "jk", sweeps.reactions.groupby("case", sort=False), strict=False
        ):
            _reactions(next(places), str(fold), own, letter)
        say_runs(figure, [p.run for p in (single, double, *loaded)])
    return figure


def _plots(figure: Figure) -> Iterator[Axes]:
    """Axes of (g) to (k): three in a row, then two."""
    for k in range(5):
        row, column = divmod(k, 3)
        place = (0.07 + 0.33 * column, 0.325 - 0.25 * row, 0.245, 0.155)
        yield figure.add_axes(place)


def _set_up(figure: Figure, single: PressedFold, double: PressedFold) -> None:
    """(a) to (c): the flat strip on its supports; single and double fold, loaded."""
    flat = picture(
        figure, (0.0, 0.73, 0.32, 0.22), single.run, 0, view=(38.0, -62.0),
        title="single fold, flat",
    )  # fmt: skip
    put_letter(flat, "a")
    held = single.run.x[0, single.held]
    flat.scatter(*held.T, marker="^", s=26, color="#000000", zorder=1e4, label="held")
    flat.legend(loc="lower left", bbox_to_anchor=(0.02, 0.0))
    for k, (pressed, what) in enumerate(((single, "single"), (double, "double"))):
        ax = picture(
            figure, (0.34 + 0.33 * k, 0.73, 0.32, 0.22), pressed.run, pressed.folded,
            view=VIEW, title=f"{what} fold, folded; load",
        )  # fmt: skip
        _arrows_down(ax, pressed.run.x[pressed.folded, pressed.loaded])
        put_letter(ax, "bc"[k])


def _arrows_down(ax: Axes3D, nodes: Floats) -> None:
    """The load at the nodes (k, 3) that carry it."""
    start = nodes + np.array([0.0, 0.0, FORCE])
    down = np.zeros_like(nodes) - np.array([0.0, 0.0, FORCE])
    ax.quiver(*start.T, *down.T, color=ARROW, lw=1.2, arrow_length_ratio=0.35)


def _side_view(ax: Axes, single: PressedFold) -> None:
    """(d): lengths, height and the reach of contact, seen along the crease."""
    run, x = single.run, 1e3 * single.run.x[single.folded][:, [0, 2]]
    colours = np.where(run.triangle_panel < run.panels, PANEL, CREASE)
    triangles = [x[t] for t in run.triangles]
    ax.add_collection(PolyCollection(triangles, edgecolors=colours, lw=2.2))
    lower, upper = x[single.nodes(0)], x[single.nodes(1)]
    ax.plot(*upper.T, "o", color=EDGE, ms=2.5)
    tip, root = x[single.loaded].mean(axis=0), upper[upper[:, 0].argmax()]
    for centre, reach, text in (
        (tip, 1e3 * single.d0_edge, "$d_{0e}$"),
        (upper.mean(axis=0), 1e3 * single.d0_centre, "$d_{0c}$"),
    ):
        ax.add_patch(Circle(tuple(centre), reach, fill=False, ls=":", ec=SERIES[4]))
        ax.annotate(text, centre + np.array([0.75, 0.8]) * reach)
    end, under, over = lower[:, 0].max(), np.array([0.0, -2.5]), np.array([1.6, 4.4])
    _measure(
        ax, lower.min(axis=0) + under, np.array([end, 0.0]) + under, "$L$", (0, -9)
    )
    _measure(
        ax,
        np.array([end, 0.0]) + under,
        np.array([end + 2.4, 0.0]) + under,
        "$W$",
        (0, -9),
    )
    _measure(ax, tip + over, root + over, "$x$", (3, 2))
    at = tip[0] - 3.2
    _measure(ax, np.array([at, 0.0]), np.array([at, tip[1]]), "$z$", (-6, -2))
    arrow = {"arrowstyle": "->", "color": ARROW}
    ax.annotate("", tip, tip + np.array([0.0, 5.5]), arrowprops=arrow)
    ax.annotate("$P$", tip + np.array([-1.6, 4.4]), color=ARROW)
    ax.set_aspect("equal")
    ax.set_xlim(-1.0, 24.0)
    ax.set_ylim(-6.0, 14.0)
    ax.set_axis_off()
    put_letter(ax, "d")


def _measure(
    ax: Axes, start: Floats, end: Floats, text: str, offset: tuple[int, int]
) -> None:
    """An arrow from start to end, mm, and the letter of what it measures."""
    (a, b), (c, d) = start, end
    middle = 0.5 * (a + c), 0.5 * (b + d)
    ax.annotate("", (c, d), (a, b), arrowprops={"arrowstyle": "<->", "lw": 0.6})
    ax.annotate(text, middle, offset, textcoords="offset points", ha="center")


def _heights(
    ax: Axes, table: pd.DataFrame, name: str, scale: float, letter: str
) -> None:
    """(g), (h): load over height, a curve for each value."""
    for (value, rows), colour in zip(table.groupby("value"), SERIES, strict=False):
        label = f"{scale * float(str(value)):g}"
        ax.plot(1e3 * rows["height"], 1e3 * rows["load"], color=colour, label=label)
    ax.legend(title=name)
    ax.set_xlabel("height $z$ (mm)")
    ax.set_ylabel("load (mN)")
    put_letter(ax, letter)


def _force_shares(ax: Axes, ratio: pd.DataFrame) -> None:
    for column, colour, mark, label in (
        ("centre", SERIES[0], MARKS[0], "centres $I_c$"),
        ("edge", SERIES[1], MARKS[1], "edges $I_e$"),
    ):
        ax.plot(ratio["ratio"], ratio[column], mark + "-", color=colour, label=label)
    ax.set_xlabel("$d_{0c}/d_{0e}$ (-)")
    ax.set_ylabel("share of force (-)")
    ax.set_ylim(-0.05, 1.05)
    ax.legend(loc="center left")
    put_letter(ax, "i")


def _reactions(ax: Axes, name: str, rows: pd.DataFrame, letter: str) -> None:
    for (support, own), colour, mark in zip(
        rows.groupby("support"), SERIES, MARKS, strict=False
    ):
        ax.plot(own["x_over_L"], 1e3 * own["statics"], color=colour, lw=0.8)
        ax.plot(
            own["x_over_L"],
            1e3 * own["simulated"],
            mark,
            color=colour,
            mfc="none",
            label=str(support),
        )
    ax.set_xlabel("$x/L$ (-)")
    ax.set_ylabel("reaction (mN)")
    ax.set_title(f"{name} (lines: statics)")
    ax.legend()
    put_letter(ax, letter)
