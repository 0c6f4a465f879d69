import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from analysis.alignment import align, fit_rigid_motion, remove_rigid_motion, rigid_modes


def test_a_rigid_motion_is_found_again(rng):
    x = rng.normal(size=(7, 3))
    turn = Rotation.random(rng=rng)
    y = turn.apply(x) + np.array([3.0, -2.0, 1.0])
    motion = fit_rigid_motion(x, y)
    np.testing.assert_allclose(motion.rotation, turn.as_matrix(), atol=1e-12)
    np.testing.assert_allclose(motion(x), y, atol=1e-12)


def test_several_shapes_are_fitted_one_by_one(rng):
    x = rng.normal(size=(5, 4, 3))
    y = rng.normal(size=(5, 4, 3))
    together = fit_rigid_motion(x, y)
    for k in range(5):
        alone = fit_rigid_motion(x[k], y[k])
        np.testing.assert_allclose(together.rotation[k], alone.rotation, atol=1e-12)
        np.testing.assert_allclose(together.translation[k], alone.translation)


def test_a_mirror_image_is_never_reflected_into_place(rng):
    x = rng.normal(size=(6, 3))
    motion = fit_rigid_motion(x, x * [1.0, 1.0, -1.0])
    assert np.linalg.det(motion.rotation) == pytest.approx(1.0)


def test_a_node_of_small_weight_hardly_moves_the_fit(rng):
    x = rng.normal(size=(6, 3))
    y = x.copy()
    y[0] += 1.0
    weights = np.array([1e-9, 1, 1, 1, 1, 1])
    np.testing.assert_allclose(align(x, y, weights).difference[1:], 0.0, atol=1e-8)


def test_the_projector_predicts_what_alignment_leaves_of_small_errors(rng):
    x = rng.normal(size=(8, 3))
    weights = rng.uniform(0.5, 2.0, 8)
    errors = 1e-6 * rng.normal(size=(8, 3))
    left = align(x, x + errors, weights).difference
    P = remove_rigid_motion(x, weights / weights.mean())
    np.testing.assert_allclose(left, (P @ errors.ravel()).reshape(8, 3), atol=1e-11)


def test_alignment_takes_six_degrees_of_freedom_and_five_on_a_line(rng):
    x = rng.normal(size=(8, 3))
    P = remove_rigid_motion(x, np.ones(8))
    np.testing.assert_allclose(P @ rigid_modes(x), 0.0, atol=1e-12)
    assert np.trace(P) == pytest.approx(24 - 6)
    line = np.outer(np.arange(8.0), [1.0, 2.0, 3.0])
    assert np.trace(remove_rigid_motion(line, np.ones(8))) == pytest.approx(24 - 5)


def test_a_covariance_turns_with_the_points(rng):
    x, y = rng.normal(size=(2, 5, 3))
    motion = fit_rigid_motion(x, y)
    half = rng.normal(size=(15, 15))
    turned = motion.turn_covariance(half @ half.T)
    R = np.kron(np.eye(5), motion.rotation)
    np.testing.assert_allclose(turned, R @ half @ half.T @ R.T, atol=1e-12)
