"""Constrained Newton steps against closed forms and independent solutions."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sim.core.options import NotConvergedError
from sim.mechanism.constrained_newton import (
    NewtonMatrix,
    StepDamping,
    inertia_corrected,
    largest_rotation,
    newton_direction,
    penalty_weights,
    second_order_correction,
)
from sim.mechanism.constraint_forces import MorphConfiguration, constraint_forces
from sim.mechanism.constraint_projection import admissible
from sim.mechanism.constraint_system import hessian_pattern_of, linearise, system_of
from sim.mechanism.mobility import rescaled
from sim.mechanism.morph_problem import NewtonOptions
from sim.mechanism.named_structures import pentapod, triangle_sheet
from sim.mechanism.newton_morph import morph_newton
from sim.mechanism.projection_morph import Stop
from sim.mechanism.shape_measures import characteristic_length
from sim.mechanism.targets.analytic_surfaces import Cylinder
from sim.mechanism.targets.target_interface import Goals
from tests.sim.mechanism.reference import load, structure_of

EQUILIBRIA = [
    "body_procrustes",
    "chain_planar_tension",
    "cylindrical_grounded",
    "fourbar_grounded",
    "hinge_grounded",
    "link_free",
    "link_grounded",
    "pentapod_grounded_R1.4",
    "rotsq4_theta0.5_to_0.2",
    "spherical_grounded",
    "squares4_stretched_redundant",
    "trisheet_2x2_cyl_s1.08",
    "trisheet_3x3_cyl_s1.08",
]


@pytest.mark.parametrize("name", EQUILIBRIA)
def test_equilibrium_is_the_known_one(name):
    known = load(name)
    structure = structure_of(known)
    assert structure.goals is not None
    steps = list(morph_newton(structure, Goals(structure.goals), NewtonOptions()))
    last, expected, tolerance = steps[-1], known["expected"], known["tolerance"]
    L = characteristic_length(structure.r0)
    assert last.stop is Stop.GRADIENT
    assert_allclose(last.E, expected["E"], rtol=0, atol=tolerance["E_abs"])
    assert_allclose(last.S, expected["S"], rtol=0, atol=tolerance["S_abs"])
    assert np.abs(last.r - expected["x"]).max() <= tolerance["x_abs_over_L"] * L
    assert_allclose(last.lam, expected["lam"], rtol=0, atol=1e-6)
    assert all(step.residual <= 1e-10 for step in steps)


@pytest.mark.parametrize("unit", [2.0**-10, 2.0**10])
def test_multipliers_count_alike_in_every_unit(unit, rng):
    made = pentapod()
    goals = made.r0[made.leading] + rng.normal(size=(5, 3))
    one = list(morph_newton(made, Goals(goals), NewtonOptions()))[-1]
    small = rescaled(made, 1.0 / unit)
    last = list(morph_newton(small, Goals(unit * goals), NewtonOptions()))[-1]
    assert_array_equal(last.r, unit * one.r)
    assert_array_equal(last.lam, one.lam)
    pull = admissible(system_of(small), last.state, last.g - last.r)
    L = characteristic_length(small.r0)
    assert np.sqrt(np.square(pull).sum() / len(last.r)) <= 1e-9 * L
    with pytest.raises(NotConvergedError) as caught:
        list(morph_newton(small, Goals(unit * goals), NewtonOptions(max_steps=1)))
    best = np.asarray(caught.value.best)
    assert linearise(system_of(small), best).residual <= 1e-10
    assert 0.1 * L < characteristic_length(best[: len(last.r)]) < 10.0 * L


def test_bending_a_step_brings_it_close_to_the_constraints(rng):
    sheet = triangle_sheet(3, 3, variation=0.1)
    system, L = system_of(sheet), characteristic_length(sheet.r0)
    goals = sheet.r0 + 0.3 * L * rng.normal(size=3) * [1.0, 0.0, 1.0]
    goals[:, 2] += 0.2 * sheet.r0[:, 0] ** 2
    linear = linearise(system, sheet.r0)
    held = constraint_forces(MorphConfiguration(sheet.r0, goals, linear))
    K = NewtonMatrix(
        hessian_pattern_of(system.topology), sheet.r0, linear,
        np.tile(np.eye(3), (system.n, 1, 1)), held.y,
        penalty_weights(system.layout, linear.B),
    )  # fmt: skip
    error = float(np.sqrt(np.square(sheet.r0 - goals).sum() / system.n))
    factor, _ = inertia_corrected(K, StepDamping(), held.size, error, L)
    way = newton_direction(K, factor, held.gradient, 1e-2 / L)
    size = 0.3 / largest_rotation(system.layout, way.dz)
    straight = linearise(system, sheet.r0 + size * way.dz)
    bent = linearise(
        system, second_order_correction(linear, way, sheet.r0 + size * way.dz)
    )
    assert straight.residual == pytest.approx(0.3**2, rel=1e-6)
    assert bent.residual < 0.15 * straight.residual


def test_too_few_steps_are_an_error_that_carries_the_best_state():
    sheet = triangle_sheet(2, 2)
    target = Cylinder(2.0, (0.05, 0.03, -2.0), (1.0, 0.05, 0.0))
    with pytest.raises(NotConvergedError, match="after 2 steps: raise") as caught:
        list(morph_newton(sheet, target, NewtonOptions(max_steps=2)))
    best = caught.value.best
    assert isinstance(best, np.ndarray)
    assert linearise(system_of(sheet), best).residual <= 1e-10


@pytest.mark.parametrize("field", ["tolerance", "residual", "max_steps"])
def test_options_refuse_what_is_not_positive(field):
    with pytest.raises(ValueError, match=f"{field} must be"):
        replace(NewtonOptions(), **{field: -1})  # type: ignore[arg-type]
