"""E of the nodes compared: what errors do to it, on the target and away from it."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from analysis.alignment import RigidMotion
from analysis.comparison.deviation import (
    PlacedTarget,
    TargetInScan,
    target_distances,
    through_slope,
)
from analysis.comparison.error_sources import INPUT, POSE
from sim.mechanism.targets.analytic_surfaces import Cylinder

L_MM = 80.0
MOTION = RigidMotion(
    Rotation.from_rotvec([0.4, -1.1, 2.0]).as_matrix(), np.array([30.0, -200, 55])
)
POSE_SD = np.array([0.03, 0.02, 0.04, 4e-4, 5e-4, 3e-4])
PLACED = PlacedTarget(MOTION, np.diag(POSE_SD**2), MOTION(np.zeros(3)), 1.5, 0.05, 1000)


def on_plane(nodes):
    """The point of z = 0 nearest to each."""
    return nodes * np.array([1.0, 1.0, 0.0])


def distances(nodes, closest=on_plane, scanned=None, used=None, **of_input):
    seen = MOTION(nodes if scanned is None else scanned)
    used = np.ones(len(nodes), dtype=bool) if used is None else used
    target = TargetInScan(PLACED, closest, **of_input)
    return target_distances(target, nodes, seen, used, L_MM)


def up(height):
    """A shift by that height, (3,)."""
    return np.array([0.0, 0.0, height])


@pytest.fixture
def nodes(rng):
    return rng.uniform(-50, 50, (12, 3)) * [1.0, 1.0, 0.0]


def test_nodes_above_a_plane_have_the_E_of_their_height(nodes):
    found = distances(nodes + up(0.4), scanned=nodes - up(0.3))
    assert found.E_simulated == pytest.approx(0.4 / L_MM, rel=1e-12)
    assert found.E_scanned == pytest.approx(0.3 / L_MM, rel=1e-9)
    assert found.error == pytest.approx(0.1 / L_MM, rel=1e-9)


def test_only_errors_across_a_surface_count(nodes):
    """D = n n^T, in the scan's frame."""
    normal = MOTION.rotation[:, 2]
    found = distances(nodes)
    expected = np.broadcast_to(np.outer(normal, normal), found.slope.shape)
    np.testing.assert_allclose(found.slope, expected, atol=1e-9)


def test_a_goal_of_a_node_s_own_counts_every_error_and_a_follower_none(nodes):
    goals = nodes + 0.5

    def closest(x):
        goal = goals.copy()
        goal[6:] = x[6:]  # followers
        return goal

    slope = distances(nodes, closest).slope
    np.testing.assert_allclose(slope[:6], np.tile(np.eye(3), (6, 1, 1)), atol=1e-9)
    np.testing.assert_allclose(slope[6:], 0.0, atol=1e-9)


@pytest.mark.parametrize("height", [0.0, 0.02, 2.0])
def test_the_drawn_law_of_E_is_that_of_scans_made_again(rng, nodes, height):
    cylinder = Cylinder(60.0, (0.0, 0.0, -60.0), (1.0, 0.0, 0.0))
    place = cylinder.closest(nodes)
    out = (place - [0, 0, -60.0]) * [0, 1, 1]
    x = place + height * out / np.linalg.norm(out, axis=1)[:, None]
    found = distances(x, cylinder.closest)
    errors = rng.normal(0.0, 0.05, (3_000, 12, 3))
    drawn = found.changes(errors, np.zeros_like(errors))
    made = [
        distances(x, cylinder.closest, scanned=x + e @ MOTION.rotation).E_scanned
        for e in errors[:200]
    ]
    np.testing.assert_allclose(
        drawn[:200], np.array(made) - found.E_simulated, atol=2e-6
    )


def test_what_the_solver_drew_takes_the_place_of_the_node_errors(nodes):
    drawn = np.diag(np.arange(1.0, 37.0))
    used = np.arange(12) != 4
    found = distances(nodes, used=used, input_covariance=drawn)
    assert found.own[INPUT].shape == (33, 33)
    kept = np.delete(np.arange(1.0, 37.0), [12, 13, 14])
    assert np.trace(found.own[INPUT]) == pytest.approx(kept.sum())
    shares = found.by_source({INPUT: 1e9 * np.eye(33)}, 1.0)
    assert np.hypot(*shares.values()) == pytest.approx(1.0)
    assert shares[POSE] > 0  # 1e9 mm^2 of the nodes would leave it nothing


@pytest.mark.parametrize("height", [0.0, 1e-2, 3.0])
def test_squares_of_the_sources_add_up(nodes, height):
    found = distances(nodes + up(height))
    sources = {"a": 0.01 * np.eye(36), "b": 0.04 * np.eye(36)}
    parts = found.by_source(sources, 0.5)
    assert np.sqrt(np.sum(np.square([*parts.values()]))) == pytest.approx(0.5)
    assert parts["b"] == pytest.approx(2 * parts["a"])


def test_slopes_turn_a_covariance_block_by_block(rng):
    slope = rng.normal(size=(2, 3, 3))
    root = rng.normal(size=(6, 6))
    whole = np.zeros((6, 6))
    whole[:3, :3], whole[3:, 3:] = slope
    expected = whole @ root @ root.T @ whole.T
    np.testing.assert_allclose(through_slope(slope, root @ root.T), expected)


def test_an_unknown_node_says_nothing(nodes):
    seen = nodes + up(0.3)
    seen[3] = np.nan
    used = np.arange(12) != 3
    found = distances(nodes, scanned=seen, used=used)
    assert found.scanned.shape == (11, 3)
    assert found.E_scanned == pytest.approx(0.3 / L_MM, rel=1e-9)
