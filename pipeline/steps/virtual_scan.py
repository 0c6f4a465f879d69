"""A simulated end state, printed and scanned in a virtual lab by casting rays.

It stands in for a real scan until there is one: binary PLY files, one a view, in mm,
in a hidden pose. Every file says that it is synthetic.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from scipy.spatial.transform import Rotation
from trimesh import Trimesh

from pipeline.io.mesh_writers import mesh_of
from pipeline.runs.atomic_files import read_json, replacing, write_json
from pipeline.runs.run_directory import Job, Needs, Numbers
from pipeline.runs.simulated_run import read_simulated
from pipeline.scans.open3d_loader import open3d
from sim.core.arrays import Bools, Floats, body_pairs
from sim.virtual_lab.assembled_part import (
    Part,
    assembled,
    clamped_ends,
    posed,
    printed_part,
    rod_pairs,
)
from sim.virtual_lab.lab_settings import VirtualLab
from sim.virtual_lab.scan import BAR, NOTHING, Hits, ScannedView, measure, views_around
from sim.virtual_lab.solids_of_revolution import sphere


class RayCaster:
    """A part prepared for casting rays."""

    def __init__(self, part: Part, spheres: Trimesh, solids: Trimesh | None) -> None:
        """Take meshes of the spheres, which only find them, and of the rest."""
        o3d = open3d()
        self._part = part
        self._tensor = o3d.core.Tensor
        self._scene: Any = o3d.t.geometry.RaycastingScene()
        self._faces = len(spheres.faces) // len(part.spheres)
        self._add(spheres)
        if solids is not None:
            self._add(solids)

    def _add(self, mesh: Trimesh) -> None:
        self._scene.add_triangles(
            self._tensor(np.ascontiguousarray(mesh.vertices, dtype=np.float32)),
            self._tensor(np.ascontiguousarray(mesh.faces, dtype=np.uint32)),
        )

    def cast(self, origin: Floats, directions: Floats) -> Hits:
        """The first surface along rays from `origin` (3,), unit `directions` (r, 3)."""
        found = self._first_hits(origin, directions)
        distance = found["t_hit"].numpy().astype(np.float64)
        sphere = found["primitive_ids"].numpy().astype(np.int64) // self._faces
        solid = np.where(found["geometry_ids"].numpy() == 0, sphere, BAR)
        solid = np.where(np.isfinite(distance), solid, NOTHING).astype(np.int64)
        normal = found["primitive_normals"].numpy().astype(np.float64)
        normal[np.einsum("ij,ij->i", normal, directions) > 0.0] *= -1.0
        return self._exact(Hits(distance, solid, normal), origin, directions)

    def _first_hits(self, origin: Floats, directions: Floats) -> Any:
        """What Open3D finds along rays."""
        rays = np.empty((len(directions), 6), dtype=np.float32)
        rays[:, :3], rays[:, 3:] = origin, directions
        return self._scene.cast_rays(self._tensor(rays))

    def _exact(self, hits: Hits, origin: Floats, directions: Floats) -> Hits:
        """Replace the facets of spheres by the sphere |o + t d - c| = R."""
        rays = np.flatnonzero(hits.solid >= 0)
        w = origin - self._part.spheres[hits.solid[rays]]
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
        found = self._first_hits(lamp, to / length[:, None])["t_hit"].numpy()
        reached: Bools = found > length - 0.1  # mm: facets and float32
        return reached


BALL_SIDES, BAR_SIDES = 40, 20  # of the polygons that stand for circles
PLACE_MM = 150.0  # half range of the part's place in the scanner's frame


def run_step(config: VirtualLab, simulated: Path, out: Path) -> dict[str, Any]:
    """Scan the last step of the run in `simulated`; write its views to `out`.

    Writes view_00.ply and so on, and truth.json, which is for tests only.
    """
    rng = np.random.default_rng([config.seed, 0x5CA9])
    run, structure = read_simulated(simulated), read_json(simulated / "structure.json")
    nodes, target = config.scale_mm * run.r[-1], config.scale_mm * run.target_vertices
    bodies = list(run.bodies)
    links = np.array([d[:2] for d in structure.get("dist", [])], dtype=np.int64)
    pose = Rotation.from_quat(rng.standard_normal(4))
    shift = rng.uniform(-PLACE_MM, PLACE_MM, 3)
    moved = pose, shift, nodes.mean(axis=0)
    nodes, target = posed(nodes, *moved), posed(target, *moved)
    links = links.reshape(-1, 2)
    rigid = body_pairs([*bodies, *map(tuple, links.tolist())])
    spheres = assembled(nodes, rigid, config, rng)
    rods = rod_pairs(nodes, bodies, links)
    clamped = clamped_ends(nodes, bodies, rods)
    part = printed_part(spheres, rods, (target, run.target_edges), config, clamped)
    scene = scene_of(part)
    around = views_around(part, config, rng)
    views = [measure(scene, part, view, config, rng) for view in around]
    out.mkdir(parents=True, exist_ok=True)
    for number, view in enumerate(views):
        write_view(out / f"view_{number:02d}.ply", view, config)
    write_json(out / "truth.json", _truth(config, spheres, part, views, pose, shift))
    return _numbers(part, views)


def scene_of(part: Part) -> RayCaster:
    """The part as a scanner meets it."""
    one = sphere(part.radius, BALL_SIDES)
    spheres = mesh_of([one.at(centre) for centre in part.spheres], BALL_SIDES)
    solids = mesh_of(part.solids, BAR_SIDES) if part.solids else None
    return RayCaster(part, spheres, solids)


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Scan the simulation that a job names."""
    return run_step(VirtualLab(**job.config), needs["simulated"], out)


def write_view(path: Path, view: ScannedView, config: VirtualLab) -> None:
    """One view as a binary PLY that says what it is."""
    camera = " ".join(f"{x:.6f}" for x in view.camera)
    header = (
        "ply\nformat binary_little_endian 1.0\n"
        "comment synthetic: made by morphtrack virtual_scan, no scanner measured this\n"
        f"comment seed {config.seed}\ncomment unit mm\ncomment viewpoint {camera}\n"
        f"element vertex {len(view.points)}\n"
        "property float x\nproperty float y\nproperty float z\nend_header\n"
    )
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(header.encode())
        file.write(np.ascontiguousarray(view.points, dtype="<f4").tobytes())


def _truth(
    config: VirtualLab,
    spheres: Floats,
    part: Part,
    views: list[ScannedView],
    pose: Rotation,
    shift: Floats,
) -> dict[str, Any]:
    """What a real scan does not come with."""
    many = len(part.spheres)
    return {
        "synthetic": True,
        "lab": asdict(config),
        "centres_mm": spheres.tolist(),
        "rotation": pose.as_matrix().tolist(),
        "shift_mm": shift.tolist(),
        "points_per_ball": [
            np.bincount(v.solid[v.solid >= 0], minlength=many).tolist() for v in views
        ],
    }


def overlapping(part: Part) -> int:
    """Pairs of spheres that no printer could make at this scale."""
    return int((pdist(part.spheres) < 2.0 * part.radius).sum())


def _numbers(part: Part, views: list[ScannedView]) -> dict[str, Any]:
    points = np.array([len(view.points) for view in views])
    on_balls = np.concatenate([view.solid[view.solid >= 0] for view in views])
    per_ball = np.bincount(on_balls, minlength=len(part.spheres))
    return {
        "synthetic": True,
        "views": len(views),
        "points": int(points.sum()),
        "balls": len(part.spheres),
        "fewest_points_on_a_ball": int(per_ball.min()),
        "overlapping_balls": overlapping(part),
        "unit": "mm",
    }
