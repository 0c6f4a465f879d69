"""Find the spheres in a scan: files of points in, a table of centres out.

Several files are several views of one scan, already registered. OUT receives
spheres.csv (centre, covariance, radius, quality), rejected.csv (each candidate that is
no sphere, with the reason), covariance.npz (of all centres together), points.npy (some
of the points, mm), picture.png, and scan.html, the same to turn in a browser.

Formats: .ply .pcd .xyz .txt .csv .tsv .asc .pts .dat .npy, and vertices of .stl .obj.
Exit status: 0 done; 2 the input is refused, and nothing is written.

Example:
  python -m pipeline.ingest a.ply b.ply --sphere-radius-mm 6 --unit mm --out found
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analysis.figures.scan_picture import scan_picture, thinned
from analysis.spheres.find import find_spheres
from analysis.spheres.picks import PickOptions, Picks
from pipeline.arguments import OneLineParser, output_directory
from pipeline.errors import InputError, command
from pipeline.files import replacing, write_text
from pipeline.page.scan import scan_page
from pipeline.readers.cloud import Cloud
from pipeline.readers.source import Choices
from pipeline.readers.units import unit_named
from pipeline.scans.hints import doubt, left_out, own_radius, reasons, used_radius
from pipeline.scans.picks import write_tables
from pipeline.scans.seeds import at_seeds, near_any, read_seeds
from pipeline.scans.views import (
    blind_views,
    check_overlap,
    merged,
    read_views,
    settled,
)
from sim.arrays import Floats, Ints

SEED_REACH = 1.6  # radii from a seed, which lies on the sphere or at its centre
CROP_REACH = 3.5  # radii around a seed that are searched
KEPT_POINTS = 200_000  # for figures, and to place the target


@dataclass(frozen=True)
class Ingest:
    """What is looked for in a scan, and how its files are to be read."""

    sphere_radius_mm: float
    unit: str | None = None  # mm, cm, m or inch
    largest_radius_mm: float | None = None  # if the radius is known as a range only
    registration_mm: float = 0.0  # sd of a view's misplacement in a merged cloud
    repeatability_mm: float = 0.0  # sd of a centre that repeated scans show
    decimal_comma: bool = False
    salvage: bool = False  # keep the good points of damaged files
    seeds_path: str | None = None  # places where spheres are; elsewhere none is sought

    def __post_init__(self) -> None:
        unit_named(self.unit)
        _ = self.options

    @property
    def options(self) -> PickOptions:
        """What picking is asked for."""
        return PickOptions(
            radius_mm=self.sphere_radius_mm,
            radius_max_mm=self.largest_radius_mm,
            registration_mm=self.registration_mm,
            repeatability_mm=self.repeatability_mm,
        )


def run_step(config: Ingest, scans: list[Path], out: Path) -> dict[str, Any]:
    """Pick the spheres of a scan; write the tables and the picture to `out`.

    Parameters
    ----------
    scans : files, each one view; a single file is a merged cloud
    """
    unit = unit_named(config.unit)
    choices = Choices(config.decimal_comma, config.salvage)
    clouds = read_views(scans, unit, choices, config.sphere_radius_mm)
    sizes = [len(cloud.points) for cloud in clouds]
    points, clouds = merged(clouds)
    view = np.repeat(np.arange(len(clouds)), sizes) if len(clouds) > 1 else None
    picks = pick(points, view, config)
    wrong = doubt(picks, points, unit, config.options)
    if wrong:
        code, _, problem = wrong.partition(" ")
        lost = "".join(f"; {note}" for note in _remarks(clouds))
        raise InputError(f"{code} {scans[0]}: {problem}{lost}")
    check_overlap(clouds, picks.seen)
    ignored = left_out(picks, points, config.options)
    numbers = _numbers(clouds, picks, config, ignored)
    if view is not None:
        points = settled(points, view, picks.motions)
    _write(out, points, picks, bool(numbers["synthetic"]))
    return numbers


def pick(points: Floats, view: Ints | None, config: Ingest) -> Picks:
    """The spheres of a scan; with a seeds file, those at its seeds only."""
    if config.seeds_path is None:
        return find_spheres(points, config.options, view)
    seeds = read_seeds(Path(config.seeds_path))
    largest = config.largest_radius_mm or config.sphere_radius_mm
    near = near_any(points, seeds, CROP_REACH * largest)
    if not near.any():
        raise InputError(
            f"{config.seeds_path}: no point of the scan is within "
            f"{CROP_REACH * largest:g} mm of a seed: are the seeds in mm?"
        )
    crop = None if view is None else view[near]
    picks = find_spheres(points[near], config.options, crop)
    return at_seeds(picks, seeds, SEED_REACH * largest)


def _write(out: Path, points: Floats, picks: Picks, synthetic: bool) -> None:
    title = f"{len(picks.spheres)} spheres in {len(points)} points"
    page = scan_page(points, picks, title, synthetic=synthetic)
    figure = scan_picture(
        points, picks, f"synthetic scan: {title}" if synthetic else title
    )
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / "scan.html", page)
    with replacing(out / "picture.png") as temporary:
        figure.savefig(temporary, format="png", dpi=200)
    with replacing(out / "covariance.npz") as temporary, temporary.open("wb") as file:
        np.savez(file, centres_mm=picks.centres, covariance_mm2=picks.covariance)
    with replacing(out / "points.npy") as temporary, temporary.open("wb") as file:
        np.save(file, thinned(points, KEPT_POINTS).astype(np.float32))
    write_tables(out, picks, synthetic)


def _numbers(
    clouds: list[Cloud], picks: Picks, config: Ingest, ignored: str
) -> dict[str, Any]:
    free_radius, free_radius_sd = own_radius(picks)
    notes = _remarks(clouds) + blind_views(clouds, picks.seen)
    return {
        "spheres": len(picks.spheres),
        "rejected": len(picks.rejected),
        "rejected_for": reasons(picks),
        "radius_mm": used_radius(picks, config.options),
        "free_radius_mm": free_radius,
        "free_radius_sd_mm": free_radius_sd,
        "noise_mm": float(picks.noise),
        "centre_sd_mm": _typical_sd(picks),
        "points": sum(len(cloud.points) for cloud in clouds),
        "dropped": sum(cloud.dropped for cloud in clouds),
        "views": len(clouds),
        "unit": clouds[0].unit.value,
        "synthetic": any(cloud.synthetic for cloud in clouds),
        "notes": "; ".join([*notes, ignored] if ignored else notes),
    }


def _remarks(clouds: list[Cloud]) -> list[str]:
    """What was lost in reading, by file."""
    return [f"{c.path.name}: {note}" for c in clouds for note in c.notes]


def _typical_sd(picks: Picks) -> float:
    """Median over the spheres of the standard deviation of a centre, mm."""
    traces = [np.trace(sphere.covariance) for sphere in picks.spheres]
    return float(np.sqrt(np.median(traces) / 3.0))


def _parser() -> argparse.ArgumentParser:
    parser = OneLineParser(
        prog="python -m pipeline.ingest",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("scans", nargs="+", type=Path, metavar="SCAN", help="a file of points")
    add("--sphere-radius-mm", type=float, metavar="R", help="of the printed spheres")
    add("--unit", help="of the files' numbers: mm, cm, m or inch; no file tells")
    add("--out", type=output_directory, required=True, help="directory for the results")
    add(
        "--radius-range", type=float, nargs=2, metavar=("A", "B"),
        help="in place of --sphere-radius-mm: spheres of unknown radius, mm",
    )  # fmt: skip
    add("--seeds", metavar="FILE", help="look only here: a file of pipeline.pick")
    add(
        "--registration-mm", type=float, default=0.0, metavar="SD",
        help="how far off the views of a merged cloud may be",
    )  # fmt: skip
    add(
        "--repeatability-mm", type=float, default=0.0, metavar="SD",
        help="how far apart the centres of repeated scans are",
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
    )


@command
def main(argv: list[str] | None = None) -> int:
    """Ingest one scan."""
    options = _parser().parse_intermixed_args(argv)
    numbers = run_step(_config(options), options.scans, options.out)
    for name, value in numbers.items():
        shown = f"{value:.6g}" if isinstance(value, float) else str(value)
        print(f"{name}: {shown}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
