"""A scan compared with a simulation: S, E, node distances, labels and a verdict."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.comparison import error_sources
from analysis.comparison.assumptions import SCAN_SCALE_SD, UncertaintyOptions
from analysis.comparison.compare_scan import (
    Judged,
    LabelledScan,
    Simulation,
    judge_scan,
    listed,
    mirror_remark,
    pose_remark,
    stretch_remark,
    with_printing_error_remark,
    with_scanner_scale_remark,
)
from analysis.comparison.deviation import TargetInScan
from analysis.comparison.verdict_and_budget import Contribution, Verdict
from analysis.figures.scans import scan_picture
from analysis.labels.assign_labels import Labels
from analysis.labels.rigid_distances import Mechanism
from analysis.labels.scoring import NOT_ASSIGNED
from pipeline.cases.morph import MorphCase
from pipeline.io.length_units import unit_named
from pipeline.io.structure_file import unit_of
from pipeline.runs.atomic_files import write_picture, write_table, write_text
from pipeline.runs.case_job import sound_case
from pipeline.runs.run_directory import Job, Needs, Numbers, node_names, run_record
from pipeline.runs.simulated_run import SimulatedRun, read_simulated
from pipeline.scans.scan_page import scan_page
from pipeline.scans.sphere_tables import (
    SphereTable,
    label_scan,
    read_picks,
    read_spheres,
)
from pipeline.steps.deviation import TargetFile, goals_of, read_target
from pipeline.steps.input_uncertainty import PrintedAgain, read_printed_again
from pipeline.steps.settings import ComparisonSettings
from pipeline.terminal import InputError, named_nodes
from sim.core.arrays import Floats

SOURCES = {
    error_sources.CENTRES: "the scan itself, from the ingest",
    error_sources.SCATTER: "rigid lengths in the scan",
    error_sources.STOP: "last steps of the simulation",
    error_sources.INPUT: "sampled prints, simulated",
    error_sources.POSE: "points of the target in the scan",
}
STATED = {
    error_sources.FORM: "scan_form_sd_mm",
    error_sources.VIEWS: "registration_sd_mm",
    error_sources.PRINT_SCALE: "print_scale_sd",
    error_sources.PRINTING: "printing_sd_mm",
    error_sources.PLAY: "joint_play_sd_mm",
    error_sources.SCAN_SCALE: "scan_scale_sd",
}


def basis_of(settings: ComparisonSettings) -> dict[str, str]:
    """The basis of each source of the budget, by its name."""
    found = dict(SOURCES)
    for source, name in STATED.items():
        default = (
            f"default {getattr(UncertaintyOptions, name):g}; {name} was not stated"
        )
        if source == error_sources.SCAN_SCALE:
            default = f"assumed, {100 * SCAN_SCALE_SD:g} %; it was not stated"
        stated = getattr(settings, name) is not None
        found[source] = f"stated: {name}" if stated else default
    return found


UNASSIGNED = "?"


def draw_labels(
    spheres: Path, compared: Path, row: dict[str, Any], frame: Floats
) -> None:
    """Draw an ingest with the labels in `compared`.

    Parameters
    ----------
    row : of its comparison.csv
    frame : (3, 3) axes of the simulation in the scan, as rows
    """
    try:
        points = np.load(spheres / "points.npy").astype(np.float64)
        picks, synthetic = read_picks(spheres)
        labels = pd.read_csv(compared / "labels.csv")
        places = pd.read_csv(compared / "nodes.csv").filter(regex="^simulated_")
    except (OSError, KeyError, ValueError) as error:
        raise InputError(
            f"{spheres} is not an ingest folder ({error}): run morphtrack ingest first"
        ) from error
    nodes, seen = labels.get("name", labels["node"]).astype(str), labels["sphere"]
    node = {seen[j]: nodes[j] for j in seen.dropna().index}
    names = [node.get(one, UNASSIGNED) for one in range(len(picks.spheres))]
    absent = {nodes[j]: places.loc[j].to_numpy() for j in seen.index[seen.isna()]}
    lost, s = row["without_sphere"], "s" * ("," in row["without_sphere"])
    title = (
        f"{row['verdict']}: {row['labelled']} of {row['nodes']} nodes labelled, "
        + (f"no sphere at node{s} {lost}, of the others " if lost else "")
        + f"node {row['worst_node']} is off most: {row['worst_mm']:.2f} mm"
    )
    title = named_nodes(title, list(labels.get("name", ())))
    drawn: Any = {"names": names, "lost": absent}
    page = scan_page(points, picks, title, synthetic=synthetic, **drawn)
    shown = f"synthetic scan: {title}" if synthetic else title
    figure = scan_picture(points, picks, shown, **drawn, simulated=frame)
    write_text(compared / "labels.html", page)
    write_picture(compared / "labels.png", figure)


NOT_SAMPLED = (
    "printing errors of links also move other nodes, which is not counted: run "
    "`morphtrack input_uncertainty`, and compare with --input-uncertainty"
)
NOT_MEASURED = TargetFile(None, "target not measured: run `morphtrack deviation`")


def run_step(
    config: ComparisonSettings,
    spheres: Path,
    simulated: Path,
    out: Path,
    *,
    input_uncertainty: Path | None = None,
    deviation: Path | None = None,
    pictured: bool = True,
) -> dict[str, Any]:
    """Compare the spheres of an ingest with a run; write the tables into `out`.

    Parameters
    ----------
    input_uncertainty, deviation : folders of the steps of these names, where they ran
    pictured : draw the scan with the node on every sphere as well

    Returns
    -------
    the row of comparison.csv
    """
    run, names = read_simulated(simulated), node_names(simulated)
    table = read_spheres(spheres, names)
    try:
        nodes = config.scale_mm * run.r[-1]
        again, target, placed = PrintedAgain(), NOT_MEASURED, None
        if input_uncertainty is not None:
            again = read_printed_again(input_uncertainty, nodes)
        if deviation is not None:
            target = read_target(deviation, config.scale_mm, spheres)
        mechanism, rigid = (Mechanism(nodes, own) for own in (run.bodies, run.rigid))
        labels = label_scan(rigid, table, config.uncertainty, config.scale_mm)
        if target.placed is not None:
            goals = goals_of(simulated, config.scale_mm)
            placed = TargetInScan(target.placed, goals, again.distance_covariance)
        judged = judge_scan(
            Simulation(config.scale_mm * run.r, mechanism, again.covariance),
            LabelledScan(
                labels, table.centres_mm, table.covariance_mm2, placed, table.radius_mm
            ),
            config.uncertainty,
            config.acceptance,
        )
        judged = _with_worst_length(judged)
        left_out = _not_sampled(judged, again, simulated)
        judged = with_printing_error_remark(judged, left_out)
        found = judged.comparison
        unsaid = config.printing_sd_mm is None and "printing_sd_mm" not in found.why
        if unsaid and found.verdict is Verdict.DIFFERS:
            sd = config.uncertainty.printing_sd_mm
            judged = judged.because(f"printing_sd_mm was not stated: {sd:g} is assumed")
        if config.scan_scale_sd is None:
            judged = with_scanner_scale_remark(judged)
        judged = _with_distortions(judged, rigid).because(table.remark)
    except ValueError as error:
        raise InputError(f"{error}{_other_unit(config.scale_mm, simulated)}") from error
    row = {
        **comparison_row(config, table, labels, judged),
        **distance_columns(config, run, target, judged),
    }
    tables = {
        "comparison": pd.DataFrame([row]),
        "budget": budget_table(judged, config),
        "nodes": nodes_table(judged),
        "labels": labels_table(labels, table),
    }
    if names:
        tables |= {k: tables[k].assign(name=list(names)) for k in ("nodes", "labels")}
    for name, written in tables.items():
        write_table(out / f"{name}.csv", written)
    if pictured and (spheres / "points.npy").is_file():
        frame = judged.comparison.alignment.motion.rotation.T
        draw_labels(spheres, out, row, frame)
    return row


def _with_worst_length(judged: Judged) -> Judged:
    """The same; where it differs, with the link and the node that are off most."""
    if not judged.comparison.checks.differing():
        return judged  # a node or a body that is elsewhere is named already
    node, apart, u = _worst_node(judged)
    if judged.comparison.checks.length.differs:
        judged = judged.because(f"largest for link {_length_text(judged)[0]}")
    return judged.because(f"largest at node {node}: {apart:.2f} mm, u {u:.2f} mm")


def _not_sampled(judged: Judged, again: PrintedAgain, simulated: Path) -> str:
    """What to do where the scan may differ since links move nodes, in words."""
    if again.covariance is not None or not judged.comparison.checks.differing():
        return ""
    case = sound_case(run_record(simulated)["config"])
    return NOT_SAMPLED if isinstance(case, MorphCase) else ""


def _with_distortions(judged: Judged, rigid: Mechanism) -> Judged:
    """The same; where it does not agree, with what a distorted scan would say.

    A stretch changes rigid lengths, another state of the mechanism does not.
    """
    if judged.comparison.verdict is Verdict.AGREES:
        return judged
    both = rigid.nodes_mm[judged.used], judged.nodes.positions_mm[judged.used]
    judged = judged.because(mirror_remark(*both))
    if judged.comparison.checks.length.differs:
        return judged.because(stretch_remark(*both))
    return judged.because(pose_remark(judged, rigid))


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Compare what a job names."""
    return run_step(ComparisonSettings(**job.config), out=out, **needs)


