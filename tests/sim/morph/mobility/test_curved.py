"""Morphs through negative curvature: few steps, and steps of the length asked for."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.convergence import NotConvergedError
from sim.morph.equations.constraint_forces import constraint_forces
from sim.morph.equations.system import linearise
from sim.morph.library.sheets import triangle_sheet
from sim.morph.mobility.curved import CurvedModel, curved_model
from sim.morph.morphing import newton_morph as newton
from sim.morph.morphing.morph import MorphStep
from sim.morph.morphing.newton_morph import morph_newton
from sim.morph.morphing.problem import MorphProblem, NewtonOptions, dense_curvature
from sim.morph.structure.solids import Solids
from sim.morph.targets.ellipsoid import Ellipsoid
from sim.morph.targets.goals import Goals
from tests.sim.morph.random_structures import random_structure

BESIDE = Ellipsoid((1.6, 1.3, 1.0), (0.0, 0.0, -1.2))
AROUND = Ellipsoid((3.0, 2.4, 2.0), (0.1, 0.0, 0.2))  # which bends f downwards
FEW = 60


def morph(seed: int, target: Ellipsoid, max_steps: int = 1000) -> MorphStep:
    options = NewtonOptions(max_steps=max_steps)
    *_, end = morph_newton(random_structure(seed), target, options)
    return end


@pytest.mark.parametrize("seed", [8, 10, 22, 31])
def test_morphs_inside_an_ellipsoid_take_few_steps(seed: int) -> None:
    end = morph(seed, AROUND)
    assert end.stop is not None
    assert end.gradient < 1e-9
    assert end.s <= FEW


@pytest.mark.parametrize("seed", [3, 5])
def test_morphs_of_balls_take_few_steps(seed: int) -> None:
    """By damped steps 131 and 78."""
    made = random_structure(seed)
    balls = replace(made, solids=Solids().with_balls(len(made.r0), 0.15))
    *_, end = morph_newton(balls, BESIDE, NewtonOptions())
    assert end.gradient < 1e-9
    assert end.s <= FEW


def test_no_dense_curvature_where_newtons_own_steps_are_fast(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    monkeypatch.setattr(newton, "curved_model", lambda *at: asked.append(at))
    sheet = triangle_sheet(3, 3, side=0.606, link=0.35)
    x, y, _ = 1.08 * sheet.r0.T
    R = 0.35 * np.ptp(sheet.r0[:, 1])
    rolled = np.column_stack([x, R * np.sin(y / R), R * np.cos(y / R) - R])
    *_, end = morph_newton(sheet, Goals(rolled), NewtonOptions())
    assert end.gradient < 1e-9
    assert end.s <= 7
    assert asked == []


@pytest.mark.long
def test_almost_all_random_structures_take_few_steps() -> None:
    few = 0
    for seed in range(200):
        for target in (BESIDE, AROUND):
            try:
                few += morph(seed, target, FEW).stop is not None
            except NotConvergedError:
                continue
    assert few >= 0.99 * 400


def test_steps_go_down_and_are_as_long_as_asked_for() -> None:
    model = CurvedModel(np.eye(3), np.abs([2.0, -0.5, 1e-3]))
    slope = np.array([[1.0, -1.0, 0.2]])
    assert_allclose(model.step(slope, np.inf), [[-0.5, 2.0, -200.0]])
    short = model.step(slope, 0.1)
    assert_allclose(np.linalg.norm(short), 0.1, rtol=1e-9)
    assert (short * slope < 0.0).all()


def test_motions_of_the_model_keep_the_constraints_and_have_its_curvature() -> None:
    options = NewtonOptions()
    problem, z = MorphProblem.at(random_structure(3), AROUND, options)
    point = problem.point(z)
    forces = constraint_forces(point)
    H = dense_curvature(problem, point, forces)
    model = curved_model(problem.system, z, H)
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
