"""Two links in a line, whose forces hang on the residual, beside a regular truss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.arrays import Floats
from sim.morph.equations.system import linearise, state, system_of
from sim.morph.library.pentapod import pentapod
from sim.morph.mobility.mobility import unit_rows
from sim.morph.mobility.near_dependence import near_dependence, undetermined, warning
from sim.morph.morphing.newton_morph import morph_newton
from sim.morph.morphing.problem import NewtonOptions
from sim.morph.morphing.reactions import reactions
from sim.morph.structure.constraints import dist, fix
from sim.morph.structure.structure import Structure
from sim.morph.targets.goals import Goals
from tests.sim.morph.mechanisms import structure

HIGH = 0.02  # of the middle node, where the links are a truss


def in_line(height: float = 0.0) -> Structure:
    r = np.array([[0.0, 0, 0], [1.0, height, 0], [2.0, 0, 0]])
    return structure(r, [*fix(r, 0), *fix(r, 2), dist(r, 0, 1), dist(r, 1, 2)])


def pulled_aside(made: Structure, residual: float) -> tuple[Floats, Floats]:
    """The end of a morph that pulls the middle node aside, and its forces."""
    goals = Goals(made.r0 + np.outer([0.0, 1.0, 0.0], [0.0, 0.5, 0.0]))
    *_, end = morph_newton(made, goals, NewtonOptions(residual=residual))
    return end.state, reactions(made, end.state, end.g).y


def test_forces_that_hang_on_the_residual_are_named() -> None:
    made = in_line()
    z, y = pulled_aside(made, 1e-10)
    assert 1e-6 < z[1, 1] < 1e-4  # a rigid line, moved within the residual
    assert np.abs(y).max() > 1e4
    found = near_dependence(made, z, 1e-10)
    assert found is not None
    table = made.constraints
    names = [table.name_of_row(row) for row in np.flatnonzero(undetermined(found, y))]
    assert names == ["fix(0, x)", "fix(2, x)", "dist(0, 1)", "dist(1, 2)"]
    assert "dist(0, 1)" in warning(table, found)["warning"]
    across = table.first_row[[1, 4]]  # half of the pull each, whatever the tensions
    assert_allclose(y[across], 0.25, rtol=1e-3)


def test_forces_of_a_truss_are_told_although_it_is_flat() -> None:
    made = in_line(HIGH)
    z, y = pulled_aside(made, 1e-10)
    tension = 2.0 * np.sqrt(1.0 + HIGH**2) * y[-2:]
    exact = 0.25 * np.sqrt(1.0 + HIGH**2) / HIGH
    assert_allclose(tension, exact, rtol=1e-5)
    assert near_dependence(made, z, 1e-10) is None
    assert not undetermined(None, y).any()
    assert warning(made.constraints, None) == {}


@pytest.mark.parametrize("height", [1e-5, 1e-4])
@pytest.mark.parametrize("unit", [1e-3, 1.0])
def test_singular_value_is_that_of_rows_of_unit_length(
    height: float, unit: float
) -> None:
    made = structure(unit * in_line(height).r0, [])
    r = made.r0
    made = structure(r, [*fix(r, 0), *fix(r, 2), dist(r, 0, 1), dist(r, 1, 2)])
    z = state(made)
    found = near_dependence(made, z, 1e-9)
    assert found is not None
    sizes = np.linalg.svd(unit_rows(linearise(system_of(made), z)), compute_uv=False)
    assert_allclose(found.singular_value, sizes[-1:], rtol=1e-4)


def test_a_mechanism_with_joints_is_regular() -> None:
    made = pentapod()
    assert near_dependence(made, state(made), 1e-10) is None
