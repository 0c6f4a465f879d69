"""Compare a scan with a simulation: python -m pipeline.compare.

Reads the spheres that pipeline.ingest found and the run directory of a simulation,
finds out which sphere is which node, and writes comparison.csv (one row: S, node
distances, verdict), budget.csv (u_val by source), nodes.csv and labels.csv.
"""

import argparse
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.labels.assign import Labels, label_spheres
from analysis.labels.checks import Handedness, handedness, wrong_unit
from analysis.labels.evidence import NOT_ASSIGNED, LabelOptions
from analysis.labels.mechanism import Mechanism
from analysis.uncertainty import UncertaintyOptions, length_sd_mm
from analysis.validation import Acceptance
from analysis.verdicts import ENOUGH, Judged, judge_scan, listed
from pipeline.arguments import OneLineParser
from pipeline.errors import InputError, command
from pipeline.files import replacing
from pipeline.input_uncertainty import read_input_covariance
from pipeline.simulated_run import SimulatedRun, read_simulated
from pipeline.sphere_table import SphereTable, read_spheres


@dataclass(frozen=True)
class Comparison:
    """What a comparison assumes and asks for.

    Parameters
    ----------
    scale_mm : mm of the print per unit of the case
    k, S_margin, node_margin_mm : see analysis.validation.Acceptance
    registration_sd_mm, scan_scale_sd, print_scale_sd, printing_sd_mm,
    joint_play_sd_mm : see analysis.uncertainty.UncertaintyOptions
    """

    scale_mm: float
    k: float = Acceptance.k
    S_margin: float = Acceptance.S_margin
    node_margin_mm: float = Acceptance.node_margin_mm
    registration_sd_mm: float = UncertaintyOptions.registration_sd_mm
    scan_scale_sd: float = UncertaintyOptions.scan_scale_sd
    print_scale_sd: float = UncertaintyOptions.print_scale_sd
    printing_sd_mm: float = UncertaintyOptions.printing_sd_mm
    joint_play_sd_mm: float = UncertaintyOptions.joint_play_sd_mm

    def __post_init__(self) -> None:
        if not 0 < self.scale_mm < np.inf:
            raise ValueError(f"scale_mm must be positive, not {self.scale_mm}")
        _ = self.acceptance, self.uncertainty  # they check themselves

    @property
    def acceptance(self) -> Acceptance:
        """What is asked of the simulation."""
        return Acceptance(self.k, self.S_margin, self.node_margin_mm)

    @property
    def uncertainty(self) -> UncertaintyOptions:
        """What is known of scanner, printer and joints."""
        return UncertaintyOptions(
            **{f.name: getattr(self, f.name) for f in fields(UncertaintyOptions)}
        )


def run_step(
    config: Comparison,
    spheres: Path,
    simulated: Path,
    out: Path,
    input_uncertainty: Path | None = None,
) -> dict[str, Any]:
    """Compare the spheres of an ingest with a run; write the tables into `out`.

    Parameters
    ----------
    input_uncertainty : folder that pipeline.input_uncertainty wrote, if it ran

    Returns
    -------
    the row of comparison.csv
    """
    table, run = read_spheres(spheres), read_simulated(simulated)
    try:
        mechanism = Mechanism(config.scale_mm * run.r[-1], run.bodies)
        labels = _label(mechanism, table, config)
        judged = judge_scan(
            config.scale_mm * run.r,
            mechanism,
            labels,
            table.centres_mm,
            table.covariance_mm2,
            config.uncertainty,
            config.acceptance,
            None
            if input_uncertainty is None
            else read_input_covariance(input_uncertainty, mechanism.nodes_mm),
        )
    except ValueError as error:
        raise InputError(str(error)) from error
    row = comparison_row(config, table, run, labels, judged)
    out.mkdir(parents=True, exist_ok=True)
    _write(pd.DataFrame([row]), out / "comparison.csv")
    _write(budget_table(judged, config), out / "budget.csv")
    _write(nodes_table(judged), out / "nodes.csv")
    _write(labels_table(labels, table), out / "labels.csv")
    return row


def _label(mechanism: Mechanism, table: SphereTable, config: Comparison) -> Labels:
    """Label the spheres; refuse a scan that cannot be this mechanism's."""
    m, n = len(table.names), mechanism.n
    if m < ENOUGH * n:
        raise InputError(
            f"the scan has {m} spheres for {n} nodes: scan from more sides until at "
            f"least {int(np.ceil(ENOUGH * n))} are found, or check the structure"
        )
    options = LabelOptions(
        length_sd_mm=max(
            float(length_sd_mm(config.uncertainty, mechanism.lengths_mm).mean()), 0.03
        )
    )
    labels = label_spheres(mechanism, table.centres_mm, table.covariances_mm2, options)
    few = len(labels.labelled) < ENOUGH * n
    if few:
        factor = wrong_unit(mechanism, table.centres_mm, table.covariances_mm2, options)
        if factor is not None and factor != 1:
            raise InputError(
                f"the spheres fit the structure when the scan is multiplied by "
                f"{factor:g}: run the ingest again with the right --unit, or correct "
                f"scale_mm = {config.scale_mm:g}"
            )
    if few and m < n:
        raise InputError(
            f"the scan has {m} spheres for {n} nodes, and only {len(labels.labelled)} "
            f"could be told (missing: {listed(labels.missing)}): scan again"
        )
    if handedness(mechanism, labels, table.centres_mm) is Handedness.MIRRORED:
        raise InputError(
            "the scan is a mirror image of the structure: check the order and signs of "
            "the axes in the scanner's export"
        )
    return labels


