"""Hops from a minimum to lower ones: a node on a circle, which has two minima."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose

from sim.contact.bodies_that_may_meet import Solids
from sim.mechanism.constraint_system import linearise, system_of
from sim.mechanism.global_search import Attempt, attempts_of, lowest, walked_away
from sim.mechanism.morph_problem import MorphProblem, NewtonOptions
from sim.mechanism.obstacles import Obstacles
from sim.mechanism.projection_morph import MorphStep
from tests.sim.mechanism.test_global_search import FAR, NEAR, OVAL, pointer

E_PER_LENGTH = np.sqrt(0.5) / 0.5  # two nodes, L = 1/2


def found(
    starts: int, hops: int, seed: int = 0
) -> tuple[list[MorphStep], list[Attempt]]:
    steps = list(lowest(pointer(), OVAL, NewtonOptions(seed=seed), starts, hops))
    return steps, attempts_of(steps)


def test_hops_from_the_higher_minimum_find_the_lower_one():
    _, alone = found(1, 0)
    steps, attempts = found(1, 12)
    assert_allclose(alone[0].E, FAR * E_PER_LENGTH, rtol=1e-9)
    assert_allclose(attempts[0].E, NEAR * E_PER_LENGTH, rtol=1e-9)
    assert steps[-1].gradient <= NewtonOptions().tolerance
    assert [step.s for step in steps] == list(range(len(steps)))


def test_hops_are_those_of_their_seed_and_more_are_a_superset():
    few, more = (found(2, hops)[0] for hops in (3, 6))
    again = found(2, 3)[0]
    assert [step.E for step in few] == [step.E for step in again]
    first = [step.E for step in few if step.start == 0][:-1]  # the last is told twice
    assert first == [step.E for step in more if step.start == 0][: len(first)]


def test_walks_away_keep_the_constraints_and_pass_no_body(rng):
    made = pointer(90.0)
    solids = Solids().with_spheres(2, 0.15)
    made = replace(made, solids=solids)
    problem, z = MorphProblem.at(made, OVAL, NewtonOptions())
    angles = []
    for _ in range(12):
        there = walked_away(problem, z, rng)
        assert linearise(system_of(made), there).residual <= 1e-10
        assert Obstacles.of(made).overlaps(there[:2]) == 0
        angles.append(np.degrees(np.arctan2(there[1, 1], there[1, 0])))
    assert max(np.abs(np.array(angles) - 90.0)) > 60.0  # one direction, not to and fro
