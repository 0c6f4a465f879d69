"""Votes meet at the centres of spheres and nowhere else."""

import numpy as np

from analysis.spheres.centre_votes import peaks, surface
from tests.analysis.spheres.test_normals import ball


def test_the_highest_peak_is_the_centre_of_the_sphere(rng):
    at = np.array([30.0, -12.0, 4.0])
    x = ball(rng, 6_000, 6.0)
    points = np.concatenate([x[x[:, 2] > 2.0] + at, rng.uniform(-20, 20, (300, 3))])
    centres, votes = peaks(surface(points, 1.0, 2.0), 6.0, 10.0, 0.03)
    assert np.linalg.norm(centres[0] - at) < 0.5
    assert votes[0] > 3 * votes[1:].max(initial=0.0)


def test_a_plane_and_a_rod_have_no_peaks_of_many_directions(rng):
    plane = rng.uniform(-30, 30, (20_000, 3)) * [1, 1, 0]
    a, z = rng.uniform(0, 2 * np.pi, 6_000), rng.uniform(-30, 30, 6_000)
    rod = np.column_stack([2.5 * np.cos(a), 2.5 * np.sin(a), 45 + z])
    scan = surface(np.concatenate([plane, rod]), 1.0, 2.0)
    _, votes = peaks(scan, 6.0, 10.0, 0.03)
    sphere = surface(ball(rng, 6_000, 6.0), 1.0, 2.0)
    # Normals have either sign, yet every voxel of a sphere votes for the centre.
    assert peaks(sphere, 6.0, 10.0, 0.03)[1].max() > 0.8 * sphere.bent.sum()
    assert votes.max(initial=0.0) < 0.1 * peaks(sphere, 6.0, 10.0, 0.03)[1].max()
