"""What rays meet: the part as meshes for Open3D, balls as exact spheres."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.open3d_loader import open3d
from pipeline.scanner.part import Part
from sim.arrays import Bools, Floats, Ints

SIDES = 20  # of a bar's mesh
RESOLUTION = 20  # of a ball's mesh, which only finds the ball: 40 meridians
NOTHING, BAR = -2, -1


@dataclass(frozen=True, eq=False)
class Hits:
    """The first surface along each ray."""

    distance: Floats  # (r,) inf where there is nothing
    solid: Ints  # (r,) number of the ball, BAR or NOTHING
    normal: Floats  # (r, 3) outward unit normal of the surface


class Scene:
    """A part prepared for casting rays."""

    def __init__(self, part: Part) -> None:
        o3d = open3d()
        self._part = part
        self._tensor = o3d.core.Tensor
        self._scene: Any = o3d.t.geometry.RaycastingScene()
        ball = o3d.t.geometry.TriangleMesh.create_sphere(part.radius, RESOLUTION)
        vertices = ball.vertex.positions.numpy().astype(np.float64)
        faces = ball.triangle.indices.numpy()
        self._faces = len(faces)
        self._add(*_copies(vertices, faces, part.balls))
        if len(part.starts):
            self._add(*bar_mesh(part.starts, part.ends, part.radii))

    def _add(self, vertices: Floats, faces: Ints) -> None:
        self._scene.add_triangles(
            self._tensor(np.ascontiguousarray(vertices, dtype=np.float32)),
            self._tensor(np.ascontiguousarray(faces, dtype=np.uint32)),
        )

    def cast(self, origin: Floats, directions: Floats) -> Hits:
        """The first surface along rays from `origin` (3,), unit `directions` (r, 3)."""
        rays = np.empty((len(directions), 6), dtype=np.float32)
        rays[:, :3], rays[:, 3:] = origin, directions
        found = self._scene.cast_rays(self._tensor(rays))
        distance = found["t_hit"].numpy().astype(np.float64)
        mesh = found["geometry_ids"].numpy()
        solid = np.where(
            mesh == 0,
            found["primitive_ids"].numpy().astype(np.int64) // self._faces,
            BAR,
        )
        solid = np.where(np.isfinite(distance), solid, NOTHING).astype(np.int64)
        normal = found["primitive_normals"].numpy().astype(np.float64)
        normal[np.einsum("ij,ij->i", normal, directions) > 0.0] *= -1.0
        return self._exact(Hits(distance, solid, normal), origin, directions)

    def _exact(self, hits: Hits, origin: Floats, directions: Floats) -> Hits:
        """Replace the facets of balls by the sphere |o + t d - c| = R."""
        rays = np.flatnonzero(hits.solid >= 0)
        w = origin - self._part.balls[hits.solid[rays]]
        d = directions[rays]
        wd = np.einsum("ij,ij->i", w, d)
        inside = wd**2 - np.einsum("ij,ij->i", w, w) + self._part.radius**2
        hits.distance[rays] = -wd - np.sqrt(np.maximum(inside, 0.0))
        hits.normal[rays] = (w + hits.distance[rays, None] * d) / self._part.radius
        return hits

    def lit(self, points: Floats, lamp: Floats) -> Bools:
        """Whether each of `points` (r, 3) is seen from `lamp` (3,)."""
        to = points - lamp
        length = np.linalg.norm(to, axis=1)
        rays = np.empty((len(points), 6), dtype=np.float32)
        rays[:, :3], rays[:, 3:] = lamp, to / length[:, None]
        found = self._scene.cast_rays(self._tensor(rays))["t_hit"].numpy()
        gap: Bools = found > length - 0.1  # mm: facets and float32
        return gap


def _copies(vertices: Floats, faces: Ints, centres: Floats) -> tuple[Floats, Ints]:
    """One mesh of equal balls."""
    shifts = len(vertices) * np.arange(len(centres))
    return (
        (centres[:, None] + vertices).reshape(-1, 3),
        (shifts[:, None, None] + faces).reshape(-1, 3),
    )


def bar_mesh(starts: Floats, ends: Floats, radii: Floats) -> tuple[Floats, Ints]:
    """Closed prisms of SIDES sides around the axes: (v, 3) vertices, (f, 3) faces."""
    axis = ends - starts
    axis = axis / np.linalg.norm(axis, axis=1, keepdims=True)
    least = np.eye(3)[np.abs(axis).argmin(axis=1)]
    u = np.cross(axis, least)
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    w = np.cross(axis, u)
    angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
    ring = radii[:, None, None] * (
        np.cos(angle)[:, None] * u[:, None] + np.sin(angle)[:, None] * w[:, None]
    )
    corners = [starts[:, None] + ring, ends[:, None] + ring]
    vertices = np.concatenate([*corners, starts[:, None], ends[:, None]], axis=1)
    k = np.arange(SIDES)
    n = (k + 1) % SIDES
    low, high = np.full(SIDES, 2 * SIDES), np.full(SIDES, 2 * SIDES + 1)
    faces = np.concatenate(
        [
            np.column_stack([k, n, SIDES + k]),
            np.column_stack([n, SIDES + n, SIDES + k]),
            np.column_stack([low, n, k]),
            np.column_stack([high, SIDES + k, SIDES + n]),
        ]
    )
    return _flattened(vertices, faces)


def _flattened(vertices: Floats, faces: Ints) -> tuple[Floats, Ints]:
    shifts = vertices.shape[1] * np.arange(len(vertices))
    return vertices.reshape(-1, 3), (shifts[:, None, None] + faces).reshape(-1, 3)
