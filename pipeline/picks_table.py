"""spheres.csv and rejected.csv: what picking found, as tables."""

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path

from analysis.spheres.picks import Picks, Rejected, Sphere
from pipeline.files import write_text

AXES = ("x", "y", "z")
REJECTED_COLUMNS = ("x_mm", "y_mm", "z_mm", "reason", "detail", "points")


def sphere_row(number: int, sphere: Sphere, synthetic: bool) -> dict[str, str]:
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