def _other_unit(scale_mm: float, simulated: Path) -> str:
    """What to say where scale_mm is not the unit that the structure was written in."""
    unit = unit_of(simulated)
    if not unit or np.isclose(unit_named(unit).mm, scale_mm):
        return ""
    mm = unit_named(unit).mm
    return (
        f"; the structure is written in {unit}: did you mean --scale-mm {mm:g} instead "
        f"of {scale_mm:g} (a factor of {mm / scale_mm:g})?"
    )


def comparison_row(
    config: ComparisonSettings,
    table: SphereTable,
    labels: Labels,
    judged: Judged,
) -> dict[str, Any]:
    """The one row of comparison.csv, without the distance from the target."""
    found, checks = judged.comparison, judged.comparison.checks
    node, apart, u = _worst_node(judged)
    length, z = _length_text(judged)
    return {
        "verdict": found.verdict.value,
        "why": found.why,
        "S_simulated": judged.S_simulated,
        "S_scanned": judged.scanned.S,
        "S_scanned_u": judged.scanned.u,
        "S_bias": judged.scanned.bias,
        "S_error": checks.S.error,
        "S_u_val": checks.S.u,
        "S_limit": checks.S.limit,
        "S_margin": config.S_margin,
        "rms_mm": checks.rms_mm.error,
        "rms_u_val_mm": checks.rms_mm.u,
        "rms_limit_mm": checks.rms_mm.limit,
        "node_margin_mm": config.node_margin_mm,
        "worst_node": node,
        "worst_mm": apart,
        "worst_u_mm": u,
        "worst_limit_u": checks.worst.limit,
        "worst_length": length,
        "worst_length_u": z,
        "length_limit_u": checks.length.limit,
        "k": config.k,
        "nodes": len(judged.used),
        "spheres": len(table.names),
        "labelled": len(labels.labelled),
        "completed": int(judged.nodes.completed.sum()),
        "missing": int((~judged.used).sum()),
        "without_sphere": listed(labels.missing),
        "unused_spheres": len(table.names) - len(labels.confirmed),
        "basis": "all nodes" if judged.all_nodes else "common subset",
        "label_group": labels.group,
        "prediction_trust": labels.trust,
        "link_scale": judged.scale,
        "link_scale_u": judged.scale_u,
        "scatter_sd_mm": judged.scatter_sd_mm,
        "handedness": judged.hand.value,
        "L_mm": judged.L_mm,
        "scale_mm": config.scale_mm,
        "synthetic": table.synthetic,
    }


