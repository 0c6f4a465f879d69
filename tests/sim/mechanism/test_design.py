"""Lengths and places of joints made for targets: differences and closed forms."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from sim.mechanism.constraint_system import linearise, system_of
from sim.mechanism.constraints import (
    Constraint,
    ConstraintKind,
    ConstraintTable,
    coin,
    dist,
    fix,
)
from sim.mechanism.design import (
    DesignOptions,
    DesignStep,
    DesignStop,
    MorphObjective,
    Places,
    design,
    links_of,
)
from sim.mechanism.morph_objective import NewtonOptions
from sim.mechanism.named_structures import triangle_sheet
from sim.mechanism.newton_morph import morph_newton
from sim.mechanism.structure import Structure
from sim.mechanism.targets.analytic_surfaces import Circle, Sphere
from sim.mechanism.targets.target_interface import Goals
from tests.sim.mechanism.mechanisms import structure
from tests.sim.mechanism.random_structures import random_structure
from tests.sim.mechanism.reference import load, structure_of
from tests.sim.mechanism.slopes import slope_errors
from tests.sim.mechanism.solid_structures import ranges, solids

EXACT = DesignOptions(morph=NewtonOptions(tolerance=1e-11, residual=1e-12))
SHEET = triangle_sheet(2, 2, leading="tips")
TARGETS = (Circle(5.5), Sphere(4.0, (0.1, 0.05, -3.0)))


@pytest.mark.parametrize("mean_exponent", [1.0, 12.0])
def test_slope_of_the_objective_matches_differences(rng, mean_exponent):
    links, options = (
        links_of(SHEET, ["xy"]),
        replace(EXACT, mean_exponent=mean_exponent),
    )
    targets = (*TARGETS, Circle(5.4, (0.1, 0.0, 0.0)))
    change = 0.05 * rng.normal(size=10)
    sought = MorphObjective(SHEET, targets, links, options)
    found = sought.at(change)
    assert found.F > 1e-4
    for group in (0, 4, 9):
        h = np.eye(10)[group] * 1e-4
        ahead, behind = (
            MorphObjective(SHEET, targets, links, options)
            .at(change + sign * h, found.ends)
            .F
            for sign in (1.0, -1.0)
        )
        slope = (ahead - behind) / 2e-4
        assert found.slope[group] == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize(
    "limits",
    [
        {"solids": solids(balls=[(0, 0.9), (2, 0.8)])},
        {"ranges": ranges((ConstraintKind.DIST, (0, 2), 2.56, np.inf))},
    ],
)
@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_slope_counts_what_bodies_and_ranges_carry(limits, unit):
    """Morphs that end in contact, from the ends of others that did."""
    r = unit * np.array([[0.0, 0, 0], [1, 0, 0], [1.8, 0.6, 0], [2.4, 0.1, 0.1]])
    goals = unit * np.array([[0.0, 0, 0], [0.6, 0.3, 0], [1.3, 0.1, 0.2], [0.3, 1, 0]])
    pairs = ((0, 1), (1, 2), (2, 3))
    chain = structure(r, [dist(r, *pair) for pair in pairs])
    bare = replace(chain, bodies=pairs)
    made = replace(bare, **{k: v.scaled(unit) for k, v in limits.items()})
    links, targets = links_of(made), [Goals(goals)]
    found = MorphObjective(made, targets, links, EXACT).at(np.zeros(3))
    free = MorphObjective(bare, targets, links, EXACT).at(np.zeros(3))
    assert found.F > 1.02 * free.F
    for group, h in enumerate(1e-4 * np.eye(3)):
        ahead, behind = (
            MorphObjective(made, targets, links, EXACT).at(step, found.ends).F
            for step in (h, -h)
        )
        slope = (ahead - behind) / 2e-4
        assert found.slope[group] == pytest.approx(slope, rel=1e-5)


def test_lengths_that_do_not_close_end_the_search_with_their_reason():
    """A triangle whose goals lie on one line: 1.1 < 0.5 + 0.5 would be its sides."""
    r = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.5, 0.3, 0]])
    loop = structure(r, [dist(r, 0, 1), dist(r, 1, 2), dist(r, 0, 2)])
    made = replace(loop, bodies=((0, 1), (1, 2), (0, 2)))
    goals = Goals(np.array([[-0.05, 0, 0], [1.05, 0, 0], [0.5, 0.0, 0]]))
    steps: list[DesignStep] = []
    with pytest.raises(NotConvergedError, match="impossible to assemble"):
        steps.extend(design(made, [goals], links_of(made), DesignOptions(limit=0.4)))
    assert steps[-1].F < 0.01 * steps[0].F
    for step in steps:
        long, *short = (1.0 + step.change) * [
            1.0,
            np.hypot(0.5, 0.3),
            np.hypot(0.5, 0.3),
        ]
        assert long < sum(short)
        assert step.ends[0].residual <= 1e-10


@pytest.mark.parametrize("q", [1.0, 2.0, 8.0, 64.0])
def test_one_link_for_three_goals_has_the_length_of_the_power_mean(q):
    """Goals 1, 1 and 1.3 apart: E_t^2 = (l - d_t)^2 / 4 L^2, sum_t E_t^2q is least
    where 2 (l - 1)^(2q - 1) = (1.3 - l)^(2q - 1); near l = 1.15 for the worst case.
    """
    r = np.array([[0.0, 0, 0], [1.0, 0, 0]])
    link = replace(structure(r, [dist(r, 0, 1)]), bodies=((0, 1),))
    targets = [Goals(r * d) for d in (1.0, 1.0, 1.3)]
    options = DesignOptions(limit=0.3, tolerance=1e-7, mean_exponent=q)
    *_, last = design(link, targets, links_of(link), options)
    length = 1.0 + 0.3 / (1.0 + 2.0 ** (1.0 / (2.0 * q - 1.0)))
    assert 1.0 + last.change[0] == pytest.approx(length, abs=1e-6)
    assert last.F <= (last.E**2).max() <= 3.0 ** (1.0 / q) * last.F


def test_lengths_keep_to_their_bounds_and_structures_to_their_constraints():
    links = links_of(SHEET, ["xy"])
    steps = list(design(SHEET, TARGETS[:1], links, DesignOptions(limit=0.05)))
    assert steps[-1].stop is DesignStop.GRADIENT
    assert steps[-1].F > 1e-4  # the circle stays beyond reach
    assert np.all(np.diff([step.F for step in steps]) < 0.0)
    for step in steps:
        assert np.abs(step.change).max() <= 0.05
        system = system_of(links.changed(SHEET, step.change))
        assert linearise(system, step.ends[0].state).residual <= 1e-10
    assert np.count_nonzero(steps[-1].change == 0.05) == 10


def test_symmetric_links_are_one_group():
    links = links_of(SHEET, ["xy"])
    assert (len(links.group), links.group.max() + 1) == (19, 10)
    assert links_of(SHEET).group.max() + 1 == 19
    middle = SHEET.r0[SHEET.constraints.nodes[links.constraint, :2]].mean(axis=1)
    for group in range(10):
        both = middle[links.group == group]
        assert_allclose(both.sum(axis=0) * (2.0 / len(both)), 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("axes", "words"),
    [("x", "no symmetry x: node"), ("w", "'w' is not a symmetry: name axes")],
)
def test_symmetries_that_are_none_are_refused(axes, words):
    with pytest.raises(ValueError, match=words):
        links_of(SHEET, [axes])


def test_structures_without_links_or_with_redundant_rows_are_refused():
    with pytest.raises(ValueError, match="no link between two bodies"):
        links_of(Structure(SHEET.r0, SHEET.constraints, SHEET.leading))
    doubled = structure_of(load("squares4_stretched_redundant"))
    made = replace(doubled, bodies=((0, 1),))
    with pytest.raises(ValueError, match="redundant constraints"):
        next(design(made, TARGETS, links_of(made), DesignOptions()))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("limit", 0.0),
        ("limit", 1.0),
        ("tolerance", -1.0),
        ("max_steps", 0),
        ("mean_exponent", 0.5),
        ("mean_exponent", np.inf),
    ],
)
def test_impossible_options_are_refused(field, value):
    with pytest.raises(ValueError, match=f"{field} must be"):
        replace(DesignOptions(), **{field: value})  # type: ignore[arg-type]


SMALL = triangle_sheet(1, 2, leading="tips")


def test_a_place_is_worth_what_differences_say(rng):
    """With fixed angles and volumes beside the lengths; the error falls with h^2."""
    made, places = random_structure(1), Places(np.arange(0, 16, 3))
    assert len(set(made.constraints.kind.tolist())) >= 2
    targets = [Goals(made.r0 + 0.2 * rng.normal(size=made.r0.shape))]
    change, way = 0.01 * rng.normal(size=18), rng.normal(size=18)
    found = MorphObjective(made, targets, places, EXACT).at(change)
    sizes = [4e-3, 2e-3, 1e-3]
    errors = slope_errors(
        lambda x: MorphObjective(made, targets, places, EXACT).at(x, found.ends).F,
        *(change, way, found.slope, sizes),
    )
    assert found.F > 1e-4
    assert errors[-1] < 1e-3 * abs(found.slope @ way)
    assert np.polyfit(np.log(sizes), np.log(errors), 1)[0] == pytest.approx(2, abs=0.3)


def test_the_end_of_a_search_for_places_speaks_of_places(rng):
    """A gradient that rounding keeps from vanishing."""
    goals = Goals(
        SMALL.r0[SMALL.leading] + 0.3 * rng.normal(size=(len(SMALL.leading), 3))
    )
    places = Places(np.arange(3))
    strict = DesignOptions(tolerance=1e-300, reached=1e-300)
    with pytest.raises(NotConvergedError, match="no change of places lowers F"):
        *_, _ = design(SMALL, [goals], places, strict)


def four_bar(pivots: Floats) -> Structure:
    """Crank and rocker on two pivots (2, 2), a triangle between them that leads."""
    ground = np.column_stack([pivots, np.zeros(2)])
    r = np.vstack([ground, [[0.3, 0.95, 0.0], [2.0, 1.4, 0.0], [1.4, 2.2, 0.0]]])
    rows = [*fix(r, 0), *fix(r, 1)]
    rows += [Constraint(ConstraintKind.FIX, (node, 2), 0.0) for node in (2, 3, 4)]
    links = [(0, 2), (1, 3), (2, 3), (3, 4), (4, 2)]
    rows += [dist(r, *link) for link in links]
    return Structure(r, ConstraintTable.of(rows), np.arange(2, 5))


def circumcentre(points: Floats) -> Floats:
    """(2,) equally far from three points (3, 2)."""
    rows = 2.0 * (points[1:] - points[0])
    squares = np.square(points).sum(axis=1)
    return np.asarray(np.linalg.solve(rows, squares[1:] - squares[0]))


def test_a_hidden_linkage_is_found_again_from_its_three_shapes():
    """Its pivots are the middles of the circles through three places of either joint:
    Burmester, as in Erdman and Sandor, Mechanism Design (1997), sect. 3."""
    pivots = np.array([[0.0, 0.0], [2.2, 0.1]])
    hidden, shapes = four_bar(pivots), []
    for x in (-0.3, 0.3, 0.8):  # the crank's joint is drawn aside
        away = hidden.r0[2:] + np.array([x, 0.0, 0.0])
        *_, end = morph_newton(hidden, Goals(away), EXACT.morph)
        shapes.append(Goals(end.r[2:]))
    joints = np.array([shape.points[:2, :2] for shape in shapes])
    middles = [circumcentre(joints[:, i]) for i in (0, 1)]
    assert_allclose(middles, pivots, atol=1e-8)
    aside = np.array([[0.1, -0.05], [-0.08, 0.12]])
    given, places = four_bar(pivots + aside), Places(np.arange(2))
    options = DesignOptions(tolerance=1e-9, reached=1e-16, max_steps=500)
    first, *_, last = design(given, shapes, places, options)
    assert first.F > 1e-5
    found = places.changed(given, last.change).constraints.constant
    assert_allclose(found[[0, 1, 3, 4]], pivots.ravel(), atol=1e-5)
    wanted = hidden.constraints.constant[-5:]
    assert_allclose(found[-5:], wanted, rtol=1e-5)


def test_a_node_that_is_tied_to_others_is_refused():
    tied = Structure(
        SMALL.r0,
        SMALL.constraints.followed_by(ConstraintTable.of([coin(0, 1)])),
        SMALL.leading,
    )
    with pytest.raises(ValueError, match="node 1 has a par or coin constraint"):
        Places(np.array([1])).changed(tied, np.zeros(3))


def test_lengths_follow_places_as_geometry_has_them():
    """A node moved along a link by L / 10 changes its length by as much."""
    link = links_of(SMALL).constraint[0]
    a, b = SMALL.constraints.nodes[link, :2]
    along = SMALL.r0[b] - SMALL.r0[a]
    length = float(np.linalg.norm(along))
    from_middle = SMALL.r0 - SMALL.r0.mean(axis=0)
    L = np.sqrt(np.square(from_middle).sum() / len(SMALL.r0))
    made = Places(np.array([b])).changed(SMALL, 0.1 * along / length)
    assert_allclose(np.sqrt(made.constraints.constant[link]), length + 0.1 * L)
