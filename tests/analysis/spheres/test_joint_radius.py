"""What radius balls have that were scanned from several sides, whatever was stated."""

import numpy as np
import pytest

from analysis.spheres.centre_fit import BLIND, refine
from analysis.spheres.detections import FusionBias, PickOptions
from analysis.spheres.find import find_spheres
from analysis.spheres.joint_adjustment import (
    _without_pull,
    polish,
    shared_radius,
    unmoved_radius,
)
from analysis.spheres.sphere_criteria import SphereCandidate
from analysis.spheres.spheres_of_one_radius import search
from analysis.spheres.view_motions import Placement, blocks
from analysis.spheres.viewpoints import seen_from
from sim.core.arrays import Floats
from tests.analysis.spheres.scenes import SIX_CENTRES, seen_around
from tests.analysis.spheres.test_centre_fit import CENTRE, scanned
from tests.analysis.spheres.test_normals import ball


@pytest.mark.parametrize("stated", [5.8, 6.0, 6.15])
def test_views_do_not_move_to_hide_a_wrong_radius(rng, stated):
    points, view = seen_around(rng, noise=0.05, off=0.05)
    picks = find_spheres(points, PickOptions(radius_mm=stated), view)
    assert len(picks.spheres) == len(SIX_CENTRES)
    assert picks.joint_radius is not None
    own, sd = picks.joint_radius
    assert own == pytest.approx(6.0, abs=0.012)
    assert sd < 0.01


@pytest.mark.parametrize("stated", [5.8, 5.95, 6.15])
def test_two_views_of_few_spheres_show_a_wrong_radius(rng, stated):
    """Its residuals are alike on all spheres: no errors that points share."""
    points, view = seen_around(rng, noise=0.03, off=0.0)
    picks = find_spheres(
        points[view < 2], PickOptions(radius_mm=stated), view[view < 2]
    )
    assert picks.joint_radius is not None
    own, sd = picks.joint_radius
    assert sd < 0.01
    assert abs(own - 6.0) < 3.0 * sd


def told_unmoved(rng: np.random.Generator, off: float) -> tuple[float, float]:
    """Of views that stand 0.04 mm off towards their scanner, and by `off` anywhere."""
    towards, stated = np.vstack([np.eye(3), -np.eye(3)]), 6.1
    points, view = seen_around(rng, noise=0.02, off=off)
    points += 0.04 * towards[view]
    options = PickOptions(radius_mm=stated)
    accepted, _ = search(points, stated, options)
    found = polish(accepted, points, view, 1e6 * towards, options)
    assert found.placed is not None

    def sums(c: SphereCandidate, placed: Placement) -> tuple[Floats, Floats]:
        seen, theta = view[c.near], np.append(c.fit.centre, c.fit.radius)
        x = placed.move(points[c.near], seen)
        return blocks(x, c.fit.used, -towards[seen], theta, c.fit.scale, seen, 6)

    return unmoved_radius(found.accepted, found.placed, sums, 1.0)


def test_views_that_may_not_slide_tell_their_place_as_radius(rng):
    """Off by d, a cap is raised by d cos t, and cos t has the mean 0.65."""
    told, _ = told_unmoved(rng, 0.0)
    assert told == pytest.approx(6.0 + 0.65 * 0.04, abs=0.002)
    told, sd = told_unmoved(rng, 0.05)
    assert sd == pytest.approx(0.65 * 0.05 / np.sqrt(6.0), rel=0.5)
    assert abs(told - 6.0 - 0.65 * 0.04) < 3.0 * sd


def test_a_radius_that_views_slide_to_tell_counts_as_far_as_others_agree():
    assert shared_radius((6.08, 0.008), (5.98, 0.02)) == (5.98, 0.02)
    told, sd = shared_radius((6.01, 0.02), (5.99, 0.02))
    assert told == pytest.approx(6.0)
    assert sd == pytest.approx(0.02 / np.sqrt(2.0))


@pytest.mark.long
def test_the_radius_of_views_is_as_uncertain_as_it_is_said_to_be():
    """Twelve scans with the right radius: its error over its sd, mean square one."""
    ratios = []
    for seed in range(12):
        scan = seen_around(np.random.default_rng(seed), noise=0.1, off=0.1)
        told = find_spheres(scan[0], PickOptions(radius_mm=6.0), scan[1]).joint_radius
        assert told is not None
        ratios.append((told[0] - 6.0) / told[1])
    assert 0.4 < np.mean(np.square(ratios)) < 2.1  # chi squared of 12 over 12, 99 %


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
