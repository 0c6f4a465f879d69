"""Several starts: a node on a circle inside an ellipse, which has two minima."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.contact.bodies_that_may_meet import Solids
from sim.core.options import NotConvergedError
from sim.mechanism.constraint_system import linearise, system_of
from sim.mechanism.constraints import Constraint, ConstraintKind, dist, fix
from sim.mechanism.global_search import (
    Attempt,
    attempts_of,
    lowest,
    morph_rounded_first,
    walked,
)
from sim.mechanism.morph_problem import MorphProblem, NewtonOptions
from sim.mechanism.obstacles import Obstacles
from sim.mechanism.projection_morph import MorphStep
from sim.mechanism.structure import Structure
from sim.mechanism.targets.analytic_surfaces import Ellipsoid
from tests.sim.mechanism.mechanisms import structure

OVAL = Ellipsoid((3.0, 2.0, 4.0), (0.0, 0.1, 0.0))
NEAR, FAR = 0.9, 1.1  # from the bottom and from the top of the unit circle to the oval


def pointer(degrees: float = 10.0) -> Structure:
    angle = np.radians(degrees)
    r = np.array([[0.0, 0, 0], [np.cos(angle), np.sin(angle), 0]])
    flat = Constraint(ConstraintKind.FIX, (1, 2), 0.0)
    made = structure(r, [*fix(r, 0), flat, dist(r, 0, 1)])
    return replace(made, leading=np.array([1]))


def found(
    made: Structure, options: NewtonOptions, starts: int
) -> tuple[list[MorphStep], list[Attempt]]:
    steps = list(lowest(made, OVAL, options, starts))
    return steps, attempts_of(steps)


def test_of_two_minima_the_lower_is_kept_and_both_are_listed():
    made, options = pointer(), NewtonOptions()
    *_, alone = morph_rounded_first(made, OVAL, options)
    steps, attempts = found(made, options, 6)
    E_per_length = np.sqrt(0.5) / 0.5  # two nodes, L = 1/2
    assert_allclose(alone.E, FAR * E_per_length, rtol=1e-9)
    assert_allclose(steps[-1].E, NEAR * E_per_length, rtol=1e-9)
    assert attempts[0].minimum == 1
    assert {attempt.minimum for attempt in attempts} == {0, 1}
    for attempt in attempts:
        wanted = (NEAR, FAR)[attempt.minimum] * E_per_length
        assert_allclose(attempt.E, wanted, rtol=1e-9)


def test_starts_are_those_of_their_seed_and_more_are_a_superset():
    made = pointer()
    few, more, other = (
        found(made, NewtonOptions(seed=seed), count)[1]
        for seed, count in ((1, 3), (1, 5), (2, 3))
    )
    assert [a.steps for a in few] == [a.steps for a in more[:3]]
    assert [a.E for a in few] == [a.E for a in more[:3]]
    assert [a.gradient for a in few] != [a.gradient for a in other]


def test_a_start_that_fails_is_told_and_the_others_go_on():
    made, alone = pointer(), list(morph_rounded_first(pointer(), OVAL, NewtonOptions()))
    most = len(alone) - 2  # too few for the first start
    steps = lowest(made, OVAL, NewtonOptions(max_steps=most), 12)
    attempts = attempts_of(steps)
    assert "not at rest after" in attempts[0].failed
    assert attempts[0].minimum == -1
    assert 0 in {attempt.minimum for attempt in attempts}


def test_walks_keep_the_constraints_and_pass_no_body(rng):
    made = pointer()
    r = np.vstack([made.r0, [[0.95, -0.3, 0.0]]])
    rows = [*fix(r, 0), *fix(r, 2), dist(r, 0, 1)]
    flat = Constraint(ConstraintKind.FIX, (1, 2), 0.0)
    made = structure(r, [*rows, flat])
    made = replace(made, solids=Solids().with_spheres(3, 0.15))
    problem, z = MorphProblem.at(made, OVAL, NewtonOptions())
    for _ in range(8):
        there = walked(problem, z, rng)
        assert linearise(system_of(made), there).residual <= 1e-10
        assert Obstacles.of(made).overlaps(there[:3]) == 0
        assert np.arctan2(there[1, 1], there[1, 0]) > np.arctan2(-0.3, 0.95)


def test_where_no_start_converges_the_first_error_is_told():
    with pytest.raises(NotConvergedError, match="after 1 steps"):
        list(lowest(pointer(), OVAL, NewtonOptions(max_steps=1), 2))
