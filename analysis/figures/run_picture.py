"""One run at a glance: the shape at its end, and two of its numbers by step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from analysis.figures.panel_3d import axes_of
from analysis.figures.style import (
    FAINT,
    SHAPE,
    TARGET,
    UNITS,
    literal,
    round_length,
    styled,
)
from sim.core.arrays import Floats, Ints, among, triangle_sides

MOST_LINES = 6000
MOST_NODES = 400  # of which each is a dot
MOST_NUMBERED = 150  # creases
MOST_NAMED = 40  # nodes
CLOSE = 0.01  # of the size, nodes that share a text
LETTERS = 15  # of a title, an inch
ROW = 0.06  # of the height of a panel in space: a line of its legend
TOWARDS = 0.99  # cosine: an axis that points at the reader
FILLED = 1.55  # a cube at which lengths of its side just fit the panel, from all sides
LOGARITHMIC = ("E",)
START = "start"  # of several: each step has the number of its own
PLAIN_TICKS = {"axes.formatter.use_mathtext": False, "axes.formatter.useoffset": False}
STILL = 1e-6  # a number that moves by less of the largest shown stands still
STRAINED = "Purples"  # colours of panels, which neither red nor blue is lost on
LEAST_STRAIN = 1e-4  # that has a colour
MOUNTAIN, VALLEY = "#c1121f", "#1d4ed8"  # as in crease patterns
MISSED = "missed"  # in the names of creases that are dashed
PENS = ("#000000", SHAPE)
DOUBLED, LOAD = "#D55E00", "#B2182B"  # the first of Okabe and Ito
HELD = {"s": 12, "c": "#000000", "label": "held", "zorder": 5}
FLAT_ARROWS = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "width": 0.006}
# Behind creases, by reason: pale bands that neither red nor blue is lost on.
BANDS = ("#ffd60a", "#c4c4c4", "#b7e4a0", "#e8c39e")


@dataclass(frozen=True, eq=False)
class Drawing:
    """What of a shape is shown.

    Parameters
    ----------
    first, last : (n, 3) positions at the beginning and at the moment shown
    links : (q, 2) nodes of lines
    faces : (t, 3) nodes of triangles
    fixed : (q, 2, 3) ends of lines that stay
    box : (2, 3) corners of all that is ever to be seen
    missing : (q, 2) nodes of lines that are not where they should be, by reason
    view : elevation and azimuth, degrees, of what is not flat
    folds : (q, 2) nodes of creases by how they fold: mountains red, valleys blue,
        dashed where MISSED
    inner : (q, 2) nodes of sides of triangles that are not shown
    axes : (3, 3) directions of x, y and z
    unit : of all lengths, "" where not stated
    creases : (q, 3) nodes of creases of a sheet and their numbers
    aims : (q, 3) where nodes should go
    held : (q, 3) places of nodes that are held
    loads : (2, q, 3) where forces act, and the tips of their arrows
    doubled : (q, 2) nodes of links that lie on others
    names : of the nodes, as messages call them, or none
    dotted : few nodes are dots
    began : when nodes were where they are first
    strain : at which the colours of triangles end; below LEAST_STRAIN they have one
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
    creases: Ints = field(default_factory=lambda: np.empty((0, 3), dtype=np.int64))
    aims: Floats = field(default_factory=lambda: np.empty((0, 3)))
    held: Floats = field(default_factory=lambda: np.empty((0, 3)))
    loads: Floats = field(default_factory=lambda: np.empty((2, 0, 3)))
    dotted: bool = True
    doubled: Ints = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    names: Sequence[str] = ()
    began: str = "at the start"
    strain: float = 0.0


