"""The figures of [Hu20] that a simulation can draw: Figs. 2 to 7."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.ticker import MultipleLocator

from analysis.figures import style
from analysis.figures.figure_interface import DrawnFigure, ShownRun, node_table
from analysis.figures.panel_3d import show
from analysis.figures.style import FAINT, PanelGrid, sheet
from sim.core.arrays import Floats, Ints

ROLLS = 1.0  # mu / tan(theta) from which [Hu20] prints rolling without sliding
CYCLOID = 8.0 / (2.0 * np.pi)  # delta of a rigid ring that rolls
SERIES = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"]
MARKS = ["o", "s", "^", "D", "v", "P"]
CYCLE = 3.0  # s
SHADE, INK = "#C4C4C4", "#000000"
GROUND, LIMB, ACTUATED = "#8C8C8C", "#0072B2", "#D55E00"
JUMPER_ASSUMES = (
    "Not printed in the paper, so assumed: an arc of 270 degrees above a straight "
    "foot, the modulus, the actuation law of the limb of Fig. 3, and zero wire force. "
    "No agreement with Fig. 7 is claimed."
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
    actuated : (m,) edges that are switched on
    """

    label: str
    x: Floats
    edges: Ints
    ground: Floats
    actuated: Ints


def rod_shape(run: ShownRun, time: float, actuated: int | None = None) -> RodShape:
    """The shape at the recorded time nearest to `time`, one limb in red."""
    times, arrays = run.column("time"), run.arrays
    k = int(np.argmin(np.abs(times - time)))
    on = np.flatnonzero(arrays["edge_limb"] == (-2 if actuated is None else actuated))
    label = rf"$t$ = {times[k]:.3g} s"
    return RodShape(label, arrays["x"][k], arrays["edges"], arrays["ground"], on)


def nodes_at(times: Iterable[float], shapes: Iterable[RodShape]) -> pd.DataFrame:
    """Where the nodes of shapes are, m, by time."""
    each = zip(times, shapes, strict=True)
    tables = [node_table(shape.x, time=time) for time, shape in each]
    return pd.concat(tables, ignore_index=True)


def perimeter(run: ShownRun) -> float:
    """Length of all edges at the start, m."""
    ends = run.arrays["x"][0][run.arrays["edges"]]
    return float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).sum())


def draw_huang_2b(runs: Sequence[ShownRun]) -> DrawnFigure:
    """Fig. 2b: delta by mu / tan(theta), a series for each Gamma_g.

    A row a ribbon: the study ribbon_routes.
    """
    table = pd.DataFrame([run.result for run in runs])[["gamma", "ratio", "delta"]]
    sliding = table.loc[table["ratio"] == 0.0, "delta"].max()
    facts = {"sliding": sliding, "rolling": table["delta"].max()}
    figure, ((ax,),) = sheet(PanelGrid(1, 89.0, 64.0), more=9.0)
    for level, name in ((1.0, "sliding: 1"), (CYCLOID, r"cycloid: $8/2\pi$")):
        ax.axhline(level, color=GROUND, lw=0.6, ls="--")
        place, side = (0.98, "right") if level == 1.0 else (0.02, "left")
        across = ("axes fraction", "data")
        style.annotate_near(ax, name, (place, level), (0, 1), xycoords=across,
                   va="bottom", ha=side)  # fmt: skip
    for k, (gamma, rows) in enumerate(table.groupby("gamma")):
        rows = rows.sort_values("ratio")
        color, mark = SERIES[k % 6], MARKS[k % 6]
        label = rf"$\Gamma_g = {gamma:g}$"
        ax.plot(rows["ratio"], rows["delta"], label=label, color=color, marker=mark)
    ax.axvline(ROLLS, color=INK, lw=0.6, ls=":", label="rolling begins here, by [Hu20]")
    ax.set_xlabel(r"normalised friction coefficient $\mu/\tan\theta$ (-)")
    ax.set(ylabel=r"route ratio $\delta = s_b/s_c$ (-)", ylim=(0.98, 1.31))
    style.legend_below(figure, *ax.get_legend_handles_labels())
    return DrawnFigure(figure, {"routes": table}, facts)


