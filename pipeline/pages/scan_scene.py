"""The scan over a simulated shape, as the report draws both."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.alignment import RigidMotion, fit_rigid_motion
from pipeline.pages.scene import packed, packed_numbers
from pipeline.results.moving_shape import in_space
from pipeline.scans.reading.cloud import read_cloud
from pipeline.scans.reading.source import Choices
from pipeline.scans.reading.units import unit_named
from pipeline.terminal.errors import InputError
from sim.arrays import Floats

MOST_POINTS = 8_000  # of a scan


def scan_over(
    comparison: Path,
    simulated: Path,
    ingest: Mapping[str, Any],
    scan: Sequence[Path],
    deviation: Path | None = None,
) -> dict[str, Any]:
    """Scanned nodes and a few points of the scan, in the simulation's frame and unit.

    Parameters
    ----------
    comparison, simulated : directories of finished runs
    ingest : configuration of the ingest (unit, decimal_comma, salvage)
    scan : files of the scan; those that cannot be read any more are left out
    deviation : directory of the run that placed the target in the scan
    """
    row = pd.read_csv(comparison / "comparison.csv").iloc[0]
    nodes = pd.read_csv(comparison / "nodes.csv")
    moved = nodes[[f"simulated_{a}_mm" for a in "xyz"]].to_numpy(np.float64)
    seen = nodes[[f"scanned_{a}_mm" for a in "xyz"]].to_numpy(np.float64)
    with np.load(simulated / "steps.npz", allow_pickle=False) as file:
        final = in_space(file["r"][-1])
    known = np.isfinite(moved[:, 0])
    scale = float(row["scale_mm"])
    back = fit_rigid_motion(moved[known], scale * final[known])
    shown = np.isfinite(seen[:, 0])
    points = _points(back, ingest, scan) / scale
    return {
        "spheres": packed(back(seen[shown]) / scale),
        "node": np.flatnonzero(shown).tolist(),
        "distance_mm": _numbers(nodes["distance_mm"][shown]),
        "u_mm": _numbers(nodes["u_mm"][shown]),
        "points": packed(points) if len(points) else None,
        "deviation": _deviation(deviation, back, scale),
        "S": float(row["S_scanned"]),
        "S_u": float(row["S_scanned_u"]),
    }


def _deviation(
    directory: Path | None, back: RigidMotion, scale: float
) -> dict[str, Any] | None:
    """Points near the target with their distance from its surface, mm."""
    path = None if directory is None else directory / "deviation.npz"
    if path is None or not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as file:
        points, gap = file["points_mm"], file["deviation_mm"]
    every = len(points) // MOST_POINTS + 1
    points, gap = points[::every].astype(np.float64), gap[::every].astype(np.float64)
    if len(points) == 0:
        return None
    return {
        "points": packed(back(points) / scale),
        "mm": packed_numbers(gap),
        "most_mm": float(np.percentile(np.abs(gap), 95.0)),
    }


def _numbers(column: "pd.Series[Any]") -> list[float | None]:
    return [None if pd.isna(v) else float(v) for v in column]


def _points(
    back: RigidMotion, ingest: Mapping[str, Any], scan: Sequence[Path]
) -> Floats:
    """Evenly chosen points of all views, moved; none where no file can be read."""
    choices = Choices(
        bool(ingest.get("decimal_comma")), salvage=bool(ingest.get("salvage"))
    )
    views = []
    for path in scan:
        try:
            views.append(read_cloud(path, unit_named(ingest["unit"]), choices).points)
        except (OSError, ValueError, InputError):
            continue  # the report does not depend on data that has been moved away
    if not views:
        return np.empty((0, 3))
    points = np.concatenate(views)
    few: Floats = back(points[:: len(points) // MOST_POINTS + 1])
    return few
