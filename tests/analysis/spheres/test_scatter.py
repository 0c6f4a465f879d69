"""Scatter beyond stated errors."""

import numpy as np
import pytest

from analysis.spheres.scatter import excess_sd, registration_sd


def test_excess_scatter_is_found_and_honest_errors_need_none(
    rng: np.random.Generator,
) -> None:
    sds = rng.uniform(0.01, 0.03, 400)
    values = 50 + rng.normal(0, np.hypot(sds, 0.14))
    assert np.isclose(excess_sd(values, sds), 0.14, rtol=0.1)
    assert excess_sd(50 + rng.normal(0, sds), 1.5 * sds) == 0.0


def test_known_lengths_show_how_far_centres_are_displaced(
    rng: np.random.Generator,
) -> None:
    r = rng.uniform(-100, 100, (60, 3))
    pairs = np.array([(i, j) for i in range(60) for j in range(i)])
    lengths = np.linalg.norm(r[pairs[:, 0]] - r[pairs[:, 1]], axis=1)
    own = 0.02
    displaced = r + rng.normal(0, np.hypot(own, 0.08), r.shape)
    sd = registration_sd(displaced, own**2 * np.eye(180), pairs, lengths)
    assert np.isclose(sd, 0.08, rtol=0.15)
    close = r + rng.normal(0, own, r.shape)
    assert registration_sd(close, 2 * own**2 * np.eye(180), pairs, lengths) == 0.0


def test_a_single_measurement_shows_no_scatter() -> None:
    with pytest.raises(ValueError, match="scan again"):
        excess_sd(np.array([1.0]), np.array([0.1]))
    with pytest.raises(ValueError, match="registration_mm"):
        registration_sd(np.zeros((2, 3)), np.eye(6), np.empty((0, 2), int), np.empty(0))
