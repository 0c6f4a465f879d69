"""Printed parts: laid out on the bed, assembled, and where the morph ends."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from analysis.figures import style
from analysis.figures.scene import axes_of, show
from analysis.figures.sheet import PanelGrid, sheet
from sim.arrays import Floats, Ints

KINDS = {
    "body": ("bodies", style.SIMULATED),
    "link": ("links with clamps", style.SCANNED),
    "ball": ("balls", "#56B4E9"),
    "clamp": ("clamps", "#009E73"),
    "target": ("open target", style.TARGET),
}
LIGHT = np.array([0.35, 0.25, 0.9])
TOP = np.eye(3)


@dataclass(frozen=True, eq=False)
class DrawnPart:
    """A part where it is drawn."""

    kind: str
    vertices: Floats
    faces: Ints


@dataclass(frozen=True, eq=False)
class PrintedParts:
    """What is printed.

    Parameters
    ----------
    beds : the parts on each bed
    start, end : the parts assembled, and where the morph ends
    bed_mm : width and depth
    """

    label: str
    key: str
    beds: Sequence[Sequence[DrawnPart]]
    start: Sequence[DrawnPart]
    end: Sequence[DrawnPart]
    bed_mm: tuple[float, float]


def printed_parts(shown: PrintedParts) -> Figure:
    """Two rows: the beds from above; the mechanism assembled and morphed."""
    beds = shown.beds[:2]
    ends = (("assembled", shown.start), ("where the morph ends", shown.end))
    with style.styled():
        figure, (above, below) = sheet(
            PanelGrid(len(beds), 80.0, 84.0), PanelGrid(2, 42.0, 66.0), more=5.0
        )
        for b, (ax, shapes) in enumerate(zip(above, beds, strict=True)):
            _bed(ax, shapes, shown.bed_mm)
            style.put_letter(ax, "ab"[b], f"bed {b + 1}")
        view = axes_of((52.0, -50.0))
        letters = "abcd"[len(beds) :]
        for ax, letter, (title, shapes) in zip(below, letters, ends, strict=False):
            corners = _shaded(ax, shapes, view)
            show(ax, corners)
            style.scale_bar(ax, style.round_length(np.ptp(corners[:, 0])), "mm")
            style.put_letter(ax, letter, title)
        kinds = {shape.kind for shapes in (*beds, shown.end) for shape in shapes}
        handles = [
            Patch(color=colour, label=name)
            for kind, (name, colour) in KINDS.items()
            if kind in kinds
        ]
        style.legend_below(figure, handles)
        style.say_below(figure, [(shown.label, shown.key)])
    return figure


def _bed(ax: Axes, shapes: Sequence[DrawnPart], bed: tuple[float, float]) -> None:
    ax.add_patch(
        Rectangle((0, 0), *bed, facecolor="#F4F4F4", edgecolor=style.FAINT, lw=0.6)
    )
    _shaded(ax, shapes, TOP)
    ax.set_xlim(-3, bed[0] + 3)
    ax.set_ylim(-3, bed[1] + 3)
    ax.set_aspect("equal")
    ax.set_xlabel("$x$ (mm)", labelpad=1)
    ax.set_ylabel("$y$ (mm)", labelpad=2)


def _shaded(ax: Axes, shapes: Sequence[DrawnPart], view: Floats) -> Floats:
    """Triangles that face the eye, far ones first, lit from the upper right; (q, 2)."""
    corners, colours = [], []
    for shape in shapes:
        seen = (shape.vertices @ view.T)[shape.faces]
        normal = np.cross(seen[:, 1] - seen[:, 0], seen[:, 2] - seen[:, 0])
        size = np.linalg.norm(normal, axis=1)
        front = normal[:, 2] > 1e-9 * np.maximum(size, 1e-12)
        bright = (normal[front] / size[front, None]) @ (LIGHT / np.linalg.norm(LIGHT))
        shade = 0.45 + 0.55 * np.clip(bright, 0.0, 1.0)[:, None]
        corners.append(seen[front])
        colours.append(np.clip(shade * to_rgb(KINDS[shape.kind][1]) + 0.06, 0.0, 1.0))
    triangles, colour = np.concatenate(corners), np.concatenate(colours)
    order = np.argsort(triangles[:, :, 2].mean(axis=1))
    painted = PolyCollection(
        list(triangles[order, :, :2]), facecolors=colour[order],
        edgecolors=colour[order], linewidths=0.15, rasterized=True, zorder=2,
    )  # fmt: skip
    ax.add_collection(painted)
    seen_at: Floats = triangles[..., :2].reshape(-1, 2)
    return seen_at
