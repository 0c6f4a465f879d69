"""Views put in place together with the centres."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.spheres.detections import PickOptions, Picks
from analysis.spheres.find import find_spheres
from analysis.spheres.thresholds import VIEWS
from analysis.spheres.view_motions import Placement, misplacement
from analysis.spheres.viewpoints import sight_lines
from tests.analysis.spheres.scenes import (
    Scanner,
    VirtualScan,
    _pose,
    scan,
    tree,
)
from tests.helpers.isotropic_cloud import RADIUS, isotropic

OPTIONS = PickOptions(radius_mm=6.0)
SCANNER = Scanner(views=4, pixels=(200, 150), shift=0.1, turn=0.02)


@pytest.fixture(scope="module")
def misplaced():
    """Twelve balls whose views do not quite agree."""
    rng = np.random.default_rng(5)
    return scan(rng, tree(rng, 12, "none"), SCANNER)


@pytest.fixture(scope="module")
def joint(misplaced):
    return find_spheres(misplaced.points, OPTIONS, misplaced.view)


def shape_errors(seen: VirtualScan, picks: Picks) -> tuple[float, float]:
    """Rms distance after alignment (mm), and mean squared error over covariance."""
    truth = seen.parts.centres
    gaps = np.linalg.norm(truth[None] - picks.centres[:, None], axis=2)
    r = truth[gaps.argmin(axis=1)]
    middle = r.mean(axis=0)
    G = np.vstack([np.hstack([np.eye(3), -_cross(x - middle)]) for x in r])
    e = (picks.centres - r).ravel()
    W = np.linalg.inv(picks.covariance)
    plain = e - G @ np.linalg.lstsq(G, e, rcond=None)[0]
    weighted = e - G @ np.linalg.solve(G.T @ W @ G, G.T @ W @ e)
    nees = weighted @ W @ weighted / (len(e) - 6)
    return float(np.sqrt((plain**2).sum() / len(r))), float(nees)


def _cross(r: np.ndarray) -> np.ndarray:
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])


def test_joint_views_take_out_what_merging_leaves_in(misplaced, joint):
    merged = find_spheres(misplaced.points, OPTIONS)
    rms_merged, nees_merged = shape_errors(misplaced, merged)
    rms, nees = shape_errors(misplaced, joint)
    assert rms < 0.5 * rms_merged
    assert merged.excess is not None  # what points alone say is far too little
    assert nees_merged * merged.excess.ratio > 4
    assert 0.4 < nees_merged < 2.2
    assert 0.4 < nees < 2.2


def test_motions_have_mean_zero_and_the_size_of_the_misplacement(joint):
    t = np.array([m.translation for m in joint.motions])
    w = np.array([m.rotation for m in joint.motions])
    assert len(t) == SCANNER.views
    assert np.allclose(t.sum(axis=0), 0, atol=1e-9)
    assert np.allclose(w.sum(axis=0), 0, atol=1e-11)
    assert 0.03 < t.std() < 0.25
    assert np.rad2deg(w.std()) < 0.1


def test_views_in_their_place_are_left_there():
    rng = np.random.default_rng(5)
    placed = replace(SCANNER, shift=0.0, turn=0.0, sigma=0.1)
    seen = scan(rng, tree(rng, 12, "none"), placed)
    picks = find_spheres(seen.points, OPTIONS, seen.view)
    t = np.array([m.translation for m in picks.motions])
    assert np.abs(t).max() < 5e-3  # noise alone would move them by 1e-2


def test_the_scanner_is_found_where_it_stood(misplaced):
    given = find_spheres(
        misplaced.points,
        OPTIONS,
        misplaced.view,
        np.array([_pose(SCANNER, v)[0] for v in range(SCANNER.views)]),
    )
    found = find_spheres(misplaced.points, OPTIONS, misplaced.view)
    assert len(given.spheres) == len(found.spheres)
    sd = np.sqrt(np.diag(given.covariance)).reshape(-1, 3)
    assert (np.abs(given.centres - found.centres) < 0.5 * sd).all()


def test_points_of_half_the_digits_are_moved_with_all(rng):
    """Moved points of a float32 file were rounded to float32 again: 3e-5 mm at 300."""
    x = rng.uniform(200.0, 300.0, (50, 3)).astype(np.float32)
    view, origins = np.arange(50) % 2, np.zeros((2, 3))
    placed = Placement(
        1e-3 * rng.standard_normal((2, 6)),
        np.zeros(3),
        np.empty((0, 0)),
        np.zeros((2, 6)),
    )
    whole = x.astype(np.float64)
    assert np.array_equal(placed.move(x, view), placed.move(whole, view))
    assert np.array_equal(
        sight_lines(x, view, origins), sight_lines(whole, view, origins)
    )


def test_a_merged_cloud_carries_the_registration_it_is_told_of(misplaced):
    plain = find_spheres(misplaced.points, OPTIONS)
    told = find_spheres(
        misplaced.points,
        PickOptions(radius_mm=6.0, registration_mm=0.1, repeatability_mm=0.05),
    )
    added = told.covariance - plain.covariance
    assert np.allclose(added, (0.1**2 + 0.05**2) * np.eye(len(added)))


def test_views_count_in_each_sphere(joint):
    assert max(s.views for s in joint.spheres) > 1
    assert all(1 <= s.views <= SCANNER.views for s in joint.spheres)


def test_views_that_share_no_sphere_are_not_believed_to_agree():
    """No sphere tells how they lie, so as little is known as before they were seen."""
    H, right = np.eye(12 + 12), np.zeros(24)  # four centres, two views
    H[12:, 12:] = 0.0
    sd = misplacement(H, right, 12, np.zeros((2, 6)), 50.0)
    np.testing.assert_allclose(
        sd, [VIEWS.misplaced_mm] * 3 + [VIEWS.misplaced_mm / 50] * 3
    )


@pytest.mark.parametrize("split", ["side", "random"])
def test_files_that_no_single_place_saw_tell_the_radius_that_is_true(rng, split):
    """Lines of sight that are none had made the balls 0.2 to 0.4 % too small."""
    true, points, number = isotropic(rng, 0.04, 2, split, balls=6, each=1500)
    picks = find_spheres(points, PickOptions(radius_mm=RADIUS), number)
    assert len(picks.spheres) == len(true)
    assert picks.joint_radius is not None
    assert picks.joint_radius[0] == pytest.approx(RADIUS, abs=0.003)
    assert picks.excess is None
