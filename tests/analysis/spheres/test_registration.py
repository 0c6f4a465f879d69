"""Views whose registration is wrong are found, named and moved onto the others."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from analysis.alignment import RigidMotion
from analysis.spheres.detections import PickOptions, Picks
from analysis.spheres.find import find_spheres
from analysis.spheres.registration import ViewCentres, _motions
from sim.core.arrays import Floats
from tests.analysis.spheres.scenes import Scanner, VirtualScan, scan, tree
from tests.helpers.detection_errors import Outcome, outcome

OPTIONS = PickOptions(radius_mm=6.0)


class Misplaced(NamedTuple):
    """A scan whose last view is off, and the motion by which it is."""

    seen: VirtualScan
    points: Floats
    off: RigidMotion


def random_motion(rng: np.random.Generator, mm: float, deg: float) -> RigidMotion:
    shift, axis = rng.normal(size=(2, 3))
    turn = np.deg2rad(deg) * axis / np.linalg.norm(axis)
    return RigidMotion(
        Rotation.from_rotvec(turn).as_matrix(), mm * shift / np.linalg.norm(shift)
    )


def misplaced(seed: int, views: int, spheres: int, mm: float, deg: float) -> Misplaced:
    rng = np.random.default_rng(seed)
    scanner = Scanner(views=views, pixels=(320, 240))
    seen = scan(rng, tree(rng, spheres, "none"), scanner)
    off, points = random_motion(rng, mm, deg), seen.points.copy()
    last = seen.view == views - 1
    points[last] = off(points[last])
    return Misplaced(seen, points, off)


def pose_error(picks: Picks, off: RigidMotion) -> float:
    """Squared error of the last view's pose over its covariance, a degree of freedom.

    The view belongs where the inverse of its motion takes it.
    """
    one, pivot = picks.registrations[-1], picks.motions[-1].pivot
    turn = Rotation.from_matrix(off.rotation).inv().as_rotvec()
    error = one.motion - np.append(off.back(pivot) - pivot, turn)
    return float(error @ np.linalg.solve(one.covariance, error)) / 6


def found_in(case: Misplaced) -> tuple[Picks, Outcome]:
    picks = find_spheres(case.points, OPTIONS, case.seen.view)
    return picks, outcome(case.seen.parts.centres, picks)


def with_sd(centre: Floats) -> ViewCentres:
    return ViewCentres(centre, np.where(np.isnan(centre[..., 0]), np.nan, 0.01))


def test_motions_of_views_are_exact_though_one_centre_is_false(rng):
    x = rng.uniform(-60, 60, (9, 3))
    true = [RigidMotion(np.eye(3), np.zeros(3)) for _ in range(4)]
    true[2] = random_motion(rng, 2.0, 3.0)
    centre = np.stack([motion.back(x) for motion in true], axis=1)
    centre[0, 2] += 3.0
    centre[5:, 1] = np.nan
    found = _motions(with_sd(centre))
    for motion, right in zip(found, true, strict=True):
        np.testing.assert_allclose(motion(x), right(x), atol=0.05)


def test_a_view_that_shares_two_spheres_is_left_where_it_is(rng):
    centre = rng.uniform(-60, 60, (6, 1, 3)).repeat(3, axis=1)
    centre[:, 2] += 1.0
    centre[2:, 2] = np.nan
    found = _motions(with_sd(centre))
    np.testing.assert_allclose(found[2].translation, 0.0, atol=1e-9)


def test_spheres_of_which_the_merged_cloud_loses_three_are_found():
    """Its noise was taken from bad fits, so that views seemed to agree."""
    _, result = found_in(misplaced(2, 3, 7, 1.0, 2.0))
    assert (result.found, result.false) == (7, 0)


@pytest.mark.parametrize(
    "case", [pytest.param((5, 12, 2.0, 1.0), marks=pytest.mark.slow), (3, 7, 1.0, 2.0)]
)
def test_a_misplaced_view_costs_no_sphere_and_is_named(case):
    wrong = misplaced(0, *case)
    picks, result = found_in(wrong)
    assert (result.found, result.false) == (case[1], 0)
    assert 0.4 < result.nees < 2.2
    assert [r.view for r in picks.registrations if r.misplaced] == [case[0] - 1]
    last = picks.registrations[-1]
    assert abs(last.angle_deg[0] - case[3]) < 4 * last.angle_deg[1] < 0.2
    assert pose_error(picks, wrong.off) < 3.7  # 99.9 % of chi squared of 6
    moved = wrong.points[wrong.seen.view == case[0] - 1]
    right = wrong.seen.points[wrong.seen.view == case[0] - 1]
    frame = picks.motions[0]  # of the other views, which differ by less than 0.1 mm
    np.testing.assert_allclose(picks.motions[-1](moved), frame(right), atol=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seeds", "case"),
    [(30, (5, 12, 2.0, 1.0)), (30, (5, 12, 0.2, 0.05)), (12, (3, 7, 1.0, 2.0))],
)
def test_poses_and_centres_of_misplaced_views_have_honest_errors(seeds, case):
    """Means of squared errors over covariances, a degree of freedom.

    A misplaced view costs at most one sphere in a hundred, and of as many views that
    are in place at most one detection a case is false.
    """
    poses, centres, lost, false = [], [], 0, 0
    for seed in range(seeds):
        wrong = misplaced(seed, *case)
        picks, result = found_in(wrong)
        _, placed = found_in(wrong._replace(points=wrong.seen.points))
        lost += max(placed.found - result.found, 0)
        false += placed.false
        assert result.false == 0
        assert [r.view for r in picks.registrations if r.misplaced] == [case[0] - 1]
        poses.append(pose_error(picks, wrong.off))
        centres.append(result.nees)
    assert lost <= 0.01 * seeds * case[1]
    assert false <= 1
    assert 0.7 < np.mean(poses) < 1.4
    assert 0.8 < np.mean(centres) < 1.25


@pytest.mark.slow
@pytest.mark.parametrize(("views", "spheres"), [(5, 12), (3, 7)])
def test_no_view_in_its_place_is_called_misplaced(views, spheres):
    centres = []
    for seed in range(30):
        picks, result = found_in(misplaced(seed, views, spheres, 0.0, 0.0))
        assert not any(one.misplaced for one in picks.registrations)
        centres.append(result.nees)
    assert 0.8 < np.mean(centres) < 1.25
