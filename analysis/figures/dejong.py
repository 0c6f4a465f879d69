"""Figures of [dJ23]: simulated shapes beside scanned ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter
from mpl_toolkits.mplot3d import Axes3D

from analysis.figures.shapes import (
    LineDrawing,
    best_view,
    draw_mechanism,
    draw_spheres,
    draw_target,
    frame,
)
from analysis.figures.style import (
    ERROR,
    FAINT,
    FULL_WIDTH,
    RC,
    SCANNED,
    SCANNED_EDGE,
    SHAPE,
    SIMULATED,
    provenance,
)
from sim.arrays import Floats

ROW_HEIGHT, HEAD, FOOT = 1.85, 0.25, 0.72  # inches
COLUMNS = ((0.0, 0.24), (0.235, 0.24), (0.47, 0.24), (0.766, 0.155))
POINT_COLOUR = "#BDBDBD"
NOT_PUBLIC = "Those of [dJ23] are not public."


@dataclass(frozen=True, eq=False)
class ScannedShape:
    """A scan in the simulation's frame and unit.

    Parameters
    ----------
    nodes : (n, 3) scanned nodes, nan where missing
    points : (q, 3) scan points for the background, few
    S, S_u : shape factor and its standard uncertainty
    S_simulated : of the same nodes, all or the subset that was seen
    whole : whether all nodes were seen
    k : coverage factor of the error bar
    verdict : of the comparison
    rms_mm : root mean square of the node distances
    synthetic : whether the scan was computed
    E, E_u : distance error and its standard uncertainty, nan where the scan does not
        show its target
    """

    nodes: Floats
    points: Floats
    S: float
    S_u: float
    S_simulated: float
    whole: bool
    k: float
    verdict: str
    rms_mm: float
    synthetic: bool
    E: float = float("nan")
    E_u: float = float("nan")


@dataclass(frozen=True, eq=False)
class MorphedShape:
    """One row of Fig. 3.

    Parameters
    ----------
    title : of the target
    initial, final : (n, 3) simulated configurations
    bodies : sets of nodes at constant distances
    target : wireframe
    E, S : (steps,) distance error, eq. (5), and shape factor, eq. (6)
    scan : the printed shape, where there is one
    runs : (what, key) of the runs shown
    """

    title: str
    initial: Floats
    final: Floats
    bodies: tuple[tuple[int, ...], ...]
    target: LineDrawing
    E: Floats
    S: Floats
    scan: ScannedShape | None
    runs: tuple[tuple[str, str], ...]


def shapes_beside_scans(shapes: Sequence[MorphedShape]) -> Figure:
    """Fig. 3: initial and final shape, the scan over the simulation, E and S."""
    if not shapes:
        raise ValueError("Fig. 3 has no case to show: list its comparisons")
    height = HEAD + ROW_HEIGHT * len(shapes) + FOOT
    with rc_context(RC):
        figure = Figure(figsize=(FULL_WIDTH, height))
        for row, shape in enumerate(shapes):
            bottom = FOOT + ROW_HEIGHT * (len(shapes) - 1 - row)
            _draw_row(figure, "abcdefgh"[row], shape, bottom / height)
        for column, title in enumerate(
            ("initial, simulated", "final, simulated", "final, scanned", "by step")
        ):
            left, width = COLUMNS[column]
            figure.text(
                left + width / 2, 1 - 0.6 * HEAD / height, title, ha="center", size=8
            )
        k = next((s.scan.k for s in shapes if s.scan is not None), 2.0)
        _legend(figure, k)
        _foot(figure, shapes)
    return figure


def _draw_row(figure: Figure, letter: str, shape: MorphedShape, bottom: float) -> None:
    height = ROW_HEIGHT / figure.get_figheight()
    panels = [
        figure.add_axes((left, bottom, width, 0.97 * height), projection="3d")
        for left, width in COLUMNS[:3]
    ]
    draw_target(panels[0], shape.target)
    draw_mechanism(panels[0], shape.initial, shape.bodies)
    draw_target(panels[1], shape.target)
    draw_mechanism(panels[1], shape.final, shape.bodies)
    _draw_scan(panels[2], shape)
    reach, view = _reach(shape), best_view(shape.final, shape.initial)
    for panel in panels:
        frame(panel, reach, view)
    top = bottom + 0.965 * height
    figure.text(0.008, top, letter, va="top", fontweight="bold", size=9)
    figure.text(0.026, top, shape.title, va="top", size=8)
    left, width = COLUMNS[3]
    steps = figure.add_axes((left, bottom + 0.24 * height, width, 0.68 * height))
    _draw_steps(steps, shape)


def _reach(shape: MorphedShape) -> Floats:
    """Points that every panel of a row must hold, so that all have one scale."""
    return np.vstack([shape.initial, shape.final])


def _draw_scan(ax: Axes3D, shape: MorphedShape) -> None:
    scan = shape.scan
    if scan is None:
        ax.text2D(0.5, 0.5, "no scan", transform=ax.transAxes, ha="center", color=FAINT)
        return
    if len(scan.points):
        ax.scatter(*scan.points.T, s=0.15, c=POINT_COLOUR, linewidths=0)
    draw_mechanism(ax, shape.final, shape.bodies, size=1.0, alpha=0.8)
    draw_spheres(ax, scan.nodes[np.isfinite(scan.nodes[:, 0])])
    synthetic = "synthetic scan\n" if scan.synthetic else ""
    ax.text2D(
        0.97,
        0.02,
        f"{synthetic}node rms {scan.rms_mm:.2f} mm: {scan.verdict}",
        transform=ax.transAxes,
        ha="right",
        va="bottom",
        size=6.3,
        color=FAINT,
    )


def _draw_steps(ax: Axes, shape: MorphedShape) -> None:
    steps = np.arange(len(shape.E))
    positive = shape.E > 0
    every = max(1, len(steps) // 15)
    ax.semilogy(
        steps[positive],
        shape.E[positive],
        "-o",
        color=ERROR,
        mfc="white",
        mew=0.7,
        markevery=every,
    )
    ax.set_ylabel(r"$\mathcal{E}$", labelpad=1)
    ax.set_xlabel(r"$s$", labelpad=0)
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.yaxis.set_major_locator(LogLocator(numticks=6))
    ax.yaxis.set_minor_formatter(NullFormatter())
    end = float(steps[-1])
    ax.set_xlim(-0.05 * end - 0.1, end * 1.12 + 0.4)
    right = ax.twinx()
    right.plot(steps, shape.S, "--s", color=SHAPE, ms=2.4, markevery=every)
    right.set_ylabel(r"$\mathcal{S}$", labelpad=2, color=SHAPE)
    right.tick_params(axis="y", colors=SHAPE)
    right.yaxis.set_major_locator(MaxNLocator(5))
    if shape.scan is not None:
        at = end * 1.05 + 0.2
        _draw_scanned_S(right, shape.scan, at)
        if np.isfinite(shape.scan.E):
            _error_bar(ax, at, (shape.scan.E, shape.scan.E_u), shape.scan.k, "^")
    low, high = right.get_ylim()
    right.set_ylim(low - 0.08 * (high - low), high + 0.1 * (high - low))


def _draw_scanned_S(ax: Axes, scan: ScannedShape, at: float) -> None:
    """S scanned with its error bar; beside it S simulated of the same nodes."""
    if not scan.whole:
        ax.plot([at], [scan.S_simulated], "s", color=SHAPE, mfc="none", ms=5)
        ax.annotate(
            "seen nodes only",
            (at, max(scan.S, scan.S_simulated)),
            xytext=(0, 6),
            textcoords="offset points",
            ha="right",
            size=5.5,
            color=FAINT,
        )
    _error_bar(ax, at, (scan.S, scan.S_u), scan.k, "D")


def _error_bar(
    ax: Axes, at: float, measured: tuple[float, float], k: float, mark: str
) -> None:
    """What was measured, and k times its standard uncertainty."""
    value, u = measured
    ax.errorbar(
        [at],
        [value],
        yerr=[k * u],
        fmt=mark,
        ms=4.0,
        color=SCANNED_EDGE,
        mfc=SCANNED,
        mew=0.7,
        capsize=2.5,
        elinewidth=0.8,
        zorder=5,
    )


def _legend(figure: Figure, k: float) -> None:
    scanned = {"lw": 0.0, "mfc": SCANNED, "mec": SCANNED_EDGE}
    styles: dict[str, dict[str, Any]] = {
        "simulated node": {
            "marker": "o", "color": SIMULATED, "mfc": "white", "lw": 0.7
        },
        "scanned sphere": {"marker": "o", **scanned},
        "target": {"color": POINT_COLOUR},
        r"$\mathcal{E}$ simulated": {"marker": "o", "color": ERROR, "mfc": "white"},
        r"$\mathcal{S}$ simulated": {"marker": "s", "ls": "--", "color": SHAPE},
        rf"$\mathcal{{E}}$ scanned, $\pm {k:g}u$": {"marker": "^", **scanned},
        rf"$\mathcal{{S}}$ scanned, $\pm {k:g}u$": {"marker": "D", **scanned},
    }  # fmt: skip
    figure.legend(
        handles=[Line2D([], [], label=name, **style) for name, style in styles.items()],
        loc="lower center",
        ncols=4,
        bbox_to_anchor=(0.5, 0.28 / figure.get_figheight()),
        columnspacing=1.2,
        handletextpad=0.4,
    )


def _foot(figure: Figure, shapes: Sequence[MorphedShape]) -> None:
    runs = [run for shape in shapes for run in shape.runs]
    synthetic = any(s.scan is not None and s.scan.synthetic for s in shapes)
    foot = provenance(runs, synthetic)
    if synthetic:
        foot += f"  {NOT_PUBLIC}"
    figure.text(
        0.5,
        0.05 / figure.get_figheight(),
        "\n".join(wrap(foot, 170)),
        ha="center",
        va="bottom",
        size=5,
        color=FAINT,
    )


def plotted_steps(shapes: Sequence[MorphedShape]) -> pd.DataFrame:
    """The numbers of the step panels: one row a step, the scan in a row of its own."""
    rows: list[dict[str, object]] = []
    for shape in shapes:
        for s, (E, S) in enumerate(zip(shape.E, shape.S, strict=True)):
            rows.append({"case": shape.title, "s": s, "E": E, "S": S})
        if shape.scan is not None:
            rows.append(
                {
                    "case": shape.title,
                    "s": "scanned" + (" (synthetic)" if shape.scan.synthetic else ""),
                    "E": shape.scan.E,
                    "E_u": shape.scan.E_u,
                    "S": shape.scan.S,
                    "S_u": shape.scan.S_u,
                }
            )
    return pd.DataFrame(rows, columns=["case", "s", "E", "S", "E_u", "S_u"])


def plotted_nodes(shapes: Sequence[MorphedShape]) -> pd.DataFrame:
    """The numbers of the drawings: every node in each state, in the case's unit."""
    tables = []
    for shape in shapes:
        states = {"initial": shape.initial, "final": shape.final}
        if shape.scan is not None:
            states["scanned"] = shape.scan.nodes
        for state, r in states.items():
            table = pd.DataFrame(r, columns=["x", "y", "z"])
            table.insert(0, "node", np.arange(len(r)))
            table.insert(0, "state", state)
            table.insert(0, "case", shape.title)
            tables.append(table)
    return pd.concat(tables, ignore_index=True)
