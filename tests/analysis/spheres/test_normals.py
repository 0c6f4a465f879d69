"""Normals from voxel moments, and which surfaces bend."""

import numpy as np

from analysis.spheres.centre_votes import surface
from sim.core.arrays import Floats


def ball(rng: np.random.Generator, count: int, radius: float) -> Floats:
    u = rng.normal(size=(count, 3))
    return np.asarray(radius * u / np.linalg.norm(u, axis=1)[:, None])


def test_normals_of_a_sphere_are_radial(rng):
    at = np.array([100.0, -50.0, 7.0])
    scan = surface(ball(rng, 8_000, 6.0) + at, 1.0, 2.0)
    radial = scan.centroids - at
    radial /= np.linalg.norm(radial, axis=1)[:, None]
    cos = np.abs(np.einsum("ij,ij->i", scan.normals, radial))
    assert scan.flat.all()
    assert cos.min() > 0.97
    assert scan.bent.mean() > 0.99


def test_a_noisy_plane_is_flat_and_does_not_bend(rng):
    points = rng.uniform(-20, 20, (30_000, 3))
    points[:, 2] = 0.3 * points[:, 0] + rng.normal(0, 0.05, len(points))
    scan = surface(points, 1.0, 2.0)
    normal = np.array([-0.3, 0.0, 1.0]) / np.hypot(0.3, 1.0)
    inner = (np.abs(scan.centroids[:, :2]) < 17).all(axis=1)
    assert np.abs(scan.normals @ normal)[inner].min() > 0.98
    assert scan.bent[inner].mean() < 0.01


def test_voxels_grow_until_they_hold_three_points(rng):
    points = rng.uniform(-20, 20, (3_000, 3)) * [1, 1, 0]
    scan = surface(points, 0.2, 5.0)
    assert scan.grid.h > 0.9
    assert len(points) >= 3 * len(scan.flat)


def test_a_cloud_without_surface_has_no_normals(rng):
    scan = surface(rng.uniform(-5, 5, (4_000, 3)), 1.0, 1.0)
    assert scan.flat.mean() < 0.1
