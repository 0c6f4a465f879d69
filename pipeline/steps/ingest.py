"""Files of points in, a table of sphere centres with covariances out."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from analysis.figures.scan_picture import scan_picture, thinned
from analysis.spheres.find import find_spheres
from analysis.spheres.picks import PickOptions, Picks
from pipeline.scans.hints import (
    doubt,
    left_out,
    own_radius,
    reasons,
    told_radius,
    untold_radius,
    used_radius,
)
from pipeline.scans.page import scan_page
from pipeline.scans.picks import write_tables
from pipeline.scans.places import contradicted, stated_places
from pipeline.scans.reading.cloud import Cloud
from pipeline.scans.reading.source import Choices, ScanFileError
from pipeline.scans.reading.units import unit_named
from pipeline.scans.seeds import at_seeds, near_any, read_seeds
from pipeline.scans.views import (
    blind_views,
    check_overlap,
    merged,
    read_views,
    settled,
)
from pipeline.store.files import replacing, write_text
from pipeline.store.runs import Job, Needs, Numbers
from pipeline.terminal.errors import InputError, one_line
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
    scanner_at_mm: tuple[float, float, float] | None = None  # of a single scan

    def __post_init__(self) -> None:
        unit_named(self.unit)
        _ = self.options
        if self.scanner_at_mm is not None and (
            len(self.scanner_at_mm) != 3 or not np.isfinite(self.scanner_at_mm).all()
        ):
            raise ValueError(f"scanner_at_mm is {self.scanner_at_mm}: give x, y, z")

    def places(self, clouds: list[Cloud]) -> Floats | None:
        """(v, 3) where the scanner stood for each view, as stated here or in files."""
        if self.scanner_at_mm is None:
            return stated_places(clouds)
        if len(clouds) > 1:
            raise InputError(
                f"scanner_at_mm is one place, and {len(clouds)} views were read: give "
                "one scan, or files that hold their poses (E57, PTX)"
            )
        return np.array([self.scanner_at_mm], dtype=np.float64)

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
    clouds = read_views(scans, unit, choices, config.options)
    sizes = [len(cloud.points) for cloud in clouds]
    points, clouds = merged(clouds)
    view = np.repeat(np.arange(len(clouds)), sizes) if len(clouds) > 1 else None
    options = replace(config.options, fused=any(cloud.is_mesh for cloud in clouds))
    picks, more = _placed_picks(clouds, points, view, config, options)
    wrong = doubt(picks, points, unit, options)
    if wrong:
        code, _, problem = wrong.partition(" ")
        lost = "".join(f"; {note}" for note in _remarks(clouds))
        raise InputError(f"{code} {scans[0]}: {problem}{lost}")
    check_overlap(clouds, picks.seen)
    ignored = left_out(picks, points, config.options)
    numbers = _numbers(clouds, picks, config, [*more, *[ignored] * bool(ignored)])
    if view is not None:
        points = settled(points, view, picks.motions)
    _write(out, points, picks, numbers)
    return numbers


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Ingest the files of a planned job, or the views of the scan it needs."""
    scan = needs.get("scan")
    views = [Path(p) for p in job.paths] if scan is None else sorted(scan.glob("*.ply"))
    try:
        return run_step(Ingest(**job.config), views, out)
    except ScanFileError as error:
        raise InputError(one_line(error)) from error


def _placed_picks(
    clouds: list[Cloud],
    points: Floats,
    view: Ints | None,
    config: Ingest,
    options: PickOptions,
) -> tuple[Picks, list[str]]:
    """The spheres as seen from where the scanner stood, and what is to be said of it.

    A place from which balls would show their back is not used.
    """
    places = config.places(clouds)
    picks = pick(points, view, config, options, places)
    unseen = places is not None and not picks.spheres
    told = pick(points, view, config, options) if unseen else picks
    wrong = [] if places is None else contradicted(places, points, view, told)
    if wrong:
        names = ", ".join(clouds[v].name for v in wrong)
        said = f"{names}: from the place that is stated, balls would show their back"
        return pick(points, view, config, options), [f"{said}: its places are not used"]
    return picks, []


def pick(
    points: Floats,
    view: Ints | None,
    config: Ingest,
    options: PickOptions,
    places: Floats | None = None,
) -> Picks:
    """The spheres of a scan; with a seeds file, those at its seeds only.

    Parameters
    ----------
    places : (v, 3) where the scanner stood for each view, mm, if known
    """
    if config.seeds_path is None:
        return find_spheres(points, options, view, places)
    seeds = read_seeds(Path(config.seeds_path))
    largest = config.largest_radius_mm or config.sphere_radius_mm
    near = near_any(points, seeds, CROP_REACH * largest)
    if not near.any():
        raise InputError(
            f"{config.seeds_path}: no point of the scan is within "
            f"{CROP_REACH * largest:g} mm of a seed: are the seeds in mm?"
        )
    crop = None if view is None else view[near]
    if crop is not None and places is not None:
        places = places[: int(crop.max()) + 1]
    picks = find_spheres(points[near], options, crop, places)
    return at_seeds(picks, seeds, SEED_REACH * largest)


def _write(out: Path, points: Floats, picks: Picks, numbers: dict[str, Any]) -> None:
    synthetic = bool(numbers["synthetic"])
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
        np.savez(
            file,
            centres_mm=picks.centres,
            covariance_mm2=picks.covariance,
            radius_remark=numbers["radius_remark"],
        )
    with replacing(out / "points.npy") as temporary, temporary.open("wb") as file:
        np.save(file, thinned(points, KEPT_POINTS).astype(np.float32))
    write_tables(out, picks, synthetic)


def _numbers(
    clouds: list[Cloud], picks: Picks, config: Ingest, more: list[str]
) -> dict[str, Any]:
    free_radius, free_radius_sd = own_radius(picks)
    notes = _remarks(clouds) + blind_views(clouds, picks.seen)
    notes += [told.told for told in (picks.fusion, picks.excess) if told is not None]
    notes += untold_radius(picks, config.options)
    return {
        "spheres": len(picks.spheres),
        "rejected": len(picks.rejected),
        "rejected_for": reasons(picks),
        "radius_mm": used_radius(picks, config.options),
        "free_radius_mm": free_radius,
        "free_radius_sd_mm": free_radius_sd,
        "radius_remark": told_radius(picks, config.options),
        "noise_mm": float(picks.noise),
        "centre_sd_mm": _typical_sd(picks),
        "points": sum(len(cloud.points) for cloud in clouds),
        "dropped": sum(cloud.dropped for cloud in clouds),
        "views": len(clouds),
        "unit": clouds[0].unit.value,
        "synthetic": any(cloud.synthetic for cloud in clouds),
        "notes": "; ".join([*notes, *more]),
    }


def _remarks(clouds: list[Cloud]) -> list[str]:
    """What was lost in reading, by file."""
    return [f"{c.name}: {note}" for c in clouds for note in c.notes]


def _typical_sd(picks: Picks) -> float:
    """Median over the spheres of the standard deviation of a centre, mm."""
    traces = [np.trace(sphere.covariance) for sphere in picks.spheres]
    return float(np.sqrt(np.median(traces) / 3.0))
