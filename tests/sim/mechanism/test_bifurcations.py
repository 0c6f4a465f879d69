"""Configurations where paths of a mechanism meet, and saddles of a morph."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.core.arrays import Floats
from sim.mechanism.bifurcations import (
    BranchOptions,
    BranchStep,
    Crossing,
    CrossingKind,
    branches,
    cone_directions,
    crossing,
    descents,
    simple_directions,
    stationary,
)
from sim.mechanism.constraint_system import linearise, state, system_of
from sim.mechanism.constraints import ConstraintTable, dist
from sim.mechanism.mobility import tangent
from sim.mechanism.morph_objective import NewtonOptions
from sim.mechanism.named_structures import triangle_sheet
from sim.mechanism.projection_morph import Stop
from sim.mechanism.structure import Structure
from sim.mechanism.targets.target_interface import Goals
from tests.sim.mechanism.linkages import four_bar, planar
from tests.sim.mechanism.mechanisms import structure

OPTIONS = BranchOptions(step=0.02, steps_each_way=60)
FLAT = [[0, 0], [2, 0], [3, 0], [1, 0]]  # a parallelogram folded flat


def followed(
    made: Structure, options: BranchOptions = OPTIONS
) -> tuple[Crossing, dict[tuple[int, int], list[BranchStep]]]:
    """What the start of a structure is, and the steps each way of each branch."""
    ways: dict[tuple[int, int], list[BranchStep]] = {}
    found = crossing(made, options)
    for step in branches(made, options, found):
        ways.setdefault((step.branch, step.way), []).append(step)
    meeting = ways.pop((-1, 0))
    assert len(meeting) == 1
    return found, ways


def across(r: Floats) -> float:
    """How far a four-bar is from a parallelogram: |r2 - r3 - (r1 - r0)|."""
    return float(np.linalg.norm(r[2] - r[3] - (r[1] - r[0])))


def test_a_flat_parallelogram_is_left_as_one_and_as_an_antiparallelogram():
    """Cranks of length 1 on a base of 2: heights y2, y3 with y3 = y2 or y3 = -y2 / 3.

    With the node 2 at (2 + cos b, sin b) and 3 at (cos a, sin a), to second order
    4 = 4 + 2 (a^2 - b^2) + (b - a)^2, so that (a - b) (3 a + b) = 0.
    """
    found, ways = followed(four_bar(FLAT))
    assert found.kind is CrossingKind.BRANCHES
    assert (len(found.directions), found.dimension) == (2, 1)
    assert len(found.tangent.motions) == 2
    assert len(ways) == 4
    diagonals = []
    for own in ways.values():
        assert len(own) == OPTIONS.steps_each_way
        assert max(step.numbers["residual"] for step in own) <= 1e-10
        assert {step.numbers["mobility"] for step in own} == {1}
        diagonals.append([across(step.r) for step in own])
        a, b = own[-1].r[2] - own[-1].r[0], own[-1].r[3] - own[-1].r[1]
        if diagonals[-1][-1] > 1e-9:  # diagonals of an antiparallelogram are parallel
            assert_allclose(np.cross(a, b), 0.0, atol=1e-8)
    assert sum(max(d) < 1e-9 for d in diagonals) == 2
    assert sum(d[-1] > 0.5 for d in diagonals) == 2
    ratios = sorted(d[3, 1] / d[2, 1] for d in found.directions)
    assert_allclose(ratios, [-1.0 / 3.0, 1.0], atol=1e-8)


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e3, 1e6])
def test_branches_meet_in_every_unit_of_length_alike(unit):
    found = crossing(four_bar(unit * np.array(FLAT)), OPTIONS)
    assert (found.kind, len(found.directions)) == (CrossingKind.BRANCHES, 2)
    alike = crossing(four_bar(np.array(FLAT)), OPTIONS)
    assert_allclose(found.directions, alike.directions, atol=1e-9)
    bent = four_bar(unit * np.array([[0, 0], [2, 0], [2.5, 1], [0.3, 0.8]]))
    assert crossing(bent, OPTIONS).kind is CrossingKind.REGULAR


def test_a_flat_triangle_of_links_cannot_move_though_it_may_to_first_order():
    r = np.array([[0.0, 0], [1, 0], [3, 0]])
    found, ways = followed(planar(r, [(0, 1), (1, 2)], [0, 2]))
    assert found.kind is CrossingKind.ISOLATED
    assert len(found.tangent.motions) == 1
    assert not ways


def test_two_flat_parallelograms_in_a_row_make_no_simple_bifurcation():
    """Each may go either way: two dimensions, of which samples are followed."""
    r = np.array([[0.0, 0], [2, 0], [3, 0], [1, 0], [4, 0], [2, 0]])
    links = [(1, 2), (2, 3), (3, 0), (2, 4), (4, 5), (5, 3)]
    found, ways = followed(planar(r, links, [0, 1]), replace(OPTIONS, steps_each_way=5))
    assert found.kind is CrossingKind.CONE
    assert len(found.tangent.motions) == 4
    assert found.dimension == 2
    assert len(found.directions) > 1
    assert max(s.numbers["residual"] for own in ways.values() for s in own) <= 1e-10


def test_a_row_that_is_there_twice_is_no_bifurcation():
    made = four_bar([[0, 0], [2, 0], [2.5, 0.9], [0.5, 0.9]])
    rows = made.constraints
    twice = replace(
        made,
        constraints=ConstraintTable(
            np.append(rows.kind, rows.kind[:1]),
            np.append(rows.nodes, rows.nodes[:1], axis=0),
            np.append(rows.constant, rows.constant[:1]),
        ),
    )
    found, _ = followed(twice)
    assert len(found.tangent.cokernel) == 1
    assert found.kind is CrossingKind.REGULAR
    assert found.dimension == 1


def test_forms_are_what_first_order_motions_leave_at_second_order():
    made = four_bar(FLAT)
    system, z = system_of(made), state(made)
    found = tangent(system, z)
    for v in found.motions:
        rest = [
            np.linalg.norm(found.cokernel @ (linearise(system, z + h * v).c
                           / system.scale))
            for h in (1e-2, 1e-3)
        ]  # fmt: skip
        assert np.log10(rest[0] / rest[1]) == pytest.approx(2.0, abs=1e-6)
    assert_allclose(found.forms, found.forms.transpose(0, 2, 1), atol=0)


def test_simple_directions_are_the_roots_of_the_form(rng):
    Q, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    form = 3.0 * np.outer(Q[0], Q[0]) - 0.5 * np.outer(Q[1], Q[1])
    both = simple_directions(form[None])
    assert both is not None
    assert_allclose(np.einsum("bi,ij,bj->b", both, form, both), 0.0, atol=1e-14)
    assert abs(both[0] @ both[1]) < 0.99
    definite = form + np.outer(Q[1], Q[1])
    assert simple_directions(definite[None]) is None
    rounded = definite - 1e-16 * np.outer(Q[2], Q[2])  # no eigenvalue is below zero
    assert simple_directions(rounded[None]) is None
    assert simple_directions(np.diag([2.0, 1.0, 0.0, -1e-16])[None]) is None
    assert simple_directions(np.array([form, definite])) is None


def test_all_four_common_directions_of_two_forms_are_found():
    """x^2 = z^2 and y^2 = 4 z^2: (+-1, +-2, 1)."""
    forms = np.array([np.diag([1.0, 0, -1]), np.diag([0, 1.0, -4])])
    found, dimension = cone_directions(forms, seed=0)
    assert dimension == 1
    exact = np.array([[a, b, 1.0] for a in (1, -1) for b in (2, -2)]) / np.sqrt(6.0)
    best = np.abs(found @ exact.T).max(axis=0)
    assert len(found) == 4
    assert_allclose(best, 1.0, atol=1e-12)


def test_a_straight_strut_is_left_to_both_sides():
    """Two links, the free end drawn to x = 1/2.

    With heights y1, y2: f = (x2 - 1/2)^2 / 2 + y2^2 / 2 to second order,

    x2 = 1 - y1^2 / 2 - (y2 - y1)^2 / 2, hence the curvature
    [[-1, 1/2], [1/2, 1/2]] in y1, y2.
    """
    straight = planar(np.array([[-1.0, 0], [0, 0], [1, 0]]), [(0, 1), (1, 2)], [0])
    goals = np.array([[0.5, 0.0, 0.0]])
    made, target = replace(straight, leading=np.array([2]), goals=goals), Goals(goals)
    found = stationary(made, target, NewtonOptions())
    exact = np.linalg.eigvalsh([[-1.0, 0.5], [0.5, 0.5]])
    assert found.curvature[0] == pytest.approx(exact[0], abs=1e-7)
    assert found.negative == len(found.motions) == 1
    ends = {}
    for _, way, step in descents(made, target, NewtonOptions(), found):
        ends[way] = step
    middle = np.array([-0.25, np.sqrt(1.0 - 0.75**2)])
    assert_allclose(ends[1].r[1, :2], middle, atol=1e-6)
    assert_allclose(ends[-1].r[1, :2], middle * [1, -1], atol=1e-6)
    assert all(end.stop is Stop.GRADIENT and end.E < 1e-8 for end in ends.values())


def test_a_minimum_has_no_way_down():
    sheet = triangle_sheet(1, 1)
    found = stationary(sheet, Goals(1.05 * sheet.r0), NewtonOptions())
    assert found.negative == 0
    assert not list(descents(sheet, Goals(1.05 * sheet.r0), NewtonOptions(), found))


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("step", 0.5, "step must be between 0 and 0.2"),
        ("step", 0.0, "step must be positive"),
        ("steps_each_way", 0, "steps_each_way must be a whole number from 1 up"),
        ("residual", -1.0, "residual must be positive"),
    ],
)
def test_bad_options_are_refused(key, value, said):
    with pytest.raises(ValueError, match=said):
        replace(OPTIONS, **{key: value})


def test_structures_too_large_for_a_dense_null_space_are_refused():
    many = np.arange(3003.0).reshape(-1, 3)
    with pytest.raises(ValueError, match="3003 unknowns"):
        crossing(structure(many, [dist(many, 0, 1)]), OPTIONS)
