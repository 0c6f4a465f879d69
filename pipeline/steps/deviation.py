"""E of a scan, from the printed target found among its points."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.alignment import RigidMotion, fit_rigid_motion
from analysis.comparison.deviation import (
    PlacedTarget,
    ScanError,
    Wires,
    deviations,
    off_mechanism,
    place_target,
    scan_error,
)
from analysis.comparison.error_sources import independent, scale_covariance
from analysis.figures.scans import deviation_map
from analysis.labels.rigid_bodies import ScannedNodes, axes_of, seen_nodes
from analysis.labels.rigid_distances import Mechanism
from pipeline.cases.morph import MorphCase
from pipeline.runs.atomic_files import (
    read_json,
    write_arrays,
    write_json,
    write_picture,
    write_table,
)
from pipeline.runs.case_job import sound_case
from pipeline.runs.run_directory import Job, Needs, Numbers, node_names, run_record
from pipeline.runs.run_keys import file_digest
from pipeline.runs.simulated_run import SimulatedRun, read_simulated
from pipeline.scans.sphere_tables import SphereTable, label_scan, read_spheres
from pipeline.steps.settings import Deviation
from pipeline.terminal import InputError, file_of_step, one_line, refusing
from sim.core.arrays import Floats, body_pairs
from sim.core.options import NotConvergedError
from sim.mechanism.shape_measures import characteristic_length


def morph_case(simulated: Path) -> MorphCase:
    """The case of a finished morph run; another one is refused."""
    case = sound_case(run_record(simulated)["config"])
    if not isinstance(case, MorphCase):
        raise InputError(f"{simulated} is not the run of a morphing case: give one")
    return case


def goals_of(simulated: Path, scale_mm: float) -> Callable[[Floats], Floats]:
    """Goals of all nodes (n, 3), mm, by their places; a follower is its own goal.

    Parameters
    ----------
    simulated : directory of a finished morph run
    scale_mm : mm of the print per unit of the case
    """
    case = morph_case(simulated)
    target, leading = case.shape, case.structure.leading

    def goals(nodes: Floats) -> Floats:
        goal = nodes.copy()
        goal[leading] = scale_mm * target.closest(nodes[leading] / scale_mm)
        return goal

    return goals


NAME = "target.json"


@dataclass(frozen=True, eq=False)
class TargetFile:
    """What target.json says.

    Parameters
    ----------
    placed : the target's pose in the scan; None where it was not found
    reason : why it was not found, or ""
    """

    placed: PlacedTarget | None
    reason: str


def read_target(directory: Path, scale_mm: float, spheres: Path) -> TargetFile:
    """Read DIR/target.json; one of another scan or scale is refused.

    Parameters
    ----------
    spheres : directory of the ingest it must belong to
    """
    path = file_of_step(directory / NAME, "deviation")
    found = read_json(path)
    try:
        if not found["placed"]:
            return TargetFile(None, str(found["reason"]))
        same = found["scale_mm"] == scale_mm
        if not same or found["spheres_sha256"] != _digest(spheres):
            raise InputError(
                f"{path} belongs to another scan or another scale_mm: run "
                "morphtrack deviation again"
            )
        pose = {k: np.asarray(v, dtype=np.float64) for k, v in found["pose"].items()}
        placed = PlacedTarget(
            RigidMotion(pose["rotation"], pose["translation_mm"]),
            pose["covariance"],
            pose["pivot_mm"],
            float(found["bar_radius_mm"]),
            float(found["target_rms_mm"]),
            int(found["target_points"]),
            float(found["target_seen"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path} has no valid {error}: run `morphtrack deviation` again"
        ) from error
    return TargetFile(placed, "")


def _digest(spheres: Path) -> str:
    return file_digest(spheres / "spheres.csv")


SPHERE_REACH = 1.8  # sphere radii around a node that hold its sphere and its clamps
ROD_REACH = 0.8  # sphere radii around a body's edge that hold its rod


@dataclass(frozen=True, eq=False)
class Scanned:
    """The points of a scan, and its nodes as far as their spheres were seen."""

    points: Floats  # (m, 3) mm
    nodes: ScannedNodes
    radius: float  # mm
    synthetic: bool


def run_step(
    config: Deviation, spheres: Path, simulated: Path, out: Path
) -> dict[str, Any]:
    """Place the target in a scan and measure from it; write the results to `out`."""
    run = read_simulated(simulated)
    table = read_spheres(spheres, node_names(simulated))
    if not len(run.target_edges):
        raise InputError(
            f"the target of {simulated} has no lines to print, only points or goals of "
            "nodes: give the case a shape as target"
        )
    wires = Wires.of(config.scale_mm * run.target_vertices, run.target_edges)
    with refusing(ValueError):
        scan = _labelled(config, spheres, table, run)
        placed, points = _place(config, scan, run, wires)
    seen = scan.nodes.known
    nodes = scan.nodes.positions_mm[seen]
    goals = goals_of(simulated, config.scale_mm)
    last = config.scale_mm * run.r[-1]

    def closest(of_seen: Floats) -> Floats:
        every = last.copy()
        every[seen] = of_seen
        return goals(every)[seen]

    axes = axes_of(np.flatnonzero(seen))
    covariance = scan.nodes.covariance_mm2[np.ix_(axes, axes)]
    covariance = covariance + independent(len(nodes), config.registration_sd_mm)
    covariance = covariance + scale_covariance(nodes, config.scan_scale_sd)
    L_mm = config.scale_mm * characteristic_length(run.r[0])
    error = scan_error(nodes, covariance, closest, placed, L_mm)
    gap = deviations(points, wires, placed)
    near = np.abs(gap) < config.gate_mm
    numbers = _numbers(placed, error, gap[near], scan)
    _write(out, scan, error, (points[near], gap[near]))
    pose = {
        "rotation": placed.motion.rotation,
        "translation_mm": placed.motion.translation,
        "pivot_mm": placed.pivot,
        "covariance": placed.covariance,
    }
    whose = {"scale_mm": config.scale_mm, "spheres_sha256": _digest(spheres)}
    write_json(out / NAME, {"placed": True, **numbers, **whose, "pose": pose})
    return numbers


def measure_or_say_why(
    config: Deviation, spheres: Path, simulated: Path, out: Path
) -> dict[str, Any]:
    """The same, but a scan that does not show the target is no failure: it is noted."""
    try:
        return {"placed": True} | run_step(config, spheres, simulated, out)
    except (InputError, NotConvergedError) as error:
        numbers = {"placed": False, "reason": one_line(error)}
        write_json(out / NAME, numbers)
        return numbers


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Look for the target in the scan that a job names."""
    return measure_or_say_why(Deviation(**job.config), out=out, **needs)


