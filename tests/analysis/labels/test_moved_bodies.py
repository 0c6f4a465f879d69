"""Bodies on the wrong joint, found by the lengths that their spheres keep."""

import numpy as np
import pytest

from analysis.labels.assign_labels import Labels, Refusal
from analysis.labels.rigid_bodies import describe_moved, moved_bodies
from analysis.labels.rigid_distances import Mechanism

SOLID = np.array([[0, 0, 0], [31, 4, -6], [5, 38, 9], [-8, 7, 45.0]])
REST = np.array([[80, 0, 0], [150, 20, -30], [90, -80, 10], [170, -60, 40.0]])
NODES = np.vstack([SOLID, REST])
BODIES = ((0, 1, 2, 3), (0, 4), (4, 5), (4, 6), (5, 7))
MECHANISM = Mechanism(NODES, BODIES)
U_MM, HOME_MM = 0.15, 3.0


def labels_without(free):
    """Labels of a scan of which the spheres of `free` nodes are unknown."""
    n = len(NODES)
    sphere = np.arange(n)
    sphere[free] = -1
    known = np.full(n, 9.0)
    reasons = [
        Refusal.NO_EVIDENCE if j in free else Refusal.DISTANCES for j in range(n)
    ]
    confirmed = np.setdiff1d(np.arange(n), free)
    stand = sphere, known, known, np.full(n, -1), np.zeros(n, np.bool_), confirmed
    return Labels(*stand, tuple(reasons), 1, 1.0)


def found(centres, free):
    labels = labels_without(free)
    return moved_bodies(MECHANISM, labels, centres, NODES, U_MM, HOME_MM)


@pytest.mark.parametrize("free", [[1, 2, 3], [1, 2]])
def test_a_body_hung_on_another_ball_is_found_by_its_lengths(rng, free):
    centres = NODES.copy()
    centres[free] += NODES[6] - NODES[0]
    centres += rng.normal(0.0, 0.03, centres.shape)
    (body,) = found(centres, free)
    assert body == free
    assert "-".join(map(str, free)) in describe_moved([body])


def test_a_body_is_found_though_its_joint_lost_its_label_too():
    free = [0, 1, 2, 3]
    centres = NODES.copy()
    centres[[1, 2, 3]] += NODES[6] - NODES[0]
    (body,) = found(centres, free)
    assert body == [1, 2, 3]


@pytest.mark.parametrize(
    ("free", "by"),
    [
        ([], [0.0, 0.0, 0.0]),
        ([1, 2, 3], [0.0, 0.0, 0.0]),
        ([1, 2], [300.0, 200.0, 100.0]),  # these hang on nothing
    ],
)
def test_spheres_at_home_and_two_that_moved_are_no_moved_body(free, by):
    centres = NODES.copy()
    centres[free] += by
    assert found(centres, free) == []


def test_a_single_sphere_and_loose_ones_of_other_lengths_say_nothing(rng):
    centres = NODES.copy()
    centres[7] += 40.0
    assert found(centres, [7]) == []
    centres[[1, 2, 3]] = rng.uniform(200.0, 400.0, (3, 3))
    assert found(centres, [1, 2, 3]) == []


def test_many_loose_spheres_match_by_chance_and_the_reckoning_knows(rng):
    """Among so many loose spheres three lengths that agree prove little."""
    many = rng.uniform(-60.0, 60.0, (150, 3)) + 400.0
    moved = NODES[[1, 2, 3]] + 300.0
    centres = np.vstack([NODES[:1], moved, NODES[4:], many])
    labels = labels_without([1, 2, 3])
    assert moved_bodies(MECHANISM, labels, centres, NODES, 0.6, HOME_MM) == []
