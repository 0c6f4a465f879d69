"""Find the spheres in a scan: morphtrack ingest SCAN... --out DIR.

Files of points in, a table of centres out. Several files are several views of one scan,
already registered. OUT receives spheres.csv (centre, covariance, radius, quality),
rejected.csv (each candidate that is no sphere, with the reason), covariance.npz (of all
centres together), points.npy (some of the points, mm), picture.png, and scan.html, the
same to turn in a browser.

Formats: .ply .pcd .xyz .xyzn .xyzrgb .txt .csv .tsv .asc .pts .ptx .dat .npy, after
make formats also .las .laz .e57, and meshes: .ply with faces, .stl .obj .glb .3mf.
Each scan of a PTS, PTX or E57 file is a view, of the latter two in its pose and seen
from there. In a mesh the radius that all balls have in common is found; the notes say
by how much it is off.
Exit status: 0 done; 2 the input is refused, and nothing is written.

Example:
  morphtrack ingest a.ply b.ply --sphere-radius-mm 6 --unit mm --out found
"""

import argparse
from pathlib import Path

from pipeline.steps.ingest import Ingest, run_step
from pipeline.terminal.arguments import OneLineParser, output_directory
from pipeline.terminal.errors import InputError, command


def arguments() -> argparse.ArgumentParser:
    parser = OneLineParser("ingest", __doc__)
    add = parser.add_argument
    add("scans", nargs="+", type=Path, metavar="SCAN", help="a file of points")
    add("--sphere-radius-mm", type=float, metavar="R", help="of the printed spheres")
    add("--unit", help="of the files' numbers: mm, cm, m or inch; no file tells")
    add("--out", type=output_directory, required=True, help="directory for the results")
    add(
        "--radius-range", type=float, nargs=2, metavar=("A", "B"),
        help="in place of --sphere-radius-mm: spheres of unknown radius, mm",
    )  # fmt: skip
    add(
        "--seeds",
        metavar="FILE",
        help="look only here: a file of morphtrack pick",
    )
    add(
        "--registration-mm", type=float, default=0.0, metavar="SD",
        help="how far off the views of a merged cloud may be",
    )  # fmt: skip
    add(
        "--repeatability-mm", type=float, default=0.0, metavar="SD",
        help="how far apart the centres of repeated scans are",
    )  # fmt: skip
    add(
        "--scanner-at-mm", type=float, nargs=3, metavar=("X", "Y", "Z"),
        help="where the scanner stood; poses in E57 and PTX files say it",
    )  # fmt: skip
    add("--decimal-comma", action="store_true", help="numbers such as 1,25")
    add("--salvage", action="store_true", help="keep the good points of damaged files")
    return parser


def _config(options: argparse.Namespace) -> Ingest:
    given = [options.sphere_radius_mm is not None, options.radius_range is not None]
    if sum(given) != 1:
        raise InputError("give either --sphere-radius-mm R or --radius-range A B")
    low, high = options.radius_range or (options.sphere_radius_mm, None)
    return Ingest(
        sphere_radius_mm=low,
        unit=options.unit,
        largest_radius_mm=high,
        registration_mm=options.registration_mm,
        repeatability_mm=options.repeatability_mm,
        decimal_comma=options.decimal_comma,
        salvage=options.salvage,
        seeds_path=options.seeds,
        scanner_at_mm=options.scanner_at_mm and tuple(options.scanner_at_mm),
    )


@command
def main(argv: list[str] | None = None) -> int:
    """Ingest one scan."""
    options = arguments().parse_intermixed_args(argv)
    numbers = run_step(_config(options), options.scans, options.out)
    for name, value in numbers.items():
        if name == "radius_remark":
            continue
        shown = f"{value:.6g}" if isinstance(value, float) else str(value)
        print(f"{name}: {shown}")
    many, views = numbers["spheres"], numbers["views"]
    if numbers["radius_remark"]:
        print(f"warning: {numbers['radius_remark']}")
    print(
        f"found {many} sphere{'s' * (many != 1)} in {views} view{'s' * (views != 1)}: "
        f"{options.out / 'scan.html'} shows them; morphtrack compare sets them beside "
        "a run"
    )
    return 0
