"""Drawing a mechanism in three dimensions: nodes, links, bodies, target."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection
from scipy.spatial import ConvexHull

from analysis.figures.style import SCANNED, SCANNED_EDGE, SIMULATED, TARGET
from sim.arrays import Floats, Ints

MOST_POINTS = 300  # of a target that are drawn one by one


@dataclass(frozen=True, eq=False)
class LineDrawing:
    """Straight lines between points: a target as it is drawn.

    Parameters
    ----------
    vertices : (p, 3)
    edges : (q, 2) indices into `vertices`
    """

    vertices: Floats
    edges: Ints

    def lines(self) -> Floats:
        """(q, 2, 3) the two ends of every line."""
        ends: Floats = self.vertices[self.edges]
        return ends


def links_of(bodies: tuple[tuple[int, ...], ...]) -> Ints:
    """(q, 2) the links: bodies of two nodes."""
    found = [body for body in bodies if len(body) == 2]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def solids_of(bodies: tuple[tuple[int, ...], ...]) -> list[tuple[int, ...]]:
    """Bodies of three nodes or more."""
    return [body for body in bodies if len(body) > 2]


def faces(r: Floats, body: tuple[int, ...]) -> list[Floats]:
    """Polygons that show a body: one if it is flat, else its nodes' triangles.

    Flat bodies are drawn with their nodes in order around the middle.
    """
    x = r[list(body)]
    away = x - x.mean(axis=0)
    _, extent, axes = np.linalg.svd(away)
    if len(body) == 3 or extent[2] < 1e-3 * extent[0]:
        angle = np.arctan2(away @ axes[1], away @ axes[0])
        return [x[np.argsort(angle, kind="stable")]]
    n = len(body)
    return [
        x[[i, j, k]] for i in range(n) for j in range(i + 1, n) for k in range(j + 1, n)
    ]


def draw_mechanism(
    ax: Axes3D, r: Floats, bodies: tuple[tuple[int, ...], ...], **style: Any
) -> None:
    """Links as lines, bodies filled, nodes as circles.

    Parameters
    ----------
    r : (n, 3) node positions
    style : colour, alpha, size of the nodes
    """
    colour = style.get("colour", SIMULATED)
    alpha = style.get("alpha", 1.0)
    polygons = [face for body in solids_of(bodies) for face in faces(r, body)]
    if polygons:
        ax.add_collection3d(
            Poly3DCollection(
                polygons,
                facecolors=(*_rgb(colour), 0.22 * alpha),
                edgecolors=(*_rgb(colour), 0.9 * alpha),
                linewidths=0.5,
            )
        )
    links = links_of(bodies)
    if len(links):
        ax.add_collection3d(
            Line3DCollection(r[links], colors=colour, alpha=alpha, linewidths=0.7)
        )
    ax.scatter(
        *r.T,
        s=style.get("size", 3.0),
        facecolors=style.get("fill", "white"),
        edgecolors=colour,
        linewidths=0.5,
        alpha=alpha,
        depthshade=False,
    )


def draw_capsules(
    ax: Axes3D, r: Floats, capsules: tuple[tuple[int, int, float], ...]
) -> None:
    """Outlines of capsules in a plane of constant z, filled.

    Parameters
    ----------
    r : (n, 3) node positions
    capsules : two nodes and a radius each
    """
    outlines = []
    for a, b, radius in capsules:
        turn = np.arctan2(*(r[b] - r[a])[1::-1])
        half = turn + np.linspace(-0.5, 0.5, 12) * np.pi
        ends = [(r[b], half), (r[a], half + np.pi)]
        outlines.append(np.concatenate([
            x + radius * np.column_stack([np.cos(t), np.sin(t), np.zeros_like(t)])
            for x, t in ends
        ]))  # fmt: skip
    if outlines:
        colour = (*_rgb(TARGET), 0.25)
        ax.add_collection3d(
            Poly3DCollection(outlines, facecolors=colour, edgecolors="none")
        )


def draw_spheres(ax: Axes3D, r: Floats, size: float = 9.0) -> None:
    """Scanned spheres, filled so that they are told from simulated nodes in grey."""
    ax.scatter(
        *r.T,
        s=size,
        facecolors=SCANNED,
        edgecolors=SCANNED_EDGE,
        linewidths=0.4,
        depthshade=False,
    )


def draw_target(ax: Axes3D, target: LineDrawing) -> None:
    """The target behind everything else; crosses where it is points alone."""
    if len(target.edges):
        ax.add_collection3d(
            Line3DCollection(target.lines(), colors=TARGET, linewidths=0.35, alpha=0.7)
        )
    elif len(target.vertices) <= MOST_POINTS:
        ax.scatter(
            *target.vertices.T,
            s=16.0,
            marker="+",
            color=TARGET,
            linewidths=0.6,
            depthshade=False,
        )


def frame(ax: Axes3D, everything: Floats, view: tuple[float, float]) -> None:
    """Equal scales, no axes, the same extent whichever state is drawn.

    Parameters
    ----------
    everything : (q, 3) points that must fit
    view : elevation and azimuth, degrees
    """
    low, high = everything.min(axis=0), everything.max(axis=0)
    span = np.maximum(high - low, 0.25 * (high - low).max())
    middle = (low + high) / 2
    ax.set_proj_type("ortho")
    ax.set_xlim(middle[0] - span[0] / 2, middle[0] + span[0] / 2)
    ax.set_ylim(middle[1] - span[1] / 2, middle[1] + span[1] / 2)
    ax.set_zlim(middle[2] - span[2] / 2, middle[2] + span[2] / 2)
    ax.set_box_aspect(span, zoom=1.0)
    ax.view_init(*view)
    ax.set_axis_off()


def best_view(final: Floats, initial: Floats) -> tuple[float, float]:
    """Elevation and azimuth, degrees, from which the final shape covers most paper.

    The initial one counts a third; a flat shape is thus seen from above at a slant.
    """
    slants = (-70.0, -55.0, -35.0, -20.0)  # never along an axis, where depth is lost
    views = [(e, a) for e in (30.0, 45.0, 60.0) for a in slants]
    seen = [_area(final, v) + _area(initial, v) / 3 for v in views]
    elevation, azimuth = views[int(np.argmax(seen))]
    return elevation, azimuth


def view_of(states: Floats) -> tuple[float, float]:
    """The view of all figures of a motion (steps, n, 3): that of its end and start.

    From above where everything stays in a plane of constant z.
    """
    if np.ptp(states[..., 2]) <= 1e-9 * np.ptp(states):
        return 90.0, -90.0
    return best_view(states[-1], states[0])


def _area(r: Floats, view: tuple[float, float]) -> float:
    """Area of the convex outline of `r` seen from a direction."""
    elevation, azimuth = np.deg2rad(view)
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    towards = np.array(
        [
            np.cos(elevation) * np.cos(azimuth),
            np.cos(elevation) * np.sin(azimuth),
            np.sin(elevation),
        ]
    )
    flat = r @ np.stack([right, np.cross(towards, right)], axis=1)
    if np.linalg.matrix_rank(flat - flat.mean(axis=0), tol=1e-9) < 2:
        return 0.0
    return float(ConvexHull(flat).volume)


def _rgb(colour: str) -> tuple[float, float, float]:
    text = colour.lstrip("#")
    return (
        int(text[0:2], 16) / 255,
        int(text[2:4], 16) / 255,
        int(text[4:6], 16) / 255,
    )
