"""A triangle mesh as target."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from sim.arrays import Floats, Ints
from sim.morph.targets.protocol import Wireframe
from sim.morph.targets.smooth_cloud import NEIGHBOURS, SmoothCloud

FEWEST, MOST = 200, 20_000  # points that the rounded surface goes through, about


@dataclass(frozen=True, eq=False)
class MeshTarget:
    """The nearest point of triangles, exact to rounding.

    Attributes
    ----------
    vertices : (v, 3)
    triangles : (t, 3) numbers of vertices
    """

    vertices: Floats
    triangles: Ints

    def __post_init__(self) -> None:
        if len(self.triangles) == 0:
            raise ValueError("the target has no triangles: is it a mesh?")
        if not np.isfinite(self.vertices).all():
            raise ValueError("the target has vertices that are not finite: drop them")
        if self.triangles.min() < 0 or self.triangles.max() >= len(self.vertices):
            raise ValueError(
                f"a triangle of the target names a vertex that is not there: "
                f"it has vertices 0 to {len(self.vertices) - 1}"
            )

    @cached_property
    def _corners(self) -> Floats:
        corners: Floats = self.vertices[self.triangles]
        return corners

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self._corners.mean(axis=1))

    @cached_property
    def _reach(self) -> float:
        """Largest distance of a corner from the middle of its triangle."""
        middle = self._corners.mean(axis=1, keepdims=True)
        return float(np.linalg.norm(self._corners - middle, axis=2).max())

    def closest(self, points: Floats) -> Floats:
        """Try every triangle whose middle is near enough to hold the nearest point."""
        some = min(8, len(self.triangles))
        _, near = self._tree.query(points, k=some)
        near = near.reshape(len(points), some)
        flat = np.repeat(points, some, axis=0)
        first = closest_on_triangles(flat, self._corners[near.ravel()])
        distance = np.linalg.norm(first - flat, axis=1).reshape(len(points), some)
        best = first.reshape(len(points), some, 3)
        rows = np.arange(len(points))
        goals: Floats = best[rows, distance.argmin(axis=1)]
        radius = distance.min(axis=1) + self._reach
        lists = self._tree.query_ball_point(points, radius)
        owner = np.repeat(rows, [len(found) for found in lists])
        every = np.concatenate([np.asarray(found, dtype=np.int64) for found in lists])
        feet = closest_on_triangles(points[owner], self._corners[every])
        distance = np.linalg.norm(feet - points[owner], axis=1)
        order = np.lexsort((distance, owner))
        firsts = order[np.searchsorted(owner[order], rows)]
        goals[owner[firsts]] = feet[firsts]
        return goals

    @cached_property
    def rounded(self) -> SmoothCloud | None:
        """The smooth surface of its vertices, and of points between where they are far
        apart; None where these are no surface."""
        points = spread_points(self._corners)
        return SmoothCloud.of(points) if len(points) > NEIGHBOURS else None

    def wireframe(self, around: Floats) -> Wireframe:
        """The sides of the triangles."""
        del around
        t = self.triangles
        sides = np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]])
        return Wireframe(self.vertices, np.unique(np.sort(sides, axis=1), axis=0))


def spread_points(corners: Floats) -> Floats:
    """(p, 3) points of triangles (t, 3, 3), about as far apart as corners mostly are.

    Triangles are cut in halves across their longest side until that is no longer than
    1.5 times the median one, and one corner is kept of each cube of half of it.
    """
    lengths = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = 0.5 * float(np.linalg.norm(across, axis=1).sum())
    spacing = float(np.median(lengths))
    spacing = float(np.clip(spacing, np.sqrt(area / MOST), np.sqrt(area / FEWEST)))
    if spacing == 0.0:
        return np.zeros((0, 3))
    done: list[Floats] = []
    while len(corners):
        lengths = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
        short = lengths.max(axis=1) <= 1.5 * spacing
        done.append(corners[short].reshape(-1, 3))
        first = lengths[~short].argmax(axis=1)[:, None] + np.arange(3)
        a, b, c = np.take_along_axis(
            corners[~short], (first % 3)[:, :, None], axis=1
        ).transpose(1, 0, 2)
        middle = 0.5 * (a + b)
        corners = np.concatenate(
            [np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)]
        )
    points = np.concatenate(done)
    cubes = np.floor(points / (0.5 * spacing))
    return points[np.sort(np.unique(cubes, axis=0, return_index=True)[1])]


def closest_on_triangles(p: Floats, corners: Floats) -> Floats:
    """(q, 3) the point of each triangle nearest to each p.

    The foot on the plane if it is inside, else the nearest of the feet on the sides.

    Parameters
    ----------
    p : (q, 3)
    corners : (q, 3, 3)
    """
    best = np.full_like(p, np.inf)
    least = np.full(len(p), np.inf)
    for i in range(3):
        a, d = corners[:, i], corners[:, (i + 1) % 3] - corners[:, i]
        size = np.maximum(np.einsum("qi,qi->q", d, d), 1e-300)
        t = np.clip(np.einsum("qi,qi->q", p - a, d) / size, 0.0, 1.0)
        foot = a + t[:, None] * d
        distance = np.linalg.norm(foot - p, axis=1)
        best[distance < least] = foot[distance < least]
        least = np.minimum(distance, least)
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    n = np.cross(b - a, c - a)
    size = np.einsum("qi,qi->q", n, n)
    flat = size > 0.0
    safe = np.where(flat, size, 1.0)
    height = np.einsum("qi,qi->q", p - a, n) / safe
    foot = p - height[:, None] * n
    inside = flat.copy()
    for u, v in ((a, b), (b, c), (c, a)):
        inside &= np.einsum("qi,qi->q", np.cross(v - u, foot - u), n) >= 0.0
    best[inside] = foot[inside]
    return best
