"""The figures of [Hu20] that a simulation can draw: Figs. 2 to 7."""

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from analysis.figures.style import FULL_WIDTH, RC, provenance
from sim.arrays import Floats, Ints

CYCLOID = 8.0 / (2.0 * np.pi)  # delta of a rigid ring that rolls
SERIES = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"]
MARKS = ["o", "s", "^", "D", "v", "P"]
GROUND, LIMB, ACTUATED = "#8C8C8C", "#0072B2", "#D55E00"
Runs = Sequence[tuple[str, str]]  # what, key of the run


@dataclass(frozen=True, eq=False)
class Shape:
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


def _foot(figure: Figure, runs: Runs) -> None:
    figure.supxlabel(provenance(runs, synthetic=False), fontsize=5.0)


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
            ax.annotate(name, (1.0, level), xycoords=("axes fraction", "data"),
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
        figure = _figure(FULL_WIDTH, 1.8)
        axes = figure.subplots(1, len(shapes), squeeze=False, sharey=True)[0]
        for ax, (gamma, x) in zip(axes, shapes, strict=True):
            closed = np.vstack([x, x[:1]])
            ax.axhline(0.0, color=GROUND, lw=0.8)
            ax.plot(closed[:, 0] - x[:, 0].mean(), closed[:, 1], color=LIMB)
            ax.set_title(rf"$\Gamma_g = {gamma:g}$")
            ax.set_aspect("equal")
            ax.set_xlabel(r"$x/R$")
        axes[0].set_ylabel(r"$y/R$")
        _foot(figure, runs)
        return figure


def boundary_paths(
    paths: Sequence[tuple[float, Floats, Floats]], runs: Runs = ()
) -> Figure:
    """Fig. 2a: routes of a boundary point and of the centroid, m.

    Parameters
    ----------
    paths : (mu / tan(theta), route of node 0 (k, 2), route of the centroid (k, 2))
    """
    with mpl.rc_context(RC):
        figure = _figure(FULL_WIDTH, 1.1 * len(paths) + 0.5)
        axes = figure.subplots(len(paths), 1, squeeze=False, sharex=True)[:, 0]
        for ax, (ratio, point, centre) in zip(axes, paths, strict=True):
            ax.plot(*point.T, color=ACTUATED, label="boundary point")
            ax.plot(*centre.T, color=LIMB, ls="--", label="centroid")
            ax.set_title(rf"$\mu/\tan\theta = {ratio:g}$", loc="left")
            ax.set_ylabel(r"$y$ (m)")
        axes[-1].set_xlabel(r"$x$ (m)")
        axes[0].legend(ncols=2)
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


def _draw(ax: Axes, shape: Shape) -> None:
    lines = shape.x[shape.edges]
    on = np.isin(np.arange(len(shape.edges)), shape.actuated)
    ax.add_collection(LineCollection(list(lines[~on]), colors=LIMB, linewidths=1.0))
    ax.add_collection(LineCollection(list(lines[on]), colors=ACTUATED, linewidths=1.6))
    if len(shape.ground):
        ax.plot(*shape.ground.T, color=GROUND, lw=0.8)
    low, high = shape.x.min(axis=0), shape.x.max(axis=0)
    room = 0.25 * (high - low).max()
    ax.set_xlim(low[0] - room, high[0] + room)
    ax.set_ylim(low[1] - room, high[1] + room)
    ax.set_aspect("equal")
    ax.set_title(shape.label)
    ax.set_xticks([])
    ax.set_yticks([])


def snapshots(shapes: Sequence[Shape], runs: Runs = ()) -> Figure:
    """Figs. 4, 5a to c and 7a: a robot at some times, actuated limbs in red."""
    with mpl.rc_context(RC):
        figure = _figure(FULL_WIDTH, FULL_WIDTH / len(shapes) + 0.4)
        axes = figure.subplots(1, len(shapes), squeeze=False)[0]
        for ax, shape in zip(axes, shapes, strict=True):
            _draw(ax, shape)
        _foot(figure, runs)
        return figure


def robot_ways(tables: Sequence[tuple[str, pd.DataFrame]], runs: Runs = ()) -> Figure:
    """Fig. 5d to i: way of the centroid over H in time, a panel for each ground.

    Parameters
    ----------
    tables : name of the ground, columns time (s) and way_over_H
    """
    with mpl.rc_context(RC):
        columns = min(3, len(tables))
        rows = -(-len(tables) // columns)
        figure = _figure(FULL_WIDTH, 1.7 * rows + 0.4)
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for ax, (name, table) in zip(axes, tables, strict=False):
            ax.plot(table["time"], table["way_over_H"], color=LIMB)
            ax.set_title(name)
            ax.set_xlabel(r"Time, $t$ (s)")
            ax.set_ylabel(r"$x_c/H$")
        for ax in axes[len(tables) :]:
            ax.set_axis_off()
        _foot(figure, runs)
        return figure


def computing_times(table: pd.DataFrame, runs: Runs = ()) -> Figure:
    """Fig. 6: computing time over simulated time by step, a series a scenario.

    Parameters
    ----------
    table : columns scenario, h (s), ratio
    """
    with mpl.rc_context(RC):
        figure = _figure(0.5 * FULL_WIDTH, 2.6)
        ax = figure.subplots()
        for k, (name, rows) in enumerate(table.groupby("scenario")):
            rows = rows.sort_values("h")
            color, mark = SERIES[k % 6], MARKS[k % 6]
            ax.loglog(
                1e3 * rows["h"],
                rows["ratio"],
                label=str(name),
                color=color,
                marker=mark,
            )
        ax.axhline(1.0, color=GROUND, lw=0.6, ls="--")
        ax.set_xlabel(r"Time step, $h$ (ms)")
        ax.set_ylabel("Computing time / simulated time")
        ax.legend()
        _foot(figure, runs)
        return figure


def jumper_paths(table: pd.DataFrame, radius: float, runs: Runs = ()) -> Figure:
    """Fig. 7b, c: position of the first node over R_0 in time.

    Parameters
    ----------
    table : columns time (s), x_first, y_first (m)
    radius : R_0, m
    """
    with mpl.rc_context(RC):
        figure = _figure(FULL_WIDTH, 2.2)
        for ax, axis in zip(figure.subplots(1, 2), "xy", strict=True):
            way = table[f"{axis}_first"] - table[f"{axis}_first"].iloc[0]
            ax.plot(table["time"], way / radius, color=LIMB)
            ax.set_xlabel(r"Time, $t$ (s)")
            ax.set_ylabel(rf"$({axis}_1 - {axis}_1(0))/\bar R_0$")
        figure.suptitle("Shape and force are assumed: no agreement with Fig. 7 claimed")
        _foot(figure, runs)
        return figure