def run_picture(
    drawing: Drawing | None, columns: Mapping[str, Floats], title: str
) -> Figure:
    """The shape and the numbers; either alone where there is no other.

    Parameters
    ----------
    columns : numbers by step, the first along the axis: at most two more are shown,
        where there are two steps or more; a curve each START that they have
    """
    charted = len(columns) > 1 and len(next(iter(columns.values()))) > 1
    with styled(), rc_context(PLAIN_TICKS):
        sheet = drawing is not None and len(drawing.creases) > 0
        panels = [sheet, charted]
        parts = [drawing is not None, any(panels)]
        large = (7.2 if all(parts) else 4.4, 4.6 if all(panels) else 3.4)
        figure = Figure(figsize=large, layout="constrained")
        lines = wrap(title, round(LETTERS * large[0]))
        figure.suptitle(literal("\n".join(lines)), fontsize=8)
        ratios = [3, 2] if all(parts) else [1]
        rows = [3, 2] if all(panels) else [1]
        places = figure.add_gridspec(
            len(rows), len(ratios), width_ratios=ratios, height_ratios=rows
        )
        if drawing is not None:
            kind = {} if drawing.flat else {"projection": "3d"}
            shape = figure.add_subplot(places[:, 0], **kind)
            draw_shape(shape, drawing)
            if drawing.strain > LEAST_STRAIN:
                _draw_strain(shape, drawing.strain)
            if sheet:
                _draw_sheet(figure.add_subplot(places[0, -1]), drawing)
        if charted:
            short = drawing is not None and _written(drawing)[1] == "mm"
            _draw_numbers(figure.add_subplot(places[-1, -1]), columns, short)
    return figure


def _draw_sheet(axes: Axes, drawing: Drawing) -> None:
    """The sheet as it began, from above, with the numbers of its creases."""
    from matplotlib.collections import LineCollection

    def add(pairs: Ints, **look: Any) -> None:
        ends = list(drawing.first[pairs][..., :2])
        axes.add_collection(LineCollection(ends, **look))

    add(shown_lines(drawing), colors=FAINT, linewidths=0.6)
    for name, pairs in drawing.folds.items():
        add(pairs, **_pen(name), linewidths=1.2)
    _, one = np.unique(drawing.creases[:, 2], return_index=True)
    if len(one) <= MOST_NUMBERED:
        box = {"boxstyle": "round,pad=0.1", "facecolor": "white", "linewidth": 0}
        look: Any = {"ha": "center", "va": "center", "bbox": box}
        look["fontsize"] = min(5.0, 400.0 / max(len(one), 1))
        for a, b, number in drawing.creases[one]:
            x, y = drawing.first[[a, b], :2].mean(axis=0)
            axes.text(x, y, str(number), zorder=5, **look)
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.set_axis_off()
    axes.set_title("creases by number, from above at the start", fontsize=6)


def _shown(points: Floats, flat: bool) -> Floats:
    """(..., 2 or 3) points as they are shown."""
    return points[..., [0, 2]] if flat else points


