"""Hints for scans without a sphere."""

import numpy as np

from pipeline.scans.no_sphere_hints import too_coarse


def test_numbers_in_single_precision_far_away_are_too_coarse(rng):
    points = rng.uniform(0.0, 100.0, (2000, 3))
    assert too_coarse(points, 6.0) == ""
    far = points + np.array([512e6, 5123e6, 0.0])
    assert too_coarse(far, 6.0) == ""
    single = far.astype(np.float32).astype(np.float64)
    assert "coordinates are rounded to 512 mm" in too_coarse(single, 6.0)
    assert too_coarse(np.zeros((3, 3)), 6.0) == ""  # a single place