def draw_huang_2c(runs: Sequence[ShownRun]) -> DrawnFigure:
    """Fig. 2c: shapes at rest over R; a row a ribbon of the study ribbon_shapes."""
    figure, (axes,) = sheet(PanelGrid(len(runs), 43.0, 42.0), more=5.0)
    outlines = []
    for letter, ax, run in zip("abcdefgh", axes, runs, strict=False):
        gamma = float(run.result["gamma"])
        x = run.arrays["x"][-1] * 2.0 * np.pi / perimeter(run)
        x = x - [x[:, 0].mean(), 0.0]
        outline = node_table(x, gamma=gamma)
        outlines.append(outline.rename(columns={"x": "x_over_R", "y": "y_over_R"}))
        ax.axhline(0.0, color=GROUND, lw=0.8)
        ax.plot(*np.vstack([x, x[:1]]).T, color=LIMB)
        style.put_letter(ax, letter, rf"$\Gamma_g = {gamma:g}$")
        ax.set(xlim=(-1.5, 1.5), ylim=(-0.2, 2.2), aspect="equal")
        ax.set(xlabel=r"position $x/R$ (-)", ylabel=r"height $y/R$ (-)")
    style.legend_below(figure, axes[0].get_lines(), ["ground", "ribbon at rest"])
    tables = {
        "shapes": pd.DataFrame([run.result for run in runs]),
        "outlines": pd.concat(outlines, ignore_index=True),
    }
    return DrawnFigure(figure, tables)


SHAPES = 5  # shown of each ribbon
REVOLUTIONS = 1.5  # of a rolling ribbon, how much of the way is shown


def draw_huang_2a(runs: Sequence[ShownRun]) -> DrawnFigure:
    """Fig. 2a: patterns of motion, each in a panel, with the route of a point.

    A row for each mu / tan(theta): the case ribbon_incline.
    """
    height = 17.0 + 0.155 * style.page().room_mm  # axes with equal scales, and labels
    figure, (axes,) = sheet(PanelGrid(len(runs), 89.0, height, most=1), more=6.0)
    routes, nodes = [], []
    for letter, ax, run in zip("abcdefgh", axes, runs, strict=False):
        ratio = float(run.result["ratio"])
        shapes, point, centre = _on_slope(run)
        both = np.hstack([point, centre]).T
        route = dict(zip(("x_b", "y_b", "x_c", "y_c"), both, strict=True))
        routes.append(pd.DataFrame({"ratio": ratio, **route}))
        ax.axhline(0.0, color=GROUND, lw=0.8)
        for k, x in enumerate(shapes):
            nodes.append(node_table(x, ratio=ratio, shape=k))
            ax.plot(*np.vstack([x, x[:1]]).T, color=SHADE, lw=0.6)
        ax.plot(*point.T, color=ACTUATED, label="boundary point")
        ax.plot(*centre.T, color=LIMB, ls="--", label="centroid")
        style.put_letter(ax, letter, rf"$\mu/\tan\theta = {ratio:g}$")
        ax.set(xlabel=r"travel down the slope $x/R$ (-)", ylabel=r"height $y/R$ (-)")
        ax.set(xlim=(-1.4, 11.2), ylim=(-0.1, 2.1), aspect="equal")
    handles, names = axes[0].get_legend_handles_labels()
    shape = Line2D([], [], color=SHADE, lw=0.6)
    style.legend_below(figure, [*handles, shape], [*names, "ribbon at some times"])
    tables = {
        "routes": pd.concat(routes, ignore_index=True),
        "shapes": pd.concat(nodes, ignore_index=True),
    }
    return DrawnFigure(figure, tables)


