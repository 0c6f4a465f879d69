"""The figures of [Hu20] that a simulation can draw: Figs. 2 to 7."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MultipleLocator

from analysis.figures import style
from analysis.figures.scene import show
from analysis.figures.sheet import PanelGrid, sheet
from sim.arrays import Floats, Ints

ROLLS = 1.0  # mu / tan(theta) from which [Hu20] prints rolling without sliding
CYCLOID = 8.0 / (2.0 * np.pi)  # delta of a rigid ring that rolls
SERIES = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"]
MARKS = ["o", "s", "^", "D", "v", "P"]
CYCLE = 3.0  # s
SHADE, INK = "#C4C4C4", "#000000"
GROUND, LIMB, ACTUATED = "#8C8C8C", "#0072B2", "#D55E00"
JUMPER_ASSUMES = (
    "Not printed in the paper, so assumed: an arc that turns by 270 degrees above a "
    "straight foot, the modulus, the law of the limb of Fig. 3, and no force of the "
    "wire. No agreement with Fig. 7 is claimed."
)
NOT_PUBLIC = "The points that [Hu20] measured are not public: none is shown."


@dataclass(frozen=True, eq=False)
class RodShape:
    """A rod network at one time.

    Attributes
    ----------
    label : what the panel is called
    x : (n, 2) m
    edges : (m, 2)
    ground : (k, 2) m, may be empty
    actuated : (m,) edges drawn as switched on
    """

    label: str
    x: Floats
    edges: Ints
    ground: Floats
    actuated: Ints


def _foot(figure: Figure, runs: style.Runs, *, measured_in_print: bool = False) -> None:
    """Which runs a figure shows, and that points measured for the paper's are not."""
    style.say_below(figure, runs, NOT_PUBLIC if measured_in_print else "")


def ribbon_routes(table: pd.DataFrame, runs: style.Runs = ()) -> Figure:
    """Fig. 2b: delta by mu / tan(theta), a series for each Gamma_g.

    Parameters
    ----------
    table : columns gamma, ratio, delta
    """
    with style.styled():
        figure, ((ax,),) = sheet(PanelGrid(1, 89.0, 64.0), more=9.0)
        for level, name in ((1.0, "sliding: 1"), (CYCLOID, r"cycloid: $8/2\pi$")):
            ax.axhline(level, color=GROUND, lw=0.6, ls="--")
            place, side = (0.98, "right") if level == 1.0 else (0.02, "left")
            across = ("axes fraction", "data")
            style.put_beside(ax, name, (place, level), (0, 1), xycoords=across,
                       va="bottom", ha=side)  # fmt: skip
        for k, (gamma, rows) in enumerate(table.groupby("gamma")):
            rows = rows.sort_values("ratio")
            color, mark = SERIES[k % 6], MARKS[k % 6]
            label = rf"$\Gamma_g = {gamma:g}$"
            ax.plot(rows["ratio"], rows["delta"], label=label, color=color, marker=mark)
        ax.axvline(ROLLS, color=INK, lw=0.6, ls=":", label="[Hu20]: rolls from here")
        ax.set_xlabel(r"normalised friction coefficient $\mu/\tan\theta$ (-)")
        ax.set_ylabel(r"route ratio $\delta = s_b/s_c$ (-)")
        ax.set_ylim(0.98, 1.31)
        style.legend_below(figure, *ax.get_legend_handles_labels())
        _foot(figure, runs)
        return figure


def ribbon_shapes(
    shapes: Sequence[tuple[float, Floats]], runs: style.Runs = ()
) -> Figure:
    """Fig. 2c: shapes at rest; (Gamma_g, nodes (n, 2) over R) each."""
    with style.styled():
        figure, (axes,) = sheet(PanelGrid(len(shapes), 43.0, 42.0), more=5.0)
        for letter, ax, (gamma, x) in zip("abcdefgh", axes, shapes, strict=False):
            closed = np.vstack([x, x[:1]])
            ax.axhline(0.0, color=GROUND, lw=0.8)
            ax.plot(closed[:, 0] - x[:, 0].mean(), closed[:, 1], color=LIMB)
            style.put_letter(ax, letter, rf"$\Gamma_g = {gamma:g}$")
            ax.set_xlim(-1.5, 1.5)
            ax.set_ylim(-0.2, 2.2)
            ax.set_aspect("equal")
            ax.set_xlabel(r"position $x/R$ (-)")
            ax.set_ylabel(r"height $y/R$ (-)")
        style.legend_below(figure, axes[0].get_lines(), ["ground", "ribbon at rest"])
        _foot(figure, runs)
        return figure


