"""Large clouds lose points, never places, and the measured points stay as they are."""

from collections.abc import Iterator

import numpy as np
import pytest
from scipy.spatial import KDTree

from pipeline.io.length_units import Unit
from pipeline.io.point_cloud import Thinning, read_clouds, thinned
from sim.core.arrays import Floats


def in_blocks(points: Floats, size: int = 1000) -> Iterator[Floats]:
    for start in range(0, len(points), size):
        yield points[start : start + size]


def cells(points: Floats, voxel: float) -> set[tuple[int, ...]]:
    return set(map(tuple, np.floor(points / voxel).astype(int).tolist()))


def test_the_first_point_of_every_voxel_remains(rng):
    points = rng.uniform(-20, 20, (9000, 3))
    kept = thinned(in_blocks(points), Thinning(3.0, 9000))
    first = {}
    for cell, point in zip(np.floor(points / 3.0).astype(int), points, strict=True):
        first.setdefault(tuple(cell), tuple(point))
    assert kept.voxel == 3.0
    assert list(map(tuple, kept.points)) == list(first.values())


@pytest.mark.parametrize("most", [8, 100, 700])
def test_voxels_grow_until_the_points_fit(rng, most):
    points = rng.uniform(-20, 20, (5000, 3))
    kept = thinned(in_blocks(points), Thinning(0.1, most))
    assert most / 8 <= len(kept.points) <= most
    assert kept.voxel > 0.1
    assert len(cells(kept.points, kept.voxel)) == len(kept.points)
    gap, _ = KDTree(kept.points).query(points)
    assert gap.max() < 4 * kept.voxel
    assert {tuple(p) for p in kept.points} <= {tuple(p) for p in points}


def test_rows_that_are_not_finite_are_counted_apart(rng):
    points = rng.uniform(-20, 20, (500, 3))
    points[::5] = np.nan
    kept = thinned(in_blocks(points), Thinning(1e-3, 500))
    assert (kept.read, kept.finite, len(kept.points)) == (500, 400, 400)


@pytest.mark.parametrize("suffix", [".npy", ".xyz"])
def test_a_file_with_too_many_points_is_thinned_in_mm_and_says_so(
    rng, tmp_path, suffix
):
    points = np.round(rng.uniform(-2, 2, (6000, 3)), 5)
    path = tmp_path / f"a{suffix}"
    if suffix == ".npy":
        np.save(path, points)
    else:
        np.savetxt(path, points, fmt="%.5f")
    (cloud,) = read_clouds(path, Unit.CM, thinning=Thinning(5.0, 1000))
    assert cells(cloud.points, 5.0) == cells(10 * points, 5.0)
    assert len(cloud.points) == 512
    assert "6000 points were thinned to 512, one per voxel of 5 mm" in cloud.notes[0]
    assert cloud.dropped == 0
    (whole,) = read_clouds(path, Unit.CM, thinning=Thinning(5.0, 10_000))
    assert len(whole.points) == 6000
