"""Places of joints made for targets: differences, and a hidden linkage found again."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from sim.mechanism.constraints import (
    Constraint,
    ConstraintKind,
    ConstraintTable,
    coin,
    dist,
    fix,
)
from sim.mechanism.design import DesignOptions, MorphObjective, Places, design, links_of
from sim.mechanism.morph_problem import NewtonOptions
from sim.mechanism.named_structures import triangle_sheet
from sim.mechanism.newton_morph import morph_newton
from sim.mechanism.structure import Structure
from sim.mechanism.targets.target_interface import Goals
from tests.sim.mechanism.random_structures import random_structure
from tests.sim.mechanism.slopes import slope_errors

EXACT = DesignOptions(morph=NewtonOptions(tolerance=1e-11, residual=1e-12))
SHEET = triangle_sheet(1, 2, leading="tips")


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
        SHEET.r0[SHEET.leading] + 0.3 * rng.normal(size=(len(SHEET.leading), 3))
    )
    places = Places(np.arange(3))
    strict = DesignOptions(tolerance=1e-300, reached=1e-300)
    with pytest.raises(NotConvergedError, match="no change of places lowers F"):
        *_, _ = design(SHEET, [goals], places, strict)


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
        SHEET.r0,
        SHEET.constraints.followed_by(ConstraintTable.of([coin(0, 1)])),
        SHEET.leading,
    )
    with pytest.raises(ValueError, match="node 1 has a par or coin constraint"):
        Places(np.array([1])).changed(tied, np.zeros(3))


def test_lengths_follow_places_as_geometry_has_them():
    """A node moved along a link by L / 10 changes its length by as much."""
    link = links_of(SHEET).constraint[0]
    a, b = SHEET.constraints.nodes[link, :2]
    along = SHEET.r0[b] - SHEET.r0[a]
    length = float(np.linalg.norm(along))
    from_middle = SHEET.r0 - SHEET.r0.mean(axis=0)
    L = np.sqrt(np.square(from_middle).sum() / len(SHEET.r0))
    made = Places(np.array([b])).changed(SHEET, 0.1 * along / length)
    assert_allclose(np.sqrt(made.constraints.constant[link]), length + 0.1 * L)
