"""What rays meet: the part as meshes for Open3D, balls as exact spheres."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.open3d_loader import open3d
from pipeline.printed.mesh import Mesh, ball, joined
from pipeline.printed.part import Part
from sim.arrays import Bools, Floats, Ints

SIDES = 40  # of a ball's mesh, which only finds the ball
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
        one = ball(part.radius, SIDES)
        self._faces = len(one.faces)
        self._add(joined(one.moved(np.eye(3), centre) for centre in part.balls))
        if len(part.solids.faces):
            self._add(part.solids)

    def _add(self, mesh: Mesh) -> None:
        self._scene.add_triangles(
            self._tensor(np.ascontiguousarray(mesh.vertices, dtype=np.float32)),
            self._tensor(np.ascontiguousarray(mesh.faces, dtype=np.uint32)),
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
