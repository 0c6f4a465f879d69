"""Spheres of another size are told by their radius."""

import numpy as np
import pytest

from analysis.spheres.detections import Picks, Rejected, RejectionReason
from analysis.spheres.find import other_size, round_fit
from sim.core.arrays import Floats

CENTRES = np.array([[0, 0, 0], [40, 5, 0], [10, 45, 8], [55, 50, -12], [-35, 20, 15]])


def caps(
    rng: np.random.Generator, radius: float, many: int = 800, noise: float = 0.02
) -> Floats:
    """The upper halves of a ball at each of CENTRES."""
    u = rng.standard_normal((len(CENTRES), many, 3))
    u /= np.linalg.norm(u, axis=2, keepdims=True)
    u[..., 2] = np.abs(u[..., 2])
    height = radius + noise * rng.standard_normal((*u.shape[:2], 1))
    return (CENTRES[:, None] + height * u).reshape(-1, 3)


def refused(rng: np.random.Generator) -> Picks:
    """Candidates near the balls, two for each."""
    places = np.repeat(CENTRES, 2, axis=0) + rng.normal(scale=1.0, size=(10, 3))
    rejected = tuple(Rejected(place, RejectionReason.RMS, "", 300) for place in places)
    return Picks((), rejected, np.zeros((0, 0)), np.nan)


@pytest.mark.parametrize("radius", [4.0, 5.5, 8.5])
def test_balls_of_another_radius_are_counted_once_each(rng, radius):
    found = other_size(caps(rng, radius), refused(rng), 6.0)
    assert found is not None
    assert found.many == len(CENTRES)
    assert found.radius == pytest.approx(radius, abs=0.01)
    assert str(found).startswith("5 spheres of radius ")


def test_rods_are_not_round(rng):
    phi = rng.uniform(0, 2 * np.pi, (5, 800))
    rod = np.stack(
        [2.5 * np.cos(phi), 2.5 * np.sin(phi), rng.uniform(-20, 20, phi.shape)]
    )
    points = (CENTRES[:, None] + np.moveaxis(rod, 0, 2)).reshape(-1, 3)
    assert other_size(points, refused(rng), 6.0) is None


def test_three_balls_are_no_size(rng):
    points = caps(rng, 8.5).reshape(5, -1, 3)[:3].reshape(-1, 3)
    assert other_size(points, refused(rng), 6.0) is None


def test_a_sphere_is_fitted_through_what_surrounds_it(rng):
    ball = caps(rng, 7.0, noise=0.0)[:800]
    clutter = rng.uniform(-12, 12, (250, 3))
    fit, roughness = round_fit(np.concatenate([ball, clutter]))
    np.testing.assert_allclose(fit, [0, 0, 0, 7.0], atol=1e-3)
    assert roughness < 1e-3
    assert round_fit(ball[:20])[1] == np.inf
