"""Points on the faces of a scanned mesh, in which spheres can be found.

Software decimates flat parts more than round ones, and a vertex says nothing of the
faces around it. Points at equal shares of the area weigh the surface alone.
"""

from dataclasses import replace

import numpy as np

from pipeline.io.point_cloud import MESH, Cloud
from sim.core.arrays import Floats, Ints

R2 = np.array([0.7548776662466927, 0.5698402909980532])  # Roberts (2018)
SURFACE_BLOCK = 1 << 18  # points or triangles at a time


def spread_out(cloud: Cloud, radius_mm: float) -> Cloud:
    """A mesh as points on its faces, as close as spheres of that radius need them."""
    if cloud.triangles is None:
        return cloud
    faces = cloud.triangles
    points = points_on(
        cloud.points, faces, MESH.spacing * radius_mm, MESH.largest * radius_mm**2
    )
    if not len(points):
        return replace(cloud, triangles=None)
    note = f"{len(points)} points were spread over the faces of a mesh of {len(faces)}"
    return cloud.noted(note, points=points, triangles=None)


def points_on(
    vertices: Floats, triangles: Ints, spacing: float, largest: float
) -> Floats:
    """Return points (k, 3), one for each square of side `spacing` of the surface.

    In finer meshes there are as many as triangles, in larger ones fewer.

    Parameters
    ----------
    vertices : (n, 3) mm
    triangles : (m, 3)
    spacing : mm
    largest : area above which a triangle counts as one of that area, mm^2: it is flat,
        and no more than that is needed to see so
    """
    area = np.minimum(_areas(vertices, triangles), largest)
    total = float(area.sum())
    if not total > 0.0:
        return np.empty((0, 3))
    many = min(int(total / spacing**2) + 1, MESH.most_points)
    many = max(many, int((area > 0).sum()))
    middle = (np.arange(many) + 0.5) * (total / many)
    chosen = np.searchsorted(np.cumsum(area), middle)
    points = np.empty((many, 3))
    for first in range(0, many, SURFACE_BLOCK):
        part = slice(first, first + SURFACE_BLOCK)
        corners = vertices[triangles[np.minimum(chosen[part], len(area) - 1)]]
        u, v = (np.arange(first + 1, first + len(corners) + 1)[:, None] * R2 % 1.0).T
        beyond = u + v > 1.0
        u, v = np.where(beyond, 1.0 - u, u), np.where(beyond, 1.0 - v, v)
        weights = np.stack([1.0 - u - v, u, v], axis=1)
        points[part] = np.einsum("ij,ijk->ik", weights, corners)
    return points


def _areas(vertices: Floats, triangles: Ints) -> Floats:
    areas = np.empty(len(triangles))
    for first in range(0, len(triangles), SURFACE_BLOCK):
        a, b, c = vertices[triangles[first : first + SURFACE_BLOCK]].transpose(1, 0, 2)
        across = np.linalg.norm(np.cross(b - a, c - a), axis=1)
        areas[first : first + SURFACE_BLOCK] = 0.5 * across
    return areas
