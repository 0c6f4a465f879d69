"""Print a simulated end state in a virtual lab, and scan it. The scan is synthetic.

It stands in for a real scan until there is one: binary PLY files, one a view, in mm,
in a pose that nobody is told. Every file says that it is synthetic.
"""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from scipy.spatial.transform import Rotation

from pipeline.arguments import OneLineParser, output_directory
from pipeline.errors import InputError, command
from pipeline.files import read_json, replacing, write_json
from pipeline.printed.part import Part, clamped_ends, printed_part, rod_pairs
from pipeline.printed.sizes import FILE, shared_settings
from pipeline.scanner.lab import VirtualScan
from pipeline.scanner.measure import Measured, scan
from pipeline.scanner.placing import assembled, body_pairs, posed
from pipeline.scanner.views import views_around
from pipeline.yaml_file import read_mapping
from sim.arrays import Floats, Ints

SETTINGS = Path("conf/scanner.yaml")
PLACE_MM = 150.0  # half range of the part's place in the scanner's frame


def scanner_settings(path: Path = SETTINGS, parts: Path = FILE) -> dict[str, Any]:
    """The virtual lab: the part's sizes, and what conf/scanner.yaml adds or changes."""
    return {**shared_settings(parts), **read_mapping(path)}


def run_step(config: VirtualScan, simulated: Path, out: Path) -> dict[str, Any]:
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
    views = scan(part, views_around(part, config, rng), config, rng)
    out.mkdir(parents=True, exist_ok=True)
    for number, view in enumerate(views):
        write_view(out / f"view_{number:02d}.ply", view, config)
    write_json(out / "truth.json", _truth(config, balls, part, views, pose, shift))
    return _numbers(part, views)


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


def write_view(path: Path, view: Measured, config: VirtualScan) -> None:
    """One view as a binary PLY that says what it is."""
    camera = " ".join(f"{x:.6f}" for x in view.camera)
    header = (
        "ply\nformat binary_little_endian 1.0\n"
        "comment synthetic: made by pipeline.virtual_scan, no scanner measured this\n"
        f"comment seed {config.seed}\ncomment unit mm\ncomment viewpoint {camera}\n"
        f"element vertex {len(view.points)}\n"
        "property float x\nproperty float y\nproperty float z\nend_header\n"
    )
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(header.encode())
        file.write(np.ascontiguousarray(view.points, dtype="<f4").tobytes())


def _truth(
    config: VirtualScan,
    balls: Floats,
    part: Part,
    views: list[Measured],
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


def _numbers(part: Part, views: list[Measured]) -> dict[str, Any]:
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


@command
def main(argv: list[str] | None = None) -> int:
    """Scan the end state of a finished simulation."""
    parser = OneLineParser(prog="python -m pipeline.virtual_scan", description=__doc__)
    parser.add_argument("simulated", type=Path, help="directory of a finished run")
    parser.add_argument(
        "--out", type=output_directory, required=True, help="directory for views"
    )
    parser.add_argument("--config", type=Path, default=SETTINGS, help="the virtual lab")
    parser.add_argument("--parts", type=Path, default=FILE, help="the printed part")
    parser.add_argument("--scale-mm", type=float, help="mm per unit of the case")
    parser.add_argument("--seed", type=int, help="another draw of all that is random")
    options = parser.parse_args(argv)
    settings = scanner_settings(options.config, options.parts)
    for name in ("scale_mm", "seed"):
        if getattr(options, name) is not None:
            settings[name] = getattr(options, name)
    config = VirtualScan.from_mapping(settings)
    for name, value in run_step(config, options.simulated, options.out).items():
        print(f"{name}: {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