def _on_slope(run: ShownRun) -> tuple[Floats, Floats, Floats]:
    """Nodes (SHAPES, n, 2) at some times, routes (k, 2) of a point and the centroid.

    Down the slope and away from it, over the radius, from where the run began.
    """
    ground = run.arrays["ground"]
    t = (ground[-1] - ground[0]) / np.linalg.norm(ground[-1] - ground[0])
    frame = np.array([t, [-t[1], t[0]]])
    x = (run.arrays["x"] - ground[0]) @ frame.T / (perimeter(run) / (2.0 * np.pi))
    x[..., 0] -= x[0, :, 0].mean()
    centre = x.mean(axis=1)
    end = int(np.searchsorted(centre[:, 0], 2.0 * np.pi * REVOLUTIONS))
    shown = np.linspace(0, min(end, len(x) - 1), SHAPES).astype(int)
    return x[shown], x[: end + 1, 0], centre[: end + 1]


def draw_huang_3(runs: Sequence[ShownRun]) -> DrawnFigure:
    """Fig. 3: curvature and modulus in time, over those at the start.

    One row: the case actuator_law.
    """
    table = runs[0].table
    figure, ((left,),) = sheet(PanelGrid(1, 89.0, 60.0))
    right = left.twinx()
    left.plot(table["time"], table["curvature"], color=SERIES[0])
    right.plot(table["time"], table["modulus"], color=INK, ls="--")
    left.set_xlabel("time $t$ (s)")
    curvature = r"natural curvature $\bar\kappa/\bar\kappa_0$ (-), line"
    left.set_ylabel(curvature, color=SERIES[0])
    right.set_ylabel(r"Young's modulus $E/E_0$ (-), dashes", color=INK)
    return DrawnFigure(figure, {"law": table})


STAR_TIMES = (0.0, 0.25, 0.5, 1.0, 2.0)  # s
STAR_LIMB = 3  # limb 4, counted from 0


def draw_huang_4(runs: Sequence[ShownRun]) -> DrawnFigure:
    """One row: the case star_robot."""
    return _snapshots(runs[0], STAR_TIMES, STAR_LIMB)


MOMENTS = 5


def draw_rod_motion(runs: Sequence[ShownRun]) -> DrawnFigure:
    """One row: a case of rods that move."""
    recorded = runs[0].column("time")
    times = np.linspace(recorded[0], recorded[-1], MOMENTS)
    return replace(_snapshots(runs[0], times), caption={"moments": MOMENTS})


def _snapshots(
    run: ShownRun, times: Iterable[float], actuated: int | None = None
) -> DrawnFigure:
    """A rod network at some times, an actuated limb in red."""
    shapes = [rod_shape(run, time, actuated) for time in times]
    figure, (axes,) = sheet(PanelGrid(len(shapes), 29.0, 38.0), more=5.0)
    _draw_shapes(axes, shapes)
    style.legend_below(figure, _marks(shapes))
    return DrawnFigure(figure, {"shapes": nodes_at(times, shapes)})


def _draw_shapes(axes: Sequence[Axes], shapes: Sequence[RodShape]) -> None:
    """One shape a panel, all of them seen from the same place; a scale in the first."""
    x = np.vstack([shape.x for shape in shapes])
    for ax, shape in zip(axes, shapes, strict=True):
        lines = shape.x[shape.edges]
        on = np.isin(np.arange(len(shape.edges)), shape.actuated)
        for own, colour, width in ((~on, LIMB, 1.0), (on, ACTUATED, 1.6)):
            look: dict[str, Any] = {"colors": colour, "linewidths": width}
            ax.add_collection(LineCollection(list(lines[own]), **look))
        if len(shape.ground):
            ax.plot(*shape.ground.T, color=GROUND, lw=0.8, zorder=0.0)
        show(ax, x)
    style.put_letters(axes, [shape.label for shape in shapes])
    _scale(axes[0], x)


def _scale(ax: Axes, x: Floats) -> None:
    """How long a part of a centimetre is, or some."""
    style.scale_bar(ax, style.round_length(np.ptp(x[:, 0])), "cm", times=100.0)