@dataclass(frozen=True, eq=False)
class RollingRibbon:
    """A ribbon on its slope: x down the slope, y away from it, over R.

    Attributes
    ----------
    ratio : mu / tan(theta)
    shapes : nodes (n, 2) at some times
    point, centre : (k, 2) routes of a boundary point and of the centroid
    """

    ratio: float
    shapes: Sequence[Floats]
    point: Floats
    centre: Floats


def boundary_paths(ribbons: Sequence[RollingRibbon], runs: style.Runs = ()) -> Figure:
    """Fig. 2a: patterns of motion, each in a panel, with the route of a point."""
    with style.styled():
        height = (
            17.0 + 0.155 * style.page().room_mm
        )  # of axes with equal scales, and labels
        figure, (axes,) = sheet(PanelGrid(len(ribbons), 89.0, height, most=1), more=6.0)
        for letter, ax, ribbon in zip("abcdefgh", axes, ribbons, strict=False):
            ax.axhline(0.0, color=GROUND, lw=0.8)
            for x in ribbon.shapes:
                ax.plot(*np.vstack([x, x[:1]]).T, color=SHADE, lw=0.6)
            ax.plot(*ribbon.point.T, color=ACTUATED, label="boundary point")
            ax.plot(*ribbon.centre.T, color=LIMB, ls="--", label="centroid")
            style.put_letter(ax, letter, rf"$\mu/\tan\theta = {ribbon.ratio:g}$")
            ax.set_ylabel(r"height $y/R$ (-)")
            ax.set_aspect("equal")
            ax.set_xlabel(r"way down the slope $x/R$ (-)")
            ax.set_xlim(-1.4, 11.2)
            ax.set_ylim(-0.1, 2.1)
        handles, names = axes[0].get_legend_handles_labels()
        shape = Line2D([], [], color=SHADE, lw=0.6)
        style.legend_below(figure, [*handles, shape], [*names, "ribbon at some times"])
        _foot(figure, runs)
        return figure


def actuator_law(table: pd.DataFrame, runs: style.Runs = ()) -> Figure:
    """Fig. 3: columns time (s), curvature and modulus, relative to the start."""
    with style.styled():
        figure, ((left,),) = sheet(PanelGrid(1, 89.0, 60.0))
        right = left.twinx()
        left.plot(table["time"], table["curvature"], color=SERIES[0])
        right.plot(table["time"], table["modulus"], color=INK, ls="--")
        left.set_xlabel("time $t$ (s)")
        left.set_ylabel(
            r"natural curvature $\bar\kappa/\bar\kappa_0$ (-), line", color=SERIES[0]
        )
        right.set_ylabel(r"Young's modulus $E/E_0$ (-), dashes", color=INK)
        _foot(figure, runs)
        return figure


def _draw(ax: Axes, shape: RodShape) -> None:
    lines = shape.x[shape.edges]
    on = np.isin(np.arange(len(shape.edges)), shape.actuated)
    ax.add_collection(LineCollection(list(lines[~on]), colors=LIMB, linewidths=1.0))
    ax.add_collection(LineCollection(list(lines[on]), colors=ACTUATED, linewidths=1.6))
    if len(shape.ground):
        ax.plot(*shape.ground.T, color=GROUND, lw=0.8, zorder=0.0)
    ax.set_title(shape.label)


