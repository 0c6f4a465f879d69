"""Say by hand where spheres are: morphtrack pick SCAN... --out FILE.

FILE tells morphtrack ingest where to look. A window of Open3D opens: shift and left
button picks a point on a sphere, shift and right button takes it back, Q ends. Where no
display is, or for a script, give the places with --at.

Example:
  morphtrack pick scan.ply --unit mm --out seeds.csv --at 12.5 -3 40
"""

import ctypes
import os
import sys
from pathlib import Path

import numpy as np

from pipeline.scans.open3d_loader import open3d
from pipeline.scans.reading.cloud import read_cloud
from pipeline.scans.reading.source import Choices
from pipeline.scans.reading.units import unit_named
from pipeline.scans.seeds import write_seeds
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import InputError, command
from sim.arrays import Floats

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
    if not window.create_window("shift and click the spheres, then Q"):
        raise InputError("no window can be opened: give places with --at")
    window.add_geometry(cloud)
    window.run()
    window.destroy_window()
    return np.asarray(shown[np.array(window.get_picked_points(), dtype=np.int64)])


def _connect_to_display() -> None:
    """Without a display Open3D would draw where nobody sees it, and wait for ever."""
    name = os.environ.get("DISPLAY")
    if not name:
        raise InputError("there is no display for a window: give places with --at")
    try:
        x11 = ctypes.CDLL("libX11.so.6")
    except OSError:
        return  # loading Open3D says what to install
    x11.XOpenDisplay.restype = ctypes.c_void_p
    if not x11.XOpenDisplay(None):  # left open: some servers restart after the last one
        raise InputError(f"the display {name} does not answer: give places with --at")


def arguments() -> OneLineParser:
    parser = OneLineParser("pick", __doc__)
    add = parser.add_argument
    add("scans", nargs="+", type=Path, metavar="SCAN", help="a file of points")
    add("--unit", help="of the files' numbers: mm, cm, m or inch; no file tells")
    add("--out", type=Path, required=True, metavar="FILE", help="the seeds file")
    add(
        "--at", type=float, nargs=3, action="append", metavar=("X", "Y", "Z"),
        help="a place on a sphere or at its centre, mm; no window opens",
    )  # fmt: skip
    add("--decimal-comma", action="store_true", help="numbers such as 1,25")
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Write a seeds file."""
    options = arguments().parse_intermixed_args(argv)
    unit, choices = unit_named(options.unit), Choices(options.decimal_comma)
    clouds = [read_cloud(scan, unit, choices).points for scan in options.scans]
    points = np.concatenate(clouds)
    places = clicked(points) if options.at is None else np.array(options.at)
    if not len(places):
        raise InputError("nothing was picked: no seeds file is written")
    write_seeds(options.out, checked(places, points))
    print(f"{len(places)} seeds in {options.out}")
    return 0
