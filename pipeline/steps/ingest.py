"""Files of points in, a table of sphere centres with covariances out."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from analysis.figures.scans import scan_picture, thinned
from analysis.spheres.detections import PickOptions, Picks, place_of
from analysis.spheres.find import find_spheres
from pipeline.io.length_units import unit_named
from pipeline.io.point_cloud import Cloud
from pipeline.io.reader_interface import Choices, ScanFileError
from pipeline.runs.atomic_files import (
    replacing,
    write_arrays,
    write_picture,
    write_text,
)
from pipeline.runs.run_directory import Job, Needs, Numbers
from pipeline.scans import merge_views, no_sphere_hints
from pipeline.scans.scan_page import scan_page
from pipeline.scans.seed_spheres import at_seeds, near_any, read_seeds
from pipeline.scans.sphere_tables import rejected_row, write_table, write_tables
from pipeline.steps.settings import Ingest
from pipeline.terminal import InputError, ShownError, refusing
from sim.core.arrays import Floats, Ints

SEED_REACH = 1.6  # radii from a seed, which lies on the sphere or at its centre
CROP_REACH = 3.5  # radii around a seed that are searched
MOST_POINTS = 200_000  # for figures, and to place the target


def run_step(config: Ingest, scans: list[Path], out: Path) -> dict[str, Any]:
    """Pick the spheres of a scan; write the tables and the picture to `out`.

    Parameters
    ----------
    scans : files, each one view; a single file is a merged cloud
    """
    unit = unit_named(config.unit)
    choices = Choices(config.decimal_comma, config.salvage)
    clouds = merge_views.read_views(scans, unit, choices, config.options)
    if config.register:
        clouds, rms_mm = merge_views.registered(clouds, config.options)
        config = replace(
            config, registration_mm=float(np.hypot(config.registration_mm, rms_mm))
        )
    sizes = [len(cloud.points) for cloud in clouds]
    points, clouds = merge_views.merged(clouds)
    view = np.repeat(np.arange(len(clouds)), sizes) if len(clouds) > 1 else None
    options = replace(config.options, fused=any(cloud.is_mesh for cloud in clouds))
    picks, more = _placed_picks(clouds, points, view, config, options)
    wrong = no_sphere_hints.no_sphere_hint(picks, points, unit, options)
    if wrong:
        code, _, problem = wrong.partition(" ")
        lost = "".join(f"; {note}" for note in _remarks(clouds))
        out.mkdir(parents=True, exist_ok=True)
        write_table(out / "rejected.csv", [rejected_row(r) for r in picks.rejected])
        others = f" and {len(scans) - 1} more" if len(scans) > 1 else ""
        raise ShownError(f"{code} {scans[0]}{others}: {problem}{lost}")
    if config.accept:
        plain = replace(config, accept=()), replace(options, accept=())
        without, _ = _placed_picks(clouds, points, view, *plain)
        anyway = [n for n in config.accept if without.overlaps(place_of(n))]
        more += [f"--accept {n} overlaps a sphere found without it" for n in anyway]
    merge_views.check_overlap(clouds, picks.seen)
    ignored = no_sphere_hints.left_out(picks, points, config.options)
    numbers = _numbers(clouds, picks, config, [*more, *[ignored] * bool(ignored)])
    if view is not None:
        points = merge_views.settled(points, view, picks.motions)
    _write(out, points, picks, numbers, merge_views.registration_table(clouds, picks))
    return numbers


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Ingest the files of a job, or the views of the scan it needs."""
    scan = needs.get("scan")
    views = [Path(p) for p in job.paths] if scan is None else sorted(scan.glob("*.ply"))
    with refusing(ScanFileError):
        return run_step(Ingest(**job.config), views, out)


def _placed_picks(
    clouds: list[Cloud],
    points: Floats,
    view: Ints | None,
    config: Ingest,
    options: PickOptions,
) -> tuple[Picks, list[str]]:
    """The spheres as seen from the place of the scanner, and warnings about it.

    A place from which the scanner would see the back of spheres is not used.
    """
    places = _places(config, clouds)
    picks = pick(points, view, config, options, places)
    unseen = places is not None and not picks.spheres
    found = pick(points, view, config, options) if unseen else picks
    wrong = (
        [] if places is None else merge_views.contradicted(places, points, view, found)
    )
    if wrong:
        names = ", ".join(clouds[v].name for v in wrong)
        warning = (
            f"{names}: the stated scanner positions are not used, because the scanned "
            "side of the spheres is not visible from them"
        )
        return pick(points, view, config, options), [warning]
    return picks, []


def _places(config: Ingest, clouds: list[Cloud]) -> Floats | None:
    """(v, 3) where the scanner stood for each view, as stated here or in files."""
    if config.scanner_at_mm is None:
        return merge_views.stated_places(clouds)
    if len(clouds) > 1:
        raise InputError(
            f"scanner_at_mm is one position, but {len(clouds)} views were read: give "
            "one scan, or files that contain their poses (E57, PTX)"
        )
    return np.array([config.scanner_at_mm], dtype=np.float64)


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
            f"{CROP_REACH * largest:g} mm of a seed: give seeds in mm"
        )
    crop = None if view is None else view[near]
    if crop is not None and places is not None:
        places = places[: int(crop.max()) + 1]
    picks = find_spheres(points[near], options, crop, places)
    return at_seeds(picks, seeds, SEED_REACH * largest)


def _write(
    out: Path,
    points: Floats,
    picks: Picks,
    numbers: dict[str, Any],
    views: list[dict[str, Any]],
) -> None:
    synthetic = bool(numbers["synthetic"])
    title = f"spheres: {len(picks.spheres)}, points: {len(points)}"
    page = scan_page(points, picks, title, synthetic=synthetic)
    figure = scan_picture(
        points, picks, f"synthetic scan: {title}" if synthetic else title
    )
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / "scan.html", page)
    write_picture(out / "picture.png", figure)
    write_arrays(
        out / "covariance.npz",
        centres_mm=picks.centres,
        covariance_mm2=picks.covariance,
        radius_remark=numbers["radius_remark"],
    )
    with replacing(out / "points.npy") as temporary, temporary.open("wb") as file:
        np.save(file, thinned(points, MOST_POINTS).astype(np.float32))
    write_tables(out, picks, synthetic)
    if views:
        write_table(out / "views.csv", views)


def _numbers(
    clouds: list[Cloud], picks: Picks, config: Ingest, more: list[str]
) -> dict[str, Any]:
    used = no_sphere_hints.used_radius(picks, config.options)
    free_radius, sd = no_sphere_hints.own_radius(picks)
    slack = no_sphere_hints.of_noise(picks, used)
    notes = _remarks(clouds) + merge_views.blind_views(clouds, picks.seen)
    notes += [] if picks.fusion is None else [picks.fusion.summary]
    notes += no_sphere_hints.shared_errors(picks, config.options)
    if near := no_sphere_hints.near_misses(picks):
        notes.append(f"if a sphere is missing: {near}")
    traces = [np.trace(sphere.covariance) for sphere in picks.spheres]
    return {
        "spheres": len(picks.spheres),
        "rejected": len(picks.rejected),
        "rejected_for": no_sphere_hints.reasons(picks),
        "radius_mm": used,
        "free_radius_mm": free_radius,
        "free_radius_sd_mm": no_sphere_hints.with_noise(sd, slack),
        "radius_remark": no_sphere_hints.radius_hint(picks, config.options),
        "registration_remark": merge_views.misplaced(clouds, picks),
        "noise_mm": float(picks.noise),
        "centre_sd_mm": float(np.sqrt(np.median(traces) / 3.0)),
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