def _draw_all(axes: Sequence[Axes], shapes: Sequence[RodShape]) -> None:
    """One shape a panel, all of them seen from the same place; a scale in the first."""
    x = np.vstack([shape.x for shape in shapes])
    for ax, shape in zip(axes, shapes, strict=True):
        _draw(ax, shape)
        show(ax, x)
    _scale(axes[0], x)


def _scale(ax: Axes, x: Floats) -> None:
    """How long a part of a centimetre is, or some."""
    style.scale_bar(ax, style.round_length(np.ptp(x[:, 0])), "cm", times=100.0)


def _marks(shapes: Sequence[RodShape]) -> list[Line2D]:
    """What the lines of shapes are."""
    driven = any(len(shape.actuated) for shape in shapes)
    looks = [("limb" if driven else "rod", LIMB, 1.0)]
    if driven:
        looks.append(("limb switched on", ACTUATED, 1.6))
    if any(len(shape.ground) for shape in shapes):
        looks.append(("ground", GROUND, 0.8))
    return [Line2D([], [], color=c, lw=w, label=name) for name, c, w in looks]


def snapshots(shapes: Sequence[RodShape], runs: style.Runs = ()) -> Figure:
    """Figs. 4, 5a to c and 7a: a robot at some times, actuated limbs in red."""
    with style.styled():
        count = len(shapes)
        figure, (axes,) = sheet(PanelGrid(count, 29.0, 38.0), more=5.0)
        _draw_all(axes, shapes)
        for letter, ax, shape in zip("abcdefghijkl", axes, shapes, strict=False):
            style.put_letter(ax, letter, shape.label)
        style.legend_below(figure, _marks(shapes))
        _foot(figure, runs)
        return figure


GROUNDS = {  # a case of conf/case, or a column of Fig. 6: how a panel is called
    "star_robot": "0\N{DEGREE SIGN}",
    "star_robot_up_3": "+3\N{DEGREE SIGN}",
    "star_robot_down_3": "\N{MINUS SIGN}3\N{DEGREE SIGN}",
    "star_robot_up_6": "+6\N{DEGREE SIGN}",
    "star_robot_crest": "from the crest",
    "star_robot_trough": "from the trough",
}


@dataclass(frozen=True, eq=False)
class RobotDistance:
    """How far the robot came on a ground.

    Attributes
    ----------
    name : a key of GROUNDS, or any other word
    table : columns time (s) and way_over_H
    shapes : the robot after each cycle, for the grounds shown in Fig. 5a to c
    """

    name: str
    table: pd.DataFrame
    shapes: Sequence[RodShape] = ()

    @property
    def title(self) -> str:
        return GROUNDS.get(self.name, self.name)


def robot_ways(ways: Sequence[RobotDistance], runs: style.Runs = ()) -> Figure:
    """Fig. 5: where the robot stands after each cycle, and its way over H in time."""
    tracks = [way for way in ways if way.shapes]
    with style.styled():
        groups = [PanelGrid(len(ways), 44.0, 42.0, most=3)]
        if tracks:
            groups.insert(0, PanelGrid(len(tracks), 44.0, 33.0, most=3))
        figure, panels = sheet(*groups, more=5.0)
        letters = iter("abcdefghijkl")
        for ax, way in zip(panels[0], tracks, strict=False):
            _draw_track(ax, way)
            style.put_letter(ax, next(letters), way.title)
        low, high = zip(*[_range(way.table["way_over_H"]) for way in ways], strict=True)
        for ax, way in zip(panels[-1], ways, strict=True):
            ax.plot(way.table["time"], way.table["way_over_H"], color=LIMB)
            ax.set_ylabel(r"way $(x_c - x_c(0))/H$ (-)")
            ax.set_ylim(min(low), max(high))  # one range: slopes are compared
            ax.grid(axis="x", color=GROUND, lw=0.3, alpha=0.5)
            ax.xaxis.set_major_locator(MultipleLocator(CYCLE))
            ax.set_xlabel("time $t$ (s)")
            style.put_letter(ax, next(letters), way.title)
        if tracks:
            robot = Line2D([], [], color=LIMB, lw=0.7)
            ground = Line2D([], [], color=GROUND, lw=0.8)
            names = ["robot at rest and after each cycle, later ones darker", "ground"]
            style.legend_below(figure, [robot, ground], names)
        _foot(figure, runs, measured_in_print=True)
        return figure


