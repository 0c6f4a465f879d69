"""The pull towards scanners that nobody knows the places of."""

import numpy as np

from analysis.spheres.centre_fit import BLIND, refine
from analysis.spheres.detections import FusionBias, PickOptions
from analysis.spheres.joint_adjustment import _without_pull, polish
from analysis.spheres.sphere_criteria import SphereCandidate
from analysis.spheres.spheres_of_one_radius import search
from analysis.spheres.viewpoints import seen_from
from tests.analysis.spheres.test_centre_fit import CENTRE, scanned
from tests.analysis.spheres.test_normals import ball


def test_the_pull_of_a_whole_cap_is_taken_back(rng):
    before, after = [], []
    for _ in range(20):
        x, _ = scanned(rng, ball(rng, 6_000, 6.0), 0.3)
        fit = refine(x, np.append(CENTRE, 6.0), 0.3, BLIND, rounds=1)
        assert fit is not None
        every = np.arange(len(x))
        c = SphereCandidate(fit, every, np.ones(len(x), dtype=bool), 0.4, 0.2)
        before.append(fit.centre - CENTRE)
        ((moved,), _) = _without_pull([c], x, seen_from([c], x))
        after.append(moved.fit.centre - CENTRE)
    assert abs(np.mean(after, axis=0)[2]) < 0.5 * np.mean(before, axis=0)[2]


def test_merged_scans_are_freed_of_the_pull_and_meshes_have_none(rng):
    """Noise of sd s along the line of sight pulls by about s^2 / R = 0.015 mm."""
    x, _ = scanned(rng, ball(rng, 6_000, 6.0), 0.3)
    accepted, _ = search(x, 6.0, PickOptions(6.0))
    freed, meshed = (
        polish(accepted, x, None, None, PickOptions(6.0), bias).accepted[0].fit.centre
        for bias in (None, FusionBias(6.0, 6.0, 0.01))
    )
    assert 0.005 < (meshed - freed)[2] < 0.06