def _marks(shapes: Sequence[RodShape]) -> list[Line2D]:
    """What the lines of shapes are."""
    driven = any(len(shape.actuated) for shape in shapes)
    looks = {"limb" if driven else "rod": {"color": LIMB, "lw": 1.0}}
    if driven:
        looks["limb switched on"] = {"color": ACTUATED, "lw": 1.6}
    if any(len(shape.ground) for shape in shapes):
        looks["ground"] = {"color": GROUND, "lw": 0.8}
    return style.marks(of=looks)


GROUNDS = {  # a case of conf/case, or a column of Fig. 6: how a panel is called
    "star_robot": "0\N{DEGREE SIGN}",
    "star_robot_up_3": "+3\N{DEGREE SIGN}",
    "star_robot_down_3": "\N{MINUS SIGN}3\N{DEGREE SIGN}",
    "star_robot_up_6": "+6\N{DEGREE SIGN}",
    "star_robot_crest": "from the crest",
    "star_robot_trough": "from the trough",
}


TRACKED = ("star_robot_up_3", "star_robot_crest", "star_robot_trough")  # a, b, c


def draw_huang_5(runs: Sequence[ShownRun]) -> DrawnFigure:
    """Fig. 5: where the robot is after each cycle, and its way over H in time.

    A row a ground; the places are those of some grounds.
    """
    tables = {run.label: run.table[["time", "way_over_H"]] for run in runs}
    tracks = {run.label: _after_cycles(run) for run in runs if run.label in TRACKED}
    above = [PanelGrid(len(tracks), 44.0, 33.0, most=3)] if tracks else []
    grids = [*above, PanelGrid(len(runs), 44.0, 42.0, most=3)]
    figure, panels = sheet(*grids, more=5.0)
    for ax, (label, (times, shapes)) in zip(panels[0], tracks.items(), strict=False):
        _draw_track(ax, shapes)
        tables[f"{label}-shapes"] = nodes_at(times, shapes)
    for ax, run in zip(panels[-1], runs, strict=True):
        ax.plot(run.column("time"), run.column("way_over_H"), color=LIMB)
        ax.set(xlabel="time $t$ (s)", ylabel=r"travel $(x_c - x_c(0))/H$ (-)")
        ax.grid(axis="x", color=GROUND, lw=0.3, alpha=0.5)
        ax.xaxis.set_major_locator(MultipleLocator(CYCLE))
    style.compare(panels[-1])  # slopes are compared
    labels = [*tracks, *(run.label for run in runs)]
    style.put_letters(chain(*panels), [GROUNDS.get(label, label) for label in labels])
    if tracks:
        robot = {"color": LIMB, "lw": 0.7}
        looks = {"robot at rest and after each cycle, later ones darker": robot}
        looks["ground"] = {"color": GROUND, "lw": 0.8}
        style.legend_below(figure, style.marks(of=looks))
    far = {run.label: float(run.column("way_over_H")[-1]) for run in runs}
    return DrawnFigure(figure, tables, {"way": far}, notes=[NOT_PUBLIC])


def _after_cycles(run: ShownRun) -> tuple[list[float], list[RodShape]]:
    """The robot at the start and after each cycle, with their times."""
    cycles = int(run.column("time")[-1] / CYCLE + 1e-6)
    times = [k * CYCLE for k in range(cycles + 1)]
    return times, [rod_shape(run, time) for time in times]


def _draw_track(ax: Axes, shapes: Sequence[RodShape]) -> None:
    """The robot after each cycle, later ones darker, on its ground."""
    for k, shape in enumerate(shapes):
        alpha = 0.3 + 0.7 * (k + 1) / len(shapes)
        lines = LineCollection(list(shape.x[shape.edges]), colors=LIMB, alpha=alpha)
        lines.set_linewidth(style.size(0.7))
        ax.add_collection(lines, autolim=False)
    ax.plot(*shapes[0].ground.T, color=GROUND, lw=0.8)
    show(ax, np.vstack([shape.x for shape in shapes]))
    _scale(ax, shapes[0].x)


