"""The target found among a scan's points, and E measured from there.

What errors do to E, on the target and away from it.
"""

import numpy as np
import pytest
from scipy.spatial import KDTree
from scipy.spatial.transform import Rotation

from analysis.alignment import RigidMotion
from analysis.comparison.deviation import (
    PlacedTarget,
    TargetInScan,
    Wires,
    _equations,
    deviations,
    moved,
    off_mechanism,
    place_target,
    scan_error,
    target_distances,
    through_slope,
)
from analysis.comparison.error_sources import INPUT, POSE
from sim.core.arrays import Floats
from sim.mechanism.targets.analytic_surfaces import Cylinder

FRAME = np.array([[0, 0, 0], [80, 0, 0], [80, 60, 0], [0, 60, 20]], dtype=np.float64)
EDGES = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [2, 2]])
WIRES = Wires.of(FRAME, EDGES)
TRUE = RigidMotion(
    Rotation.from_rotvec([0.4, -1.1, 2.0]).as_matrix(), np.array([30.0, -200, 55])
)
NEARBY = RigidMotion(
    Rotation.from_rotvec([0.01, 0.012, -0.008]).as_matrix() @ TRUE.rotation,
    TRUE.translation + np.array([0.6, -0.8, 0.5]),
)
RADIUS, L_MM = 1.5, 80.0
POSE_SD = np.array([0.03, 0.02, 0.04, 4e-4, 5e-4, 3e-4])


def bars(rng: np.random.Generator, noise: float, many: int = 12_000) -> Floats:
    """Points on the bars, away from where they meet, in the scan's frame."""
    length = np.linalg.norm(WIRES.b - WIRES.a, axis=1)
    line = rng.choice(len(length), many, p=length / length.sum())
    u = (WIRES.b - WIRES.a)[line] / length[line, None]
    across = np.cross(u, rng.standard_normal((many, 3)))
    across /= np.linalg.norm(across, axis=1)[:, None]
    margin = 8.0
    t = margin + rng.random(many) * (length[line] - 2 * margin)
    along = WIRES.a[line] + t[:, None] * u
    height = RADIUS + noise * rng.standard_normal(many)
    return TRUE(along + height[:, None] * across)


def pose_error(placed: PlacedTarget) -> Floats:
    """How far the fitted pose puts the target's corners from where they are."""
    return np.linalg.norm(placed.motion(FRAME) - TRUE(FRAME), axis=1)


def test_bars_without_noise_give_the_exact_pose_and_radius(rng):
    points = bars(rng, 0.0)
    placed = place_target(points, WIRES, NEARBY, gate_mm=5.0)
    assert pose_error(placed).max() < 1e-4
    assert placed.bar_radius == pytest.approx(RADIUS, abs=1e-4)


def test_deviations_are_positive_outside_the_bars(rng):
    placed = PlacedTarget(TRUE, np.eye(6), np.zeros(3), RADIUS - 0.25, 0.0, 0)
    np.testing.assert_allclose(deviations(bars(rng, 0.0), WIRES, placed), 0.25)


def test_clutter_near_the_bars_loses_its_say(rng):
    low, high = TRUE(FRAME).min(axis=0) - 5, TRUE(FRAME).max(axis=0) + 5
    clutter = rng.uniform(low, high, (20_000, 3))
    points = np.concatenate([bars(rng, 0.05), clutter])
    placed = place_target(points, WIRES, NEARBY, gate_mm=5.0)
    assert pose_error(placed).max() < 0.02
    assert placed.bar_radius == pytest.approx(RADIUS, abs=0.02)


def test_the_stated_covariance_covers_the_pose_error(rng):
    squares = []  # e^T C^-1 e / 6, on average 34 / 26 for 34 sections of the bars
    for _ in range(20):
        placed = place_target(bars(rng, 0.1, 4000), WIRES, NEARBY, gate_mm=5.0)
        shift = TRUE.translation + TRUE.rotation @ (
            placed.motion.rotation.T @ (placed.pivot - placed.motion.translation)
        )
        d = placed.pivot - shift
        turn = Rotation.from_matrix(placed.motion.rotation @ TRUE.rotation.T)
        e = np.concatenate([d, turn.as_rotvec()])
        squares.append(e @ np.linalg.solve(placed.covariance, e) / 6)
    assert 1.0 < np.mean(squares) < 1.7


def test_the_turn_of_a_circle_about_its_axis_stays_as_it_started(rng):
    angle = np.linspace(0, 2 * np.pi, 97)[:-1]
    ring = np.column_stack([50 * np.cos(angle), 50 * np.sin(angle), 0 * angle])
    edges = np.column_stack([np.arange(96), (np.arange(96) + 1) % 96])
    phi, psi = rng.uniform(0, 2 * np.pi, (2, 8000))
    radial = np.column_stack([np.cos(phi), np.sin(phi), 0 * phi])
    points = (50 + RADIUS * np.cos(psi))[:, None] * radial
    points[:, 2] = RADIUS * np.sin(psi)
    start = RigidMotion(Rotation.from_rotvec([0, 0, 0.3]).as_matrix(), np.full(3, 0.5))
    placed = place_target(points, Wires.of(ring, edges), start, gate_mm=5.0)
    turn = Rotation.from_matrix(placed.motion.rotation).as_rotvec()
    assert np.abs(placed.motion.translation).max() < 0.02
    assert turn[2] == pytest.approx(0.3, abs=5e-3)
    assert np.abs(turn[:2]).max() < 1e-3


