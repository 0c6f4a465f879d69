"""Forces in links and the worth of a length."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.core.arrays import Floats
from sim.mechanism.constraint_forces import reactions
from sim.mechanism.constraints import ConstraintKind, ConstraintTable
from sim.mechanism.morph_objective import NewtonOptions
from sim.mechanism.newton_morph import morph_newton
from sim.mechanism.projection_morph import MorphStep
from sim.mechanism.structure import Structure
from sim.mechanism.targets.target_interface import Goals
from tests.sim.mechanism.reference import load, structure_of

EXACT = NewtonOptions(tolerance=1e-11, residual=1e-12)


def rest(structure: Structure, goals: Floats | None = None) -> MorphStep:
    """At its own goals without others."""
    goals = structure.goals if goals is None else goals
    assert goals is not None
    return list(morph_newton(structure, Goals(goals), EXACT))[-1]


def longer(structure: Structure, row: int, change: float) -> Structure:
    """The constant of a constraint changed; every constraint has one row here."""
    constant = structure.constraints.constant.copy()
    constant[row] += change
    table = ConstraintTable(
        structure.constraints.kind, structure.constraints.nodes, constant
    )
    return replace(structure, constraints=table)


@pytest.mark.parametrize("name", ["trisheet_2x2_cyl_s1.08", "chain_planar_tension"])
def test_worth_of_a_length_matches_differences(name, rng):
    structure = structure_of(load(name))
    step = rest(structure)
    found = reactions(structure, step.state, step.g)
    links = np.flatnonzero(structure.constraints.kind == ConstraintKind.DIST)
    h = 1e-5
    for row in rng.choice(links, 4, replace=False):
        ahead, behind = (rest(longer(structure, row, s * h)) for s in (1, -1))
        change = (ahead.E**2 - behind.E**2) / (2.0 * h)
        assert_allclose(found.sensitivity[row], change, rtol=1e-6, atol=1e-12)


def test_stretched_link_pulls_its_ends_towards_each_other():
    structure = structure_of(load("link_free"))
    step = rest(structure, np.array([[0.0, 0, 0], [1.5, 0, 0]]))
    found = reactions(structure, step.r, step.g)
    assert_allclose(found.tension, [0.25], rtol=1e-9)
    assert_allclose(found.on_nodes, [[0.25, 0, 0], [-0.25, 0, 0]], atol=1e-9)
    assert len(found.redundant) == 0


def test_forces_of_a_free_structure_add_up_to_no_force_and_no_moment():
    structure = structure_of(load("trisheet_3x3_cyl_s1.08"))
    step = rest(structure)
    found = reactions(structure, step.r, step.g)
    assert found.gradient < 1e-10
    assert found.tension.max() > 1e-3
    assert np.abs(found.on_nodes.sum(axis=0)).max() < 1e-12
    assert np.abs(np.cross(step.r, found.on_nodes).sum(axis=0)).max() < 1e-12


def test_redundant_rows_make_forces_one_choice_of_many():
    structure = structure_of(load("squares4_stretched_redundant"))
    step = rest(structure)
    found = reactions(structure, step.r, step.g)
    assert len(found.redundant) == 15
    assert found.gradient < 1e-9
