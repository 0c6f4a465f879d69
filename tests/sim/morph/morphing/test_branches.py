"""Configurations where paths of a mechanism meet, and saddles of a morph."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.arrays import Floats
from sim.morph.equations.system import linearise, state, system_of
from sim.morph.library.pentapod import pentapod
from sim.morph.library.sheets import triangle_sheet
from sim.morph.mobility.mobility import mobility
from sim.morph.mobility.tangent import tangent
from sim.morph.morphing.branches import (
    BranchOptions,
    BranchStep,
    Crossing,
    CrossingKind,
    branches,
    cone_directions,
    crossing,
    simple_directions,
)
from sim.morph.morphing.morph import Stop
from sim.morph.morphing.newton_morph import morph_newton
from sim.morph.morphing.problem import NewtonOptions
from sim.morph.morphing.saddles import descents, stationary
from sim.morph.structure.constraints import ConstraintTable, dist
from sim.morph.structure.structure import Structure
from sim.morph.targets.goals import Goals
from tests.sim.morph.linkages import four_bar, planar
from tests.sim.morph.mechanisms import of_bodies, structure

OPTIONS = BranchOptions(step=0.02, steps=60)
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


def test_a_flat_parallelogram_is_left_as_one_and_as_an_antiparallelogram() -> None:
    found, ways = followed(four_bar(FLAT))
    assert found.kind is CrossingKind.BRANCHES
    assert (len(found.directions), found.dimension) == (2, 1)
    assert len(found.tangent.motions) == 2
    assert len(ways) == 4
    diagonals = []
    for own in ways.values():
        assert len(own) == OPTIONS.steps
        assert max(step.residual for step in own) <= 1e-10
        assert {step.mobility for step in own} == {1}
        diagonals.append([across(step.r) for step in own])
        a, b = own[-1].r[2] - own[-1].r[0], own[-1].r[3] - own[-1].r[1]
        if diagonals[-1][-1] > 1e-9:  # diagonals of an antiparallelogram are parallel
            assert_allclose(np.cross(a, b), 0.0, atol=1e-8)
    assert sum(max(d) < 1e-9 for d in diagonals) == 2
    assert sum(d[-1] > 0.5 for d in diagonals) == 2


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e3, 1e6])
def test_branches_meet_in_every_unit_of_length_alike(unit: float) -> None:
    found = crossing(four_bar(unit * np.array(FLAT)), OPTIONS)
    assert (found.kind, len(found.directions)) == (CrossingKind.BRANCHES, 2)
    alike = crossing(four_bar(np.array(FLAT)), OPTIONS)
    assert_allclose(found.directions, alike.directions, atol=1e-9)
    bent = four_bar(unit * np.array([[0, 0], [2, 0], [2.5, 1], [0.3, 0.8]]))
    assert crossing(bent, OPTIONS).kind is CrossingKind.REGULAR


def test_tangents_of_the_parallelogram_are_those_of_the_closed_form() -> None:
    """Cranks of length 1 on a base of 2: heights y2, y3 with y3 = y2 or y3 = -y2 / 3.

    With the node 2 at (2 + cos b, sin b) and 3 at (cos a, sin a), to second order
    4 = 4 + 2 (a^2 - b^2) + (b - a)^2, so that (a - b) (3 a + b) = 0.
    """
    found, _ = followed(four_bar(FLAT))
    ratios = sorted(d[3, 1] / d[2, 1] for d in found.directions)
    assert_allclose(ratios, [-1.0 / 3.0, 1.0], atol=1e-8)


@pytest.mark.parametrize(
    "corners",
    [
        [[0, 0], [1, 0], [2, 0], [1, 0]],
        [[0, 0], [1, 0], [0, 0], [-1, 0]],
        [[0, 0], [1, 0], [0, 0], [1, 0]],
    ],
)
def test_a_rhombus_has_two_branches_at_each_flat_configuration(
    corners: list[list[int]],
) -> None:
    """Three circles in all: the rhombus, and two with two nodes at one place."""
    found, ways = followed(four_bar(np.array(corners, float)))
    assert found.kind is CrossingKind.BRANCHES
    assert len(found.directions) == 2
    kinds = set()
    for own in ways.values():
        r = own[-1].r
        together = [np.linalg.norm(r[a] - r[b]) < 1e-7 for a, b in ((0, 2), (1, 3))]
        assert across(r) < 1e-7 or any(together)
        kinds.add(tuple(together))
    assert len(kinds) == 2


def test_a_kite_has_two_branches_where_its_short_links_fold() -> None:
    found, ways = followed(four_bar([[0, 0], [1, 0], [3, 0], [1, 0]]))
    assert found.kind is CrossingKind.BRANCHES
    assert len(found.directions) == 2
    turned = [np.linalg.norm(own[-1].r[1] - own[-1].r[3]) for own in ways.values()]
    assert sum(gap < 1e-7 for gap in turned) == 2  # the nodes 1 and 3 stay together
    assert sum(gap > 0.5 for gap in turned) == 2


def test_a_flat_triangle_of_links_cannot_move_though_it_may_to_first_order() -> None:
    r = np.array([[0.0, 0], [1, 0], [3, 0]])
    found, ways = followed(planar(r, [(0, 1), (1, 2)], [0, 2]))
    assert found.kind is CrossingKind.ISOLATED
    assert len(found.tangent.motions) == 1
    assert not ways


def test_a_third_crank_leaves_one_branch() -> None:
    """Three parallel cranks: no antiparallelogram suits them all.

    With t the place of a crank on the platform, which turns by w and rises by y, each
    asks for w (2 y + w (t - 1)) = 0 to second order.
    """
    r = np.array([[0.0, 0], [2, 0], [5, 0], [1, 0], [3, 0], [6, 0], [3, 1]])
    links = [(0, 3), (1, 4), (2, 5), (3, 5), (5, 6), (6, 3), (4, 3), (4, 6)]
    made = planar(r, links, [0, 1, 2])
    found, ways = followed(made)
    assert found.kind is CrossingKind.BRANCHES
    assert len(found.tangent.motions) == len(found.tangent.forms) == 2
    assert len(found.directions) == 1
    for own in ways.values():
        moved = own[-1].r - made.r0
        assert_allclose(moved[4:], moved[3:4].repeat(3, axis=0), atol=1e-7)
        assert np.linalg.norm(moved[3]) > 0.5


def test_two_flat_parallelograms_in_a_row_make_no_simple_bifurcation() -> None:
    """Each may go either way: two dimensions, of which samples are followed."""
    r = np.array([[0.0, 0], [2, 0], [3, 0], [1, 0], [4, 0], [2, 0]])
    links = [(1, 2), (2, 3), (3, 0), (2, 4), (4, 5), (5, 3)]
    found, ways = followed(planar(r, links, [0, 1]), replace(OPTIONS, steps=5))
    assert found.kind is CrossingKind.CONE
    assert len(found.tangent.motions) == 4
    assert found.dimension == 2
    assert len(found.directions) > 1
    assert max(s.residual for own in ways.values() for s in own) <= 1e-10


@pytest.mark.parametrize(
    ("made", "dimension"),
    [
        (four_bar([[0, 0], [2, 0], [2.5, 0.9], [0.5, 0.9]]), 1),
        (pentapod(), 1),
        (triangle_sheet(1, 1), 24),
    ],
)
def test_a_regular_configuration_has_no_branches(
    made: Structure, dimension: int
) -> None:
    found, ways = followed(made)
    assert found.kind is CrossingKind.REGULAR
    assert found.dimension == dimension
    assert not ways
    assert not len(found.tangent.cokernel)
    assert mobility(made).mobility == dimension + found.tangent.rigid


def test_a_row_that_is_there_twice_is_no_bifurcation() -> None:
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


def test_a_body_alone_is_rigid() -> None:
    found, ways = followed(of_bodies()["body (3 nodes)"])
    assert found.kind is CrossingKind.RIGID
    assert found.tangent.rigid == 6
    assert not ways


def test_forms_are_what_first_order_motions_leave_at_second_order() -> None:
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


def test_simple_directions_are_the_roots_of_the_form(rng: np.random.Generator) -> None:
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


def test_all_four_common_directions_of_two_forms_are_found() -> None:
    """x^2 = z^2 and y^2 = 4 z^2: (+-1, +-2, 1)."""
    forms = np.array([np.diag([1.0, 0, -1]), np.diag([0, 1.0, -4])])
    found, dimension = cone_directions(forms, seed=0)
    assert dimension == 1
    exact = np.array([[a, b, 1.0] for a in (1, -1) for b in (2, -2)]) / np.sqrt(6.0)
    best = np.abs(found @ exact.T).max(axis=0)
    assert len(found) == 4
    assert_allclose(best, 1.0, atol=1e-12)


def strut(goal: float) -> Structure:
    """Two straight links, the free end drawn to x = goal."""
    made = planar(np.array([[-1.0, 0], [0, 0], [1, 0]]), [(0, 1), (1, 2)], [0])
    return replace(made, leading=np.array([2]), goals=np.array([[goal, 0, 0]]))


def test_a_straight_strut_is_left_to_both_sides() -> None:
    made = strut(0.5)
    target = Goals(np.array([[0.5, 0.0, 0.0]]))
    found = stationary(made, target, NewtonOptions())
    assert found.negative == len(found.motions) == 1
    ends = {}
    for _, way, step in descents(made, target, NewtonOptions(), found):
        ends[way] = step
    middle = np.array([-0.25, np.sqrt(1.0 - 0.75**2)])
    assert_allclose(ends[1].r[1, :2], middle, atol=1e-6)
    assert_allclose(ends[-1].r[1, :2], middle * [1, -1], atol=1e-6)
    assert all(end.stop is Stop.GRADIENT and end.E < 1e-8 for end in ends.values())


def test_curvature_at_a_strut_is_that_of_the_closed_form() -> None:
    """With heights y1, y2: f = (x2 - 1/2)^2 / 2 + y2^2 / 2 to second order,

    x2 = 1 - y1^2 / 2 - (y2 - y1)^2 / 2, hence the curvature
    [[-1, 1/2], [1/2, 1/2]] in y1, y2.
    """
    found = stationary(strut(0.5), Goals(np.array([[0.5, 0, 0]])), NewtonOptions())
    exact = np.linalg.eigvalsh([[-1.0, 0.5], [0.5, 0.5]])
    assert found.curvature[0] == pytest.approx(exact[0], abs=1e-7)


def test_a_minimum_has_no_way_down() -> None:
    sheet = triangle_sheet(1, 1)
    found = stationary(sheet, Goals(1.05 * sheet.r0), NewtonOptions())
    assert found.negative == 0
    assert not list(descents(sheet, Goals(1.05 * sheet.r0), NewtonOptions(), found))


def test_a_flat_sheet_pressed_in_its_plane_goes_up_and_down_alike() -> None:
    sheet = triangle_sheet(1, 1)
    target = Goals(0.9 * sheet.r0)
    found = stationary(sheet, target, NewtonOptions())
    assert np.abs(found.end.r[:, 2]).max() < 1e-9
    assert found.negative >= len(found.motions) > 1
    ends: dict[tuple[int, int], float] = {}
    for branch, way, step in descents(sheet, target, NewtonOptions(), found):
        assert step.E <= found.end.E + 1e-3
        ends[branch, way] = step.E
    for branch in range(len(found.motions)):
        assert ends[branch, 1] == pytest.approx(ends[branch, -1], abs=1e-6)
        assert ends[branch, 1] < found.end.E


def test_a_morph_that_leaves_saddles_ends_lower() -> None:
    sheet = triangle_sheet(1, 1)
    target = Goals(0.9 * sheet.r0)
    rest = stationary(sheet, target, NewtonOptions()).end
    *_, last = morph_newton(sheet, target, NewtonOptions())
    assert last.E < rest.E


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("step", 0.5, "step must be 0.2 of L at most"),
        ("step", 0.0, "step must be positive"),
        ("steps", 0, "steps must be a whole number from 1 up"),
        ("residual", -1.0, "residual must be positive"),
    ],
)
def test_bad_options_are_refused(key: str, value: float, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        replace(OPTIONS, **{key: value})


def test_structures_too_large_for_a_dense_null_space_are_refused() -> None:
    many = np.arange(3003.0).reshape(-1, 3)
    with pytest.raises(ValueError, match="3003 unknowns"):
        crossing(structure(many, [dist(many, 0, 1)]), OPTIONS)
