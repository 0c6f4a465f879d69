"""A scan beside a simulation: S, E, node distances, labels and a verdict."""

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.labels.assign import Labels
from analysis.labels.evidence import NOT_ASSIGNED
from analysis.labels.mechanism import Mechanism
from analysis.validation.comparison import Acceptance, Contribution, Verdict
from analysis.validation.mirror_image import mirror_remark
from analysis.validation.printing_error import with_printing_error_told
from analysis.validation.scanner_scale import with_scanner_scale_told
from analysis.validation.target_distance import TargetInScan
from analysis.validation.uncertainty import UncertaintyOptions
from analysis.validation.verdicts import Judged, LabelledScan, Simulation, judge_scan
from pipeline.formats.printed_scale import unit_of
from pipeline.results.simulated_run import SimulatedRun, read_simulated
from pipeline.results.target_file import TargetFile, read_target
from pipeline.scans.labels import label_scan
from pipeline.scans.reading.units import unit_named
from pipeline.scans.spheres import SphereTable, read_spheres
from pipeline.steps.budget_sources import learnt_from
from pipeline.steps.input_uncertainty import PrintedAgain, read_printed_again
from pipeline.steps.label_picture import draw_labels
from pipeline.steps.run_goals import goals_of
from pipeline.store.files import replacing
from pipeline.store.runs import Job, Needs, Numbers
from pipeline.terminal.errors import InputError
from sim.arrays import Floats

NOT_MEASURED = TargetFile(None, "morphtrack deviation has not looked for the target")


@dataclass(frozen=True)
class ComparisonSettings:
    """What a comparison assumes and asks for.

    Parameters
    ----------
    scale_mm : mm of the print per unit of the case
    k, S_margin, node_margin_mm, E_margin : see
        analysis.validation.comparison.Acceptance
    registration_sd_mm, scan_scale_sd, scan_form_sd_mm, print_scale_sd, printing_sd_mm,
    joint_play_sd_mm : see analysis.validation.uncertainty.UncertaintyOptions,
        whose defaults stand for what is not stated
    """

    scale_mm: float
    k: float = Acceptance.k
    S_margin: float = Acceptance.S_margin
    node_margin_mm: float = Acceptance.node_margin_mm
    E_margin: float = Acceptance.E_margin
    registration_sd_mm: float | None = None
    scan_scale_sd: float | None = None
    scan_form_sd_mm: float | None = None
    print_scale_sd: float | None = None
    printing_sd_mm: float | None = None
    joint_play_sd_mm: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.scale_mm < np.inf:
            raise ValueError(f"scale_mm must be positive, not {self.scale_mm}")
        _ = self.acceptance, self.uncertainty  # they check

    @property
    def acceptance(self) -> Acceptance:
        """What is asked of the simulation."""
        return Acceptance(self.k, self.S_margin, self.node_margin_mm, self.E_margin)

    @property
    def uncertainty(self) -> UncertaintyOptions:
        """What is known of scanner, printer and joints."""
        names = {f.name for f in fields(UncertaintyOptions)}
        own = {k: v for k, v in asdict(self).items() if v is not None}
        return UncertaintyOptions(**{k: v for k, v in own.items() if k in names})


@dataclass(frozen=True)
class MeasuredInputs:
    """Directories that a comparison reads besides those of ingest and simulation.

    Parameters
    ----------
    input_uncertainty, deviation : of the steps of these names, where they ran
    """

    input_uncertainty: Path | None = None
    deviation: Path | None = None


