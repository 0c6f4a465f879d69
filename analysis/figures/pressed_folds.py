"""Fig. 7 of [ZF19]: folds that are pressed, and what the constants of contact do."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle

from analysis.figures import style
from analysis.figures.origami_runs import SERIES, OrigamiRun, picture, say_runs
from analysis.figures.scene import PaintedScene, View, show
from analysis.figures.sheet import PanelGrid, sheet
from analysis.figures.sheets import ARROW, CREASE, EDGE, PANEL, sheet_marks
from sim.arrays import Floats, Ints

MARKS, DASHES = ["o", "s"], ["-", "--", "-.", ":"]
VIEW: View = (14.0, -62.0)  # degrees
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
    with style.styled():
        figure, (pictures, plots) = sheet(
            PanelGrid(6, 43.0, 42.0, most=3), PanelGrid(5, 43.0, 46.0, most=3), more=8.0
        )
        above, middle, reactions = pictures[:3], pictures[3:], plots[3:]
        _set_up(above, single, double)
        _side_view(middle[0], single)
        for k, pressed in enumerate(loaded):
            picture(middle[1 + k], pressed.run, -1, view=VIEW, arrow=FORCE)
            said = f"loaded, $d_0$ = {1e3 * pressed.d0_edge:g} mm"
            style.put_letter(middle[1 + k], "ef"[k], said)
        _heights(plots[0], sweeps.ke, "$k_e$ (J)", 1.0, "g")
        _heights(plots[1], sweeps.d0, "$d_0$ (mm)", 1e3, "h")
        _force_shares(plots[2], sweeps.ratio)
        for ax, letter, (fold, own) in zip(
            reactions, "jk", sweeps.reactions.groupby("case", sort=False), strict=False
        ):
            _reactions(ax, str(fold), own, letter)
        style.compare(reactions)
        style.compare(plots[:2])
        marks = [
            Line2D([], [], marker="^", ls="", color="black", ms=4.0, label="held node"),
            Line2D(
                [], [], color=ARROW, marker=">", ms=3.0, label="load, force of contact"
            ),
            Line2D([], [], color=SERIES[4], ls=":", label="reach of contact"),
        ]
        of_plots = [
            handle
            for ax in (plots[2], reactions[0])
            for handle in ax.get_legend_handles_labels()[0]
        ]
        style.legend_below(figure, [*sheet_marks(), *marks, *of_plots])
        say_runs(figure, [p.run for p in (single, double, *loaded)])
    return figure


def _set_up(axes: Sequence[Axes], single: PressedFold, double: PressedFold) -> None:
    """(a) to (c): the flat strip on its supports; single and double fold, loaded."""
    scene = picture(axes[0], single.run, 0, view=(38.0, -62.0))
    style.put_letter(axes[0], "a", "single fold, flat")
    held = scene.seen(single.run.x[0, single.held])
    axes[0].plot(*held.T, "^", ms=style.size(4.0), color="black", zorder=5)
    show(axes[0], scene.seen(single.run.x[0]))
    for k, (pressed, what) in enumerate(((single, "single"), (double, "double"))):
        ax, x = axes[1 + k], pressed.run.x[pressed.folded]
        scene = picture(ax, pressed.run, pressed.folded, view=VIEW)
        top = _arrows_down(ax, scene, x[pressed.loaded])
        show(ax, np.concatenate([scene.seen(x), top]))
        style.put_letter(ax, "bc"[k], f"{what} fold, folded; load")


def _arrows_down(ax: Axes, scene: PaintedScene, nodes: Floats) -> Floats:
    """The load at the nodes (k, 3) that carry it; where its arrows begin, (k, 2)."""
    top = scene.seen(nodes + np.array([0.0, 0.0, FORCE]))
    arrow = {"arrowstyle": "-|>", "color": ARROW, "shrinkA": 0, "shrinkB": 0}
    for start, end in zip(top, scene.seen(nodes), strict=True):
        ax.annotate("", end, start, arrowprops=arrow, zorder=4)
    return top


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
    show(ax, np.array([[-1.0, -6.0], [24.0, 14.0]]))
    style.scale_bar(ax, 5.0, "mm")
    style.put_letter(ax, "d", "side view")


def _measure(
    ax: Axes, start: Floats, end: Floats, text: str, offset: tuple[int, int]
) -> None:
    """An arrow from start to end, mm, and the letter of what it measures."""
    (a, b), (c, d) = start, end
    middle = 0.5 * (a + c), 0.5 * (b + d)
    ax.annotate("", (c, d), (a, b), arrowprops={"arrowstyle": "<->", "lw": 0.6})
    style.put_beside(ax, text, middle, offset, ha="center")


def _heights(
    ax: Axes, table: pd.DataFrame, name: str, scale: float, letter: str
) -> None:
    """(g), (h): load over height, a curve for each value."""
    for (value, rows), colour, dash in zip(
        table.groupby("value"), SERIES, DASHES, strict=False
    ):
        label = f"{scale * float(str(value)):g}"
        x, y = 1e3 * rows["height"], 1e3 * rows["load"]
        ax.plot(x, y, dash, color=colour, label=label)
    few = table["value"].nunique() < 4  # between the curves, else above them
    place = "upper center" if few else "upper right"
    look = {"handlelength": 1.6, "columnspacing": 0.6, "labelspacing": 0.15}
    if not few:
        look |= {"handlelength": 1.3, "handletextpad": 0.4, "borderaxespad": 0.3}
    ax.legend(title=name, loc=place, ncols=1 if few else 2, **look)
    ax.set_xlabel("height $z$ (mm)")
    ax.set_ylabel("load (mN)")
    style.put_letter(ax, letter)


def _force_shares(ax: Axes, ratio: pd.DataFrame) -> None:
    for column, colour, mark, label in (
        ("centre", SERIES[0], MARKS[0], "centres $I_c$ (i)"),
        ("edge", SERIES[1], MARKS[1], "edges $I_e$ (i)"),
    ):
        ax.plot(ratio["ratio"], ratio[column], mark + "-", color=colour, label=label)
    ax.set_xlabel("$d_{0c}/d_{0e}$ (-)")
    ax.set_ylabel("share of the force (-)")
    ax.set_ylim(-0.05, 1.05)
    style.put_letter(ax, "i")


def _reactions(ax: Axes, name: str, rows: pd.DataFrame, letter: str) -> None:
    for (support, own), colour, mark in zip(
        rows.groupby("support"), SERIES, MARKS, strict=False
    ):
        ax.plot(own["x_over_L"], 1e3 * own["statics"], color=colour, lw=0.8,
                label=f"{support} (j, k), statics")  # fmt: skip
        ax.plot(
            own["x_over_L"],
            1e3 * own["simulated"],
            mark,
            color=colour,
            mfc="none",
            label=f"{support} (j, k)",
        )
    ax.set_xlabel("$x/L$ (-)")
    ax.set_ylabel("reaction (mN)")
    style.put_letter(ax, letter, name)
