"""A scan at a glance: points, spheres found, candidates refused; target's distance."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from matplotlib.patheffects import withStroke

from analysis.figures import style
from analysis.figures.style import PanelGrid
from analysis.spheres.detections import Picks
from sim.core.arrays import Floats

MOST_POINTS = 60_000  # shown
MOST_REJECTED = 200  # shown: those with the most points
REFUSED = "#0072B2"
FLAT = 0.99  # cosine between z of the simulation and the shortest extent of flat scans
PRINCIPAL = tuple(f"principal axis {number}" for number in (1, 2, 3))
OF_SIMULATION = tuple(f"{axis} of the simulation" for axis in "xyz")
LONG_MM = 56.0  # a scan as it is printed, at least


def thinned(points: Floats, most: int) -> Floats:
    """At most `most` of the points (n, 3), evenly chosen by their order."""
    return points[:: max(1, -(-len(points) // most))]


@style.styled()
def scan_picture(
    points: Floats,
    picks: Picks,
    title: str,
    names: Sequence[str] | None = None,
    lost: Mapping[str, Floats] | None = None,
    simulated: Floats | None = None,
) -> Figure:
    """Two views of a scan, along its shortest and its second shortest extent.

    A flat one is seen as its simulation is, along z, where that is known.

    Parameters
    ----------
    points : (n, 3) mm
    names : written on the spheres, but where one is already written; first on those
        that the view before did not name
    lost : predicted places (3,), mm, of the nodes without a sphere, by name: a ring
        each, named below it where a name is above
    simulated : (3, 3) x, y and z of the simulation in the scan, as rows
    """
    cloud = thinned(points, MOST_POINTS)
    middle, axes = _extents(picks.centres if len(picks.spheres) > 3 else cloud)
    along = PRINCIPAL
    if simulated is not None and abs(axes[2] @ simulated[2]) > FLAT:
        axes, along = simulated, OF_SIMULATION
    figure, views = _two_views(title, axes, PanelGrid(2, 80.0, 84.0), 10.0, along)
    text: Any = {"textcoords": "offset points", "fontsize": style.size(style.SMALL)}
    text["path_effects"] = [withStroke(linewidth=1.0, foreground="white")]
    named: set[str] = set()
    letter = style.A_LETTER_MM / LONG_MM * float(np.ptp(cloud, axis=0).max())
    radius = max([sphere.radius for sphere in picks.spheres], default=0.0)
    apart = max(1.7 * letter, radius)
    names, lost = names or (), lost or {}
    wide = max(apart, letter * max(map(len, [*names, *lost, ""])))
    for panel, frame in views:
        _draw(panel, (cloud - middle) @ frame.T)
        _circles(panel, picks, middle, frame)
        _rings(panel, [(at - middle) @ frame.T for at in lost.values()], radius)
        first = list(zip(names, picks.centres, strict=bool(names)))
        first.sort(key=lambda one: one[0] in named)
        written: list[tuple[float, float]] = []
        for name, at in [*first, *lost.items()]:
            x, y = (at - middle) @ frame.T
            look = {**text, "color": style.SIMULATED if name in lost else "black"}
            for down, va in [(0.0, "baseline"), (radius, "top")][: 1 + (name in lost)]:
                v = y - down - apart * bool(down)
                if all(abs(x - a) > wide or abs(v - b) > apart for a, b in written):
                    panel.annotate(name, (x, y - down), (2, 2), va=va, **look)
                    written.append((x, v))
                    named.add(name)
                    break
    handles = views[0][0].get_legend_handles_labels()
    style.legend_below(figure, *handles, markerscale=2)
    return figure


def _two_views(
    title: str,
    axes: Floats,
    panels: PanelGrid,
    more: float,
    along: Sequence[str] = PRINCIPAL,
) -> tuple[Figure, list[tuple[Axes, Floats]]]:
    """A sheet with two panels, each with the two axes of a scan (2, 3) that it shows.

    Parameters
    ----------
    axes : (3, 3), in the order of their numbers
    more : mm of height for what is outside of the panels
    along : what the axes are called
    """
    figure, (both,) = style.sheet(panels, more=more)
    figure.suptitle(title)
    for panel, up in zip(both, along[1:], strict=True):
        panel.set_aspect("equal", adjustable="datalim")
        panel.set(xlabel=f"{along[0]} (mm)", ylabel=f"{up} (mm)")
    style.put_letters(both)
    return figure, [(both[0], axes[[0, 1]]), (both[1], axes[[0, 2]])]


def _extents(points: Floats) -> tuple[Floats, Floats]:
    """Middle, and (3, 3) principal axes as rows, the longest first."""
    middle = points.mean(axis=0)
    axes = np.linalg.svd(points - middle, full_matrices=False)[2]
    return middle, axes


def _draw(panel: Axes, flat: Floats) -> None:
    panel.plot(*flat.T, ",", color=style.FAINT, alpha=0.5, rasterized=True, zorder=1)
    panel.plot([], [], ".", color=style.FAINT, markersize=2, label="points")


def _circles(panel: Axes, picks: Picks, middle: Floats, axes: Floats) -> None:
    for sphere in picks.spheres:
        centre = (sphere.centre - middle) @ axes.T
        panel.add_patch(
            Circle(
                (centre[0], centre[1]), sphere.radius, facecolor=style.SCANNED,
                alpha=0.45, edgecolor=style.SCANNED_EDGE, linewidth=0.6, zorder=2,
            )
        )  # fmt: skip
    panel.plot(
        [], [], "o", color=style.SCANNED, markeredgecolor=style.SCANNED_EDGE,
        label=f"{len(picks.spheres)} spheres",
    )  # fmt: skip
    best = picks.apart[:MOST_REJECTED]
    if best:
        flat = (np.array([r.centre for r in best]) - middle) @ axes.T
        panel.plot(
            *flat.T, "x", color=REFUSED, markersize=2.5, markeredgewidth=0.5, zorder=3,
            label="candidates rejected, apart from spheres",
        )  # fmt: skip


def _rings(panel: Axes, places: Sequence[Floats], radius: float) -> None:
    for x, y in places:
        ring = Circle((x, y), radius, fill=False, edgecolor=style.SIMULATED, zorder=4)
        panel.add_patch(ring)
    if places:
        panel.plot([], [], "o", mfc="none", mec=style.SIMULATED, label="no sphere")


MOST_DEVIATIONS = 60_000  # shown
COLOURS = "PuOr"  # distinct with every common colour blindness
EXTREME = 99.0  # percentile of the deviations at which the colours end


@style.styled()
def deviation_map(
    points: Floats, deviation: Floats, nodes: Floats, node_mm: Floats, title: str
) -> Figure:
    """Two views of a scan along its shortest extents, coloured by deviation.

    Parameters
    ----------
    points, deviation : (n, 3) and (n,), mm; of the points near the target's bars
    nodes, node_mm : (k, 3) and (k,), mm; sphere centres and their distances from it
    """
    some = thinned(np.column_stack([points, deviation]), MOST_DEVIATIONS)
    middle, axes = _extents(thinned(points, 5_000))
    limit = float(np.percentile(np.abs(deviation), EXTREME))
    figure, views = _two_views(title, axes, PanelGrid(2, 80.0, 80.0), 8.0)
    for panel, frame in views:
        x, y = ((some[:, :3] - middle) @ frame.T).T
        bars = panel.scatter(
            x, y, c=some[:, 3], s=0.4,
            cmap=COLOURS, vmin=-limit, vmax=limit, linewidths=0, rasterized=True,
        )  # fmt: skip
        x, y = ((nodes - middle) @ frame.T).T
        centres = panel.scatter(
            x, y, c=node_mm, s=18.0, cmap="cividis",
            vmin=0.0, edgecolors="black", linewidths=0.4,
        )  # fmt: skip
    figure.colorbar(bars, ax=views[1][0], label="point distance from bars (mm)")
    figure.colorbar(centres, ax=views[0][0], label="centre distance from target (mm)")
    return figure