def _labelled(
    config: Deviation, spheres: Path, table: SphereTable, run: SimulatedRun
) -> Scanned:
    """Points and spheres of an ingest, its spheres named after the run's nodes."""
    path = file_of_step(spheres / "points.npy", "ingest")
    points = np.load(path, allow_pickle=False).astype(np.float64)
    mechanism = Mechanism(config.scale_mm * run.r[-1], run.rigid)
    labels = label_scan(mechanism, table, config.uncertainty, config.scale_mm)
    nodes = seen_nodes(labels.sphere, table.centres_mm, table.covariance_mm2)
    radius = pd.read_csv(spheres / "spheres.csv")["radius_mm"].median()
    return Scanned(points, nodes, float(radius), table.synthetic)


def _place(
    config: Deviation, scan: Scanned, run: SimulatedRun, wires: Wires
) -> tuple[PlacedTarget, Floats]:
    """The target's pose, and the points that are not the mechanism's."""
    simulated, seen = config.scale_mm * run.r[-1], scan.nodes.known
    start = fit_rigid_motion(simulated[seen], scan.nodes.positions_mm[seen])
    there = np.where(seen[:, None], scan.nodes.positions_mm, start(simulated))
    pairs = body_pairs(run.bodies)  # between which a rod may be
    free = off_mechanism(
        scan.points,
        there,
        Wires(there[pairs[:, 0]], there[pairs[:, 1]]),
        SPHERE_REACH * scan.radius,
        ROD_REACH * scan.radius,
    )
    points = scan.points[free]
    return place_target(points, wires, start, gate_mm=config.gate_mm), points


def _numbers(
    placed: PlacedTarget, error: ScanError, gap: Floats, scan: Scanned
) -> dict[str, Any]:
    seen = np.flatnonzero(scan.nodes.known)
    return {
        "E_scanned": error.E,
        "E_scanned_u": error.u,
        "E_floor": error.floor,
        "nodes": len(seen),
        "worst_node": int(seen[error.distance_mm.argmax()]),
        "worst_mm": float(error.distance_mm.max()),
        "bar_radius_mm": placed.bar_radius,
        "target_points": placed.points,
        "target_rms_mm": placed.rms,
        "target_seen": placed.seen,
        "deviation_p95_mm": float(np.percentile(np.abs(gap), 95.0)),
        "synthetic": scan.synthetic,
    }


def _write(
    out: Path,
    scan: Scanned,
    error: ScanError,
    cloud: tuple[Floats, Floats],
) -> None:
    points, gap = cloud
    title = f"E = {error.E:.2e} ± {error.u:.0e}"
    title = f"synthetic scan: {title}" if scan.synthetic else title
    seen = scan.nodes.known
    nodes = scan.nodes.positions_mm[seen]
    figure = deviation_map(points, gap, nodes, error.distance_mm, title)
    table = pd.DataFrame(nodes, columns=[f"scanned_{name}_mm" for name in "xyz"])
    table.insert(0, "node", np.flatnonzero(seen))
    table["target_distance_mm"] = error.distance_mm
    write_picture(out / "deviation.png", figure)
    clouds = {"points_mm": points, "deviation_mm": gap}
    single = {name: values.astype(np.float32) for name, values in clouds.items()}
    write_arrays(out / "deviation.npz", **single)
    write_table(out / "nodes.csv", table)