def comparison_row(
    config: Comparison,
    table: SphereTable,
    run: SimulatedRun,
    labels: Labels,
    judged: Judged,
) -> dict[str, Any]:
    """The one row of comparison.csv."""
    c = judged.comparison
    used = np.flatnonzero(judged.used)
    apart = np.linalg.norm(c.alignment.difference, axis=1)
    worst = int(np.argmax(apart / c.node_u_mm))
    n = len(judged.used)
    return {
        "verdict": c.verdict.value,
        "why": c.why,
        "S_simulated": judged.S_simulated,
        "S_scanned": judged.scanned.S,
        "S_scanned_u": judged.scanned.u,
        "S_bias": judged.scanned.bias,
        "S_error": c.checks.S.error,
        "S_u_val": c.checks.S.u,
        "S_limit": c.checks.S.limit,
        "S_margin": config.S_margin,
        "rms_mm": c.checks.rms_mm.error,
        "rms_u_val_mm": c.checks.rms_mm.u,
        "rms_limit_mm": c.checks.rms_mm.limit,
        "node_margin_mm": config.node_margin_mm,
        "worst_node": int(used[worst]),
        "worst_mm": float(apart[worst]),
        "worst_u_mm": float(c.node_u_mm[worst]),
        "worst_limit_u": c.checks.worst.limit,
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
        "E_simulated": _last(run.table, "E"),
        "synthetic": table.synthetic,
    }


def _worst_pair(judged: Judged) -> dict[str, Any]:
    z = judged.pairs.z
    limit = judged.comparison.checks.length.limit
    if len(z) == 0:
        return {"worst_length": "", "worst_length_u": 0.0, "length_limit_u": limit}
    p = int(np.argmax(np.abs(z)))
    i, j = judged.pairs.pairs[p]
    text = (
        f"{i}-{j}: {judged.pairs.scanned_mm[p]:.2f} mm scanned, "
        f"{judged.pairs.length_mm[p]:.2f} mm simulated"
    )
    return {
        "worst_length": text,
        "worst_length_u": float(z[p]),
        "length_limit_u": limit,
    }


def _last(table: pd.DataFrame, column: str) -> float:
    return float(table[column].iloc[-1]) if column in table else float("nan")


def budget_table(judged: Judged, config: Comparison) -> pd.DataFrame:
    """u_val by source: of S, and of a node's distance (rms over the nodes)."""
    c = judged.comparison
    rows = [
        {"source": b.source, "S_u": b.S_u, "node_u_mm": b.node_u_mm} for b in c.budget
    ]
    rows.append(
        {"source": "u_val", "S_u": c.checks.S.u, "node_u_mm": c.checks.rms_mm.u}
    )
    expanded = {
        "S_u": config.k * c.checks.S.u,
        "node_u_mm": config.k * c.checks.rms_mm.u,
    }
    return pd.DataFrame(
        [*rows, {"source": f"k = {config.k:g} times u_val", **expanded}]
    )


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


def _write(table: pd.DataFrame, path: Path) -> None:
    with replacing(path) as temporary:
        table.to_csv(temporary, index=False, lineterminator="\n")


@command
def main(argv: list[str] | None = None) -> int:
    """Compare once and print the verdict."""
    parser = OneLineParser(
        prog="python -m pipeline.compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--spheres", type=Path, required=True, help="folder of an ingest"
    )
    parser.add_argument("--simulated", type=Path, required=True, help="folder of a run")
    parser.add_argument("--out", type=Path, required=True, help="folder to write into")
    parser.add_argument(
        "--input-uncertainty",
        type=Path,
        help="folder that pipeline.input_uncertainty wrote",
    )
    for field in fields(Comparison):
        flag = "--" + field.name.replace("_", "-")
        required = field.name == "scale_mm"
        default = None if required else field.default
        parser.add_argument(
            flag, dest=field.name, type=float, required=required, default=default
        )
    given = parser.parse_args(argv)
    config = Comparison(**{f.name: getattr(given, f.name) for f in fields(Comparison)})
    row = run_step(
        config, given.spheres, given.simulated, given.out, given.input_uncertainty
    )
    print(
        f"{row['verdict']}: {row['why']}\n"
        f"S simulated {row['S_simulated']:.5f}, scanned {row['S_scanned']:.5f} +- "
        f"{row['S_scanned_u']:.5f}; node rms {row['rms_mm']:.3f} mm; "
        f"{row['labelled']} of {row['nodes']} nodes labelled; "
        f"{'synthetic scan; ' if row['synthetic'] else ''}tables in {given.out}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
