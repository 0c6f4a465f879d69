"""Printed parts: laid out on the bed, assembled, and where the morph ends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch, Rectangle

from analysis.figures import style
from analysis.figures.figure_interface import DrawnFigure, ShownRun
from analysis.figures.panel_3d import axes_of, show
from analysis.figures.style import PanelGrid, sheet
from sim.core.arrays import Floats, Ints

KINDS = {
    "body": ("bodies", style.SIMULATED),
    "link": ("links with clamps", style.SCANNED),
    "ball": ("spheres", "#56B4E9"),
    "clamp": ("clamps", "#009E73"),
    "target": ("open target", style.TARGET),
}
LIGHT = np.array([0.35, 0.25, 0.9])
TOP = np.eye(3)


@dataclass(frozen=True, eq=False)
class DrawnPart:
    """A part where it is shown."""

    kind: str
    vertices: Floats
    faces: Ints


def _parts_on_beds(arrays: Mapping[str, Any]) -> list[list[DrawnPart]]:
    beds: dict[int, list[DrawnPart]] = {}
    for name, (bed, x, y) in zip(arrays["placed"], arrays["places"], strict=True):
        part = _part(arrays, str(name), "bed", (x, y, 0.0))
        beds.setdefault(int(bed), []).append(part)
    return [beds[bed] for bed in sorted(beds)]


def _part(
    arrays: Mapping[str, Any], name: str, where: str, at: Sequence[float] = (0, 0, 0)
) -> DrawnPart:
    vertices = arrays[f"{name}/{where}/vertices"].astype(np.float64) + np.array(at)
    faces = arrays[f"{name}/{where}/faces"].astype(np.int64)
    return DrawnPart(name.partition("-")[0], vertices, faces)


def draw_parts(runs: Sequence[ShownRun]) -> DrawnFigure:
    """Two rows: the beds from above; the mechanism assembled and morphed.

    One run: the folder that morphtrack parts wrote.
    """
    (run,) = runs
    arrays = run.read("meshes.npz")
    names = [str(name) for name in arrays["names"]]
    beds = _parts_on_beds(arrays)[:2]
    start = [_part(arrays, name, "start") for name in names if name != "target"]
    end = [_part(arrays, name, "end") for name in names]
    figure, (above, below) = sheet(
        PanelGrid(len(beds), 80.0, 84.0), PanelGrid(2, 42.0, 66.0), more=5.0
    )
    for ax, shapes in zip(above, beds, strict=True):
        _bed(ax, shapes, arrays["bed_mm"])
    for ax, shapes in zip(below, (start, end), strict=True):
        corners = _shaded(ax, shapes, axes_of((52.0, -50.0)))
        show(ax, corners)
        style.scale_bar(ax, style.round_length(np.ptp(corners[:, 0])), "mm")
    titles = [f"bed {b + 1}" for b in range(len(beds))]
    titles += ["assembled", "where the morph ends"]
    style.put_letters([*above, *below], titles)
    kinds = {shape.kind for shapes in (*beds, end) for shape in shapes}
    shown = [KINDS[kind] for kind in KINDS if kind in kinds]
    style.legend_below(figure, [Patch(color=c, label=name) for name, c in shown])
    return DrawnFigure(figure, {"list": run.read("parts.csv")})


def _bed(ax: Axes, shapes: Sequence[DrawnPart], bed: Floats) -> None:
    look: Any = {"facecolor": "#F4F4F4", "edgecolor": style.FAINT, "lw": 0.6}
    ax.add_patch(Rectangle((0, 0), *bed, **look))
    _shaded(ax, shapes, TOP)
    ax.set(xlim=(-3, bed[0] + 3), ylim=(-3, bed[1] + 3))
    ax.set_aspect("equal")
    ax.set(xlabel="$x$ (mm)", ylabel="$y$ (mm)")


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
    return np.asarray(triangles[..., :2].reshape(-1, 2))
