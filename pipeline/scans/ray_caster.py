"""What rays meet: the part as meshes for Open3D, balls as exact spheres."""

from typing import Any

import numpy as np
from trimesh import Trimesh

from pipeline.scans.open3d_loader import open3d
from sim.arrays import Bools, Floats
from sim.lab.part import Part
from sim.lab.rays import BAR, NOTHING, Hits


class RayCaster:
    """A part prepared for casting rays."""

    def __init__(self, part: Part, balls: Trimesh, solids: Trimesh | None) -> None:
        """Take equal meshes of all balls, which only find them, and one of all else."""
        o3d = open3d()
        self._part = part
        self._tensor = o3d.core.Tensor
        self._scene: Any = o3d.t.geometry.RaycastingScene()
        self._faces = len(balls.faces) // len(part.balls)
        self._add(balls)
        if solids is not None:
            self._add(solids)

    def _add(self, mesh: Trimesh) -> None:
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
        reached: Bools = found > length - 0.1  # mm: facets and float32
        return reached