def run_step(
    config: ComparisonSettings,
    spheres: Path,
    simulated: Path,
    out: Path,
    measured: MeasuredInputs | None = None,
    *,
    pictured: bool = True,
) -> dict[str, Any]:
    """Compare the spheres of an ingest with a run; write the tables into `out`.

    Parameters
    ----------
    pictured : draw the scan with the node on every sphere as well

    Returns
    -------
    the row of comparison.csv
    """
    table, run = read_spheres(spheres), read_simulated(simulated)
    try:
        nodes = config.scale_mm * run.r[-1]
        again, target = _read_measured(
            measured or MeasuredInputs(), nodes, config.scale_mm, spheres
        )
        mechanism = Mechanism(nodes, run.bodies)
        labels = label_scan(mechanism, table, config.uncertainty, config.scale_mm)
        placed = _in_scan(target, again, simulated, config.scale_mm)
        given = (
            Simulation(config.scale_mm * run.r, mechanism, again.covariance),
            LabelledScan(labels, table.centres_mm, table.covariance_mm2, placed),
            config.uncertainty,
            config.acceptance,
        )
        judged = with_printing_error_told(_worst_told(judge_scan(*given)), *given)
        if config.scan_scale_sd is None:
            judged = with_scanner_scale_told(judged, *given)
        judged = _mirror_told(judged, nodes).because(table.remark)
    except ValueError as error:
        raise InputError(f"{error}{_other_unit(config.scale_mm, simulated)}") from error
    row = comparison_row(config, table, labels, judged) | distance_columns(
        config, run, target, judged
    )
    tables = {
        "comparison": pd.DataFrame([row]),
        "budget": budget_table(judged, config),
        "nodes": nodes_table(judged),
        "labels": labels_table(labels, table),
    }
    _write(tables, out)
    if pictured and (spheres / "points.npy").is_file():
        draw_labels(spheres, out)
    return row


def _worst_told(judged: Judged) -> Judged:
    """The same; where it differs, with the link and the node that are off most."""
    if judged.comparison.verdict is not Verdict.DIFFERS:
        return judged
    node, apart, u = _worst_node(judged)
    if judged.comparison.checks.length.differs:
        judged = judged.because(f"most link {_length_told(judged)[0]}")
    return judged.because(f"most node {node}: {apart:.2f} mm, u {u:.2f} mm")


