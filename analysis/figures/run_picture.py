"""One run at a glance: the shape at its end, and two of its numbers by step."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures.style import FAINT, SHAPE, TARGET, styled
from analysis.figures.units import UNITS
from sim.arrays import Floats, Ints, among

MOST_LINES = 6000
MOST_NODES = 400  # of which each is a dot
LOGARITHMIC = ("E",)
STILL = 1e-6  # a number that moves by less of the largest shown stands still
MOUNTAIN, VALLEY = "#c1121f", "#1d4ed8"  # as crease patterns are drawn
PENS = ("#000000", SHAPE)
MISSING = ("#009E73", "#D55E00", "#CC79A7", "#000000")  # by reason, of Okabe and Ito
# The same behind creases: pale bands that neither red nor blue is lost on.
BANDS = ("#ffd60a", "#c4c4c4", "#b7e4a0", "#e8c39e")


@dataclass(frozen=True, eq=False)
class Drawing:
    """What of a shape is drawn.

    Parameters
    ----------
    first, last : (n, 3) positions at the beginning and at the moment shown
    links : (q, 2) nodes of lines
    faces : (t, 3) nodes of triangles
    fixed : (q, 2, 3) ends of lines that stay
    box : (2, 3) corners of all that is ever to be seen
    missing : (q, 2) nodes of lines that are not where they should be, by reason
    view : elevation and azimuth, degrees, of what is not flat
    folds : (q, 2) nodes of creases by how they fold, mountains red, valleys blue
    inner : (q, 2) nodes of sides of triangles that are not drawn
    axes : (3, 3) directions of x, y and z
    unit : of all lengths, "" where nobody says
    """

    first: Floats
    last: Floats
    links: Ints
    faces: Ints
    fixed: Floats
    box: Floats
    flat: bool = False
    missing: Mapping[str, Ints] = field(default_factory=dict)
    view: tuple[float, float] = (25.0, -60.0)
    folds: Mapping[str, Ints] = field(default_factory=dict)
    inner: Ints = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    axes: Floats = field(default_factory=lambda: np.eye(3))
    unit: str = ""


def run_picture(
    drawing: Drawing | None, columns: Mapping[str, Floats], title: str
) -> Figure:
    """The shape beside the numbers; either alone where there is no other.

    Parameters
    ----------
    columns : numbers by step, the first along the axis: at most two more are drawn
    """
    with styled():
        parts = [drawing is not None, len(columns) > 1]
        figure = Figure(figsize=(7.2 if all(parts) else 4.4, 3.4), layout="constrained")
        figure.suptitle(title, fontsize=8)
        ratios = [3, 2] if all(parts) else [1]
        places = figure.add_gridspec(1, len(ratios), width_ratios=ratios)
        if drawing is not None:
            kind = {} if drawing.flat else {"projection": "3d"}
            draw_shape(figure.add_subplot(places[0, 0], **kind), drawing)
        if len(columns) > 1:
            _draw_numbers(figure.add_subplot(places[0, -1]), columns)
    return figure


def _segments(ends: Floats, flat: bool) -> Floats:
    """(q, 2, 2 or 3) ends of lines as they are drawn."""
    few = ends[:: len(ends) // MOST_LINES + 1]
    return few[..., [0, 2]] if flat else few


def draw_shape(axes: Any, drawing: Drawing) -> None:
    """The initial shape in grey, what stays dotted, the shape itself in blue."""
    from matplotlib.collections import LineCollection
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

    flat = drawing.flat
    lines = LineCollection if flat else Line3DCollection
    sides = _sides(drawing.faces)
    links = np.concatenate([drawing.links, sides[~among(sides, drawing.inner)]])

    def add(ends: Floats, **look: Any) -> None:
        if len(ends):
            axes.add_collection(lines(list(_segments(ends, flat)), **look))

    if drawing.folds and not flat:
        axes.computed_zorder = False  # creases stand on their bands from all sides
    add(drawing.fixed, colors=TARGET, linewidths=0.4)
    add(drawing.first[links], colors=FAINT, linewidths=0.4, alpha=0.5)
    if len(drawing.faces) and not flat:
        look = {"facecolors": SHAPE, "alpha": 0.25, "edgecolors": "none"}
        corners = drawing.last[drawing.faces[:MOST_LINES]]
        axes.add_collection3d(Poly3DCollection(list(corners), **look))
    plain = FAINT if drawing.folds else SHAPE
    add(drawing.last[links], colors=plain, linewidths=0.6 if drawing.folds else 1.0)
    pens, width = (BANDS, 6.0) if drawing.folds else (MISSING, 2.0)
    for (name, pairs), pen in zip(drawing.missing.items(), pens, strict=False):
        look = {"colors": pen, "linewidths": width, "zorder": 3}
        add(drawing.last[pairs], label=f"off, {name}", **look)
    for name, pairs in drawing.folds.items():
        pen = MOUNTAIN if name.startswith("mountain") else VALLEY
        add(drawing.last[pairs], colors=pen, linewidths=1.6, label=name, zorder=4)
    if drawing.folds or drawing.missing:
        axes.legend(loc="upper left", fontsize=6)
    if len(drawing.last) <= MOST_NODES:
        at = drawing.last[:, [0, 2]] if flat else drawing.last
        axes.scatter(*at.T, s=3, c=SHAPE, linewidths=0)
    _frame(axes, drawing)


def _sides(faces: Ints) -> Ints:
    """(q, 2) the sides of triangles, each once."""
    if not len(faces):
        return np.empty((0, 2), dtype=np.int64)
    pairs = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    unique: Ints = np.unique(np.sort(pairs, axis=1), axis=0)
    return unique


def _frame(axes: Any, drawing: Drawing) -> None:
    """Equal scales along all axes, around all that is to be seen."""
    box = drawing.box
    low, high = box
    span = np.maximum(high - low, 0.1 * float(np.ptp(box, axis=0).max()) or 1.0)
    middle = 0.5 * (low + high)
    low, high = middle - 0.52 * span, middle + 0.52 * span
    axes.set_xlim(low[0], high[0])
    if drawing.flat:
        axes.set_ylim(low[2], high[2])
        axes.set_aspect("equal")
        for name, put in (("x", axes.set_xlabel), ("y", axes.set_ylabel)):
            put(f"{name} ({drawing.unit})" if drawing.unit else name)
        return
    axes.set_ylim(low[1], high[1])
    axes.set_zlim(low[2], high[2])
    axes.set_box_aspect(tuple(span), zoom=1.0)
    axes.set_proj_type("ortho")
    axes.view_init(*drawing.view)
    axes.set_axis_off()
    _draw_axes(axes, drawing, low, span)


def _draw_axes(axes: Any, drawing: Drawing, corner: Floats, span: Floats) -> None:
    """Arrows along x, y and z at a corner, of a round length that is written there."""
    reach = 0.25 * float(span.max())
    size = float(10.0 ** np.floor(np.log10(reach)))
    size *= max(times for times in (1.0, 2.0, 5.0) if times * size <= reach)
    for name, along in zip("xyz", drawing.axes, strict=True):
        end = corner + size * along
        axes.plot(*np.stack([corner, end]).T, color=FAINT, linewidth=0.8)
        axes.text(*(corner + 1.2 * size * along), name, fontsize=6, ha="center")
    said = " ".join(["axes", f"{size:g}", *drawing.unit.split(), "long"])
    axes.text2D(0.01, 0.01, said, transform=axes.transAxes, fontsize=6)


def _draw_numbers(axes: Axes, columns: Mapping[str, Floats]) -> None:
    (along, x), *shown = list(columns.items())[:3]
    axes.set_xlabel(UNITS.get(along, along))
    largest = max(float(np.nanmax(np.abs(values))) for _, values in shown)
    for name, values, pen in zip(*zip(*shown, strict=True), PENS, strict=False):
        on = axes if pen == PENS[0] else axes.twinx()
        finite = np.isfinite(values)
        logarithmic = name in LOGARITHMIC and bool((values[finite] > 0).all())
        draw = on.semilogy if logarithmic else on.plot
        draw(x, values, color=pen, linestyle="-" if on is axes else "--")
        on.set_ylabel(UNITS.get(name, name), color=pen)
        if not logarithmic and np.nanmax(values) - np.nanmin(values) < STILL * largest:
            middle = 0.5 * float(np.nanmax(values) + np.nanmin(values))
            on.set_ylim(middle - largest, middle + largest)  # not its rounding
