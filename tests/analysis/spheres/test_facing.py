"""Centres from points that face the scanner: mounts, steep beams, shared errors."""

import numpy as np
import pytest

from analysis.spheres.find import facing_fits
from sim.core.arrays import Floats

CENTRE = np.array([-4500.0, 5200.0, -1500.0])
R = 50.0
ORIGIN = np.zeros(3)


def scan(rng: np.random.Generator, sd: float, *, mount: bool = False) -> Floats:
    """Half a sphere seen from the origin, errors along the beam, and its mount."""
    sight = -CENTRE / np.linalg.norm(CENTRE)
    u = rng.standard_normal((12_000, 3))
    u /= np.linalg.norm(u, axis=1)[:, None]
    u = u[u @ sight > 0.05]
    x = CENTRE + R * u
    beam = x / np.linalg.norm(x, axis=1)[:, None]
    x = x + beam * rng.normal(0.0, sd, len(x))[:, None]
    if mount:
        turn, height = rng.uniform(0, 2 * np.pi, 1500), rng.uniform(-160, -45, 1500)
        rod = np.column_stack([12 * np.cos(turn), 12 * np.sin(turn), height])
        x = np.vstack([x, CENTRE + rod, CENTRE + rng.uniform(-70, 70, (60, 3))])
    return x[:: max(1, len(x) // 5000)]


@pytest.mark.parametrize("mount", [False, True])
def test_a_sphere_is_found_within_its_uncertainty(rng, mount):
    held, free = facing_fits(scan(rng, 0.1, mount=mount), R, ORIGIN)
    u = np.sqrt(np.diag(held.covariance))
    assert (np.abs(held.centre - CENTRE) < 4 * u + 1e-3).all()
    assert np.linalg.norm(held.centre - CENTRE) < 0.03
    assert abs(free.radius - R) < 4 * np.sqrt(free.covariance[3, 3]) + 1e-3
    assert held.radius == R


def test_only_points_within_the_cone_count(rng):
    """Errors that grow with incidence pull a fit to all points, not one in the cone."""
    x = scan(rng, 0.02)
    sight = -CENTRE / np.linalg.norm(CENTRE)
    steep = (x - CENTRE) @ sight / R < np.cos(np.deg2rad(65))
    x[steep] += 0.2 * x[steep] / np.linalg.norm(x[steep], axis=1)[:, None]
    inside, _ = facing_fits(x, R, ORIGIN, cone=60.0)
    everything, _ = facing_fits(x, R, ORIGIN, cone=88.0)
    assert np.linalg.norm(inside.centre - CENTRE) < 0.004
    assert np.linalg.norm(everything.centre - CENTRE) > 0.008


def test_errors_that_belong_together_count_for_fewer_points(rng):
    """Patches with one error each: as many independent points as there are patches."""
    x = scan(rng, 0.0)
    sight = x / np.linalg.norm(x, axis=1)[:, None]
    patch = np.floor((x - CENTRE) / 12.0).astype(int)
    _, number = np.unique(patch, axis=0, return_inverse=True)
    each = rng.normal(0.0, 0.1, number.max() + 1)
    x = x + sight * (each[number.ravel()] + rng.normal(0.0, 0.02, len(x)))[:, None]
    held, _ = facing_fits(x, R, ORIGIN)
    facing = (x - CENTRE) @ (-CENTRE / np.linalg.norm(CENTRE)) / R > 0.5
    patches = len(np.unique(number.ravel()[facing]))
    assert 0.3 * patches < held.effective < 3 * patches
    plain, _ = facing_fits(scan(rng, 0.1), R, ORIGIN)
    assert plain.effective > 0.5 * plain.points


def test_a_scan_without_a_sphere_is_refused(rng):
    plane = CENTRE + np.column_stack([rng.uniform(-80, 80, (3000, 2)), np.zeros(3000)])
    with pytest.raises(ValueError, match="no sphere has radius 50 mm"):
        facing_fits(plane, R, ORIGIN)
