import numpy as np
import pytest

from analysis.labels.rigid_bodies import complete_rigidly, seen_nodes
from analysis.labels.rigid_distances import Mechanism

BODY = np.array([[0, 0, 0], [40, 0, 0], [10, 35, 0], [15, 12, 30], [90, 5, 5.0]])
MECHANISM = Mechanism(BODY, ((0, 1, 2, 3), (1, 4)))
SD_MM = 0.05


def seen(missing, rng, sd_mm=SD_MM):
    sphere = np.arange(5)
    sphere[missing] = -1
    centres = BODY + rng.normal(0.0, sd_mm, BODY.shape)
    return seen_nodes(sphere, centres, sd_mm**2 * np.eye(15))


def test_a_missing_node_is_placed_by_three_mates_of_its_body(rng):
    nodes = complete_rigidly(seen([3], rng, 1e-9), MECHANISM, 0.0)
    assert nodes.completed.tolist() == [False, False, False, True, False]
    np.testing.assert_allclose(nodes.positions_mm[3], BODY[3], atol=1e-6)


def test_the_covariance_of_a_completed_node_is_that_of_many_scans(rng):
    draws = np.array(
        [
            complete_rigidly(seen([3], rng), MECHANISM, 0.0).positions_mm[3]
            for _ in range(4_000)
        ]
    )
    stated = complete_rigidly(seen([3], rng), MECHANISM, 0.0).covariance_mm2[9:12, 9:12]
    np.testing.assert_allclose(
        np.linalg.eigvalsh(np.cov(draws.T)), np.linalg.eigvalsh(stated), rtol=0.12
    )


def test_a_completed_node_shares_the_errors_of_its_mates(rng):
    nodes = complete_rigidly(seen([3], rng), MECHANISM, 0.0)
    assert np.abs(nodes.covariance_mm2[9:12, 0:3]).max() > 0.1 * SD_MM**2
    assert np.all(nodes.covariance_mm2[9:12, 12:15] == 0)


def test_printing_error_is_added_to_a_completed_node(rng):
    nodes = seen([3], rng)
    plain = complete_rigidly(nodes, MECHANISM, 0.0).covariance_mm2
    printed = complete_rigidly(nodes, MECHANISM, 0.2).covariance_mm2
    np.testing.assert_allclose(np.diag(printed - plain)[9:12], 0.04)


@pytest.mark.parametrize("missing", [[2, 3], [4]])
def test_two_mates_or_a_link_do_not_place_a_node(rng, missing):
    nodes = complete_rigidly(seen(missing, rng), MECHANISM, 0.0)
    assert not nodes.completed.any()
    assert np.isnan(nodes.positions_mm[missing]).all()
