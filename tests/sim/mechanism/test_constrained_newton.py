"""Morphs through negative curvature: few steps, and steps of the length asked for.

The positive part of a curvature is never negative.
"""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sim.contact.bodies_that_may_meet import Solids
from sim.core.options import NotConvergedError
from sim.mechanism import newton_morph as newton
from sim.mechanism.constrained_newton import curvature_along, positive_part
from sim.mechanism.constraint_forces import constraint_forces
from sim.mechanism.constraint_system import linearise
from sim.mechanism.morph_problem import MorphProblem, NewtonOptions, dense_curvature
from sim.mechanism.named_structures import triangle_sheet
from sim.mechanism.newton_morph import morph_newton
from sim.mechanism.projection_morph import MorphStep
from sim.mechanism.targets.analytic_surfaces import Ellipsoid
from sim.mechanism.targets.target_interface import Goals
from tests.sim.mechanism.random_structures import random_structure

BESIDE = Ellipsoid((1.6, 1.3, 1.0), (0.0, 0.0, -1.2))
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
