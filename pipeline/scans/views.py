"""The files of a scan as one cloud: read, thinned if need be, moved to agree."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.sparse.csgraph import connected_components

from analysis.spheres.find import find_spheres
from analysis.spheres.picks import PickOptions, ViewMotion
from pipeline.scans.far import without_far
from pipeline.scans.hints import other_unit
from pipeline.scans.memory import available_bytes
from pipeline.scans.reading.cloud import Cloud, expected, open_sources, read_clouds
from pipeline.scans.reading.source import Choices
from pipeline.scans.reading.thinning import Thinning
from pipeline.scans.reading.units import Unit
from pipeline.scans.repeats import check_views_differ, without_repeats
from pipeline.scans.surface import spread_out
from pipeline.scans.thresholds import HINT, SIZE
from pipeline.terminal.errors import InputError
from sim.arrays import Bools, Floats, Ints


def read_views(
    scans: list[Path], unit: Unit, choices: Choices, options: PickOptions
) -> list[Cloud]:
    """The clouds of all files, thinned where they are too large to pick from.

    A view given twice is refused, and so is a scan that memory has no room for. Points
    seem to repeat in too large a unit as well: that is looked at first.
    """
    radius_mm = options.radius_mm
    if not scans:
        raise InputError("no scan given: name at least one file of points")
    files = [os.path.realpath(scan) for scan in scans]
    for k, file in enumerate(files):
        if file in files[:k]:
            raise InputError(f"E-REPEATED {scans[k]}: is given twice: name it once")
    sizes = [sum(map(expected, open_sources(scan, choices))) for scan in scans]
    _check_memory(scans[0], min(sum(sizes), SIZE.most_points))
    share = min(1.0, SIZE.most_points / max(sum(sizes), 1))
    clouds = []
    for scan, size in zip(scans, sizes, strict=True):
        thinning = Thinning(SIZE.voxel * radius_mm, max(int(share * size), 1000))
        clouds += read_clouds(scan, unit, choices, thinning)
    near = [without_far(cloud, radius_mm, choices) for cloud in clouds]
    once = [
        cloud if cloud.is_mesh else without_repeats(cloud, radius_mm) for cloud in near
    ]
    try:
        check_views_differ(once, radius_mm)
    except InputError:
        _check_unit(clouds, unit, options)
        raise
    return [spread_out(cloud, radius_mm) for cloud in once]


def _check_unit(clouds: list[Cloud], unit: Unit, options: PickOptions) -> None:
    """Refuse views whose spheres are there in another unit."""
    points, _ = merged(clouds)
    points = points[:: len(points) // HINT.most_points + 1]
    if len(find_spheres(points, options).spheres) >= HINT.fewest:
        return
    hint = other_unit(points, unit, options, HINT.fewest)
    if hint:
        raise InputError(
            f"E-UNIT {clouds[0].path}: in {unit.value} the points of all views fall "
            f"together; {hint}"
        )


def _check_memory(scan: Path, points: int) -> None:
    need, there = SIZE.bytes_a_point * points, available_bytes()
    if need > there:
        raise InputError(
            f"E-MEMORY {scan}: picking from {points} points takes {need / 1e9:.1f} GB, "
            f"{there / 1e9:.1f} GB are free: thin the scan, or use a larger machine"
        )


def merged(clouds: list[Cloud]) -> tuple[Floats, list[Cloud]]:
    """All points in one array, and the clouds as parts of it, to hold them once."""
    if len(clouds) == 1:
        return clouds[0].points, clouds
    points = np.concatenate([cloud.points for cloud in clouds])
    ends = np.cumsum([len(cloud.points) for cloud in clouds]).tolist()
    parts = [
        replace(cloud, points=points[end - len(cloud.points) : end])
        for cloud, end in zip(clouds, ends, strict=True)
    ]
    return points, parts


def check_overlap(clouds: list[Cloud], seen: Bools) -> None:
    """Refuse views that no sphere ties together: how they lie is anybody's guess.

    Parameters
    ----------
    seen : (m, v) whether the sphere is seen in the view
    """
    views = np.flatnonzero(seen.any(axis=0))
    if len(views) < 2:
        return
    count = seen[:, views].astype(np.int64)
    _, group = connected_components(count.T @ count, directed=False)
    apart = np.flatnonzero(group != group[0])
    if len(apart):
        one, other = clouds[views[0]].path, clouds[views[apart[0]]].path
        raise InputError(
            f"E-NO-OVERLAP {other}: shares no sphere with {one}, nor by way of other "
            "views: scan views that overlap, or merge them into one file and say how "
            "far off they may be with --registration-mm"
        )


def blind_views(clouds: list[Cloud], seen: Bools) -> list[str]:
    """A note on each view in which there is no sphere."""
    without = np.flatnonzero(~seen.any(axis=0))
    return [f"{clouds[v].name}: no sphere is seen in it" for v in without]


def settled(points: Floats, view: Ints, motions: Sequence[ViewMotion]) -> Floats:
    """The points (n, 3) after each view was moved to agree with the others."""
    moved = points.copy()
    for motion in motions:
        of_view = view == motion.view
        arm = points[of_view] - motion.pivot
        moved[of_view] += motion.translation + np.cross(motion.rotation, arm)
    return moved
