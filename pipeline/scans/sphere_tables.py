"""spheres.csv and rejected.csv: written, read back, and the node of each sphere."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.linalg import block_diag

from analysis.comparison.assumptions import UncertaintyOptions
from analysis.comparison.compare_scan import ENOUGH, MIRROR, listed
from analysis.comparison.error_sources import length_sd_mm
from analysis.labels.assign_labels import (
    Labels,
    Refusal,
    label_spheres,
    labels_by_hand,
)
from analysis.labels.rigid_distances import Mechanism
from analysis.labels.scale_and_mirror_checks import (
    Handedness,
    handedness,
    wrong_scale,
    wrong_unit,
)
from analysis.labels.scoring import LabelOptions
from analysis.spheres.detections import FittedSphere, Picks, Rejected, RejectionReason
from pipeline.io.record_files import header_of, numbers, read_columns
from pipeline.runs.atomic_files import write_text
from pipeline.terminal import InputError, file_of_step
from sim.core.arrays import Floats

CENTRE = ["x_mm", "y_mm", "z_mm"]
COVARIANCE = [f"cov_{axes}_mm2" for axes in ("xx", "xy", "xz", "yy", "yz", "zz")]
SYMMETRIC = [0, 1, 2, 1, 3, 4, 2, 4, 5]  # of these six, row by row
FITTED = ["radius_mm", "rms_mm", "free_radius_mm", "free_radius_sd_mm", "cap"]
REJECTED_COLUMNS = [*CENTRE, "reason", "detail", "points"]
Row = Mapping[Hashable, str]


@dataclass(frozen=True, eq=False)
class SphereTable:
    """Spheres of one scan.

    Parameters
    ----------
    names : (m,) numbers of the spheres in the file
    centres_mm : (m, 3)
    covariances_mm2 : (m, 3, 3) of each centre
    covariance_mm2 : (3m, 3m) of all centres together
    synthetic : whether the scan was made by computation
    remark : where the spheres contradict the stated radius
    nodes : (m,) that a person added to the file as column `node`; empty without it
    radius_mm : of the smallest sphere, 0 where the file has none
    """

    names: tuple[str, ...]
    centres_mm: Floats
    covariances_mm2: Floats
    covariance_mm2: Floats
    synthetic: bool
    remark: str = ""
    nodes: tuple[str, ...] = ()
    radius_mm: float = 0.0


def read_spheres(directory: Path, names: Sequence[str] = ()) -> SphereTable:
    """Read DIR/spheres.csv and check it.

    Parameters
    ----------
    names : of the nodes, by which its column `node` may name them, or by numbers
    """
    path = file_of_step(directory / "spheres.csv", "ingest")
    table = read_columns(path, ["sphere", *CENTRE, *COVARIANCE])
    values = numbers(table[[*CENTRE, *COVARIANCE]], path).to_numpy()
    covariances = values[:, 3:][:, SYMMETRIC].reshape(-1, 3, 3)
    lowest = np.linalg.eigvalsh(covariances).min(axis=1, initial=np.inf)
    if not (lowest > 0).all():
        row = int(np.argmin(lowest))
        raise InputError(
            f"{path}: the covariance of sphere {table['sphere'][row]} is not positive "
            f"definite (lowest eigenvalue {lowest[row]:.2e} mm^2): correct or remove it"
        )
    marked, nodes, radius = False, (), 0.0
    if "node" in header_of(path):
        number = {name: str(i) for i, name in enumerate(names)}
        given = read_columns(path, ["node"])["node"]
        nodes = tuple(number.get(node, node) for node in given)
    if "radius_mm" in header_of(path):
        radii = numbers(read_columns(path, ["radius_mm"]), path).to_numpy()
        radius = float(radii.min(initial=np.inf))
    if "synthetic" in header_of(path):
        words = read_columns(path, ["synthetic"])["synthetic"].str.lower()
        marked = bool(words.isin(["true", "1"]).any())
    centres, joint = values[:, :3].copy(), directory / "covariance.npz"
    together, remark = _together(joint, centres, covariances)
    parts = tuple(table["sphere"]), centres, covariances, together
    return SphereTable(*parts, marked, remark, nodes, radius)


def _together(path: Path, centres: Floats, covariances: Floats) -> tuple[Floats, str]:
    """The covariance of all centres and the remark of the ingest on their radius.

    Without the file of an ingest, each centre has its covariance alone.
    """
    if not path.is_file():
        return np.asarray(block_diag(*covariances), dtype=np.float64), ""
    with np.load(path, allow_pickle=False) as file:
        whole = np.asarray(file["covariance_mm2"], dtype=np.float64)
        same = np.asarray(file["centres_mm"], dtype=np.float64)
        remark = str(file["radius_remark"]) if "radius_remark" in file else ""
    if same.shape != centres.shape or not np.allclose(same, centres, atol=1e-5):
        raise InputError(
            f"{path} does not belong to spheres.csv: run the ingest again, or delete "
            f"{path.name} if spheres.csv was edited on purpose"
        )
    if whole.shape != (centres.size, centres.size):
        raise InputError(
            f"{path}: the covariance has shape {whole.shape} for {len(centres)} "
            "spheres: run the ingest again"
        )
    m = len(centres)
    own = np.einsum("iaib->iab", whole.reshape(m, 3, m, 3))
    if not np.allclose(own, covariances, rtol=1e-6, atol=1e-6 * np.abs(own).max()):
        raise InputError(
            f"{path} has other covariances than spheres.csv: run the ingest "
            f"again, or delete {path.name} if spheres.csv was edited on purpose"
        )
    return whole, remark


def sphere_row(number: int, sphere: FittedSphere, synthetic: bool) -> dict[str, Any]:
    """One row of spheres.csv."""
    six = sphere.covariance[np.triu_indices(3)]
    return {
        "sphere": number,
        **dict(zip(CENTRE, sphere.centre, strict=True)),
        "radius_mm": sphere.radius,
        "rms_mm": sphere.rms,
        "points": sphere.points,
        **dict(zip(COVARIANCE, six, strict=True)),
        "free_radius_mm": sphere.free_radius,
        "free_radius_sd_mm": sphere.free_radius_sd,
        "cap": sphere.cap,
        "views": sphere.views,
        "synthetic": "true" if synthetic else "false",
    }


def rejected_row(rejected: Rejected) -> dict[str, Any]:
    """One row of rejected.csv."""
    reason = {"reason": rejected.reason.value, "detail": rejected.told}
    place = dict(zip(CENTRE, rejected.centre, strict=True))
    return {**place, **reason, "points": rejected.points}


def _shown(value: Any) -> str:
    """Nine digits, and a nanometre far from the origin, as in geodetic coordinates."""
    return f"{value:.9g}" if abs(value) < 1000.0 else f"{value:.6f}"


def write_tables(out: Path, picks: Picks, synthetic: bool) -> None:
    """Write spheres.csv and rejected.csv to `out`."""
    spheres = [sphere_row(i, s, synthetic) for i, s in enumerate(picks.spheres)]
    rejected = [rejected_row(one) for one in picks.rejected]
    write_table(out / "rejected.csv", rejected)
    write_table(out / "spheres.csv", spheres)


def write_table(path: Path, rows: list[dict[str, Any]]) -> None:
    """Rows with a header; without rows that of rejected candidates."""
    table = pd.DataFrame(rows, columns=None if rows else REJECTED_COLUMNS)
    text = table.to_csv(
        index=False, lineterminator="\n", float_format=_shown, na_rep="nan"
    )
    write_text(path, text)


def read_picks(directory: Path) -> tuple[Picks, bool]:
    """The picks of an ingest, and whether its scan is synthetic.

    The joint covariance is not in the tables; it is left empty.
    """
    rows, rejected = (
        pd.read_csv(directory / name, dtype=str, keep_default_na=False)
        for name in ("spheres.csv", "rejected.csv")
    )
    spheres = tuple(map(_sphere, rows.to_dict("records")))
    others = tuple(map(_rejected, rejected.to_dict("records")))
    synthetic = len(rows) > 0 and bool((rows["synthetic"] == "true").any())
    return Picks(spheres, others, np.zeros((0, 0)), np.nan), synthetic


def _floats(row: Row, names: Sequence[str]) -> Floats:
    return np.array([float(row[name]) for name in names])


def _sphere(row: Row) -> FittedSphere:
    return FittedSphere(
        _floats(row, CENTRE),
        _floats(row, COVARIANCE)[SYMMETRIC].reshape(3, 3),
        points=int(row["points"]),
        views=int(row["views"]),
        **{name.removesuffix("_mm"): float(row[name]) for name in FITTED},
    )


def _rejected(row: Row) -> Rejected:
    reason = RejectionReason(row["reason"])
    at, points = _floats(row, CENTRE), int(row["points"])
    return Rejected(at, reason, row["detail"], points, alone=False)


SAME_SCALE = 0.002  # that a scanner and a printer may be off, which is no other size


def label_scan(
    mechanism: Mechanism,
    table: SphereTable,
    uncertainty: UncertaintyOptions,
    scale_mm: float = 1.0,
) -> Labels:
    """Label the spheres; refuse a scan that cannot be this mechanism's.

    Parameters
    ----------
    scale_mm : mm of the print per unit of the case, with which `mechanism` was made
    """
    m, n = len(table.names), mechanism.n
    if m < ENOUGH * n:
        raise InputError(
            f"the scan has {m} sphere{'s' * (m != 1)} for {n} nodes: scan from more "
            f"sides until at least {int(np.ceil(ENOUGH * n))} are found, or check the "
            "structure"
        )
    sd = float(length_sd_mm(uncertainty, mechanism.lengths_mm).mean())
    options = LabelOptions(length_sd_mm=max(sd, 0.03))
    labels = label_spheres(mechanism, table.centres_mm, table.covariances_mm2, options)
    if any(table.nodes):
        labels = labels_by_hand(n, table.nodes)
    few = len(labels.labelled) < ENOUGH * n and not any(table.nodes)
    if few:
        factor = wrong_unit(mechanism, table.centres_mm, table.covariances_mm2, options)
        if factor is not None and factor != 1:
            raise InputError(
                "the spheres fit the structure when the scan is multiplied by "
                f"{factor:g}: check the `unit` of the structure's file, --scale-mm "
                f"({scale_mm / factor:g} instead of {scale_mm:g}) and --unit"
            )
        _check_scale(mechanism, table, options, scale_mm)
        _check_mirror(mechanism, table, options, len(labels.labelled))
    if few and m < n:
        raise InputError(
            f"the scan has {m} spheres for {n} nodes, and only {len(labels.labelled)} "
            f"could be labelled (missing: {listed(labels.missing)}): "
            f"{_why_few(mechanism, labels)}: scan every sphere"
        )
    if handedness(mechanism, labels, table.centres_mm) is Handedness.MIRRORED:
        raise InputError(
            "the scan is a mirror image of the structure: check the order and signs of "
            "the axes in the scanner's export"
        )
    return labels


def _why_few(mechanism: Mechanism, labels: Labels) -> str:
    """Why spheres that are there are no nodes: too few lengths, or several ways."""
    n, known = mechanism.n, len(mechanism.lengths_mm)
    ambiguous = [reason is Refusal.AMBIGUOUS for reason in labels.reason]
    if any(ambiguous):
        return f"{listed(np.flatnonzero(ambiguous))} fit several spheres equally well"
    return (
        f"links and bodies determine only {known} of the {n * (n - 1) // 2} distances "
        "between nodes, too few because spheres are missing"
    )


def _check_scale(
    mechanism: Mechanism, table: SphereTable, options: LabelOptions, scale_mm: float
) -> None:
    """Refuse a scan whose spheres fit the structure in another size."""
    scale = wrong_scale(mechanism, table.centres_mm, table.covariances_mm2, options)
    if scale is not None and abs(scale - 1.0) > SAME_SCALE:
        raise InputError(
            f"links are {scale:.3f} times as long as simulated: did you mean "
            f"--scale-mm {scale * scale_mm:.4g} instead of {scale_mm:g}?"
        )


def _check_mirror(
    mechanism: Mechanism, table: SphereTable, options: LabelOptions, known: int
) -> None:
    """Refuse a scan that fits only as its mirror image."""
    turned = MIRROR @ table.covariances_mm2 @ MIRROR
    labels = label_spheres(mechanism, table.centres_mm @ MIRROR, turned, options)
    if len(labels.labelled) >= max(ENOUGH * mechanism.n, known + 1):
        raise InputError(
            f"the mirror image of the scan fits {len(labels.labelled)} of "
            f"{mechanism.n} nodes, the scan {known}: check order and signs of its axes"
        )
