"""Two links in a line, whose forces hang on the residual, beside a regular truss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.arrays import Floats
from sim.convergence import NotConvergedError
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


def links_in_line(count: int) -> tuple[Structure, Goals]:
    """Links of length 1 between fixed ends, two nodes of which are pulled aside."""
    r = np.zeros((count + 1, 3))
    r[:, 0] = np.arange(count + 1)
    flat = [row for i in range(1, count) for row in fix(r, i)[2:]]
    links = [dist(r, i, i + 1) for i in range(count)]
    goals = r.copy()
    goals[1:3, 1] = 0.5, -0.3
    return structure(r, [*fix(r, 0), *fix(r, count), *flat, *links]), Goals(goals)


@pytest.mark.parametrize(
    ("count", "residual"), [(3, 1e-6), (3, 1e-8), (3, 1e-9), (3, 1e-10)]
)
def test_large_multipliers_do_not_stall_a_morph(count: int, residual: float) -> None:
    """Their share of the merit is rounded, and a way back to a smaller residual than
    that of the start moves along the weak motion farther than the step gains."""
    made, goals = links_in_line(count)
    *_, end = morph_newton(made, goals, NewtonOptions(residual=residual, max_steps=100))
    assert end.gradient <= 1e-9
    assert np.abs(end.r - made.r0).max() < 10.0 * np.sqrt(residual)


def on_three_parallel_links() -> tuple[Structure, Goals]:
    """A plate whose parallel links turn alike to first order, and not to second."""
    plate = np.array([[-0.5, 0, 0], [0.5, 0, 0], [0.0, 0.8, 0]])
    r = np.vstack([plate - [[0, 1.0, 0], [0, 1.5, 0], [0, 0.7, 0]], plate])
    held = [row for i in range(3) for row in fix(r, i)]
    flat = [row for i in range(3, 6) for row in fix(r, i)[2:]]
    sides = [dist(r, i, j) for i, j in ((0, 3), (1, 4), (2, 5), (3, 4), (4, 5), (5, 3))]
    goals = r.copy()
    goals[3, 0] += 0.3
    return structure(r, [*held, *flat, *sides]), Goals(goals)


def test_a_refusal_names_the_rows_and_a_residual_that_helps() -> None:
    made, goals = on_three_parallel_links()
    with pytest.raises(NotConvergedError, match=r"dist\(.*infinitesimal") as refused:
        list(morph_newton(made, goals, NewtonOptions(residual=1e-12, max_steps=20)))
    told = float(str(refused.value).split("a residual of ")[1].split(",")[0])
    *_, end = morph_newton(made, goals, NewtonOptions(residual=told, max_steps=20))
    assert end.gradient <= 1e-9