def _worst_node(judged: Judged) -> tuple[int, float, float]:
    """The node with a sphere that is off most for its u, how far (mm), and its u."""
    c, computed = judged.comparison, judged.nodes.completed[judged.used]
    apart = np.linalg.norm(c.alignment.difference, axis=1)
    worst = int(np.argmax(np.where(computed, 0.0, apart / c.node_u_mm)))
    node = int(np.flatnonzero(judged.used)[worst])
    return node, float(apart[worst]), float(c.node_u_mm[worst])


E_COLUMNS = (
    "E_simulated", "E_scanned", "E_scanned_u", "E_error", "E_u_val", "E_limit"
)  # fmt: skip


def distance_columns(
    config: ComparisonSettings, run: SimulatedRun, target: TargetFile, judged: Judged
) -> dict[str, Any]:
    """E of the nodes compared, simulated and scanned; or why it was not measured."""
    distances, check = judged.target, judged.comparison.checks.E
    nan = float("nan")
    if distances is None or check is None:
        last = float(run.table["E"].iloc[-1]) if "E" in run.table else nan
        numbers = (last, nan, nan, nan, nan, nan)
    else:
        of_scan = distances.E_scanned, judged.E_scanned_u
        of_check = check.error, check.u, check.limit
        numbers = (distances.E_simulated, *of_scan, *of_check)
    found = dict(zip(E_COLUMNS, numbers, strict=True))
    return {**found, "E_margin": config.E_margin, "E_missing": target.reason}


