import numpy as np
import pytest

from analysis.comparison.error_sources import (
    scale_covariance,
    scanned_shape_factor,
    shape_factor_gradient,
)
from sim.mechanism.shape_measures import characteristic_length, shape_factor


@pytest.fixture
def nodes(rng):
    return rng.normal(size=(20, 3)) * [60.0, 40.0, 15.0]


def remainder(nodes, direction, h):
    L = characteristic_length(nodes) * 1.1
    slope = float(np.sum(shape_factor_gradient(nodes, L) * direction))
    return abs(
        shape_factor(nodes + h * direction, L) - shape_factor(nodes, L) - h * slope
    )


def test_the_gradient_leaves_a_remainder_of_second_order(nodes, rng):
    direction = rng.normal(size=nodes.shape)
    h = np.array([4.0, 2.0, 1.0, 0.5])
    left = [remainder(nodes, direction, step) for step in h]
    slope = np.polyfit(np.log(h), np.log(left), 1)[0]
    assert slope == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("sd_mm", [0.1, 2.0])
def test_uncertainty_and_bias_are_those_of_many_scans(nodes, rng, sd_mm):
    L = characteristic_length(nodes)
    C = sd_mm**2 * np.eye(60)
    C += sd_mm**2 * np.kron(
        np.ones((20, 20)), np.diag([1.0, 0.5, 0.0])
    )  # common to all
    draws = np.array(
        [
            shape_factor(nodes + e.reshape(20, 3), L)
            for e in rng.multivariate_normal(np.zeros(60), C, 20_000, method="cholesky")
        ]
    )
    found = scanned_shape_factor(nodes, L, C)
    assert found.u == pytest.approx(draws.std(), rel=0.03)
    chance = draws.std() / np.sqrt(len(draws))
    assert found.bias == pytest.approx(draws.mean() - 1.0, abs=3.5 * chance)
    assert found.bias > 0


def test_bias_is_taken_off(nodes):
    C = 4.0 * np.eye(60)
    found = scanned_shape_factor(nodes, 50.0, C)
    assert found.S + found.bias == pytest.approx(shape_factor(nodes, 50.0))


def test_an_unknown_scale_adds_its_share_of_S(nodes):
    L = 0.9 * characteristic_length(nodes)
    found = scanned_shape_factor(nodes, L, scale_covariance(nodes, 1e-3))
    assert found.u == pytest.approx(1e-3 * shape_factor(nodes, L))