def draw_shape(axes: Any, drawing: Drawing) -> None:
    """The initial shape in grey, what stays dotted, the shape itself in blue."""
    from matplotlib.collections import LineCollection
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

    flat = drawing.flat
    lines = LineCollection if flat else Line3DCollection
    links = shown_lines(drawing)

    def add(ends: Floats, **look: Any) -> None:
        if len(ends) or "label" in look:  # which the legend keeps
            some = _shown(ends[:: len(ends) // MOST_LINES + 1], flat)
            axes.add_collection(lines(list(some), **look))

    if not flat:
        axes.computed_zorder = False  # creases stand on bands, marks on all
    add(drawing.fixed, colors=TARGET, linewidths=0.4)
    look: Any = {"colors": FAINT, "linewidths": 0.4, "alpha": 0.5}
    add(drawing.first[links], label=drawing.began, **look)
    if len(drawing.faces) and not flat:
        faces = drawing.faces[:MOST_LINES]
        look = {"facecolors": SHAPE, "alpha": 0.25, "edgecolors": "none"}
        if drawing.strain > LEAST_STRAIN:
            strain = side_strain(drawing.first, drawing.last, faces)
            colours = colormaps[STRAINED](strain / drawing.strain)
            look |= {"facecolors": colours, "alpha": 0.6}
        axes.add_collection3d(Poly3DCollection(list(drawing.last[faces]), **look))
    plain = FAINT if drawing.folds else SHAPE
    add(drawing.last[links], colors=plain, linewidths=0.6 if drawing.folds else 1.0)
    for (name, pairs), pen in zip(drawing.missing.items(), BANDS, strict=False):
        look = {"colors": pen, "linewidths": 6.0, "zorder": 3}
        add(drawing.last[pairs], label=literal(f"off, {name}"), **look)
    for name, pairs in drawing.folds.items():
        add(drawing.last[pairs], label=name, **_pen(name), linewidths=1.6, zorder=4)
    if len(drawing.doubled):
        look = {"colors": DOUBLED, "linewidths": 3.0, "alpha": 0.5}
        add(drawing.last[drawing.doubled], label="bodies that coincide", **look)
    if len(drawing.aims):
        look = {"marker": "x", "s": 16, "linewidths": 0.8, "label": "target of a node"}
        axes.scatter(*_shown(drawing.aims, flat).T, c=TARGET, **look)
    if len(drawing.held):
        axes.scatter(*_shown(drawing.held, flat).T, **HELD)
    if drawing.loads.size:
        at, tips = _shown(drawing.loads, flat)
        look = {"color": LOAD, "label": "load", **(FLAT_ARROWS if flat else {})}
        axes.quiver(*at.T, *(tips - at).T, zorder=5, **look)
    if axes.get_legend_handles_labels()[1]:
        above: Any = {"loc": "lower right", "bbox_to_anchor": (1, 1)}
        axes.legend(fontsize=6, **(above if flat else {"loc": "upper left"}))
    if len(drawing.last) <= MOST_NODES and drawing.dotted:
        axes.scatter(*_shown(drawing.last, flat).T, s=3, c=SHAPE, linewidths=0)
    if 0 < len(drawing.names) <= MOST_NAMED:
        places = _shown(drawing.last[: len(drawing.names)], flat)
        apart = np.linalg.norm(places[:, None] - places, axis=2)
        close = apart <= CLOSE * np.ptp(drawing.box, axis=0).max()
        first = close.argmax(axis=1).tolist()  # of nodes that share a place
        for node in set(first):
            own = [drawing.names[i] for i, at in enumerate(first) if at == node]
            text = f" {literal(', '.join(own))}"
            axes.text(*places[node], text, fontsize=5, ha="left", va="bottom")
    _frame(axes, drawing)


def side_strain(first: Floats, last: Floats, faces: Ints) -> Floats:
    """(t,) of each triangle, by how much of its length a side has changed at most.

    Parameters
    ----------
    first, last : (n, 3) positions
    faces : (t, 3) nodes
    """
    before, after = (
        np.linalg.norm(r[faces] - r[np.roll(faces, 1, axis=1)], axis=2)
        for r in (first, last)
    )
    return np.asarray(np.abs(after / before - 1.0).max(axis=1))


def _draw_strain(axes: Axes, most: float) -> None:
    """The colours of triangles."""
    colours = ScalarMappable(Normalize(0.0, 100.0 * most), STRAINED)
    bar = axes.figure.colorbar(
        colours, ax=axes, location="bottom", shrink=0.5, aspect=30, pad=0.0
    )
    bar.ax.tick_params(labelsize=6)
    bar.ax.locator_params(nbins=4)
    bar.set_label("change of length of a panel's sides (%)", fontsize=6)


def shown_lines(drawing: Drawing) -> Ints:
    """(q, 2) nodes of links and of sides of triangles that are shown."""
    sides, _ = triangle_sides(drawing.faces)
    return np.concatenate([drawing.links, sides[~among(sides, drawing.inner)]])


def _pen(fold: str) -> dict[str, Any]:
    colour = MOUNTAIN if fold.startswith("mountain") else VALLEY
    return {"colors": colour, "linestyles": "--" if MISSED in fold else "-"}


def _frame(axes: Any, drawing: Drawing) -> None:
    """Equal scales along all axes, around all that is to be seen."""
    low, high = drawing.box
    if not drawing.flat:
        _frame_in_space(axes, drawing)
        return
    span = np.maximum(high - low, 0.1 * float((high - low).max()) or 1.0)
    middle = 0.5 * (low + high)
    low, high = middle - 0.52 * span, middle + 0.52 * span
    axes.set(xlim=(low[0], high[0]), ylim=(low[2], high[2]))
    axes.set_aspect("equal")
    times, unit = _written(drawing)
    for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        axis.set_label_text(f"{name} ({unit})" if unit else name)
        if times != 1.0:
            axis.set_major_formatter(lambda x, _: f"{times * x:.6g}")


def _written(drawing: Drawing) -> tuple[float, str]:
    """By what lengths are multiplied and their unit: mm of what is smaller than 1 m."""
    small = drawing.unit == "m" and np.ptp(drawing.box, axis=0).max() < 1.0
    return (1e3, "mm") if small else (1.0, drawing.unit)


def _frame_in_space(axes: Any, drawing: Drawing) -> None:
    """All of the box on the panel, between the legend and the arrows of the axes."""
    across = axes_of(drawing.view)
    corners = np.array(list(product(*drawing.box.T))) @ across[:2].T
    low, high = corners.min(axis=0), corners.max(axis=0)
    reach = 0.26 * (float((high - low).max()) or 1.0)  # of the axes, with letters
    low = low - ([0.0, reach] if high[0] - low[0] > high[1] - low[1] else [reach, 0.0])
    rows = ROW * (1 + len(axes.get_legend_handles_labels()[1]))
    half = 0.5 * max(high[0] - low[0], (high[1] - low[1]) / (1.0 - rows))
    below = ROW * 2 * half
    flat = [0.5 * (low[0] + high[0]), low[1] - below + half]
    middle = [*flat, float(drawing.box.mean(axis=0) @ across[2])] @ across
    limits = (axes.set_xlim, axes.set_ylim, axes.set_zlim)
    for put, at in zip(limits, middle, strict=True):
        put(at - half, at + half)
    axes.set_box_aspect((1.0, 1.0, 1.0), zoom=FILLED)
    axes.set_proj_type("ortho")
    axes.view_init(*drawing.view)
    axes.set_axis_off()
    _draw_axes(axes, drawing, low, reach / 1.3)


def _draw_axes(axes: Any, drawing: Drawing, low: Floats, reach: float) -> None:
    """Arrows along x, y and z, right of and above a corner of the panel.

    They have a round length of at most `reach`, which is written there.
    """
    size = round_length(4.0 * reach)
    across = axes_of(drawing.view)
    ends = 1.2 * size * drawing.axes @ across[:2].T
    corner = [*(low - np.minimum(ends.min(axis=0), 0.0)), 0.0] @ across
    for name, along in zip("xyz", drawing.axes, strict=True):
        if abs(along @ across[2]) > TOWARDS:
            continue
        end = corner + size * along
        axes.plot(*np.stack([corner, end]).T, color=FAINT, linewidth=0.8)
        axes.text(*(corner + 1.2 * size * along), name, fontsize=6, ha="center")
    times, unit = _written(drawing)
    text = " ".join(["axes", f"{times * size:.6g}", *unit.split(), "long"])
    axes.text2D(0.01, 0.01, text, transform=axes.transAxes, fontsize=6)


def _draw_numbers(axes: Axes, columns: Mapping[str, Floats], short: bool) -> None:
    """Two columns along the first, lengths in mm where the shape is."""
    (along, x), *shown = [c for c in columns.items() if c[0] != START][:3]
    ends = np.flatnonzero(np.diff(columns.get(START, np.zeros(len(x))))) + 1
    axes.set_xlabel(UNITS.get(along, literal(along)))
    axes.locator_params(axis="x", integer=not (x % 1.0).any())
    largest = max(float(np.nanmax(np.abs(values))) for _, values in shown)
    for name, values, pen in zip(*zip(*shown, strict=True), PENS, strict=False):
        on = axes if pen == PENS[0] else axes.twinx()
        label = UNITS.get(name, literal(name))
        if short and label.endswith("(m)"):
            label, values = label.replace("(m)", "(mm)"), 1e3 * values
        finite = np.isfinite(values)
        logarithmic = name in LOGARITHMIC and bool((values[finite] > 0).all())
        draw = on.semilogy if logarithmic else on.plot
        look: Any = {"color": pen, "linestyle": "-" if on is axes else "--"}
        look |= {"marker": "o", "markevery": [-1]} if len(ends) else {}
        for own in np.split(np.arange(len(x)), ends):
            draw(x[own], values[own], **look)
        on.set_ylabel(label, color=pen)
        if not logarithmic and np.nanmax(values) - np.nanmin(values) < STILL * largest:
            middle = 0.5 * float(np.nanmax(values) + np.nanmin(values))
            on.set_ylim(middle - largest, middle + largest)  # not its rounding
