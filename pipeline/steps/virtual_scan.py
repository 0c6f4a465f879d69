"""A simulated end state, printed and scanned in a virtual lab; the scan is synthetic.

It stands in for a real scan until there is one: binary PLY files, one a view, in mm,
in a pose that nobody is told. Every file says that it is synthetic.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from scipy.spatial.transform import Rotation

from pipeline.config.hydra import composed_file
from pipeline.formats.solids import mesh_of
from pipeline.scans.ray_caster import RayCaster
from pipeline.steps.part_sizes import FILE, shared_settings
from pipeline.store.files import read_json, replacing, write_json
from pipeline.store.runs import Job, Needs, Numbers
from pipeline.terminal.errors import InputError
from sim.arrays import Floats, Ints
from sim.lab.measure import ScannedView, measure
from sim.lab.part import Part, clamped_ends, printed_part, rod_pairs
from sim.lab.placing import assembled, body_pairs, posed
from sim.lab.scanner import VirtualLab
from sim.lab.solids import ball
from sim.lab.views import views_around

SETTINGS = Path("conf/scanner.yaml")
BALL_SIDES, BAR_SIDES = 40, 20  # of the polygons that stand for circles
PLACE_MM = 150.0  # half range of the part's place in the scanner's frame


def scanner_settings(path: Path = SETTINGS, parts: Path = FILE) -> dict[str, Any]:
    """The virtual lab: the part's sizes, and what conf/scanner.yaml adds or changes."""
    return {**shared_settings(parts), **composed_file(path)}


def run_step(config: VirtualLab, simulated: Path, out: Path) -> dict[str, Any]:
    """Scan the last step of the run in `simulated`; write its views to `out`.

    Writes view_00.ply and so on, and truth.json, which is for tests only.
    """
    rng = np.random.default_rng([config.seed, 0x5CA9])
    structure = read_json(simulated / "structure.json")
    nodes, target, edges = _end_state(simulated, config.scale_mm)
    bodies = [tuple(body) for body in structure.get("bodies", [])]
    links = np.array([d[:2] for d in structure.get("dist", [])], dtype=np.int64)
    pose = Rotation.from_quat(rng.standard_normal(4))
    shift = rng.uniform(-PLACE_MM, PLACE_MM, 3)
    centre = nodes.mean(axis=0)
    nodes = posed(nodes, pose, shift, centre)
    target = posed(target, pose, shift, centre)
    links = links.reshape(-1, 2)
    rigid = body_pairs([*bodies, *map(tuple, links.tolist())])
    balls = assembled(nodes, rigid, config, rng)
    rods = rod_pairs(nodes, bodies, links)
    clamped = clamped_ends(nodes, bodies, rods)
    part = printed_part(balls, rods, (target, edges), config.sizes, clamped)
    scene = scene_of(part)
    around = views_around(part, config, rng)
    views = [measure(scene, part, view, config, rng) for view in around]
    out.mkdir(parents=True, exist_ok=True)
    for number, view in enumerate(views):
        write_view(out / f"view_{number:02d}.ply", view, config)
    write_json(out / "truth.json", _truth(config, balls, part, views, pose, shift))
    return _numbers(part, views)


def scene_of(part: Part) -> RayCaster:
    """The part as a scanner meets it."""
    one = ball(part.radius, BALL_SIDES)
    balls = mesh_of([one.at(centre) for centre in part.balls], BALL_SIDES)
    solids = mesh_of(part.solids, BAR_SIDES) if part.solids else None
    return RayCaster(part, balls, solids)


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Scan the simulation that a planned job names."""
    return run_step(VirtualLab(**job.config), needs["simulated"], out)


def _end_state(simulated: Path, scale_mm: float) -> tuple[Floats, Floats, Ints]:
    """Nodes, target vertices (mm) and target edges of a finished morph run."""
    path = simulated / "steps.npz"
    try:
        with np.load(path) as steps:
            nodes = steps["r"][-1] * scale_mm
            if "target_vertices" not in steps:
                return nodes, np.empty((0, 3)), np.empty((0, 2), dtype=np.int64)
            vertices = np.asarray(steps["target_vertices"], dtype=np.float64)
            return nodes, vertices * scale_mm, steps["target_edges"].astype(np.int64)
    except (OSError, KeyError, ValueError) as error:
        raise InputError(
            f"{path} holds no steps of a morph run ({error}): simulate a case first"
        ) from error


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
    balls: Floats,
    part: Part,
    views: list[ScannedView],
    pose: Rotation,
    shift: Floats,
) -> dict[str, Any]:
    """What a real scan does not come with."""
    many = len(part.balls)
    return {
        "synthetic": True,
        "lab": asdict(config),
        "centres_mm": balls.tolist(),
        "rotation": pose.as_matrix().tolist(),
        "shift_mm": shift.tolist(),
        "points_per_ball": [
            np.bincount(v.solid[v.solid >= 0], minlength=many).tolist() for v in views
        ],
    }


def overlapping(part: Part) -> int:
    """Pairs of balls that no printer could make at this scale."""
    return int((pdist(part.balls) < 2.0 * part.radius).sum())


def _numbers(part: Part, views: list[ScannedView]) -> dict[str, Any]:
    points = np.array([len(view.points) for view in views])
    on_balls = np.concatenate([view.solid[view.solid >= 0] for view in views])
    per_ball = np.bincount(on_balls, minlength=len(part.balls))
    return {
        "synthetic": True,
        "views": len(views),
        "points": int(points.sum()),
        "balls": len(part.balls),
        "fewest_points_on_a_ball": int(per_ball.min()),
        "overlapping_balls": overlapping(part),
        "unit": "mm",
    }
