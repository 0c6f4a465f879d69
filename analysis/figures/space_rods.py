"""Rods in space as tubes: where they began and where they end, their twist marked."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures import style
from analysis.figures.scene import PaintedScene
from analysis.figures.sheet import PanelGrid, sheet
from sim.arrays import Floats, Ints

VIEW = (35.0, -62.0)  # elevation and azimuth, degrees
MM = 1000.0


@dataclass(frozen=True, eq=False)
class Tubes:
    """One run.

    Attributes
    ----------
    first, last : (n, 3) corners of sections at the start and at the end, m, z up
    nodes : (2, k, 3) then and then, m
    edges : (m, 2) nodes
    marks : (q, 2) corners of the line along each rod
    triangles : (t, 3) corners of its skin
    """

    label: str
    key: str
    first: Floats
    last: Floats
    nodes: Floats
    edges: Ints
    marks: Ints
    triangles: Ints


def upright(r: Floats, up: Floats) -> Floats:
    """(..., 3) turned so that `up` is z; x stays where up is y."""
    if abs(float(up[1])) <= abs(float(up[2])):
        return r
    return np.stack([r[..., 0], -r[..., 2], r[..., 1]], axis=-1)


def tubes_of_runs(runs: Sequence[Tubes]) -> Figure:
    """A panel a run."""
    with style.styled():
        grid = PanelGrid(len(runs), 42.0, 44.0, most=3)
        figure, (panels,) = sheet(grid, more=8.0)
        for letter, run, ax in zip("abcdefgh", runs, panels, strict=False):
            _draw(ax, letter, run)
        _legend(figure)
        named = [(run.label, run.key) for run in runs]
        style.say_below(figure, named)
    return figure


def _draw(ax: Axes, letter: str, run: Tubes) -> None:
    both = np.concatenate([run.first, run.last])
    scene = PaintedScene(VIEW, float(np.ptp(both, axis=0).max()))
    scene.lines(run.nodes[0][run.edges], style.TARGET, 0.8, lift=0.0)
    scene.lines(run.nodes[1][run.edges], style.SIMULATED, 1.0, lift=0.0)
    scene.faces(
        list(run.last[run.triangles]), style.SIMULATED, edge=None, width=0.1, lit=True
    )
    scene.faces(_ends(run), style.SIMULATED, edge=None, width=0.1, lit=True)
    scene.lines(run.last[run.marks], style.SCANNED, 0.7)
    scene.paint(ax, both)
    style.put_letter(ax, letter, run.label.replace("_", " "))
    style.scale_bar(ax, style.round_length(scene.span), "mm", times=MM)


def _ends(run: Tubes) -> list[Floats]:
    """Sides of the skin from where it stops, in the middle of an edge, to the node.

    It stops at the ends of rods, and where rods meet at a node.
    """
    corners = len(run.last) // len(run.edges)
    sections = run.last.reshape(-1, corners, 3)
    follow = run.marks // corners  # (q, 2) the edges before and after a node
    sides = []
    for end, joined in ((0, follow[:, 1]), (1, follow[:, 0])):
        for edge in np.setdiff1d(np.arange(len(run.edges)), joined):
            here = sections[edge]
            there = here + run.nodes[1][run.edges[edge, end]] - here.mean(axis=0)
            around = np.stack([here, np.roll(here, -1, axis=0)], axis=1)
            away = np.stack([np.roll(there, -1, axis=0), there], axis=1)
            sides += list(np.concatenate([around, away], axis=1))
    return sides


def _legend(figure: Figure) -> None:
    looks = [
        Line2D([], [], color=style.TARGET, linewidth=0.8, label="start"),
        Line2D([], [], color=style.SIMULATED, linewidth=2.5, label="end"),
        Line2D([], [], color=style.SCANNED, linewidth=0.7, label="one side of the rod"),
    ]
    style.legend_below(figure, looks)
