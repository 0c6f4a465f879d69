"""Folded sheets: pictures of their states in space, and what designers ask of folds.

`draw_sheet` draws panels, creases and arrows of force; `sheet_of` is a state of a run;
`mechanics_of_folds` shows ratios, modes and two stable states.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from analysis.figures import style
from analysis.figures.figure_interface import DrawnFigure, ShownRun
from analysis.figures.panel_3d import PaintedScene, View, scene_on
from analysis.figures.style import (
    PanelGrid,
    number,
    round_length,
    scale_bar,
    sheet,
)
from sim.core.arrays import Floats, Ints, triangle_sides

PANEL, CREASE, EDGE, ARROW = "#9BC4E2", "#F0B67F", "#1F3A52", "#B2182B"
PARTS = 8  # of each side of a triangle
RIM_WIDTH = 0.5  # pt, of all edges
PIECES = 60  # of an edge, each hidden or seen
NEAR, EDGE_ON = 1e-4, 1e-9  # of the sheet's size: how near covers not; of its square
LEAST = 0.05  # of the largest force, that has an arrow


@dataclass(frozen=True, eq=False)
class FoldedSheet:
    """What a picture of a sheet shows.

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
        sides, count = triangle_sides(own)
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
    return np.asarray(np.stack([places[:-1], places[1:]], axis=1)[~hidden])


def _lift(sheet: FoldedSheet, edges: Ints, eye: Floats) -> Floats:
    """(q,) how far towards the eye edges are moved so that no neighbouring part covers
    them.

    The painter sorts by the middles of the parts: in the row of parts along an edge
    they are at most 2/3 of a part's height off it, and half a part's side along it.
    """
    depth = sheet.x @ eye
    lift = np.full(len(edges), 0.01 * np.ptp(sheet.x, axis=0).max())
    for q, (a, b) in enumerate(edges):
        own = sheet.triangles[np.isin(sheet.triangles, (a, b)).sum(axis=1) == 2]
        third = depth[own].sum(axis=1) - depth[a] - depth[b]
        height = (third - 0.5 * (depth[a] + depth[b])).max(initial=0.0)
        lift[q] += (2 / 3 * height + 0.5 * abs(depth[a] - depth[b])) / PARTS
    return lift


def _draw_forces(scene: PaintedScene, x: Floats, force: Floats, arrow: float) -> None:
    size = np.linalg.norm(force, axis=1)
    if size.max() == 0:
        return
    shown = size > LEAST * size.max()
    scene.arrows(x[shown], arrow * force[shown] / size.max(), ARROW, 1.1, lift=0.1)


def draw_loads(ax: Axes, scene: PaintedScene, start: Floats, end: Floats) -> None:
    """Arrows of a load from (k, 3) to (k, 3), above all that is painted."""
    arrow = {"arrowstyle": "-|>", "color": ARROW, "shrinkA": 0, "shrinkB": 0}
    for a, b in zip(scene.seen(start), scene.seen(end), strict=True):
        ax.annotate("", tuple(b), tuple(a), arrowprops=arrow, zorder=4)


def sheet_marks() -> list[Line2D]:
    """What the colours of a sheet are."""
    looks = {"panel": PANEL, "crease": CREASE}
    return [
        Line2D([], [], marker="s", ls="", ms=5.0, mfc=c, mec=EDGE, mew=0.4, label=name)
        for name, c in looks.items()
    ]


SERIES = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#000000"]


def sheet_of(run: ShownRun, step: int, *, forces: bool = False) -> FoldedSheet:
    """The state of a folded sheet after `step`."""
    arrays, pattern = run.arrays, run.read("pattern.fold")
    return FoldedSheet(
        arrays["x"][step],
        arrays["triangles"],
        arrays["triangle_panel"],
        len(pattern["faces_vertices"]),
        arrays["contact_force"][step] if forces else None,
    )


def phase(run: ShownRun, number: int) -> pd.DataFrame:
    """Rows of one phase; the first is the state in which it began."""
    rows = run.table[run.table["phase"] == number]
    return rows[rows["increment"] > 0]


def end_of_phase(run: ShownRun, number: int) -> int:
    """The last step of a phase."""
    return int(phase(run, number)["step"].iloc[-1])


