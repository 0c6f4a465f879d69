"""A calibrated distance in the scan gives its scale, and how well."""

import numpy as np
import pytest

from analysis.validation.ball_bar import (
    CalibratedBar,
    ScaleByBar,
    bars_of,
    nearest_told,
    pairs_for_bar,
    with_stated,
)

BAR = CalibratedBar(150.0, 0.002)
CENTRES = np.array([[0.0, 0, 0], [0, 0, 150.15], [40, 0, 0], [0, 90, 0]])
COVARIANCE = 1e-4 * np.eye(12)


def among(*known):
    return bars_of(BAR, pairs_for_bar(BAR, CENTRES, *known))


def test_the_pair_as_long_as_the_bar_is_found_and_gives_the_scale():
    (found,) = among(COVARIANCE, np.arange(4), 1e-3)
    assert found.spheres == (0, 1)
    assert found.factor == pytest.approx(150.0 / 150.15, rel=1e-12)
    assert found.u == pytest.approx(np.sqrt(2e-4 + 0.002**2) / 150.15, rel=1e-9)
    (formed,) = among(COVARIANCE, np.arange(4), 1e-3, 0.01)
    assert formed.u == pytest.approx(np.sqrt(4e-4 + 0.002**2) / 150.15, rel=1e-9)


def test_what_both_ends_share_moves_no_length():
    """The whole covariance counts, not that of each centre."""
    shared = COVARIANCE + 1e-2 * np.tile(np.eye(3), (4, 4))
    (found,) = among(shared, np.arange(4), 1e-3)
    assert found.u == pytest.approx(np.sqrt(2e-4 + 0.002**2) / 150.15, rel=1e-6)


def test_only_loose_spheres_of_its_length_are_a_bar():
    assert among(COVARIANCE, np.array([0, 2, 3]), 1e-3) == []
    assert among(COVARIANCE, np.arange(4), 1e-5) == []


def test_a_bar_that_no_pair_fits_is_told_the_nearest_distance_and_what_is_allowed():
    """0.15 mm off; 3 sqrt(2e-4 + 0.002^2 + 0.0015015^2) mm is allowed."""
    known = CENTRES, COVARIANCE, np.arange(4), 1e-5
    told = nearest_told(BAR, [*pairs_for_bar(BAR, *known)], 1e-5)
    assert told.startswith(
        ": the nearest are 150.150 mm, 0.150 mm off, where 0.043 mm is allowed (three "
        "standard uncertainties, of scale 0.001 %): correct"
    )
    fits = [*pairs_for_bar(BAR, *known[:3], 1e-3)]
    assert nearest_told(BAR, fits, 1e-3) == nearest_told(BAR, [], 1e-3) == ""


def test_bar_and_certificate_are_weighed_by_what_they_do_not_know():
    by_bar = ScaleByBar((0, 1), 0.9990, 1e-4)
    assert with_stated(by_bar, None) == by_bar
    both = with_stated(by_bar, 1e-3)
    assert both.factor == pytest.approx(1 - 1e-3 / 1.01, rel=1e-12)
    assert both.u == pytest.approx(1e-4 / np.sqrt(1.01), rel=1e-12)
    against = with_stated(by_bar, 1e-4)
    assert not against.permitted
    assert (against.factor, against.u) == (by_bar.factor, by_bar.u)


def test_a_bar_without_length_or_uncertainty_is_refused():
    with pytest.raises(ValueError, match="a ball bar of 150"):
        CalibratedBar(150.0, 0.0)
