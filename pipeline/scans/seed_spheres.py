"""A seeds file, and the window of Open3D in which a person makes one."""

import ctypes
import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.spatial import KDTree

from analysis.spheres.detections import Picks
from pipeline.io.length_units import Unit
from pipeline.io.point_cloud import read_cloud
from pipeline.runs.atomic_files import write_text
from pipeline.scans.open3d_loader import open3d
from pipeline.terminal import InputError
from sim.core.arrays import Bools, Floats

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
    index: list[int] = []
    if picks.spheres:
        distance, number = KDTree(picks.centres).query(seeds)
        near = np.asarray(distance) <= reach
        index = np.unique(np.asarray(number)[near]).tolist()
    rows = (3 * np.array(index, dtype=np.int64)[:, None] + np.arange(3)).ravel()
    covariance = picks.covariance[np.ix_(rows, rows)]
    spheres = tuple(picks.spheres[i] for i in index)
    seen = picks.seen[index] if picks.seen.size else picks.seen
    return replace(picks, spheres=spheres, covariance=covariance, seen=seen)


MOST_POINTS = 2_000_000  # shown in the window
MARGIN = 0.05  # of the scan's extent, by which a place may lie outside


def checked(places: Floats, points: Floats) -> Floats:
    """`places` (k, 3), all of them within the box around `points` (n, 3), mm."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = MARGIN * float((high - low).max())
    for place in places:
        if ((place < low - margin) | (place > high + margin)).any():
            where = ", ".join(f"{v:g}" for v in place)
            box = " x ".join(
                f"{a:.4g}..{b:.4g}" for a, b in zip(low, high, strict=True)
            )
            raise InputError(f"({where}) mm is outside the scan {box} mm: correct it")
    return places


def clicked(points: Floats) -> Floats:
    """The places (k, 3) that a person picks in a window, mm."""
    if sys.platform == "linux" and not os.environ.get("WAYLAND_DISPLAY"):
        _connect_to_display()
    o3d = open3d()
    shown = points[:: max(1, -(-len(points) // MOST_POINTS))]
    cloud = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(shown))
    window = o3d.visualization.VisualizerWithEditing()
    if not window.create_window("Shift-click the spheres, then press Q"):
        raise InputError("no window can be opened: give positions with --at")
    window.add_geometry(cloud)
    window.run()
    window.destroy_window()
    return np.asarray(shown[np.array(window.get_picked_points(), dtype=np.int64)])


def _connect_to_display() -> None:
    """Refuse a missing display, where Open3D would wait for ever."""
    name = os.environ.get("DISPLAY")
    if not name:
        raise InputError("a window needs a display: give positions with --at")
    try:
        x11 = ctypes.CDLL("libX11.so.6")
    except OSError:
        return  # loading Open3D says what to install
    x11.XOpenDisplay.restype = ctypes.c_void_p
    if not x11.XOpenDisplay(None):  # left open: some servers restart after the last one
        raise InputError(f"display {name} does not answer: give positions with --at")
