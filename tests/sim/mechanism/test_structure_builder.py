"""Structures drawn up of bodies and joints: what remains free of two bodies."""

from collections.abc import Callable

import numpy as np
import pytest

from sim.core.arrays import Floats
from sim.mechanism.constraint_system import linearise, state, system_of
from sim.mechanism.mobility import mobility
from sim.mechanism.structure_builder import Draft
from tests.sim.mechanism.mechanisms import TILTED, TRIANGLE, A, B

ON_LINE = np.array([[0.4, 0.0, 0.0], [0.9, 0.0, 0.0], [0.5, 0.6, 0.5]])
ABOVE = TRIANGLE[[0, 2, 1]] + [0.1, 0.2, 0.6]
MEETING = TILTED - TILTED[0] + TRIANGLE[1]
PIN = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.3, -0.5, 0.6]])
COPLANAR = TRIANGLE @ np.diag([-1.0, 1, 1]) - [0.3, 0.1, 0]


def two(other: Floats) -> Draft:
    return Draft(np.vstack([TRIANGLE, other])).body(*A).body(*B)


# [dJ23], Fig. 4: what is left of the twelve freedoms of two bodies.
JOINTS: dict[str, tuple[int, Callable[[], Draft]]] = {
    "plane_point": (11, lambda: two(TILTED).plane_point(A, 3)),
    "line_point": (10, lambda: two(ON_LINE).line_point((0, 1), 3)),
    "prismatic": (7, lambda: two(ON_LINE).prismatic(A, B)),
    "parallel_plane_line": (11, lambda: two(TILTED).parallel_plane_line(A, (3, 4))),
    "parallel_planes": (10, lambda: two(ABOVE).parallel_planes(A, B)),
    "planar": (9, lambda: two(COPLANAR).planar(A, B)),
    "cylindrical": (8, lambda: two(ON_LINE).cylindrical((0, 1), (3, 4))),
    "spherical": (9, lambda: two(MEETING).spherical(1, 3)),
    "spherical shared": (9, lambda: two(TILTED).spherical(1, bodies=(0, 1))),
    "universal": (8, lambda: two(PIN).universal((0, 2), (3, 5))),
    "universal shared": (
        8,
        lambda: two(TILTED).universal((0, 2), (0, 5), bodies=(0, 1)),
    ),
    "hinge": (7, lambda: two(PIN).hinge((0, 1), (3, 4))),
    "hinge shared": (7, lambda: two(TILTED).hinge((0, 1), bodies=(0, 1))),
    "fixed": (6, lambda: two(PIN).fixed(A, B)),
    "fixed bodies": (6, lambda: two(TILTED).fixed(bodies=(0, 1))),
    "limited": (12, lambda: two(TILTED).limited((2, 5), 0.2, 2.0)),
}


@pytest.mark.parametrize("name", JOINTS)
def test_each_joint_leaves_the_freedoms_of_the_paper_and_no_row_too_many(name):
    left, draft = JOINTS[name]
    made = draft().structure()
    found = mobility(made)
    extra = 1 if name == "limited" else 0  # the elbow turns about the line
    assert (found.mobility, len(found.redundant)) == (left + extra, 0)
    assert linearise(system_of(made), state(made)).residual < 1e-12
    names = {
        made.constraints.name(i).split(":")[0] for i in range(len(made.constraints))
    }
    assert names == {"body 0", "body 1", f"{name.split()[0]} 0"}


def test_nodes_in_line_are_one_bar_with_five_freedoms():
    bar = np.outer([0.0, 1.0, 2.0, 3.5], [1.0, 0.5, -0.2])
    found = mobility(Draft(bar).body(0, 1, 2, 3).structure())
    assert (found.mobility, len(found.redundant)) == (5, 0)


def test_bodies_that_share_nodes_repeat_no_row():
    r = np.vstack([TRIANGLE, [[0.8, 0.9, 0.3]], [[0.1, 0.2, 0.7]]])
    draft = Draft(r).link(0, 1).body(0, 1, 2).body(1, 2, 3).body(3, 2, 1, 4)
    found = mobility(draft.structure())
    assert (found.mobility, len(found.redundant)) == (7, 0)


def test_held_nodes_take_the_place_of_rows_of_their_body():
    r = np.vstack([TRIANGLE, [[0.8, 0.9, 0.3]]])
    draft = Draft(r).body(0, 1, 2, 3).held(0).held(1)
    found = mobility(draft.structure())
    assert (found.mobility, len(found.redundant)) == (1, 0)  # turns about 0-1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: two(TILTED).hinge((0, 1)), r"a joint needs `bodies`"),
        (lambda: two(TILTED).hinge((0, 1), bodies=(0, 2)), "unknown body 2"),
        (lambda: two(TILTED).hinge((0, 1), bodies=(1, 1)), "joined to itself"),
        (lambda: two(TILTED).hinge((0, 9), bodies=(0, 1)), "node 9 does not exist"),
        (lambda: two(TILTED).limited((0, 1), 1.5, 2.0), "outside the limits"),
        (lambda: Draft(TRIANGLE).body(0, 0, 1), "name two or more"),
        (lambda: Draft(np.zeros((3, 3))).body(0, 1, 2), "of a body coincide"),
    ],
)
def test_what_cannot_be_joined_is_said(wrong, said):
    with pytest.raises(ValueError, match=said):
        wrong().structure()
