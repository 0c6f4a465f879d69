"""Derived points: known centres, what the cone and the truncation leave out."""

import numpy as np
import pytest

from analysis.spheres.derived import with_derived_points
from analysis.spheres.picks import FittedSphere, Picks
from sim.arrays import Floats

CENTRE, R, PLACE = np.array([3.0, -2.0, 5.0]), 6.0, np.array([0.0, 0.0, 800.0])


def picked(centre: Floats) -> Picks:
    sphere = FittedSphere(centre, np.eye(3), R, 0.1, 9, R, 0.1, 0.5, 1)
    return Picks((sphere,), (), np.eye(3), 0.1)


def seen(rng: np.random.Generator, sd: float = 0.02) -> Floats:
    """Points on the half of a ball that faces the scanner, errors along the normal."""
    u = rng.standard_normal((6000, 3))
    u /= np.linalg.norm(u, axis=1)[:, None]
    u = u[u @ (PLACE - CENTRE) > 0]
    return CENTRE + (R + rng.normal(0, sd, len(u)))[:, None] * u


def test_a_perfect_ball_gives_its_centre(rng: np.random.Generator) -> None:
    found = with_derived_points(picked(CENTRE + 0.2), seen(rng, 1e-9), PLACE)
    np.testing.assert_allclose(found.centres, [CENTRE], atol=1e-8)


def test_the_covariance_is_that_of_least_squares(rng: np.random.Generator) -> None:
    errors = []
    for _ in range(60):
        found = with_derived_points(picked(CENTRE), seen(rng), PLACE)
        C = found.spheres[0].covariance
        e = found.centres[0] - CENTRE
        errors.append(e @ np.linalg.solve(C, e) / 3)
    assert 0.75 < np.mean(errors) < 1.3
    np.testing.assert_array_equal(found.covariance, found.spheres[0].covariance)


def test_points_outside_the_cone_and_outliers_do_not_count(
    rng: np.random.Generator,
) -> None:
    x = seen(rng)
    plain = with_derived_points(picked(CENTRE), x, PLACE).spheres[0]
    sight = (PLACE - CENTRE) / np.linalg.norm(PLACE - CENTRE)
    d = x - CENTRE
    steep = d @ sight / np.linalg.norm(d, axis=1) < np.cos(np.deg2rad(62))
    x[steep] += 0.5 * sight
    out = CENTRE + (R + 0.3) * (sight + 0.1 * rng.standard_normal((30, 3)))
    found = with_derived_points(picked(CENTRE), np.vstack([x, out]), PLACE).spheres[0]
    assert np.abs(found.centre - plain.centre).max() < 2e-3
    assert found.points <= plain.points + 3


def test_too_few_points_in_the_cone_are_refused(rng: np.random.Generator) -> None:
    with pytest.raises(ValueError, match="points within 60 degrees of the line of"):
        with_derived_points(picked(CENTRE), seen(rng), -PLACE)