def _mirror_told(judged: Judged, nodes_mm: Floats) -> Judged:
    """The same; where it does not agree, with what its mirror image would say."""
    if judged.comparison.verdict is Verdict.AGREES:
        return judged
    scanned = judged.nodes.positions_mm[judged.used]
    return judged.because(mirror_remark(nodes_mm[judged.used], scanned))


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Compare what a planned job names."""
    measured = MeasuredInputs(needs.get("input_uncertainty"), needs.get("deviation"))
    config = ComparisonSettings(**job.config)
    return run_step(config, needs["spheres"], needs["simulated"], out, measured)


def _other_unit(scale_mm: float, simulated: Path) -> str:
    """What to say where scale_mm is not the unit that the structure was written in."""
    unit = unit_of(simulated)
    if not unit or np.isclose(unit_named(unit).mm, scale_mm):
        return ""
    mm = unit_named(unit).mm
    return (
        f"; the structure is written in {unit}: --scale-mm {mm:g} in place of "
        f"{scale_mm:g}, a factor of {mm / scale_mm:g}?"
    )


def _read_measured(
    measured: MeasuredInputs, nodes_mm: Floats, scale_mm: float, spheres: Path
) -> tuple[PrintedAgain, TargetFile]:
    """What printing errors do to the shape, and the target as it was found."""
    again, target = PrintedAgain(), NOT_MEASURED
    if measured.input_uncertainty is not None:
        again = read_printed_again(measured.input_uncertainty, nodes_mm)
    if measured.deviation is not None:
        target = read_target(measured.deviation, scale_mm, spheres)
    return again, target


def _in_scan(
    target: TargetFile, again: PrintedAgain, simulated: Path, scale_mm: float
) -> TargetInScan | None:
    """The target where it was found; None where it was not."""
    if target.placed is None:
        return None
    goals = goals_of(simulated, scale_mm)
    return TargetInScan(target.placed, goals, again.distance_covariance)


def comparison_row(
    config: ComparisonSettings,
    table: SphereTable,
    labels: Labels,
    judged: Judged,
) -> dict[str, Any]:
    """The one row of comparison.csv, without the distance from the target."""
    c, n = judged.comparison, len(judged.used)
    return {
        "verdict": c.verdict.value,
        "why": c.why,
        **_factor_columns(config, judged),
        **_node_columns(config, judged),
        **_worst_pair(judged),
        "k": config.k,
        "nodes": n,
        "spheres": len(table.names),
        "labelled": len(labels.labelled),
        "completed": int(judged.nodes.completed.sum()),
        "missing": int((~judged.used).sum()),
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


def _factor_columns(config: ComparisonSettings, judged: Judged) -> dict[str, Any]:
    """S simulated and scanned."""
    check = judged.comparison.checks.S
    return {
        "S_simulated": judged.S_simulated,
        "S_scanned": judged.scanned.S,
        "S_scanned_u": judged.scanned.u,
        "S_bias": judged.scanned.bias,
        "S_error": check.error,
        "S_u_val": check.u,
        "S_limit": check.limit,
        "S_margin": config.S_margin,
    }


def _worst_node(judged: Judged) -> tuple[int, float, float]:
    """The node that is farthest for its uncertainty, how far, and its uncertainty."""
    c = judged.comparison
    apart = np.linalg.norm(c.alignment.difference, axis=1)
    worst = int(np.argmax(apart / c.node_u_mm))
    node = int(np.flatnonzero(judged.used)[worst])
    return node, float(apart[worst]), float(c.node_u_mm[worst])


def _node_columns(config: ComparisonSettings, judged: Judged) -> dict[str, Any]:
    """Node distances: all of them, and the one that is farthest for its uncertainty."""
    c = judged.comparison
    node, apart, u = _worst_node(judged)
    return {
        "rms_mm": c.checks.rms_mm.error,
        "rms_u_val_mm": c.checks.rms_mm.u,
        "rms_limit_mm": c.checks.rms_mm.limit,
        "node_margin_mm": config.node_margin_mm,
        "worst_node": node,
        "worst_mm": apart,
        "worst_u_mm": u,
        "worst_limit_u": c.checks.worst.limit,
    }


def distance_columns(
    config: ComparisonSettings, run: SimulatedRun, target: TargetFile, judged: Judged
) -> dict[str, Any]:
    """E of the nodes compared, simulated and scanned; or why it was not measured."""
    distances, check = judged.target, judged.comparison.checks.E
    if distances is None or check is None:
        last = float(run.table["E"].iloc[-1]) if "E" in run.table else float("nan")
        nothing = dict.fromkeys(
            ("E_scanned", "E_scanned_u", "E_error", "E_u_val", "E_limit"), float("nan")
        )
        found = {"E_simulated": last, **nothing}
    else:
        found = {
            "E_simulated": distances.E_simulated,
            "E_scanned": distances.E_scanned,
            "E_scanned_u": judged.E_scanned_u,
            "E_error": check.error,
            "E_u_val": check.u,
            "E_limit": check.limit,
        }
    return {**found, "E_margin": config.E_margin, "E_missing": target.reason}


def _worst_pair(judged: Judged) -> dict[str, Any]:
    text, z = _length_told(judged)
    limit = judged.comparison.checks.length.limit
    return {"worst_length": text, "worst_length_u": z, "length_limit_u": limit}


def _length_told(judged: Judged) -> tuple[str, float]:
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
    total = Contribution(
        "u_val",
        checks.S.u,
        checks.rms_mm.u,
        float("nan") if checks.E is None else checks.E.u,
    )
    k = config.k
    expanded = Contribution(
        f"k = {k:g} times u_val", k * total.S_u, k * total.node_u_mm, k * total.E_u
    )
    learnt = learnt_from(asdict(config))
    lines = [*judged.comparison.budget, total, expanded]
    table = pd.DataFrame([asdict(line) for line in lines])
    return table.assign(learnt=[learnt.get(line.source, "") for line in lines])


def nodes_table(judged: Judged) -> pd.DataFrame:
    """Every node: simulated (moved into the scan's frame), scanned, distance, u."""
    n = len(judged.used)
    c = judged.comparison
    simulated = np.full((n, 3), np.nan)
    simulated[judged.used] = c.alignment.moved
    distance, u = np.full(n, np.nan), np.full(n, np.nan)
    distance[judged.used] = np.linalg.norm(c.alignment.difference, axis=1)
    u[judged.used] = c.node_u_mm
    seen = np.where(judged.nodes.completed, "completed by its body", "seen")
    columns: dict[str, Any] = {"node": np.arange(n)}
    for axis, name in enumerate("xyz"):
        columns[f"simulated_{name}_mm"] = simulated[:, axis]
    for axis, name in enumerate("xyz"):
        columns[f"scanned_{name}_mm"] = judged.nodes.positions_mm[:, axis]
    columns |= {"distance_mm": distance, "u_mm": u}
    return pd.DataFrame(columns | {"basis": np.where(judged.used, seen, "missing")})


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


def _write(tables: dict[str, pd.DataFrame], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        with replacing(out / f"{name}.csv") as temporary:
            table.to_csv(temporary, index=False, lineterminator="\n")
