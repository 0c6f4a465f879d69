"""The contact potential: its slopes, its limits, and the two forms of one formula."""

import math

import numpy as np
import pytest

from sim.contact.contact_energy import SERIES_BELOW, barrier, mollifier
from tests.sim.contact.taylor import remainder_order

D0, KE = 0.8, 0.3


@pytest.mark.parametrize("d", [0.01, 0.1, 0.4, 0.7, 0.77])
def test_slopes_of_the_barrier_have_second_order_remainders(d):
    _, slope, curvature = barrier(d, D0, KE)
    v = np.array([0.1 * min(d, D0 - d)])
    x = np.array([d])
    energy = remainder_order(lambda y: barrier(y[0], D0, KE)[0], slope * v, x, v)
    force = remainder_order(lambda y: barrier(y[0], D0, KE)[1], curvature * v, x, v)
    assert energy == pytest.approx(2.0, abs=0.1)
    assert force == pytest.approx(2.0, abs=0.1)


def test_barrier_is_zero_from_d0_on():
    assert barrier(D0, D0, KE) == (0.0, 0.0, 0.0)
    assert barrier(2 * D0, D0, KE) == (0.0, 0.0, 0.0)


def test_force_and_stiffness_grow_without_bound_towards_contact():
    d = np.array([1e-2, 1e-4, 1e-6, 1e-8])
    slopes = np.array([barrier(x, D0, KE)[1] for x in d])
    curvatures = np.array([barrier(x, D0, KE)[2] for x in d])
    assert slopes == pytest.approx(-KE / d, rel=0.1)
    assert curvatures == pytest.approx(KE / d**2, rel=0.1)


def test_series_near_d0_agrees_with_the_closed_form():
    """Around the switch both forms have many digits: neither may jump."""
    for phi in (0.9 * SERIES_BELOW, 1.1 * SERIES_BELOW):
        d = D0 * (1 - 2 * phi / math.pi)
        energy, slope, curvature = barrier(d, D0, 1.0)
        c = math.pi / (2 * D0)
        closed = -math.log(math.cos(phi)) - phi**2 / 2
        assert energy == pytest.approx(closed, rel=1e-8)
        assert slope == pytest.approx(-c * (math.tan(phi) - phi), rel=1e-10)
        assert curvature == pytest.approx(c**2 * math.tan(phi) ** 2, rel=1e-12)


def test_fade_rises_smoothly_from_zero_to_one():
    assert mollifier(0.0, 2.0)[0] == 0.0
    assert mollifier(2.0, 2.0) == (1.0, 0.0, 0.0)
    value, slope, curvature = mollifier(0.5, 2.0)
    h = 1e-6
    up, down = mollifier(0.5 + h, 2.0), mollifier(0.5 - h, 2.0)
    assert slope == pytest.approx((up[0] - down[0]) / (2 * h), rel=1e-8)
    assert curvature == pytest.approx((up[1] - down[1]) / (2 * h), rel=1e-8)
    assert 0.0 < value < 1.0
