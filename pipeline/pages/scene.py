"""What the report draws in three dimensions: shapes by step, and the scan over them.

Positions are sent as 16-bit steps of the box that holds them all, and long runs as a
selection of their steps, so that a page stays small whatever a run holds.
"""

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.alignment import RigidMotion, fit_rigid_motion
from pipeline.results.moving_shape import in_space, read_moving_shape
from pipeline.scans.reading.cloud import read_cloud
from pipeline.scans.reading.source import Choices
from pipeline.scans.reading.units import unit_named
from pipeline.terminal.errors import InputError
from sim.arrays import Floats, Ints

MOST_STEPS = 120
MOST_COORDINATES = 900_000  # of one scene
MOST_POINTS = 8_000  # of a scan
MOST_FACES = 30_000
LEVELS = 65_535


def scene_of(directory: Path, most: int = MOST_COORDINATES) -> dict[str, Any] | None:
    """The moving shape of a finished run; None if it has none.

    Parameters
    ----------
    directory : of a run, with steps.npz and steps.csv
    most : coordinates that are sent, at least those of two steps
    """
    shape = read_moving_shape(directory)
    if shape is None:
        return None
    shown = chosen_steps(len(shape.r), shape.r[0].size, most)
    scene: dict[str, Any] = {
        "frames": shown.tolist(),
        "steps": packed(shape.r[shown]),
        "nodes": shape.r.shape[1],
        "flat": shape.flat,
        "links": packed_integers(shape.links),
        "faces": packed_integers(shape.faces[:MOST_FACES]),
        "columns": _columns(directory, shown),
    }
    if shape.missing:
        scene["missing"] = [
            {"name": name, "links": packed_integers(links)}
            for name, links in shape.missing.items()
        ]
    if shape.goals is not None:
        scene["goals"] = packed(shape.goals[shown])
    if len(shape.fixed):
        scene["fixed"] = packed(shape.fixed)
    return scene


def chosen_steps(steps: int, coordinates: int, most: int = MOST_COORDINATES) -> Ints:
    """Which steps are sent: all, or as many as fit, first and last among them."""
    many = max(2, min(MOST_STEPS, most // max(coordinates, 1)))
    return np.unique(np.round(np.linspace(0, steps - 1, min(steps, many))).astype(int))


def packed_integers(x: Ints) -> str:
    """Node numbers as 32-bit integers."""
    return base64.b64encode(x.astype("<u4").tobytes()).decode("ascii")


def packed_numbers(x: Floats) -> dict[str, Any]:
    """Numbers (n,) as 16-bit steps between the least and the greatest."""
    low, high = float(x.min()), float(x.max())
    side = (high - low) or 1.0
    levels = np.round((x - low) * (LEVELS / side)).astype("<u2")
    data = base64.b64encode(levels.tobytes()).decode("ascii")
    return {"data": data, "low": low, "side": side}


def packed(x: Floats) -> dict[str, Any]:
    """Positions (..., 3) as 16-bit steps of their box."""
    finite = x[np.isfinite(x).all(axis=-1)].reshape(-1, 3)
    low = finite.min(axis=0) if len(finite) else np.zeros(3)
    side = float(np.ptp(finite, axis=0).max()) if len(finite) else 1.0
    side = side or 1.0
    levels = np.round((np.nan_to_num(x) - low) * (LEVELS / side)).clip(0, LEVELS)
    return {
        "data": base64.b64encode(levels.astype("<u2").tobytes()).decode("ascii"),
        "low": low.tolist(),
        "side": side,
        "count": int(np.prod(x.shape[:-1])),
    }


def _columns(directory: Path, shown: Ints) -> dict[str, list[float | None]]:
    """The numbers of steps.csv at the steps that are sent."""
    path = directory / "steps.csv"
    if not path.is_file():
        return {}
    table = pd.read_csv(path).select_dtypes("number")
    table = table.iloc[shown[shown < len(table)]]
    return {
        str(name): [None if pd.isna(v) else float(v) for v in column]
        for name, column in table.items()
    }


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
