"""Link lengths made for targets, against differences and closed forms."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.core.options import NotConvergedError
from sim.mechanism.constraint_system import linearise, system_of
from sim.mechanism.constraints import ConstraintKind, dist
from sim.mechanism.design import (
    DesignOptions,
    DesignStep,
    DesignStop,
    MorphObjective,
    design,
    links_of,
)
from sim.mechanism.morph_problem import NewtonOptions
from sim.mechanism.named_structures import triangle_sheet
from sim.mechanism.structure import Structure
from sim.mechanism.targets.analytic_surfaces import Circle, Sphere
from sim.mechanism.targets.target_interface import Goals
from tests.sim.mechanism.mechanisms import structure
from tests.sim.mechanism.reference import load, structure_of
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
@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
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
    with pytest.raises(NotConvergedError, match="cannot be assembled"):
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
    [("x", "no symmetry x: node"), ("w", "'w' is no symmetry: name axes")],
)
def test_symmetries_that_are_none_are_refused(axes, words):
    with pytest.raises(ValueError, match=words):
        links_of(SHEET, [axes])


def test_structures_without_links_or_with_redundant_rows_are_refused():
    with pytest.raises(ValueError, match="no links between bodies"):
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
