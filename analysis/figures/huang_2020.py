"""The figures of [Hu20] that a simulation can draw: Figs. 2 to 7."""

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MultipleLocator

from analysis.figures.style import FULL_WIDTH, RC, provenance
from sim.arrays import Floats, Ints

CYCLOID = 8.0 / (2.0 * np.pi)  # delta of a rigid ring that rolls
SERIES = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"]
MARKS = ["o", "s", "^", "D", "v", "P"]
CYCLE = 3.0  # s
GROUND, LIMB, ACTUATED = "#8C8C8C", "#0072B2", "#D55E00"
JUMPER_ASSUMES = (
    "Not printed in the paper, so assumed: an arc that turns by 270 degrees above a "
    "straight foot,\nthe modulus, the law of the limb of Fig. 3, and no force of the "
    "wire. No agreement with Fig. 7 is claimed."
)
MOST_NAMED = 6  # runs in the line at the foot
NOT_PUBLIC = "The points that [Hu20] measured are not public: none is shown."
Runs = Sequence[tuple[str, str]]  # what, key of the run


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


def _figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), layout="constrained")


def _foot(figure: Figure, runs: Runs, *, measured_in_print: bool = False) -> None:
    """Which runs a figure shows, and that points measured for the paper's are not."""
    text = provenance(runs, synthetic=False)
    if len(runs) > MOST_NAMED:
        text = f"Runs: {len(runs)}, their keys are in the .trace.json file"
    if measured_in_print:
        text = "\n".join([*([text] if text else []), NOT_PUBLIC])
    figure.supxlabel(text, fontsize=5.0)


def ribbon_routes(table: pd.DataFrame, runs: Runs = ()) -> Figure:
    """Fig. 2b: delta by mu / tan(theta), a series for each Gamma_g.

    Parameters
    ----------
    table : columns gamma, ratio, delta
    """
    with mpl.rc_context(RC):
        figure = _figure(0.5 * FULL_WIDTH, 2.6)
        ax = figure.subplots()
        for level, name in ((1.0, "sliding: 1"), (CYCLOID, r"cycloid: $8/2\pi$")):
            ax.axhline(level, color=GROUND, lw=0.6, ls="--")
            ax.annotate(name, (0.99, level), xycoords=("axes fraction", "data"),
                        ha="right", va="bottom", fontsize=5.5)  # fmt: skip
        for k, (gamma, rows) in enumerate(table.groupby("gamma")):
            rows = rows.sort_values("ratio")
            color, mark = SERIES[k % 6], MARKS[k % 6]
            label = rf"$\Gamma_g = {gamma:g}$"
            ax.plot(rows["ratio"], rows["delta"], label=label, color=color, marker=mark)
        ax.set_xlabel(r"Normalized friction coefficient, $\mu/\tan\theta$")
        ax.set_ylabel(r"Route ratio, $\delta = s_b/s_c$")
        ax.legend(loc="center right")
        _foot(figure, runs)
        return figure


def ribbon_shapes(shapes: Sequence[tuple[float, Floats]], runs: Runs = ()) -> Figure:
    """Fig. 2c: shapes at rest; (Gamma_g, nodes (n, 2) over R) each."""
    with mpl.rc_context(RC):
        figure = _figure(FULL_WIDTH, 2.0)
        axes = figure.subplots(1, len(shapes), squeeze=False, sharey=True)[0]
        for ax, (gamma, x) in zip(axes, shapes, strict=True):
            closed = np.vstack([x, x[:1]])
            ax.axhline(0.0, color=GROUND, lw=0.8)
            ax.plot(closed[:, 0] - x[:, 0].mean(), closed[:, 1], color=LIMB)
            ax.set_title(rf"$\Gamma_g = {gamma:g}$")
            ax.set_xlim(-1.5, 1.5)
            ax.set_aspect("equal")
            ax.set_xlabel(r"$x/R$")
        axes[0].set_ylabel(r"$y/R$")
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


