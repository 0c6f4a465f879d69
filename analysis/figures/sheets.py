"""Drawing a folded sheet in three dimensions: panels, creases, arrows of force."""

from dataclasses import dataclass

import numpy as np
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from sim.arrays import Floats, Ints

PANEL, CREASE, EDGE, ARROW = "#9BC4E2", "#F0B67F", "#1F3A52", "#B2182B"
ZOOM = 0.98  # of the axes; above 1 corners are cut off
PARTS = 8  # of each side of a triangle
RIM_WIDTH = 0.5  # pt, of all edges: the painter sorts colours by depth, not widths
LIGHT = np.array([0.35, -0.45, 0.82])


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


def _shaded(colour: str, corners: Floats) -> list[tuple[float, float, float]]:
    """A colour for each triangle (t, 3, 3), lighter where it faces the light."""
    base = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None] + 1e-300
    bright = 0.62 + 0.38 * np.abs(normal @ (LIGHT / np.linalg.norm(LIGHT)))
    return [(float(r), float(g), float(b)) for r, g, b in bright[:, None] * base]


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


def _line_parts(lines: Floats, parts: int) -> Floats:
    """(q parts, 3, 3) flat triangles that are pieces of lines."""
    share = np.linspace(0.0, 1.0, parts + 1)[:, None, None]
    places = lines[:, 0] + share * (lines[:, 1] - lines[:, 0])
    start = places[:-1].reshape(-1, 3)
    end = places[1:].reshape(-1, 3)
    return np.stack([start, end, end], axis=1)


def draw_sheet(
    ax: Axes3D, sheet: FoldedSheet, *, view: tuple[float, float], arrow: float = 0.0
) -> None:
    """Panels and creases as shaded triangles, rims as lines, forces as arrows.

    Parameters
    ----------
    view : elevation and azimuth, degrees
    arrow : length of the largest force's arrow, m; 0 for none
    """
    corners = sheet.x[sheet.triangles]
    crease = sheet.triangle_panel >= sheet.panels
    colours = _shaded(PANEL, corners)
    for k, colour in zip(
        np.flatnonzero(crease), _shaded(CREASE, corners[crease]), strict=True
    ):
        colours[k] = colour
    small = _in_parts(corners, PARTS)
    filled = [colour for colour in colours for _ in range(PARTS**2)]
    edges, eye = rims(sheet), _towards_eye(view)
    nearer = (_lift(sheet, edges, eye)[:, None] * eye)[:, None]
    lines = _line_parts(sheet.x[edges] + nearer, 2 * PARTS)
    dark = [EDGE] * len(lines)
    ax.add_collection3d(
        Poly3DCollection(
            [*small, *lines],
            facecolors=[*filled, *dark],
            edgecolors=[*filled, *dark],
            linewidths=RIM_WIDTH,
        )
    )
    if sheet.force is not None and arrow > 0:
        _draw_forces(ax, sheet.x, sheet.force, arrow)
    ax.set_axis_off()
    ax.set_proj_type("ortho")


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


def _towards_eye(view: tuple[float, float]) -> Floats:
    """Unit vector from the sheet to the eye."""
    up, round_ = np.radians(view)
    flat = np.cos(up)
    return np.array([flat * np.cos(round_), flat * np.sin(round_), np.sin(up)])


def _draw_forces(ax: Axes3D, x: Floats, force: Floats, arrow: float) -> None:
    size = np.linalg.norm(force, axis=1)
    if size.max() == 0:
        return
    shown = size > 0.05 * size.max()
    f = arrow * force[shown] / size.max()
    ax.quiver(
        *x[shown].T, *f.T, color=ARROW, lw=1.0, arrow_length_ratio=0.3, clip_on=False
    )


def frame_sheets(
    ax: Axes3D, states: Floats, *, elevation: float, azimuth: float
) -> None:
    """The same scale on all axes around every state (k, n, 3)."""
    low, high = states.min(axis=(0, 1)), states.max(axis=(0, 1))
    middle, half = 0.5 * (low + high), 0.5 * np.maximum(high - low, 1e-9)
    half = np.maximum(half, 0.25 * half.max())
    ax.set_xlim(middle[0] - half[0], middle[0] + half[0])
    ax.set_ylim(middle[1] - half[1], middle[1] + half[1])
    ax.set_zlim(middle[2] - half[2], middle[2] + half[2])
    ax.set_box_aspect(tuple(half), zoom=ZOOM)
    ax.view_init(elev=elevation, azim=azimuth)
