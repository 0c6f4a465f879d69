"""Drawing a mechanism in three dimensions: nodes, links, bodies, target."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull

from analysis.figures.panel_3d import PaintedScene, View, axes_of, body_faces, paler
from analysis.figures.style import SCANNED, SCANNED_EDGE, SIMULATED, TARGET
from sim.core.arrays import Floats, Ints

ABOVE: View = (90.0, -90.0)
MOST_POINTS = 300  # of a target that are shown one by one


@dataclass(frozen=True, eq=False)
class LineDrawing:
    """Straight lines between points: a target as it is shown.

    Parameters
    ----------
    vertices : (p, 3)
    edges : (q, 2) indices into `vertices`
    """

    vertices: Floats
    edges: Ints

    def lines(self) -> Floats:
        """(q, 2, 3) the two ends of every line."""
        return np.asarray(self.vertices[self.edges])


def faces(r: Floats, body: tuple[int, ...]) -> list[Floats]:
    """Polygons that show a body: one if it is flat, else the triangles of its hull.

    Flat bodies are shown with their nodes in order around the middle.
    """
    return [r[corners] for corners in body_faces(r, body)]


def draw_mechanism(
    scene: PaintedScene, r: Floats, bodies: tuple[tuple[int, ...], ...], **style: Any
) -> None:
    """Links as lines, bodies filled, nodes as circles.

    Parameters
    ----------
    r : (n, 3) node positions
    style : colour, alpha (how pale), size of the nodes in pt, lift; target
    """
    if "target" in style:
        draw_target(scene, style["target"])
    colour, alpha = style.get("colour", SIMULATED), style.get("alpha", 1.0)
    pen, lift = paler(colour, alpha), style.get("lift", 0.0)
    fill = paler(colour, 0.3 * alpha)
    for body in (body for body in bodies if len(body) > 2):
        own = faces(r, body)
        scene.faces(own, fill, edge=pen, lit=len(own) > 1, lift=lift)
    links = [body for body in bodies if len(body) == 2]
    scene.lines(
        r[np.array(links, dtype=np.int64).reshape(-1, 2)], pen, 0.9, lift=0.006 + lift
    )
    white = "white" if alpha == 1.0 else paler(colour, 0.1)
    scene.dots(r, pen, style.get("size", 2.2), fill=white, rim=0.45, lift=0.03 + lift)


def draw_spheres(scene: PaintedScene, r: Floats) -> None:
    """Scanned spheres, filled so that they differ from simulated nodes in grey."""
    scene.dots(r, SCANNED_EDGE, 3.2, fill=SCANNED, rim=0.4, lift=0.06)


def draw_target(scene: PaintedScene, target: LineDrawing) -> None:
    """The target: lines, or crosses where it is points alone."""
    if len(target.edges):
        scene.lines(target.lines(), paler(TARGET, 0.8), 0.35, lift=-0.002)
    elif len(target.vertices) <= MOST_POINTS:
        scene.crosses(target.vertices, TARGET)


def best_view(final: Floats, initial: Floats) -> View:
    """Elevation and azimuth, degrees, from which the final shape covers most paper.

    The initial one counts a third; a flat shape is thus seen from above at a slant.
    """
    slants = (-70.0, -55.0, -35.0, -20.0)  # never along an axis, where depth is lost
    views = [(e, a) for e in (30.0, 45.0, 60.0) for a in slants]
    seen = [_area(final, v) + _area(initial, v) / 3 for v in views]
    elevation, azimuth = views[int(np.argmax(seen))]
    return elevation, azimuth


def view_of(states: Floats) -> View:
    """The view of all figures of a motion (steps, n, 3): that of its end and start.

    From above where everything stays in a plane of constant z.
    """
    if np.ptp(states[..., 2]) <= 1e-9 * np.ptp(states):
        return ABOVE
    return best_view(states[-1], states[0])


def _area(r: Floats, view: View) -> float:
    """Area of the convex outline of `r` seen from a direction."""
    flat = r @ axes_of(view)[:2].T
    if np.linalg.matrix_rank(flat - flat.mean(axis=0), tol=1e-9) < 2:
        return 0.0
    return float(ConvexHull(flat).volume)