def test_distances_change_as_their_derivatives_say(rng):
    points = bars(rng, 0.3, 400)
    places, line = WIRES.samples()
    search = KDTree(places), line
    fit = _equations(points, WIRES, search, TRUE, 50.0)
    # Points near a bar's end or between two bars may change the bar they belong to.
    v = rng.standard_normal(6) * np.array([1, 1, 1, 0.02, 0.02, 0.02])
    remainders = []
    steps = 10.0 ** np.arange(-1, -4, -1)
    for h in steps:
        other = _equations(points, WIRES, search, moved(TRUE, h * v, fit.pivot), 50.0)
        change = other.distance - fit.distance - h * fit.slope[:, :6] @ v
        remainders.append(np.abs(change))
    smooth = np.all(np.array(remainders) < steps[:, None] ** 2 * 5, axis=0)
    assert smooth.mean() > 0.9
    size = np.linalg.norm(np.array(remainders)[:, smooth], axis=1)
    slope = np.polyfit(np.log(steps), np.log(size), 1)[0]
    assert slope == pytest.approx(2.0, abs=0.1)


def test_a_scan_without_the_target_is_refused(rng):
    with pytest.raises(ValueError, match="is the target in the scan"):
        place_target(rng.uniform(900, 999, (500, 3)), WIRES, NEARBY, gate_mm=5.0)


def test_points_of_spheres_and_rods_are_told_from_the_rest():
    nodes = np.array([[0.0, 0, 0], [50, 0, 0]])
    rods = Wires(nodes[:1], nodes[1:])
    points = np.array([[0, 6, 0], [25, 2.5, 0], [25, 9, 0], [-9, 0, 0], [60.0, 0, 0]])
    off = off_mechanism(points, nodes, rods, sphere_mm=8.0, rod_mm=4.0)
    assert off.tolist() == [False, False, True, True, True]


def exactly_placed(covariance: Floats) -> PlacedTarget:
    return PlacedTarget(TRUE, covariance, TRUE(np.zeros(3)), RADIUS, 0.05, 1000)


def in_plane(points: Floats) -> Floats:
    """The point of the target's plane z = 0 nearest to each."""
    return points * np.array([1, 1, 0])


def test_nodes_at_one_distance_have_that_E(rng):
    local = rng.uniform(-50, 50, (12, 3))
    local[:, 2] = 0.25 * rng.choice([-1, 1], 12)
    C = 1e-4 * np.eye(36)
    error = scan_error(TRUE(local), C, in_plane, exactly_placed(np.zeros((6, 6))), L_MM)
    np.testing.assert_allclose(error.E, 0.25 / L_MM, rtol=1e-12)
    assert error.u == pytest.approx(0.01 / np.sqrt(12) / L_MM, rel=1e-9)
    assert error.floor == pytest.approx(0.01 / L_MM, rel=1e-9)
    np.testing.assert_allclose(error.distance_mm, 0.25)


def test_the_uncertainty_of_E_is_what_repeated_scans_show(rng):
    local = rng.uniform(-50, 50, (12, 3))
    local[:, 2] = rng.normal(scale=0.4, size=12)
    # Shift and turn err together, as they do where a target is seen from one end.
    root = POSE_SD[:, None] * (
        np.eye(6) + 0.9 * np.eye(6, k=-4) + 0.9 * np.eye(6, k=-2)
    )
    placed = exactly_placed(root @ root.T)
    nodes = TRUE(local)
    stated = scan_error(nodes, 0.05**2 * np.eye(36), in_plane, placed, L_MM)
    repeated = []
    for _ in range(2000):
        pose = moved(TRUE, root @ rng.standard_normal(6), placed.pivot)
        other = PlacedTarget(pose, placed.covariance, placed.pivot, RADIUS, 0.05, 1000)
        seen = nodes + 0.05 * rng.standard_normal(nodes.shape)
        repeated.append(scan_error(seen, np.eye(36), in_plane, other, L_MM).E)
    assert np.std(repeated) == pytest.approx(stated.u, rel=0.08)


def distances(nodes, closest=in_plane, scanned=None, used=None, **of_input):
    seen = TRUE(nodes if scanned is None else scanned)
    used = np.ones(len(nodes), dtype=bool) if used is None else used
    target = TargetInScan(exactly_placed(np.diag(POSE_SD**2)), closest, **of_input)
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
    normal = TRUE.rotation[:, 2]
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
        distances(x, cylinder.closest, scanned=x + e @ TRUE.rotation).E_scanned
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