def boundary_paths(ribbons: Sequence[RollingRibbon], runs: Runs = ()) -> Figure:
    """Fig. 2a: patterns of motion, each in a panel, with the route of a point."""
    with mpl.rc_context(RC):
        figure = _figure(FULL_WIDTH, 1.5 * len(ribbons) + 0.5)
        axes = figure.subplots(len(ribbons), 1, squeeze=False, sharex=True)[:, 0]
        for ax, ribbon in zip(axes, ribbons, strict=True):
            ax.axhline(0.0, color=GROUND, lw=0.8)
            for x in ribbon.shapes:
                ax.plot(*np.vstack([x, x[:1]]).T, color=GROUND, lw=0.6, alpha=0.6)
            ax.plot(*ribbon.point.T, color=ACTUATED, label="boundary point")
            ax.plot(*ribbon.centre.T, color=LIMB, ls="--", label="centroid")
            ax.set_title(rf"$\mu/\tan\theta = {ribbon.ratio:g}$", loc="left")
            ax.set_ylabel(r"$y/R$")
            ax.set_aspect("equal")
        axes[-1].set_xlabel(r"Way down the slope, $x/R$")
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, ncols=2, loc="outside upper right")
        _foot(figure, runs)
        return figure


def actuator_law(table: pd.DataFrame, runs: Runs = ()) -> Figure:
    """Fig. 3: columns time (s), curvature and modulus, relative to the start."""
    with mpl.rc_context(RC):
        figure = _figure(0.5 * FULL_WIDTH, 2.4)
        left = figure.subplots()
        right = left.twinx()
        left.plot(table["time"], table["curvature"], color=SERIES[0])
        right.plot(table["time"], table["modulus"], color=SERIES[5], ls="--")
        left.set_xlabel(r"Time, $t$ (s)")
        left.set_ylabel(r"Natural curvature, $\bar\kappa/\bar\kappa_0$ (line)")
        right.set_ylabel(r"Young's modulus, $E/E_0$ (dashes)")
        _foot(figure, runs)
        return figure


def _draw(ax: Axes, shape: RodShape) -> None:
    lines = shape.x[shape.edges]
    on = np.isin(np.arange(len(shape.edges)), shape.actuated)
    ax.add_collection(LineCollection(list(lines[~on]), colors=LIMB, linewidths=1.0))
    ax.add_collection(LineCollection(list(lines[on]), colors=ACTUATED, linewidths=1.6))
    if len(shape.ground):
        ax.plot(*shape.ground.T, color=GROUND, lw=0.8, zorder=0.0)
    ax.set_aspect("equal")
    ax.set_title(shape.label)
    ax.set_xticks([])
    ax.set_yticks([])


def _draw_all(axes: Sequence[Axes], shapes: Sequence[RodShape]) -> None:
    """One shape a panel, all of them seen from the same place."""
    x = np.vstack([shape.x for shape in shapes])
    low, high = x.min(axis=0), x.max(axis=0)
    room = 0.1 * (high - low).max()
    for ax, shape in zip(axes, shapes, strict=True):
        _draw(ax, shape)
        ax.set_xlim(low[0] - room, high[0] + room)
        ax.set_ylim(low[1] - room, high[1] + room)


def snapshots(shapes: Sequence[RodShape], runs: Runs = ()) -> Figure:
    """Figs. 4, 5a to c and 7a: a robot at some times, actuated limbs in red."""
    with mpl.rc_context(RC):
        figure = _figure(FULL_WIDTH, FULL_WIDTH / len(shapes) + 0.4)
        axes = figure.subplots(1, len(shapes), squeeze=False)[0]
        _draw_all(axes, shapes)
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