def _range(values: "pd.Series[float]") -> tuple[float, float]:
    """From the least to the largest value, and some room."""
    low, high = float(values.min()), float(values.max())
    return low - 0.05 * (high - low), high + 0.05 * (high - low)


def _draw_track(ax: Axes, way: RobotDistance) -> None:
    """The robot after each cycle, later ones darker, on its ground."""
    x = np.vstack([shape.x for shape in way.shapes])
    for k, shape in enumerate(way.shapes):
        alpha = 0.3 + 0.7 * (k + 1) / len(way.shapes)
        lines = LineCollection(list(shape.x[shape.edges]), colors=LIMB, alpha=alpha)
        lines.set_linewidth(style.size(0.7))
        ax.add_collection(lines, autolim=False)
    ax.plot(*way.shapes[0].ground.T, color=GROUND, lw=0.8)
    show(ax, x)
    _scale(ax, way.shapes[0].x)


def computing_times(table: pd.DataFrame, runs: style.Runs = ()) -> Figure:
    """Fig. 6: computing time over simulated time by step, a series a ground.

    Parameters
    ----------
    table : columns scenario, h (s), ratio
    """
    with style.styled():
        figure, ((ax,),) = sheet(PanelGrid(1, 89.0, 66.0), more=6.0)
        for k, (name, rows) in enumerate(table.groupby("scenario", sort=False)):
            rows = rows.sort_values("h")
            title = GROUNDS.get(str(name), str(name))
            ax.loglog(1e3 * rows["h"], rows["ratio"], label=title,
                      color=SERIES[k % 6], marker=MARKS[k % 6])  # fmt: skip
        ax.set_ylim(0.6 * table["ratio"].min(), 3.0)
        ax.axhline(1.0, color=GROUND, lw=0.6, ls="--")
        ax.annotate("real time", (0.02, 1.0), xycoords=("axes fraction", "data"),
                    ha="left", va="bottom")  # fmt: skip
        ax.plot(2.5, 1.0, "kx", label="[Hu20], their processor")
        ax.set_xlabel("time step $h$ (ms)")
        ax.set_ylabel("computing / simulated time (-)")
        ticks = sorted(1e3 * table["h"].unique())
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.minorticks_off()
        style.legend_below(figure, *ax.get_legend_handles_labels())
        _foot(figure, runs)
        return figure


def jumper_paths(
    shapes: Sequence[RodShape],
    table: pd.DataFrame,
    radius: float,
    runs: style.Runs = (),
) -> Figure:
    """Fig. 7: the jumper at some times; the position of its first node over R_0.

    Parameters
    ----------
    table : columns time (s), x_first, y_first (m)
    radius : R_0, m
    """
    with style.styled():
        figure, (axes, plots) = sheet(
            PanelGrid(len(shapes), 29.0, 30.0), PanelGrid(2, 80.0, 50.0), more=5.0
        )
        _draw_all(axes, shapes)
        letters = iter("abcdefgh")
        for ax, shape in zip(axes, shapes, strict=True):
            ax.plot(*shape.x[0], "o", color=ACTUATED, ms=style.size(3.0))
            style.put_letter(ax, next(letters), shape.label)
        for ax, axis in zip(plots, "xy", strict=True):
            way = table[f"{axis}_first"] - table[f"{axis}_first"].iloc[0]
            ax.plot(table["time"], way / radius, color=LIMB)
            ax.set_xlabel("time $t$ (s)")
            ax.set_ylabel(rf"first node, $({axis}_1 - {axis}_1(0))/\bar R_0$ (-)")
            style.put_letter(ax, next(letters))
        first = Line2D([], [], marker="o", ls="", color=ACTUATED, label="first node")
        style.legend_below(figure, [*_marks(shapes), first])
        style.say_below(figure, runs, JUMPER_ASSUMES, NOT_PUBLIC)
        return figure
