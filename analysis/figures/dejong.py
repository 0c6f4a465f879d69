"""Figures of [dJ23]: simulated shapes beside scanned ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from analysis.figures.scene import View
from analysis.figures.shapes import (
    LineDrawing,
    best_view,
    draw_mechanism,
    draw_spheres,
    draw_target,
    scene_of,
)
from analysis.figures.sheet import PanelGrid, sheet
from analysis.figures.style import (
    ERROR,
    FAINT,
    SCANNED,
    SCANNED_EDGE,
    SHAPE,
    SIMULATED,
    SMALL,
    SYNTHETIC,
    TARGET,
    UNIT,
    compare,
    legend_below,
    put_beside,
    put_letter,
    say_below,
    scale_bar,
    size,
    styled,
)
from sim.arrays import Floats

POINT_COLOUR = "#A0A0A0"
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
    with styled():
        figure, rows = sheet(*[PanelGrid(4, 42.0, 41.0)] * len(shapes), more=12.0)
        twins: list[tuple[Axes, Axes]] = []
        for letter, shape, panels in zip("abcdefgh", shapes, rows, strict=False):
            twins.append(_draw_row(letter, shape, panels))
        compare([one for one, _ in twins])
        compare([other for _, other in twins])
        k = next((s.scan.k for s in shapes if s.scan is not None), 2.0)
        _legend(figure, k)
        _foot(figure, shapes)
    return figure


def _draw_row(
    letter: str, shape: MorphedShape, panels: Sequence[Axes]
) -> tuple[Axes, Axes]:
    """The panels of a shape; the axes of E and of S are returned."""
    everything, view = _reach(shape), best_view(shape.final, shape.initial)
    put_letter(panels[0], letter, f"{shape.title}: initial")
    for panel, r in zip(panels, (shape.initial, shape.final), strict=False):
        scene = scene_of(everything, view)
        draw_target(scene, shape.target)
        draw_mechanism(scene, r, shape.bodies)
        scene.paint(panel, everything)
    scale_bar(panels[0], 1.0, UNIT, loc="lower left")
    panels[1].set_title("final, simulated")
    _draw_scan(panels[2], shape, everything, view)
    return panels[3], _draw_steps(panels[3], shape)


def _reach(shape: MorphedShape) -> Floats:
    """Points that every panel of a row must hold, so that all have one scale."""
    return np.vstack([shape.initial, shape.final])


def _draw_scan(ax: Axes, shape: MorphedShape, everything: Floats, view: View) -> None:
    scan, scene = shape.scan, scene_of(everything, view)
    if scan is None:
        ax.text(0.5, 0.5, "no scan", transform=ax.transAxes, ha="center", color=FAINT)
        scene.paint(ax, everything)
        return
    synthetic = "synthetic scan, " if scan.synthetic else "final, scanned, "
    ax.set_title(f"{synthetic}{scan.verdict},\nrms {scan.rms_mm:.2f} mm")
    if len(scan.points):
        flat = scene.seen(scan.points)
        ax.plot(*flat.T, ",", color=POINT_COLOUR, rasterized=True, zorder=0)
    draw_mechanism(scene, shape.final, shape.bodies, size=1.2)
    draw_spheres(scene, scan.nodes[np.isfinite(scan.nodes[:, 0])])
    scene.paint(ax, everything)


def _draw_steps(ax: Axes, shape: MorphedShape) -> Axes:
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
    ax.set_ylabel(r"distance error $\mathcal{E}$ (-)", labelpad=1)
    ax.set_xlabel(r"step $s$ (-)", labelpad=0)
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.yaxis.set_major_locator(LogLocator(numticks=6))
    ax.yaxis.set_minor_formatter(NullFormatter())
    end = float(steps[-1])
    ax.set_xlim(-0.05 * end - 0.1, end * 1.16 + 0.6)
    right = ax.twinx()
    right.plot(steps, shape.S, "--s", color=SHAPE, ms=2.4, markevery=every)
    right.set_ylabel(r"shape factor $\mathcal{S}$ (-)", labelpad=2, color=SHAPE)
    right.tick_params(axis="y", colors=SHAPE)
    right.yaxis.set_major_locator(MaxNLocator(5))
    if shape.scan is not None:
        at = end * 1.05 + 0.2
        _draw_scanned_S(right, shape.scan, at)
        if np.isfinite(shape.scan.E):
            beside = at + 0.06 * end + 0.2  # where S may be as high
            _error_bar(ax, beside, (shape.scan.E, shape.scan.E_u), shape.scan.k, "^")
    low, high = right.get_ylim()
    right.set_ylim(low - 0.08 * (high - low), high + 0.1 * (high - low))
    return right


def _draw_scanned_S(ax: Axes, scan: ScannedShape, at: float) -> None:
    """S scanned with its error bar; beside it S simulated of the same nodes."""
    if not scan.whole:
        ax.plot([at], [scan.S_simulated], "s", color=SHAPE, mfc="none", ms=5)
        put_beside(
            ax, "seen nodes only", (at, max(scan.S, scan.S_simulated)), (0, 6),
            ha="right", fontsize=size(SMALL), color=FAINT,
        )  # fmt: skip
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
        "link or body": {"color": SIMULATED},
        "target": {"color": TARGET, "lw": 0.5},
        "scan point": {"marker": ".", "color": POINT_COLOUR, "lw": 0.0},
        r"$\mathcal{E}$ simulated": {"marker": "o", "color": ERROR, "mfc": "white"},
        r"$\mathcal{S}$ simulated": {"marker": "s", "ls": "--", "color": SHAPE},
        rf"$\mathcal{{E}}$ scanned, $\pm {k:g}u$": {"marker": "^", **scanned},
        rf"$\mathcal{{S}}$ scanned, $\pm {k:g}u$": {"marker": "D", **scanned},
    }  # fmt: skip
    handles = [Line2D([], [], label=name, **style) for name, style in styles.items()]
    legend_below(figure, handles)


def _foot(figure: Figure, shapes: Sequence[MorphedShape]) -> None:
    runs = [run for shape in shapes for run in shape.runs]
    synthetic = any(s.scan is not None and s.scan.synthetic for s in shapes)
    notes = (SYNTHETIC, NOT_PUBLIC) if synthetic else ()
    say_below(figure, runs, *notes)


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
