"""Constrained Newton steps against closed forms and independent solutions.

Through negative curvature in few steps; the positive part of a curvature is never
negative.
"""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sim.contact.bodies_that_may_meet import Solids
from sim.core.options import NotConvergedError
from sim.mechanism import newton_morph as newton
from sim.mechanism.constrained_newton import (
    NewtonMatrix,
    StepDamping,
    curvature_along,
    inertia_corrected,
    largest_rotation,
    newton_direction,
    penalty_weights,
    positive_part,
    second_order_correction,
)
from sim.mechanism.constraint_forces import MorphConfiguration, constraint_forces
from sim.mechanism.constraint_projection import admissible
from sim.mechanism.constraint_system import hessian_pattern_of, linearise, system_of
from sim.mechanism.mobility import rescaled
from sim.mechanism.morph_objective import MorphProblem, NewtonOptions, dense_curvature
from sim.mechanism.named_structures import pentapod, triangle_sheet
from sim.mechanism.newton_morph import morph_newton
from sim.mechanism.projection_morph import MorphStep, Stop
from sim.mechanism.shape_measures import characteristic_length
from sim.mechanism.targets.analytic_surfaces import Ellipsoid
from sim.mechanism.targets.target_interface import Goals
from tests.sim.mechanism.random_structures import BESIDE, random_structure
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
    with pytest.raises(NotConvergedError, match="after 1 steps: raise") as caught:
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


@pytest.mark.parametrize("field", ["tolerance", "residual", "max_steps"])
def test_options_refuse_what_is_not_positive(field):
    with pytest.raises(ValueError, match=f"{field} must be"):
        replace(NewtonOptions(), **{field: -1})  # type: ignore[arg-type]


AROUND = Ellipsoid((3.0, 2.4, 2.0), (0.1, 0.0, 0.2))  # which bends f downwards
FEW = 60


def morph(seed: int, target: Ellipsoid, max_steps: int = 1000) -> MorphStep:
    options = NewtonOptions(max_steps=max_steps)
    *_, end = morph_newton(random_structure(seed), target, options)
    return end


@pytest.mark.parametrize("seed", [8, 10, 22, 31])
def test_morphs_inside_an_ellipsoid_take_few_steps(seed):
    end = morph(seed, AROUND)
    assert end.stop is not None
    assert end.gradient < 1e-9
    assert end.s <= FEW


@pytest.mark.parametrize("seed", [3, 5])
def test_morphs_of_balls_take_few_steps(seed):
    """By damped steps 131 and 78."""
    made = random_structure(seed)
    balls = replace(made, solids=Solids().with_spheres(len(made.r0), 0.15))
    *_, end = morph_newton(balls, BESIDE, NewtonOptions())
    assert end.gradient < 1e-9
    assert end.s <= FEW


def test_no_dense_curvature_where_newtons_own_steps_are_fast(monkeypatch):
    asked = []
    monkeypatch.setattr(newton, "curvature_along", lambda *at: asked.append(at))
    sheet = triangle_sheet(3, 3, side=0.606, link=0.35)
    x, y, _ = 1.08 * sheet.r0.T
    R = 0.35 * np.ptp(sheet.r0[:, 1])
    rolled = np.column_stack([x, R * np.sin(y / R), R * np.cos(y / R) - R])
    *_, end = morph_newton(sheet, Goals(rolled), NewtonOptions())
    assert end.gradient < 1e-9
    assert end.s <= 7
    assert asked == []


def test_motions_of_the_model_keep_the_constraints_and_have_its_curvature():
    options = NewtonOptions()
    problem, z = MorphProblem.at(random_structure(3), AROUND, options)
    point = problem.point(z)
    forces = constraint_forces(point)
    H = dense_curvature(problem, point, forces)
    model = curvature_along(problem.system, z, H)
    linear = linearise(problem.system, z)
    for motion in model.basis:
        kept = linear.times(motion.reshape(z.shape)) / problem.system.scale
        assert np.abs(kept).max() < 1e-12
    h = 1e-4
    for size, motion in zip(model.size, model.basis, strict=True):
        ahead, behind = (
            problem.point(z + way * h * motion.reshape(z.shape)) for way in (1, -1)
        )
        change = problem.merit(ahead, forces) + problem.merit(behind, forces)
        curvature = (change - 2.0 * problem.merit(point, forces)) / h**2
        assert_allclose(abs(curvature), size, atol=1e-4)


def test_positive_part_is_that_of_the_eigenvectors(rng):
    W = rng.normal(size=(60, 3, 3))
    W += W.transpose(0, 2, 1)
    W[:20] *= 10.0 ** rng.integers(-12, 12, (20, 1, 1))
    u = rng.normal(size=(10, 3))
    W[20:30] = -u[:, :, None] * u[:, None, :]  # twice the eigenvalue zero
    W[30], W[31], W[32] = 0.0, np.diag([1.0, -1.0, 0.0]), -np.ones((3, 3))
    values, vectors = np.linalg.eigh(W)
    kept = np.maximum(values, 0.0)[:, None, :]
    size = np.abs(values).max(axis=1)[:, None, None] + 1e-300
    found = positive_part(W)
    expected = (vectors * kept) @ vectors.transpose(0, 2, 1)
    assert_allclose(found / size, expected / size, atol=1e-14)
    assert_array_equal(found, found.transpose(0, 2, 1))


@pytest.mark.long
def test_almost_all_random_structures_take_few_steps():
    few = 0
    for seed in range(200):
        for target in (BESIDE, AROUND):
            try:
                few += morph(seed, target, FEW).stop is not None
            except NotConvergedError:
                continue
    assert few >= 0.99 * 400
