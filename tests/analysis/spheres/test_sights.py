"""Where scanners stood, from densities alone, and how far they pull centres."""

import numpy as np

from analysis.spheres.cells_on_a_sphere import even_directions
from analysis.spheres.centre_fit import BLIND, refine
from analysis.spheres.sphere_criteria import SphereCandidate
from analysis.spheres.viewpoints import pull, seen_from
from sim.core.arrays import Floats
from tests.analysis.spheres.test_centre_fit import CENTRE

RADIUS = 6.0


def seen_by(rng: np.random.Generator, way: Floats, count: int, sigma: float) -> Floats:
    """Points of a far scanner: as dense as cos t to 72 degrees, noise along `way`."""
    u = rng.normal(size=(40 * count, 3))
    u /= np.linalg.norm(u, axis=1)[:, None]
    cos = u @ way
    u = u[(cos > np.cos(np.deg2rad(72))) & (rng.random(len(u)) < cos)][:count]
    noise = rng.normal(0, sigma, len(u)) / (u @ way)
    return np.asarray(CENTRE + RADIUS * u + noise[:, None] * way)


def candidate(x: Floats, sigma: float) -> SphereCandidate:
    fit = refine(x, np.append(CENTRE, RADIUS), sigma, BLIND, rounds=1)
    assert fit is not None
    return SphereCandidate(
        fit, np.arange(len(x)), np.ones(len(x), dtype=bool), 0.4, 0.2
    )


def test_even_directions_have_no_preferred_one():
    u = even_directions(2_000)
    np.testing.assert_allclose(np.linalg.norm(u, axis=1), 1.0)
    np.testing.assert_allclose(u.T @ u / len(u), np.eye(3) / 3, atol=1e-3)


def test_densities_tell_where_views_were_taken_from(rng):
    ways = np.array([[0.0, 0.6, 0.8], [0.9, 0.0, np.sqrt(0.19)], [-0.6, -0.64, 0.48]])
    x = np.concatenate(
        [
            seen_by(rng, way, n, 0.05)
            for way, n in zip(ways, (9_000, 6_000, 3_000), strict=True)
        ]
    )
    views = seen_from([candidate(x, 0.05)], x)
    size = np.linalg.norm(views, axis=1)
    nearest = np.argmax(views @ ways.T, axis=1)
    close = np.max(views / size[:, None] @ ways.T, axis=1) > np.cos(np.deg2rad(20))
    assert size[close].sum() > 0.9 * size.sum()
    share = [size[close & (nearest == k)].sum() for k in range(3)] / size.sum()
    np.testing.assert_allclose(share, [1 / 2, 1 / 3, 1 / 6], atol=0.08)


def test_the_pull_is_what_lines_of_sight_do_to_a_centre(rng):
    """Two views from one side: the mean of fits, and the pull told from densities."""
    sigma = 0.3
    ways = np.array([[0.0, 0.6, 0.8], [0.8, 0.0, 0.6]])
    errors, pulls = [], []
    for _ in range(20):
        x = np.concatenate([seen_by(rng, way, 3_000, sigma) for way in ways])
        c = candidate(x, sigma)
        errors.append(c.fit.centre - CENTRE)
        pulls.append(pull(c, x, seen_from([c], x)))
    error, told = np.mean(errors, axis=0), np.mean(pulls, axis=0)
    assert np.linalg.norm(error) > 0.01
    assert np.linalg.norm(error - told) < 0.25 * np.linalg.norm(error)
