"""A seeds file: places where a person has seen a sphere, one a line, in mm."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.spatial import KDTree

from analysis.spheres.picks import Picks
from pipeline.scans.reading.cloud import read_cloud
from pipeline.scans.reading.units import Unit
from pipeline.store.files import write_text
from sim.arrays import Bools, Floats

HEADER = "x_mm,y_mm,z_mm"


def write_seeds(path: Path, places: Floats) -> None:
    """Write `places` (n, 3), mm."""
    rows = [",".join(f"{v:.6g}" for v in place) for place in places]
    write_text(path, "\n".join([HEADER, *rows]) + "\n")


def read_seeds(path: Path) -> Floats:
    """(n, 3) places in mm; any text file of points serves."""
    return read_cloud(path, Unit.MM).points


def near_any(points: Floats, seeds: Floats, reach: float) -> Bools:
    """Which of `points` (n, 3) are within `reach` of a seed (k, 3)."""
    distance, _ = KDTree(seeds).query(points, distance_upper_bound=reach)
    near: Bools = np.isfinite(distance)
    return near


def at_seeds(picks: Picks, seeds: Floats, reach: float) -> Picks:
    """The picks that are nearest to some seed (k, 3), and within `reach` of it."""
    wanted: set[int] = set()
    if picks.spheres:
        distance, number = KDTree(picks.centres).query(seeds)
        wanted = set(np.asarray(number)[np.asarray(distance) <= reach].tolist())
    index = sorted(wanted)
    rows = (3 * np.array(index, dtype=np.int64)[:, None] + np.arange(3)).ravel()
    covariance = picks.covariance[np.ix_(rows, rows)]
    spheres = tuple(picks.spheres[i] for i in index)
    seen = picks.seen[index] if picks.seen.size else picks.seen
    return replace(picks, spheres=spheres, covariance=covariance, seen=seen)