def robot_ways(ways: Sequence[RobotDistance], runs: Runs = ()) -> Figure:
    """Fig. 5: where the robot stands after each cycle, and its way over H in time."""
    with mpl.rc_context(RC):
        tracks = [way for way in ways if way.shapes]
        columns = min(3, len(ways))
        rows = -(-len(ways) // columns)
        figure = _figure(FULL_WIDTH, 1.6 * rows + (1.7 if tracks else 0.4))
        lower: Figure | SubFigure = figure
        if tracks:
            grid = figure.add_gridspec(2, 1, height_ratios=[1.3, 1.6 * rows])
            upper, lower = (figure.add_subfigure(grid[k]) for k in (0, 1))
            panels = upper.subplots(1, len(tracks), squeeze=False)[0]
            for ax, way in zip(panels, tracks, strict=True):
                _draw_track(ax, way)
            upper.suptitle("At rest, and after each cycle (darker)", fontsize=6.5)
        axes = lower.subplots(rows, columns, squeeze=False, sharex=True).ravel()
        for ax, way in zip(axes, ways, strict=False):
            ax.plot(way.table["time"], way.table["way_over_H"], color=LIMB)
            ax.set_title(way.title)
            ax.set_ylabel(r"$(x_c - x_c(0))/H$")
            ax.grid(axis="x", color=GROUND, lw=0.3, alpha=0.5)
            ax.xaxis.set_major_locator(MultipleLocator(CYCLE))
        for ax in axes[len(ways) - columns : len(ways)]:
            ax.set_xlabel(r"Time, $t$ (s)")
            ax.tick_params(labelbottom=True)
        for ax in axes[len(ways) :]:
            ax.set_axis_off()
        _foot(figure, runs, measured_in_print=True)
        return figure


def _draw_track(ax: Axes, way: RobotDistance) -> None:
    """The robot after each cycle, later ones darker, on its ground."""
    x = np.vstack([shape.x for shape in way.shapes])
    for k, shape in enumerate(way.shapes):
        alpha = 0.3 + 0.7 * (k + 1) / len(way.shapes)
        lines = LineCollection(list(shape.x[shape.edges]), colors=LIMB, alpha=alpha)
        lines.set_linewidth(0.7)
        ax.add_collection(lines)
    ax.plot(*way.shapes[0].ground.T, color=GROUND, lw=0.8)
    middle, reach = 0.5 * (x.min(axis=0) + x.max(axis=0)), 0.6 * np.ptp(x[:, 0])
    ax.set_xlim(middle[0] - reach, middle[0] + reach)
    ax.set_ylim(x[:, 1].min() - 0.01, x[:, 1].max() + 0.01)
    ax.set_aspect("equal")
    ax.set_title(way.title)
    ax.set_xticks([])
    ax.set_yticks([])


def computing_times(table: pd.DataFrame, runs: Runs = ()) -> Figure:
    """Fig. 6: computing time over simulated time by step, a series a ground.

    Parameters
    ----------
    table : columns scenario, h (s), ratio
    """
    with mpl.rc_context(RC):
        figure = _figure(0.5 * FULL_WIDTH, 2.6)
        ax = figure.subplots()
        for k, (name, rows) in enumerate(table.groupby("scenario", sort=False)):
            rows = rows.sort_values("h")
            title = GROUNDS.get(str(name), str(name))
            ax.loglog(1e3 * rows["h"], rows["ratio"], label=title,
                      color=SERIES[k % 6], marker=MARKS[k % 6])  # fmt: skip
        ax.axhline(1.0, color=GROUND, lw=0.6, ls="--")
        ax.annotate("real time", (0.02, 1.0), xycoords=("axes fraction", "data"),
                    ha="left", va="bottom", fontsize=5.5)  # fmt: skip
        ax.plot(2.5, 1.0, "kx", label="[Hu20], their processor")
        ax.set_xlabel(r"Time step, $h$ (ms)")
        ax.set_ylabel("Computing time / simulated time")
        ticks = sorted(1e3 * table["h"].unique())
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.minorticks_off()
        ax.legend(ncols=2, fontsize=5.5)
        _foot(figure, runs)
        return figure


def jumper_paths(
    shapes: Sequence[RodShape], table: pd.DataFrame, radius: float, runs: Runs = ()
) -> Figure:
    """Fig. 7: the jumper at some times; the position of its first node over R_0.

    Parameters
    ----------
    table : columns time (s), x_first, y_first (m)
    radius : R_0, m
    """
    with mpl.rc_context(RC):
        figure = _figure(FULL_WIDTH, 3.6)
        grid = figure.add_gridspec(2, 1, height_ratios=[1.0, 1.2])
        upper, lower = (figure.add_subfigure(grid[k]) for k in (0, 1))
        axes = upper.subplots(1, len(shapes), squeeze=False)[0]
        _draw_all(axes, shapes)
        for ax, shape in zip(axes, shapes, strict=True):
            ax.plot(*shape.x[0], "o", color=ACTUATED)
        for ax, axis in zip(lower.subplots(1, 2), "xy", strict=True):
            way = table[f"{axis}_first"] - table[f"{axis}_first"].iloc[0]
            ax.plot(table["time"], way / radius, color=LIMB)
            ax.set_xlabel(r"Time, $t$ (s)")
            ax.set_ylabel(rf"$({axis}_1 - {axis}_1(0))/\bar R_0$")
        figure.suptitle(JUMPER_ASSUMES, fontsize=6.5)
        _foot(figure, runs, measured_in_print=True)
        return figure
