"""E of a scan, from the printed target found among its points."""

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.alignment import fit_rigid_motion
from analysis.figures.deviation_map import deviation_map
from analysis.labels.completion import ScannedNodes, axes_of, seen_nodes
from analysis.labels.mechanism import Mechanism
from analysis.validation.deviation import (
    PlacedTarget,
    ScanError,
    Wires,
    deviations,
    off_mechanism,
    place_target,
    scan_error,
)
from analysis.validation.shape_factors import scale_covariance
from analysis.validation.uncertainty import UncertaintyOptions, independent
from pipeline.results.simulated_run import SimulatedRun, read_simulated
from pipeline.results.target_file import write_placed, write_reason
from pipeline.scans.labels import label_scan
from pipeline.scans.spheres import SphereTable, read_spheres
from pipeline.steps.run_goals import goals_of
from pipeline.store.files import replacing
from pipeline.store.runs import Job, Needs, Numbers
from pipeline.terminal.errors import InputError, one_line
from sim.arrays import Floats, Ints
from sim.convergence import NotConvergedError
from sim.morph.structure.measures import characteristic_length

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
    registration_sd_mm, scan_scale_sd, print_scale_sd, printing_sd_mm : see
        analysis.validation.uncertainty.UncertaintyOptions; spheres are told apart by
        them
    """

    scale_mm: float
    gate_mm: float = 5.0
    registration_sd_mm: float = UncertaintyOptions.registration_sd_mm
    scan_scale_sd: float = UncertaintyOptions.scan_scale_sd
    print_scale_sd: float = UncertaintyOptions.print_scale_sd
    printing_sd_mm: float = UncertaintyOptions.printing_sd_mm

    def __post_init__(self) -> None:
        for name in ("scale_mm", "gate_mm"):
            if not 0 < getattr(self, name) < np.inf:
                raise ValueError(
                    f"{name} must be positive, not {getattr(self, name)}: give mm"
                )
        _ = self.uncertainty  # it checks itself

    @property
    def uncertainty(self) -> UncertaintyOptions:
        """What is known of scanner and printer."""
        return UncertaintyOptions(
            self.registration_sd_mm,
            self.scan_scale_sd,
            self.print_scale_sd,
            self.printing_sd_mm,
        )


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
    run, table = read_simulated(simulated), read_spheres(spheres)
    if not len(run.target_edges):
        raise InputError(
            f"the target of {simulated} has no lines that could be printed: its nodes "
            "have points or goals of their own"
        )
    wires = Wires.of(config.scale_mm * run.target_vertices, run.target_edges)
    try:
        scan = _labelled(config, spheres, table, run)
        placed, points = _place(config, scan, run, wires)
    except ValueError as refused:
        raise InputError(str(refused)) from refused
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
    write_placed(out, placed, numbers, config.scale_mm, spheres)
    return numbers


def measure_or_say_why(
    config: Deviation, spheres: Path, simulated: Path, out: Path
) -> dict[str, Any]:
    """The same, but a scan that does not show the target is no failure: it is noted."""
    try:
        return {"placed": True} | run_step(config, spheres, simulated, out)
    except (InputError, NotConvergedError) as error:
        write_reason(out, one_line(error))
        return {"placed": False, "reason": one_line(error)}


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Look for the target in the scan that a planned job names."""
    config = Deviation(**job.config)
    return measure_or_say_why(config, needs["spheres"], needs["simulated"], out)


def _labelled(
    config: Deviation, spheres: Path, table: SphereTable, run: SimulatedRun
) -> Scanned:
    """Points and spheres of an ingest, its spheres named after the run's nodes."""
    path = spheres / "points.npy"
    if not path.is_file():
        raise InputError(f"{path} does not exist: run morphtrack ingest first")
    points = np.load(path, allow_pickle=False).astype(np.float64)
    mechanism = Mechanism(config.scale_mm * run.r[-1], run.bodies)
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
    table = pd.DataFrame({"node": np.flatnonzero(seen)})
    for axis, name in enumerate(AXES):
        table[f"scanned_{name}_mm"] = nodes[:, axis]
    table["target_distance_mm"] = error.distance_mm
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
