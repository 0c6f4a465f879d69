"""Motion: mechanisms with masses, and rods in space.

Of mechanisms places, efforts of drivers and energies; rods as tubes: where they began
and where they end, their twist marked.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.figures import style
from analysis.figures.figure_interface import DrawnFigure, ShownRun
from analysis.figures.mechanisms import draw_mechanism, view_of
from analysis.figures.panel_3d import VIEW, scene_on, upright
from analysis.figures.style import PanelGrid, sheet
from sim.core.arrays import Floats, Ints

COLOURS = (style.SIMULATED, style.SCANNED_EDGE, style.TARGET)
DASHES = ("-", "--", "-.")
LEAST = 1e-17  # share of the energy that is shown


TRACED_NODES = (2, 2, 6)  # nodes
SHOWN_SHARES = ((0, 0.04, 0.08, 0.12), (0,), (0, 0.2, 0.45))  # shares of the duration


def draw_mechanism_motion(runs: Sequence[ShownRun]) -> DrawnFigure:
    """Two motions in pictures, the moment of a drive, and what is left of energies.

    Three rows: a double pendulum, a driven slider-crank and a Bricard.
    """
    for run, node in zip(runs, TRACED_NODES, strict=True):
        if "out_of_balance" not in run.table or run.r.shape[1] <= node:
            raise ValueError(f"{run.label} has no motion of node {node}: give another")
    figure, (panels,) = sheet(PanelGrid(4, 43.0, 44.0), more=8.0)
    _draw_path(panels[0], runs[0], TRACED_NODES[0], SHOWN_SHARES[0])
    _draw_efforts(panels[1], runs[1])
    _draw_path(panels[2], runs[2], TRACED_NODES[2], SHOWN_SHARES[2])
    _draw_balance(panels[3], runs)
    style.put_letters(panels)
    lines = [line for ax in (panels[1], panels[3]) for line in ax.get_lines()]
    node_look = {"marker": "o", "mfc": "white", "ms": style.size(2.5)}
    looks: dict[str, dict[str, Any]] = {
        "rod or body, nodes (a, c)": {"color": style.SIMULATED, **node_look},
        "path of a node (a, c)": style.MARKS["target"],
    }
    style.legend_below(figure, [*style.marks(of=looks), *lines])
    tables = {_name(run).lower().replace(" ", "_"): run.table for run in runs}
    return DrawnFigure(figure, tables)


def _name(run: ShownRun) -> str:
    """What panels call a motion."""
    label = run.label.removesuffix("_motion").replace("_", " ")
    return label.replace("bricard", "Bricard")


def _draw_path(ax: Axes, run: ShownRun, traced: int, shares: Sequence[float]) -> None:
    """Configurations at some shares of the time, later ones darker, a node's path."""
    r = run.r
    path = np.stack([r[:-1, traced], r[1:, traced]], axis=1)
    steps = (np.array(shares) * (len(r) - 1)).astype(int).tolist()
    with scene_on(ax, r, view_of(r), style.UNIT) as scene:
        scene.lines(path, style.TARGET, 0.5)
        for k, step in enumerate(steps):
            alpha = 0.25 + 0.75 * (k + 1) / len(shares)
            draw_mechanism(scene, r[step], run.bodies, alpha=alpha, lift=0.01 * k)


def _draw_efforts(ax: Axes, run: ShownRun) -> None:
    """The moment of the drive, and the force across the slide."""
    table = run.table[1:]
    effort = next(c for c in map(str, table) if c.startswith("effort_"))
    for column, dash, name in (
        (effort, "-", "moment of the drive (b)"),
        ("reaction_line_point_0", ":", "force across the slide (b)"),
    ):
        look: Any = {"color": style.ERROR, "ls": dash, "label": name}
        ax.plot(table["time"], table[column], **look)
    ax.set(xlabel=r"time $t$ (s)", ylabel=r"moment (N m), force (N)")


def _draw_balance(ax: Axes, runs: Sequence[ShownRun]) -> None:
    """Energy in time that nothing accounts for, over the largest kinetic energy."""
    for run, colour, dash in zip(runs, COLOURS, DASHES, strict=True):
        t = run.table["time"]
        lost = run.column("out_of_balance") / float(run.table["kinetic"].max())
        label = f"{_name(run)} (d)"
        ax.semilogy(t, np.maximum(np.abs(lost), LEAST), dash, color=colour, label=label)
    ax.set_ylim(LEAST, 1e-10)
    ax.set(xlabel=r"time $t$ (s)", ylabel="energy error (-)")


MM = 1000.0


def draw_space(runs: Sequence[ShownRun]) -> DrawnFigure:
    """A panel a run of rods in space."""
    figure, (panels,) = sheet(PanelGrid(len(runs), 42.0, 44.0, most=3), more=8.0)
    ends = []
    for run, ax in zip(runs, panels, strict=True):
        last = pd.DataFrame(_draw_tubes(ax, run), columns=["x", "y", "z"])
        ends.append(last.assign(case=run.label))
    style.put_letters(panels, [run.title for run in runs])
    looks: dict[str, dict[str, Any]] = {
        "start": {"color": style.TARGET, "lw": 0.8},
        "end": {"color": style.SIMULATED, "lw": 2.5},
        "one side of the rod": {"color": style.SCANNED, "lw": 0.7},
    }
    style.legend_below(figure, style.marks(of=looks))
    return DrawnFigure(figure, {"sections": pd.concat(ends, ignore_index=True)})


def _draw_tubes(ax: Axes, run: ShownRun) -> Floats:
    """Rods where they began as lines, at the end as tubes; their corners there, m."""
    arrays, up = run.arrays, run.arrays.get("up", np.array([0.0, 0.0, 1.0]))
    first, last = upright(run.r[0], up), upright(run.r[-1], up)
    nodes, edges = upright(arrays["nodes"][[0, -1]], up), arrays["node_edges"]
    both = np.concatenate([first, last])
    ends = _ends(last, nodes[1], edges, arrays["edges"])
    with scene_on(ax, both, VIEW, "mm", MM) as scene:
        scene.lines(nodes[0][edges], style.TARGET, 0.8, lift=0.0)
        scene.lines(nodes[1][edges], style.SIMULATED, 1.0, lift=0.0)
        for skin in (list(last[arrays["triangles"]]), ends):
            scene.faces(skin, style.SIMULATED, edge=None, width=0.1, lit=True)
        scene.lines(last[arrays["edges"]], style.SCANNED, 0.7)
    return last


def _ends(corners: Floats, nodes: Floats, edges: Ints, marks: Ints) -> list[Floats]:
    """Sides of the skin from where it stops, in the middle of an edge, to the node.

    It stops at the ends of rods, and where rods meet at a node.

    Parameters
    ----------
    corners, nodes : (n, 3) corners of sections, (k, 3)
    edges, marks : (m, 2) nodes; (q, 2) corners of the line along each rod
    """
    many = len(corners) // len(edges)
    sections = corners.reshape(-1, many, 3)
    follow = marks // many  # (q, 2) the edges before and after a node
    sides = []
    for end, joined in ((0, follow[:, 1]), (1, follow[:, 0])):
        for edge in np.setdiff1d(np.arange(len(edges)), joined):
            here = sections[edge]
            there = here + nodes[edges[edge, end]] - here.mean(axis=0)
            around = np.stack([here, np.roll(here, -1, axis=0)], axis=1)
            away = np.stack([np.roll(there, -1, axis=0), there], axis=1)
            sides += list(np.concatenate([around, away], axis=1))
    return sides
