"""Why a scan shows no sphere: another unit, another radius? Said, never assumed."""

import dataclasses

import numpy as np

from analysis.spheres.find import find_spheres
from analysis.spheres.picks import PickOptions, Picks
from pipeline.readers.cloud import Unit
from sim.arrays import Floats

MOST_POINTS = 1_000_000  # a hint need not see them all
RADIUS_RANGE = (0.5, 2.0)  # of the radius that was expected


def no_spheres(points: Floats, unit: Unit, options: PickOptions) -> str:
    """One line that says that there is no sphere, and what would give some.

    Parameters
    ----------
    points : (n, 3) mm, as read with `unit`
    """
    extent = " x ".join(f"{side:.3g}" for side in np.ptp(points, axis=0))
    what = (
        f"E-NO-SPHERES no sphere of radius {options.radius_mm:g} mm among "
        f"{len(points)} points that fill {extent} mm"
    )
    if len(points) > MOST_POINTS:
        points = points[:: len(points) // MOST_POINTS + 1]
    hint = other_unit(points, unit, options) or other_radius(points, options)
    return f"{what}: {hint or 'check radius and unit, or scan more densely'}"


def other_unit(points: Floats, unit: Unit, options: PickOptions) -> str:
    """A remark on the unit in which spheres appear, or nothing."""
    found = {
        other: len(_tried(points * (other.mm / unit.mm), options).spheres)
        for other in Unit
        if other is not unit
    }
    best = max(found, key=lambda other: found[other])
    if not found[best]:
        return ""
    return (
        f"read as {best.value} it has {found[best]}: rerun with --unit {best.value} "
        "if that is the file's unit"
    )


def other_radius(points: Floats, options: PickOptions) -> str:
    """A remark on the radius that the scan's spheres have, or nothing."""
    low, high = (factor * options.radius_mm for factor in RADIUS_RANGE)
    wide = dataclasses.replace(options, radius_mm=low, radius_max_mm=high)
    spheres = _tried(points, wide).spheres
    if not spheres:
        return ""
    radii = np.array([sphere.free_radius for sphere in spheres])
    common = radii[np.abs(radii - np.median(radii)) < 0.1 * np.median(radii)]
    spread = np.std(common, ddof=1) if len(common) > 1 else spheres[0].free_radius_sd
    return (
        f"it has spheres of radius {common.mean():.2f} mm (n={len(common)}, "
        f"sd {spread:.2g}): rerun with that radius if it is the printed one"
    )


def _tried(points: Floats, options: PickOptions) -> Picks:
    try:
        return find_spheres(points, options)
    except ValueError:  # larger than anything that is searched in cells of a radius
        return Picks((), (), np.zeros((0, 0)), np.nan)
