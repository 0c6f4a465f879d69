"""spheres.csv and rejected.csv: what picking found, as tables and back."""

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from analysis.spheres.picks import FittedSphere, Picks, Rejected, RejectionReason
from pipeline.store.files import write_text
from sim.arrays import Floats

AXES = ("x", "y", "z")
REJECTED_COLUMNS = ("x_mm", "y_mm", "z_mm", "reason", "detail", "points")


def sphere_row(number: int, sphere: FittedSphere, synthetic: bool) -> dict[str, str]:
    """One row of spheres.csv."""
    C = sphere.covariance
    pairs = [(a, b) for a in range(3) for b in range(a, 3)]
    return {
        "sphere": str(number),
        **{f"{axis}_mm": _text(sphere.centre[i]) for i, axis in enumerate(AXES)},
        "radius_mm": _text(sphere.radius),
        "rms_mm": _text(sphere.rms),
        "points": str(sphere.points),
        **{f"cov_{AXES[a]}{AXES[b]}_mm2": _text(C[a, b]) for a, b in pairs},
        "free_radius_mm": _text(sphere.free_radius),
        "free_radius_sd_mm": _text(sphere.free_radius_sd),
        "cap": _text(sphere.cap),
        "views": str(sphere.views),
        "synthetic": "true" if synthetic else "false",
    }


def rejected_row(rejected: Rejected) -> dict[str, str]:
    """One row of rejected.csv."""
    place = {f"{axis}_mm": _text(rejected.centre[i]) for i, axis in enumerate(AXES)}
    reason = {"reason": rejected.reason.value, "detail": rejected.detail}
    return {**place, **reason, "points": str(rejected.points)}


def write_tables(out: Path, picks: Picks, synthetic: bool) -> None:
    """Write spheres.csv and rejected.csv to `out`."""
    spheres = [sphere_row(i, s, synthetic) for i, s in enumerate(picks.spheres)]
    write_text(out / "rejected.csv", _table(map(rejected_row, picks.rejected)))
    write_text(out / "spheres.csv", _table(spheres))


def read_picks(directory: Path) -> tuple[Picks, bool]:
    """The picks of an ingest, and whether its scan is synthetic.

    The joint covariance is not in the tables; it is left empty.
    """
    rows = _rows(directory / "spheres.csv")
    spheres = tuple(map(_sphere, rows))
    rejected = tuple(map(_rejected, _rows(directory / "rejected.csv")))
    synthetic = any(row["synthetic"] == "true" for row in rows)
    return Picks(spheres, rejected, np.zeros((0, 0)), np.nan), synthetic


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _centre(row: Mapping[str, str]) -> Floats:
    return np.array([float(row[f"{axis}_mm"]) for axis in AXES])


def _sphere(row: Mapping[str, str]) -> FittedSphere:
    C = np.zeros((3, 3))
    for a in range(3):
        for b in range(a, 3):
            C[a, b] = C[b, a] = float(row[f"cov_{AXES[a]}{AXES[b]}_mm2"])
    return FittedSphere(
        centre=_centre(row),
        covariance=C,
        radius=float(row["radius_mm"]),
        rms=float(row["rms_mm"]),
        points=int(row["points"]),
        free_radius=float(row["free_radius_mm"]),
        free_radius_sd=float(row["free_radius_sd_mm"]),
        cap=float(row["cap"]),
        views=int(row["views"]),
    )


def _rejected(row: Mapping[str, str]) -> Rejected:
    reason = RejectionReason(row["reason"])
    return Rejected(_centre(row), reason, row["detail"], int(row["points"]))


def _text(value: float) -> str:
    return format(float(value), ".9g")


def _table(rows: Iterable[Mapping[str, str]]) -> str:
    buffer = io.StringIO()
    whole = list(rows)
    columns = list(whole[0]) if whole else list(REJECTED_COLUMNS)
    writer = csv.DictWriter(buffer, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(whole)
    return buffer.getvalue()
