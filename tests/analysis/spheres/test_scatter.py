"""Scatter beyond stated errors."""

import numpy as np

from analysis.spheres.centre_covariance import excess_sd


def test_excess_scatter_is_found_and_honest_errors_need_none(rng):
    sds = rng.uniform(0.01, 0.03, 400)
    values = 50 + rng.normal(0, np.hypot(sds, 0.14))
    assert np.isclose(excess_sd(values, sds), 0.14, rtol=0.1)
    assert excess_sd(50 + rng.normal(0, sds), 1.5 * sds) == 0.0


def test_a_single_measurement_shows_no_scatter():
    assert excess_sd(np.array([1.0]), np.array([0.1])) == 0.0


def test_measurements_that_are_all_the_same_scatter_by_nothing():
    """Their weighted mean is rounded, by more than sds of 1e-17 allow."""
    for value in (6.0000000000000053, 0.1, 1000.1):
        assert excess_sd(np.full(5, value), np.array([1.0, 2, 3, 5, 7]) * 1e-17) == 0.0
