"""Printed parts: laid out on the bed, assembled, and where the morph ends."""

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from analysis.figures.style import (
    FAINT,
    FULL_WIDTH,
    RC,
    SCANNED,
    SIMULATED,
    TARGET,
    provenance,
)
from sim.arrays import Floats, Ints

KINDS = {
    "body": ("bodies", SIMULATED),
    "link": ("links with clamps", SCANNED),
    "ball": ("balls", "#56B4E9"),
    "clamp": ("clamps", "#009E73"),
    "target": ("open target", TARGET),
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
    with mpl.rc_context(RC):
        figure = Figure(figsize=(FULL_WIDTH, 6.6))
        height = 0.49
        for b, shapes in enumerate(beds):
            ax = figure.add_axes((0.068 + 0.5 * b, 0.51, 0.42, height - 0.04))
            _bed(ax, shapes, shown.bed_mm, f"{'ab'[b]}  bed {b + 1}")
        view = _turned(-50.0, 52.0)
        for k, (title, shapes) in enumerate(
            (("assembled", shown.start), ("where the morph ends", shown.end))
        ):
            ax = figure.add_axes((0.01 + 0.5 * k, 0.06, 0.48, 0.36))
            _shaded(ax, shapes, view)
            ax.autoscale_view()
            ax.set_aspect("equal")
            ax.set_axis_off()
            ax.set_title(f"{'cd'[k]}  {title}", loc="left", fontsize=8, x=0.1)
        kinds = {shape.kind for shapes in (*beds, shown.end) for shape in shapes}
        handles = [
            Patch(color=colour, label=name)
            for kind, (name, colour) in KINDS.items()
            if kind in kinds
        ]
        figure.legend(
            handles=handles, loc="lower center", ncols=5, bbox_to_anchor=(0.5, 0.025)
        )
        foot = provenance([(shown.label, shown.key)], synthetic=False)
        figure.text(0.5, 0.01, foot, ha="center", fontsize=5.0, color=FAINT)
    return figure


def _bed(
    ax: Axes, shapes: Sequence[DrawnPart], bed: tuple[float, float], title: str
) -> None:
    ax.add_patch(Rectangle((0, 0), *bed, facecolor="#F4F4F4", edgecolor=FAINT, lw=0.6))
    _shaded(ax, shapes, TOP)
    ax.set_xlim(-3, bed[0] + 3)
    ax.set_ylim(-3, bed[1] + 3)
    ax.set_aspect("equal")
    ax.set_xlabel("x (mm)", labelpad=1)
    ax.set_ylabel("y (mm)", labelpad=2)
    ax.set_title(title, loc="left", fontsize=8)


def _turned(azimuth: float, elevation: float) -> Floats:
    """Rows: right, up and towards the eye."""
    a, e = np.deg2rad([azimuth, elevation])
    eye = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    return np.stack([right, np.cross(eye, right), eye])


def _shaded(ax: Axes, shapes: Sequence[DrawnPart], view: Floats) -> None:
    """Triangles that face the eye, the far ones first, lit from the upper right."""
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
