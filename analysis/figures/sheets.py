"""Drawing a folded sheet in space: panels, creases, arrows of force."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from analysis.figures.scene import PaintedScene, View
from analysis.figures.style import number, round_length, scale_bar
from sim.arrays import Floats, Ints

PANEL, CREASE, EDGE, ARROW = "#9BC4E2", "#F0B67F", "#1F3A52", "#B2182B"
PARTS = 8  # of each side of a triangle
RIM_WIDTH = 0.5  # pt, of all edges
PIECES = 60  # of an edge, each hidden or seen
NEAR, EDGE_ON = 1e-4, 1e-9  # of the sheet's size: how near covers not; of its square
LEAST = 0.05  # of the largest force, that has an arrow


@dataclass(frozen=True, eq=False)
class FoldedSheet:
    """What a picture of a sheet is drawn from.

    Parameters
    ----------
    x : (n, 3) node positions, m
    triangles, triangle_panel : (t, 3), (t,); numbers from `panels` on are creases
    panels : how many panels there are
    force : (n, 3) forces of contact, N, or None
    """

    x: Floats
    triangles: Ints
    triangle_panel: Ints
    panels: int
    force: Floats | None = None


def rims(sheet: FoldedSheet) -> Ints:
    """(q, 2) edges at which panels end: those of one triangle of a panel."""
    lines = []
    for panel in np.unique(sheet.triangle_panel):
        own = sheet.triangles[sheet.triangle_panel == panel]
        sides = np.concatenate([own[:, [0, 1]], own[:, [1, 2]], own[:, [2, 0]]])
        sides, count = np.unique(np.sort(sides, axis=1), axis=0, return_counts=True)
        if panel < sheet.panels:
            lines.append(sides[count == 1])
    return np.concatenate(lines)


def _in_parts(corners: Floats, parts: int) -> Floats:
    """(t parts^2, 3, 3) small triangles, so that the painter can sort them by depth."""
    out = []
    u = (corners[:, 1] - corners[:, 0]) / parts
    v = (corners[:, 2] - corners[:, 0]) / parts
    for i in range(parts):
        for j in range(parts - i):
            a = corners[:, 0] + i * u + j * v
            out.append(np.stack([a, a + u, a + v], axis=1))
            if i + j < parts - 1:
                out.append(np.stack([a + u, a + u + v, a + v], axis=1))
    return np.stack(out, axis=1).reshape(-1, 3, 3)


def draw_sheet(scene: PaintedScene, sheet: FoldedSheet, *, arrow: float = 0.0) -> None:
    """Panels and creases as shaded triangles, rims as lines, forces as arrows.

    Parameters
    ----------
    arrow : length of the largest force's arrow, m; 0 for none
    """
    crease = sheet.triangle_panel >= sheet.panels
    for own, colour in ((~crease, PANEL), (crease, CREASE)):
        small = _in_parts(sheet.x[sheet.triangles[own]], PARTS)
        scene.faces(list(small), colour, edge=None, width=0.3, lit=True)
    edges = rims(sheet)
    for edge, lift in zip(edges, _lift(sheet, edges, scene.axes[2]), strict=True):
        seen = seen_parts(sheet, edge, scene.axes)
        scene.lines(seen, EDGE, RIM_WIDTH, lift=lift / scene.span)
    if sheet.force is not None and arrow > 0:
        _draw_forces(scene, sheet.x, sheet.force, arrow)


def seen_parts(sheet: FoldedSheet, edge: Ints, axes: Floats) -> Floats:
    """(q, 2, 3) the parts of an edge in front of which is no triangle but its own."""
    flat = sheet.x @ axes.T
    others = sheet.triangles[np.isin(sheet.triangles, edge).sum(axis=1) < 2]
    a, b, c = (flat[others[:, k]] for k in range(3))
    ends = np.linspace(0.0, 1.0, PIECES + 1)[:, None]
    places = sheet.x[edge[0]] + ends * (sheet.x[edge[1]] - sheet.x[edge[0]])
    middle = (0.5 * (places[:-1] + places[1:])) @ axes.T
    u, v, w = b - a, c - a, middle[:, None] - a
    area = u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
    area = np.where(np.abs(area) > EDGE_ON * np.ptp(flat) ** 2, area, np.nan)
    s = (w[..., 0] * v[..., 1] - w[..., 1] * v[..., 0]) / area
    t = (u[..., 0] * w[..., 1] - u[..., 1] * w[..., 0]) / area
    above = s * u[..., 2] + t * v[..., 2] - w[..., 2]
    inside = (s > 0.0) & (t > 0.0) & (s + t < 1.0)
    hidden = (inside & (above > NEAR * np.ptp(flat))).any(axis=1)
    seen: Floats = np.stack([places[:-1], places[1:]], axis=1)[~hidden]
    return seen


def _lift(sheet: FoldedSheet, edges: Ints, eye: Floats) -> Floats:
    """(q,) how far towards the eye edges are moved so that no part beside covers them.

    The painter sorts by the middles of the parts: in the row of parts along an edge
    they are at most 2/3 of a part's height off it, and half a part's side along it.
    """
    depth = sheet.x @ eye
    lift = np.full(len(edges), 0.01 * np.ptp(sheet.x, axis=0).max())
    for q, (a, b) in enumerate(edges):
        beside = sheet.triangles[np.isin(sheet.triangles, (a, b)).sum(axis=1) == 2]
        third = depth[beside].sum(axis=1) - depth[a] - depth[b]
        height = (third - 0.5 * (depth[a] + depth[b])).max(initial=0.0)
        lift[q] += (2 / 3 * height + 0.5 * abs(depth[a] - depth[b])) / PARTS
    return lift


def _draw_forces(scene: PaintedScene, x: Floats, force: Floats, arrow: float) -> None:
    size = np.linalg.norm(force, axis=1)
    if size.max() == 0:
        return
    shown = size > LEAST * size.max()
    scene.arrows(x[shown], arrow * force[shown] / size.max(), ARROW, 1.1, lift=0.1)


def show_sheet(
    ax: Axes,
    sheet: FoldedSheet,
    *,
    view: View,
    arrow: float = 0.0,
    room: Floats | None = None,
) -> PaintedScene:
    """A sheet in its panel, with a scale in mm and a key to forces.

    Parameters
    ----------
    room : (q, 3) what must fit, one of panels of one scale; the sheet unless given
    """
    room = sheet.x if room is None else room
    scene = PaintedScene(view, float(np.ptp(room, axis=0).max()))
    draw_sheet(scene, sheet, arrow=arrow)
    scene.paint(ax, room)
    scale_bar(ax, round_length(scene.span), "mm", times=1e3)
    if sheet.force is not None and arrow > 0:
        largest = 1e3 * float(np.linalg.norm(sheet.force, axis=1).max())
        shown = round_length(4.0 * largest)
        scale_bar(
            ax, arrow * shown / largest, f"contact: {number(shown, 1)} mN", times=None,
            loc="lower left", colour=ARROW,
        )  # fmt: skip
    return scene


def sheet_marks() -> list[Line2D]:
    """What the colours of a sheet are."""
    looks = {"panel": PANEL, "crease": CREASE}
    return [
        Line2D([], [], marker="s", ls="", ms=5.0, mfc=c, mec=EDGE, mew=0.4, label=name)
        for name, c in looks.items()
    ]