NONE_FOUND = 0.01  # s, the step from which on [Hu20] finds no solution
MOST = "_most"  # what follows a ground in the name of its largest time


def draw_huang_6(runs: Sequence[ShownRun]) -> DrawnFigure:
    """Fig. 6: computing time over simulated time by step, a series a ground.

    One row: the case computing_time. A bar reaches to the largest of the repeats.
    """
    measured = runs[0].table.drop(columns="step")
    slowest = [name for name in measured if str(name).endswith(MOST)]
    table, most = (
        one.melt(id_vars="h", var_name="scenario", value_name=value)
        for one, value in (
            (measured.drop(columns=slowest), "ratio"),
            (measured[["h", *slowest]], "most"),
        )
    )
    table["most"] = most["most"]
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
    ax.plot(2.5, 1.0, "kx", label="[Hu20], on the authors' computer")
    ax.set(xlabel="time step $h$ (ms)", ylabel="computing / simulated time (-)")
    ticks = sorted(1e3 * table["h"].unique())
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    style.legend_below(figure, *ax.get_legend_handles_labels())
    bar: dict[str, Any] = {"colors": FAINT, "lw": 0.8, "zorder": 1}
    ax.vlines(1e3 * table["h"], table["ratio"], table["most"], **bar)
    least = int(table["ratio"].to_numpy().argmin())
    spread = float((table["most"] / table["ratio"]).median())
    facts = {"least_h": table["h"].iloc[least], "spread": spread} | long_steps(table)
    return DrawnFigure(figure, {"times": table}, facts)


def long_steps(table: pd.DataFrame) -> dict[str, int]:
    """On how many grounds steps beyond those of [Hu20] are slower than the best."""
    times = table.pivot_table("ratio", "scenario", "h")
    h, each = times.columns.to_numpy(np.float64), times.to_numpy(np.float64)
    best = each[:, h == table["h"].iloc[int(table["ratio"].to_numpy().argmin())]]
    longer = (each[:, h >= NONE_FOUND] > best).all(axis=1)
    return {"longer": int(longer.sum()), "grounds": len(times)}


JUMPER_TIMES = (0.0, 0.125, 0.25)  # s
JUMPER_LIMB = 0
JUMPER_RADIUS = 5.0e-3  # R_0 of the text, m


def draw_huang_7(runs: Sequence[ShownRun]) -> DrawnFigure:
    """Fig. 7: the jumper at some times; the position of its first node over R_0.

    One row: the case jumper.
    """
    table = runs[0].table
    shapes = [rod_shape(runs[0], time, JUMPER_LIMB) for time in JUMPER_TIMES]
    figure, (axes, plots) = sheet(
        PanelGrid(len(shapes), 29.0, 30.0), PanelGrid(2, 80.0, 50.0), more=5.0
    )
    _draw_shapes(axes, shapes)
    for ax, shape in zip(axes, shapes, strict=True):
        ax.plot(*shape.x[0], "o", color=ACTUATED, ms=style.size(3.0))
    for ax, axis in zip(plots, "xy", strict=True):
        way = table[f"{axis}_first"] - table[f"{axis}_first"].iloc[0]
        ax.plot(table["time"], way / JUMPER_RADIUS, color=LIMB)
        ax.set_xlabel("time $t$ (s)")
        ax.set_ylabel(rf"first node, $({axis}_1 - {axis}_1(0))/\bar R_0$ (-)")
    style.put_letters(plots, first="d")
    first = {"first node": {"marker": "o", "ls": "", "color": ACTUATED}}
    style.legend_below(figure, [*_marks(shapes), *style.marks(of=first)])
    tables = {"first-node": table, "shapes": nodes_at(JUMPER_TIMES, shapes)}
    return DrawnFigure(figure, tables, notes=[JUMPER_ASSUMES, NOT_PUBLIC])
