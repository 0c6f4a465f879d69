import numpy as np
import pytest

from analysis.comparison.assumptions import UncertaintyOptions
from analysis.comparison.error_sources import (
    length_sd_mm,
    play_covariance,
    sources,
    stop_error,
)

TRIANGLES = np.array(
    [[0, 0, 0], [30, 0, 0], [10, 25, 0], [65, 5, 8], [95, 0, 0], [70, 30, 10.0]]
)
PAIRS = np.array([[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5], [1, 3]])


def lengths(nodes):
    return np.linalg.norm(nodes[PAIRS[:, 1]] - nodes[PAIRS[:, 0]], axis=1)


def test_joint_play_changes_no_rigid_length(rng):
    C = play_covariance(TRIANGLES, PAIRS, 1e-4)
    for e in rng.multivariate_normal(np.zeros(18), C, 20, method="eigh"):
        change = lengths(TRIANGLES + e.reshape(6, 3)) - lengths(TRIANGLES)
        assert np.abs(change).max() < 1e-8


def test_joint_play_has_as_many_directions_as_the_mechanism_has_freedoms():
    C = play_covariance(TRIANGLES, PAIRS, 0.2)
    assert np.trace(C) == pytest.approx(0.04 * (18 - 7))
    assert np.linalg.matrix_rank(C, tol=1e-9) == 18 - 7


def test_lengths_that_repeat_each_other_but_for_rounding_leave_a_covariance():
    """Two beams of three nodes in line: the third length is the sum of the others."""
    nodes = 40.0 * np.array([[x, y, 0.0] for y in (0.0, 1.0) for x in (0.0, 1.0, 2.0)])
    nodes += 1e-8 * np.random.default_rng(1).normal(size=nodes.shape)
    ends = [[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5], [0, 3], [1, 4], [2, 5]]
    kept = np.linalg.eigvalsh(play_covariance(nodes, np.array(ends), 0.2)) / 0.2**2
    assert np.abs(kept - np.round(kept)).max() < 1e-9
    assert round(kept.sum()) == 18 - 7  # of nine lengths


def test_a_geometric_series_of_steps_is_summed_to_its_end(rng):
    end = rng.normal(size=(5, 3))
    away = rng.normal(size=(5, 3))
    steps = np.array([end + 0.6**s * away for s in range(8)])
    np.testing.assert_allclose(stop_error(steps), end - steps[-1], atol=1e-12)


def test_steps_that_hardly_shrink_are_not_taken_for_converged():
    steps = np.arange(5.0)[:, None, None] * np.ones((1, 4, 3))
    assert stop_error(steps)[0, 0] == pytest.approx(99.0)


def test_few_steps_say_what_they_can():
    one = np.zeros((1, 4, 3))
    assert not stop_error(one).any()
    two = np.stack([np.zeros((4, 3)), np.ones((4, 3))])
    np.testing.assert_array_equal(stop_error(two), np.ones((4, 3)))


def test_a_rigid_length_owes_its_error_to_two_ends_and_the_scale():
    options = UncertaintyOptions(
        registration_sd_mm=0.04,
        scan_scale_sd=0.0,
        print_scale_sd=1e-3,
        printing_sd_mm=0.03,
    )
    sd = length_sd_mm(options, np.array([0.0, 100.0]))
    np.testing.assert_allclose(sd**2, [2 * 0.05**2, 2 * 0.05**2 + 0.01])


def test_a_monte_carlo_of_the_input_is_a_source_of_its_own():
    options, none = UncertaintyOptions(), np.zeros((18, 18))
    estimated = sources(options, TRIANGLES, none, 0.0, np.zeros((6, 3)), none)
    assert {"scale of the print", "printing of bodies", "joint play"} <= set(estimated)
    drawn = sources(options, TRIANGLES, none, 0.0, np.zeros((6, 3)), none, np.eye(18))
    assert set(drawn) - set(estimated) == {"link lengths, from simulated prints"}
    np.testing.assert_array_equal(
        drawn["link lengths, from simulated prints"], np.eye(18)
    )


def test_a_negative_standard_deviation_is_refused():
    with pytest.raises(ValueError, match="scan_scale_sd must be 0 or more"):
        UncertaintyOptions(scan_scale_sd=-1e-4)
