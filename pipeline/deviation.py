"""E of a scan and its deviation from the target: python -m pipeline.deviation.

Finds the printed target among the scan's points, and from there the distance of every
scanned node to it. OUT receives target.json (pose, E with uncertainty), nodes.csv,
deviation.npz (points and their distance from the target's bars) and deviation.png.

Example:
  python -m pipeline.deviation --spheres INGEST --compared COMPARISON --simulated RUN
    --scale-mm 40 --out DIR
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.alignment import fit_rigid_motion
from analysis.deviation import (
    Placed,
    ScanError,
    Wires,
    deviations,
    off_mechanism,
    place_target,
    scan_error,
)
from analysis.figures.deviation_map import deviation_map
from pipeline.arguments import OneLineParser, output_directory
from pipeline.errors import InputError, command
from pipeline.files import read_json, replacing, write_json
from pipeline.hydra_command import build
from pipeline.simulated_run import SimulatedRun, read_simulated
from sim.arrays import Bools, Floats, Ints
from sim.morph.measures import characteristic_length

SPHERE_REACH = 1.8  # sphere radii around a node that hold its sphere and its clamps
ROD_REACH = 0.8  # sphere radii around a body's edge that hold its rod
AXES = "xyz"


@dataclass(frozen=True)
class Deviation:
    """What is assumed of the print.

    Parameters
    ----------
    scale_mm : mm of the print per unit of the case
    gate_mm : how far from the target, placed by the nodes alone, its points may be
    """

    scale_mm: float
    gate_mm: float = 5.0

    def __post_init__(self) -> None:
        for name in ("scale_mm", "gate_mm"):
            if not 0 < getattr(self, name) < np.inf:
                raise ValueError(
                    f"{name} must be positive, not {getattr(self, name)}: give mm"
                )


@dataclass(frozen=True, eq=False)
class Scanned:
    """A scan as ingest and compare left it, mm."""

    points: Floats  # (m, 3)
    nodes: Floats  # (n, 3) nan where missing
    seen: Bools  # (n,) whose sphere was found
    covariance: Floats  # (3 k, 3 k) of the seen nodes
    radius: float
    synthetic: bool


def run_step(
    config: Deviation, spheres: Path, compared: Path, simulated: Path, out: Path
) -> dict[str, Any]:
    """Place the target in a scan and measure from it; write the results to `out`."""
    run, scan = read_simulated(simulated), read_scanned(spheres, compared)
    if len(scan.nodes) != len(run.r[0]):
        raise InputError(
            f"{compared} has {len(scan.nodes)} nodes, {simulated} {len(run.r[0])}: "
            "give the run that was compared"
        )
    if not len(run.target_edges):
        raise InputError(f"{simulated} has no target to print: its nodes have goals")
    wires = Wires.of(config.scale_mm * run.target_vertices, run.target_edges)
    placed, points = _place(config, scan, run, wires)
    closest = goals_of(simulated, config.scale_mm, scan.seen)
    L_mm = config.scale_mm * characteristic_length(run.r[0])
    nodes = scan.nodes[scan.seen]
    error = scan_error(nodes, scan.covariance, closest, placed, L_mm)
    gap = deviations(points, wires, placed)
    near = np.abs(gap) < config.gate_mm
    numbers = _numbers(placed, error, gap[near], scan)
    _write(out, numbers, scan, (placed, error), (points[near], gap[near]))
    return numbers


def read_scanned(spheres: Path, compared: Path) -> Scanned:
    """Points and spheres of an ingest, labelled by a comparison."""
    try:
        points = np.load(spheres / "points.npy").astype(np.float64)
        with np.load(spheres / "covariance.npz") as whole:
            covariance = whole["covariance_mm2"]
        table = pd.read_csv(spheres / "spheres.csv", dtype={"sphere": str})
        nodes = pd.read_csv(compared / "nodes.csv")
        labels = pd.read_csv(compared / "labels.csv", dtype={"sphere": str})
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            f"{spheres} and {compared} are no ingest and its comparison ({error}): "
            "run pipeline.ingest and pipeline.compare first"
        ) from error
    positions = nodes[[f"scanned_{axis}_mm" for axis in AXES]].to_numpy(np.float64)
    row = {name: index for index, name in enumerate(table["sphere"])}
    names = labels["sphere"].fillna("").tolist()
    seen = (nodes["basis"] == "seen").to_numpy() & np.array([n in row for n in names])
    index = np.array([row[n] for n, s in zip(names, seen, strict=True) if s], dtype=int)
    rows = (3 * index[:, None] + np.arange(3)).ravel()
    return Scanned(
        points, positions, seen, covariance[np.ix_(rows, rows)],
        float(table["radius_mm"].median()), bool(table["synthetic"].any()),
    )  # fmt: skip


def _place(
    config: Deviation, scan: Scanned, run: SimulatedRun, wires: Wires
) -> tuple[Placed, Floats]:
    """The target's pose, and the points that are not the mechanism's."""
    nodes = config.scale_mm * run.r[-1]
    start = fit_rigid_motion(nodes[scan.seen], scan.nodes[scan.seen])
    there = np.where(scan.seen[:, None], scan.nodes, start(nodes))
    pairs = _pairs(run)
    free = off_mechanism(
        scan.points,
        there,
        Wires(there[pairs[:, 0]], there[pairs[:, 1]]),
        SPHERE_REACH * scan.radius,
        ROD_REACH * scan.radius,
    )
    points = scan.points[free]
    return place_target(points, wires, start, gate_mm=config.gate_mm), points


def _pairs(run: SimulatedRun) -> Ints:
    """(p, 2) nodes of one body, between which a rod may be."""
    pairs = sorted({pair for body in run.bodies for pair in combinations(body, 2)})
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def goals_of(
    simulated: Path, scale_mm: float, seen: Bools
) -> Callable[[Floats], Floats]:
    """Goals of the seen nodes by the target of the run; followers are their own."""
    try:
        config = read_json(simulated / "run.json")["config"]["case"]["target"]
        lead = read_json(simulated / "structure.json")["leading"]
    except (KeyError, TypeError) as error:
        raise InputError(f"{simulated}/run.json has no case.target: {error}") from error
    target = build(config, "case.target")
    leading = np.zeros(len(seen), dtype=bool)
    leading[lead] = True
    leads = leading[seen]

    def goals(nodes: Floats) -> Floats:
        goal = nodes.copy()
        goal[leads] = scale_mm * target.closest(nodes[leads] / scale_mm)
        return goal

    return goals


def _numbers(
    placed: Placed, error: ScanError, gap: Floats, scan: Scanned
) -> dict[str, Any]:
    return {
        "E_scanned": error.E,
        "E_scanned_u": error.u,
        "E_floor": error.floor,
        "nodes": int(scan.seen.sum()),
        "worst_node": int(np.flatnonzero(scan.seen)[error.distance_mm.argmax()]),
        "worst_mm": float(error.distance_mm.max()),
        "bar_radius_mm": placed.bar_radius,
        "target_points": placed.points,
        "target_rms_mm": placed.rms,
        "deviation_p95_mm": float(np.percentile(np.abs(gap), 95.0)),
        "synthetic": scan.synthetic,
    }


def _write(
    out: Path,
    numbers: dict[str, Any],
    scan: Scanned,
    measured: tuple[Placed, ScanError],
    cloud: tuple[Floats, Floats],
) -> None:
    placed, error = measured
    points, gap = cloud
    title = f"E = {error.E:.2e} ± {error.u:.0e}"
    title = f"synthetic scan: {title}" if scan.synthetic else title
    nodes = scan.nodes[scan.seen]
    figure = deviation_map(points, gap, nodes, error.distance_mm, title)
    table = pd.DataFrame({"node": np.flatnonzero(scan.seen)})
    for axis, name in enumerate(AXES):
        table[f"scanned_{name}_mm"] = nodes[:, axis]
    table["target_distance_mm"] = error.distance_mm
    pose = {
        "rotation": placed.motion.rotation.tolist(),
        "translation_mm": placed.motion.translation.tolist(),
        "pivot_mm": placed.pivot.tolist(),
        "covariance": placed.covariance.tolist(),
    }
    out.mkdir(parents=True, exist_ok=True)
    with replacing(out / "deviation.png") as temporary:
        figure.savefig(temporary, format="png", dpi=200)
    with replacing(out / "deviation.npz") as temporary, temporary.open("wb") as file:
        np.savez(
            file,
            points_mm=points.astype(np.float32),
            deviation_mm=gap.astype(np.float32),
        )
    with replacing(out / "nodes.csv") as temporary:
        table.to_csv(temporary, index=False, lineterminator="\n")
    write_json(out / "target.json", {**numbers, "pose": pose})


@command
def main(argv: list[str] | None = None) -> int:
    """Measure one scan against its target."""
    parser = OneLineParser(
        prog="python -m pipeline.deviation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--spheres", type=Path, required=True, help="directory of an ingest")
    add("--compared", type=Path, required=True, help="directory of its comparison")
    add("--simulated", type=Path, required=True, help="directory of the run compared")
    add("--scale-mm", type=float, required=True, help="mm per unit of the case")
    add("--gate-mm", type=float, default=Deviation.gate_mm, help="search this far")
    add("--out", type=output_directory, required=True, help="directory for results")
    given = parser.parse_args(argv)
    config = Deviation(given.scale_mm, given.gate_mm)
    numbers = run_step(
        config, given.spheres, given.compared, given.simulated, given.out
    )
    for name, value in numbers.items():
        print(
            f"{name}: {value:.4g}" if isinstance(value, float) else f"{name}: {value}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