def _length_text(judged: Judged) -> tuple[str, float]:
    """The rigid length that is off most, in words, and by how many u."""
    pairs = judged.pairs
    if len(pairs.z) == 0:
        return "", 0.0
    p = int(np.argmax(np.abs(pairs.z)))
    i, j = pairs.pairs[p]
    text = (
        f"{i}-{j}: {pairs.scanned_mm[p]:.2f} mm scanned, "
        f"{pairs.length_mm[p]:.2f} mm simulated"
    )
    return text, float(pairs.z[p])


def budget_table(judged: Judged, config: ComparisonSettings) -> pd.DataFrame:
    """u_val by source: of S, of a node's distance (rms over the nodes), of E."""
    checks = judged.comparison.checks
    E_u = float("nan") if checks.E is None else checks.E.u
    total = Contribution("u_val", checks.S.u, checks.rms_mm.u, E_u)
    k = config.k
    expanded = Contribution(
        f"k = {k:g} times u_val", k * total.S_u, k * total.node_u_mm, k * total.E_u
    )
    basis = basis_of(config)
    lines = [*judged.comparison.budget, total, expanded]
    table = pd.DataFrame([asdict(line) for line in lines])
    return table.assign(basis=[basis.get(line.source, "") for line in lines])


def nodes_table(judged: Judged) -> pd.DataFrame:
    """Every node: simulated (moved into the scan's frame), scanned, distance, u."""
    n = len(judged.used)
    c = judged.comparison
    simulated = c.alignment.motion(judged.given[0].steps_mm[-1])
    distance, u = np.full(n, np.nan), np.full(n, np.nan)
    distance[judged.used] = np.linalg.norm(c.alignment.difference, axis=1)
    u[judged.used] = c.node_u_mm
    seen = np.where(judged.nodes.completed, "computed from its rigid body", "seen")
    places = {"simulated": simulated, "scanned": judged.nodes.positions_mm}
    columns = {
        f"{what}_{name}_mm": at[:, axis]
        for what, at in places.items()
        for axis, name in enumerate("xyz")
    }
    table = pd.DataFrame({"node": np.arange(n), **columns})
    basis = np.where(judged.used, seen, "missing")
    return table.assign(distance_mm=distance, u_mm=u, basis=basis)


def labels_table(labels: Labels, table: SphereTable) -> pd.DataFrame:
    """Every node: its sphere, what speaks for it, and why."""
    names = [table.names[s] if s != NOT_ASSIGNED else "" for s in labels.sphere]
    rivals = ["" if k == NOT_ASSIGNED else str(k) for k in labels.rivals]
    return pd.DataFrame(
        {
            "node": np.arange(len(names)),
            "sphere": names,
            "log_likelihood": labels.evidence,
            "margin": labels.margin,
            "reason": [reason.value for reason in labels.reason],
            "rival_node": rivals,
        }
    )
