"""The files of a scan as one cloud: read, thinned if need be, moved to agree."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from analysis.spheres.picks import ViewMotion
from pipeline.errors import InputError
from pipeline.memory import available_bytes
from pipeline.readers.cloud import Cloud, expected, open_source, read_cloud
from pipeline.readers.source import Choices
from pipeline.readers.thinning import Thinning
from pipeline.readers.units import Unit
from sim.arrays import Floats, Ints

MOST_POINTS = 30_000_000  # a larger scan is thinned
VOXEL = 0.01  # radii: the side of the voxels that a large scan is thinned to
BYTES_A_POINT = 60  # that picking takes; 49 were measured with 20 million points


def read_views(
    scans: list[Path], unit: Unit, choices: Choices, radius_mm: float
) -> list[Cloud]:
    """The clouds of all files, thinned where they are too large to pick from.

    A file given twice is refused, and so is a scan that memory has no room for.
    """
    if not scans:
        raise InputError("no scan given: name at least one file of points")
    if len({scan.resolve() for scan in scans}) < len(scans):
        raise InputError(f"a scan is given twice among {len(scans)}: name each once")
    sizes = [expected(open_source(scan, choices)) for scan in scans]
    _check_memory(scans[0], min(sum(sizes), MOST_POINTS))
    share = min(1.0, MOST_POINTS / max(sum(sizes), 1))
    return [
        read_cloud(
            scan,
            unit,
            choices,
            Thinning(VOXEL * radius_mm, max(int(share * size), 1000)),
        )
        for scan, size in zip(scans, sizes, strict=True)
    ]


def _check_memory(scan: Path, points: int) -> None:
    need, there = BYTES_A_POINT * points, available_bytes()
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


def settled(points: Floats, view: Ints, motions: Sequence[ViewMotion]) -> Floats:
    """The points (n, 3) after each view was moved to agree with the others."""
    moved = points.copy()
    for motion in motions:
        of_view = view == motion.view
        arm = points[of_view] - motion.pivot
        moved[of_view] += motion.translation + np.cross(motion.rotation, arm)
    return moved
