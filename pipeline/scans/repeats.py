"""Points that a scan holds twice: counted twice, they would seem to be measured so."""

from dataclasses import replace
from itertools import combinations

import numpy as np

from pipeline.scans.reading.cloud import Cloud
from pipeline.scans.thresholds import REPEAT
from pipeline.terminal.errors import InputError
from sim.arrays import Bools, Floats, Ints

SLANTED = np.array([1.0, 0.618034, 0.414214])  # planes across it are no scan's walls
BLOCK = 1 << 16  # points at a time


def check_views_differ(clouds: list[Cloud], radius_mm: float) -> None:
    """Refuse a view that is given twice, under another name or in another format."""
    if len(clouds) < 2:
        return
    step = REPEAT.grid * radius_mm
    every = max(len(cloud.points) for cloud in clouds) <= REPEAT.every
    keys = [np.unique(_keys(cloud.points, step, every)) for cloud in clouds]
    for (a, of_a), (b, of_b) in combinations(zip(clouds, keys, strict=True), 2):
        common = len(np.intersect1d(of_a, of_b, assume_unique=True))
        if common > REPEAT.same * max(min(len(of_a), len(of_b)), 1):
            raise InputError(
                f"E-REPEATED {b.path}: holds the points of {a.path}: name each view "
                "once"
            )


def without_repeats(cloud: Cloud, radius_mm: float) -> Cloud:
    """The cloud with each point once, and a note where some were repeated."""
    points, step = cloud.points, REPEAT.grid * radius_mm
    sample = _keys(points, step, len(points) <= REPEAT.every)
    if len(sample) - len(np.unique(sample)) <= REPEAT.few * len(sample):
        return cloud
    first = np.sort(np.unique(_keys(points, step, True), return_index=True)[1])
    lost = len(points) - len(first)
    note = f"{lost} of {len(points)} points repeat others and were dropped"
    return replace(
        cloud,
        points=points[first],
        dropped=cloud.dropped + lost,
        notes=(*cloud.notes, note),
    )


def _keys(points: Floats, step: float, every: bool) -> Ints:
    """A number for each place that holds a point; a sample of places unless `every`."""
    found = [np.empty(0, dtype=np.int64)]
    for start in range(0, len(points), BLOCK):
        block = points[start : start + BLOCK]
        cell = np.rint((block if every else block[_sampled(block, step)]) / step)
        x, y, z = cell.astype(np.int64).T
        found.append((x * 0x9E3779B97F4A7C1 + y) * 0x1B873593CC9E2D5 + z)
    return np.concatenate(found)


def _sampled(points: Floats, step: float) -> Bools:
    """Which points belong to the sample: the same place is in it in every cloud."""
    return np.asarray(np.rint(points @ (SLANTED / step)) % REPEAT.sampled == 0)