def picture(
    ax: Axes,
    run: ShownRun,
    step: int,
    *,
    view: View = (28.0, -60.0),
    arrow: float = 0.0,
    room: Floats | None = None,
) -> PaintedScene:
    """One state of a sheet in its own panel, with a scale in mm and a key to forces.

    Parameters
    ----------
    arrow : length of the largest force's arrow, m; 0 for none
    room : (q, 3) what must fit, one of panels of one scale; the sheet unless given
    """
    state = sheet_of(run, step, forces=arrow > 0)
    room = state.x if room is None else room
    with scene_on(ax, room, view, "mm", 1e3) as scene:
        draw_sheet(scene, state, arrow=arrow)
    if state.force is not None:
        largest = 1e3 * float(np.linalg.norm(state.force, axis=1).max())
        shown = round_length(4.0 * largest)
        scale_bar(
            ax, arrow * shown / largest, f"contact: {number(shown, 1)} mN", times=None,
            loc="lower left", colour=ARROW,
        )  # fmt: skip
    return scene


DEGREES = "(\N{DEGREE SIGN})"
MODES = (
    (style.SIMULATED, "-"),
    (style.SCANNED, "--"),
    ("#009E73", "-."),
    ("#000000", ":"),
)


def rigid_ratio(periods: Floats) -> Floats:
    """(s,) -d ln p_1 / d ln p_0 of the periods (s, 2) of a sheet of rigid panels."""
    logs = np.log(periods)
    return np.asarray(-np.gradient(logs[:, 1], logs[:, 0], edge_order=2))


def draw_fold_mechanics(runs: Sequence[ShownRun]) -> DrawnFigure:
    """Three rows: a plate, modes, a cell that snaps."""
    plate, modes, cell = (run.table for run in runs)
    rests = runs[2].read("actuation.csv")
    figure, (plots,) = sheet(PanelGrid(3, 56.0, 46.0), more=8.0)
    _draw_ratios(plots[0], plate)
    _draw_modes(plots[1], modes)
    _draw_cell(plots[2], cell, rests, float(runs[2].case["of"]["pattern"]["height"]))
    style.put_letters(plots)
    style.legend_below(figure, style.labelled_lines(plots))
    tables = {"plate": plate, "modes": modes, "cell": cell, "rests": rests}
    return DrawnFigure(figure, tables)


def _draw_ratios(ax: Axes, plate: pd.DataFrame) -> None:
    fold = plate["largest_fold_deg"]
    rigid = rigid_ratio(plate[["period_0", "period_1"]].to_numpy())
    ax.semilogy(fold, -rigid, color="black", lw=0.7, label="rigid panels (a)")
    bent, stretched = plate["bending_poisson"][::-3], -plate["poisson"][::-3]
    ax.semilogy(
        fold[::-3], bent, "s", color=style.SCANNED, mfc="white", ms=style.size(5.0),
        label=r"bent, $\nu$ (a)",
    )  # fmt: skip
    ax.semilogy(
        fold[::-3], stretched, "o", color=style.SIMULATED, ms=style.size(2.5),
        label=r"stretched, $-\nu$ (a)",
    )  # fmt: skip
    ax.set(xlabel=f"larger fold {DEGREES}", ylabel=r"Poisson's ratio $|\nu|$ (-)")


def _draw_modes(ax: Axes, modes: pd.DataFrame) -> None:
    part = modes["load_factor"]
    names = [name for name in map(str, modes) if name.startswith("eigenvalue_")]
    for k, (name, (colour, line)) in enumerate(zip(names, MODES, strict=False)):
        ax.semilogy(part, modes[name], line, color=colour, label=f"mode {k + 1} (b)")
    ax.set(xlabel="fraction of the fold (-)", ylabel="eigenvalue (N/m)")


def _draw_cell(
    ax: Axes, path: pd.DataFrame, rests: pd.DataFrame, height: float
) -> None:
    """Its energy by height, from its first height, m; where it rests, and barriers."""
    way, energy = 1e3 * (height + path["moved"]), 1e3 * path["energy"]
    ax.plot(way, energy, color=style.SIMULATED, label="cell (c)")
    for stable, marker, name in ((1, "o", "stable (c)"), (0, "^", "barrier (c)")):
        chosen = rests[rests["stable"] == stable]
        ax.plot(
            1e3 * (height + chosen["moved"]), 1e3 * chosen["energy"], marker,
            color="black", mfc="white" if stable else "black", label=name,
            ms=style.size(4.5),
        )  # fmt: skip
    ax.set(xlabel="height of the cell (mm)", ylabel=r"energy $\Pi$ (mJ)")
