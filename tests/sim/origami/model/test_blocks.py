"""Blocks of a large sheet: the stiffness that rows have, and what is solved with it."""

import numpy as np
import pytest

from sim.arrays import Floats
from sim.origami.folding.problem import FoldingProblem, near_at
from sim.origami.folding.sheet import build_problem, hinge_angles
from sim.origami.folding.stability import stiffness_matrix
from sim.origami.loading.phases import Fold
from sim.origami.model.assembly import assemble
from sim.origami.model.blocks import (
    LargeSystem,
    SheetFronts,
    Slopes,
    factorised,
    linearised,
    lowest_direction,
    sheet_fronts,
    slopes_at,
)
from sim.origami.model.mesh import BarHingeMesh
from tests.sim.origami.sheets import compliant_strip, sheet


def crumpled(mesh: BarHingeMesh) -> tuple[FoldingProblem, Floats]:
    """A strip on an elastic support, its nodes off their places, folded together until
    its last panel touches the first."""
    phase = Fold(elastic=[[4, 3.0, 5.0, 7.0]])
    x = mesh.rest + np.random.default_rng(4).normal(0.0, 5e-5, mesh.rest.shape)
    length = mesh.rest[:, 0].max()
    last = mesh.rest[:, 0] > 0.65 * length
    x[last] = x[last] * [-1.0, 1.0, 1.0] + [1.05 * length, 0.0, 4e-4]
    return build_problem(sheet(mesh), phase), x


def tangent(
    problem: FoldingProblem, x: Floats, angles: Floats
) -> tuple[SheetFronts, LargeSystem, Slopes]:
    """The system with the stresses that elements have at x."""
    model, fronts = problem.model, sheet_fronts(problem.model)
    pairs = near_at(problem, x, problem.skin).pairs
    at = slopes_at(model, np.zeros(len(model.bar)), np.zeros(len(model.hinge)))
    linearised(fronts, pairs, problem.ke, x, angles, at)
    own = slopes_at(model, at.strain, at.turn)
    return *linearised(fronts, pairs, problem.ke, x, angles, own), own


def test_blocks_have_the_energy_forces_and_stiffness_that_rows_have() -> None:
    mesh = compliant_strip(3)
    problem, x = crumpled(mesh)
    angles = hinge_angles(mesh, mesh.rest)
    fronts, system, _ = tangent(problem, x, angles)
    rows = assemble(
        problem.model, near_at(problem, x, problem.skin).pairs, problem.ke, x, angles
    )
    assert system.energies == pytest.approx(rows.energies, rel=1e-12)
    assert (rows.energies > 0.0).all()  # supports and contact among them
    assert system.force == pytest.approx(rows.force, rel=1e-9, abs=1e-9)
    K, b = stiffness_matrix(rows), np.linspace(-1.0, 1.0, len(rows.force))
    mu = 2.0 * system.largest
    z = factorised(fronts, system, mu).solve(b)
    assert K @ z + mu * z == pytest.approx(b, rel=1e-9, abs=1e-9)


def test_the_lowest_direction_has_the_curvature_of_its_pivot() -> None:
    mesh = compliant_strip(2)
    x = 0.9 * mesh.rest + np.random.default_rng(4).normal(0.0, 2e-4, mesh.rest.shape)
    angles = hinge_angles(mesh, mesh.rest)
    bare = build_problem(sheet(mesh), Fold(contact=False))
    fronts, system, _ = tangent(bare, x, angles)
    none = near_at(bare, x, 0.0).pairs
    K = stiffness_matrix(assemble(bare.model, none, bare.ke, x, angles)).toarray()
    factor = factorised(fronts, system, 0.0)
    assert factor.negative == (np.linalg.eigvalsh(K) < 0.0).sum() > 0
    z = lowest_direction(fronts, factor)
    assert z @ K @ z == pytest.approx(factor.pivot.min(), rel=1e-6)


def test_slopes_foretell_the_stresses_after_a_small_move() -> None:
    """To second order in the move."""
    mesh = compliant_strip(2)
    problem, x = crumpled(mesh)
    angles = hinge_angles(mesh, mesh.rest)
    model, move = problem.model, np.random.default_rng(5).normal(size=x.shape)
    _, _, at = tangent(problem, x, angles)
    ends = move[model.bar[:, 1]] - move[model.bar[:, 0]]
    strain = (at.of_strain * ends).sum(axis=1)
    turn = (at.of_turn * move[model.hinge].reshape(-1, 12)).sum(axis=1)
    missed = []
    for size in (1e-6, 5e-7):
        _, _, then = tangent(problem, x + size * move, angles)
        missed.append(
            [
                np.abs(then.strain - at.strain - size * strain).max(),
                np.abs(then.turn - at.turn - size * turn).max(),
            ]
        )
    assert np.log2(np.divide(*missed)) == pytest.approx(2.0, abs=0.1)
