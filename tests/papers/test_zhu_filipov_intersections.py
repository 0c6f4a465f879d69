"""No recorded state passes through itself: ipctk judges every accepted increment.

The mesh is that of panels and creases; only elements that share a node are left out.
"""

from functools import partial

import ipctk
import numpy as np
import pytest

from pipeline.cases.origami import OrigamiCase
from sim.core.arrays import Floats, Ints
from tests.helpers.cases import composed
from tests.sim.origami.sheets import weak_orderings

TOUCHING = [
    "single_fold",
    "double_fold",
    "box",
    "box_corner",
    "folding_sequence",
    "interlocking",
    "miura",
    "yoshimura",
    "waterbomb",
]
ALL = ["-".join(str(stage) for stage in stages) for stages in weak_orderings(4)]
SAMPLE = ["1-1-1-1", "1-1-2-3", "2-3-1-1", "4-3-2-1"]
THROUGH = "1-1-3-2"  # by the published rules
case = partial(composed, OrigamiCase)


def intersects(x: Floats, rest: Floats, triangle: Ints) -> bool:
    mesh = ipctk.CollisionMesh(rest, ipctk.edges(triangle), triangle)
    return bool(ipctk.has_intersections(mesh, x))


def intersecting_steps(chosen: OrigamiCase) -> list[int]:
    """Numbers of the increments that pass through themselves."""
    rest, triangle = chosen.mesh.rest, chosen.mesh.triangle
    steps = list(chosen.steps())
    assert all(step.converged for step in steps) or chosen.accept_unconverged
    return [step.s for step in steps if intersects(step.x, rest, triangle)]


def sequence(name: str, increments: int, rules: str = "full") -> OrigamiCase:
    return case(
        "folding_sequence",
        f"case.sequence={name}",
        f"case.phases.0.increments={increments}",
        f"case.contact.rules={rules}",
        f"case.accept_unconverged={rules == 'paper'}",
    )


def test_the_judge_sees_a_corner_of_one_panel_below_another():
    rest = np.array(
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, 0.1], [0.5, 0.2, 1], [0.2, 0.5, 1]]
    )
    triangle = np.array([[0, 1, 2], [3, 4, 5]])
    assert not intersects(rest, rest, triangle)
    lower = rest.copy()
    lower[3, 2] = -0.1
    assert intersects(lower, rest, triangle)


@pytest.mark.parametrize("name", TOUCHING)
def test_no_case_with_contact_passes_through_itself(name):
    assert intersecting_steps(case(name)) == []


@pytest.mark.parametrize("name", ["box_corner_free", "interlocking_free"])
def test_the_same_without_contact_does(name):
    assert intersecting_steps(case(name)) != []


@pytest.mark.parametrize("name", SAMPLE)
def test_folding_sequences_do_not_pass_through_themselves(name):
    assert intersecting_steps(sequence(name, 30)) == []


def test_the_published_rules_let_a_sequence_through():
    assert intersecting_steps(sequence(THROUGH, 40, "paper")) != []


@pytest.mark.long
@pytest.mark.parametrize("increments", [30, 40, 80])
@pytest.mark.parametrize("name", ALL)
def test_no_sequence_passes_through_itself(name, increments):
    assert intersecting_steps(sequence(name, increments)) == []
