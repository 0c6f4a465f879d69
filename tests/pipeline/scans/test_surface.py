"""Points spread over faces follow the area, wherever the vertices are."""

import numpy as np
import pytest

from pipeline.scans.points_on_meshes import points_on

SQUARE = np.array([[0, 0, 0], [10, 0, 0], [10, 10, 0], [0, 10, 0], [0.5, 0.5, 0]])
FAN = np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])  # far from even


def test_every_part_of_a_plate_gets_its_share():
    points = points_on(SQUARE, FAN, 0.1, 100.0)
    assert len(points) == pytest.approx(10_000, abs=1)
    np.testing.assert_array_equal(points[:, 2], 0.0)
    counts, _, _ = np.histogram2d(*points[:, :2].T, bins=10, range=[[0, 10], [0, 10]])
    assert np.abs(counts - 100).max() < 20
    assert counts.std() < 5.0  # 10 if they were random


def test_large_faces_count_as_small_ones_and_fine_meshes_by_their_faces():
    few = points_on(SQUARE, FAN, 0.1, 1.0)
    assert len(few) == pytest.approx(400, abs=1)
    assert len(points_on(SQUARE, FAN, 100.0, 100.0)) == len(FAN)


def test_faces_without_area_have_no_points():
    assert points_on(SQUARE, np.array([[0, 1, 1]]), 0.1, 1.0).shape == (0, 3)
