"""Blocks of a large sheet: the stiffness that rows have, and what is solved with it."""

from functools import partial

import numpy as np
import pytest

from sim.core.arrays import Floats
from sim.optimize.curvature import lowest_mode, positive_factor
from sim.origami.fold_and_load_phases import Fold
from sim.origami.folding.equilibrium import FoldingProblem, near_at
from sim.origami.folding.sheet import build_problem, hinge_angles
from sim.origami.mechanics import stiffness_matrix
from sim.origami.model.assembly import assemble
from sim.origami.model.large_sheet_stiffness import (
    LargeSystem,
    SheetFronts,
    Stresses,
    factorised,
    linearised,
    sheet_fronts,
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
) -> tuple[SheetFronts, LargeSystem]:
    """The system with the stresses that elements have at x."""
    model, fronts = problem.model, sheet_fronts(problem.model)
    pairs = near_at(problem, x, problem.skin).pairs
    none = Stresses(np.zeros(len(model.bar)), np.zeros(len(model.hinge)))
    fronts, first = linearised(fronts, pairs, problem.ke, x, angles, none)
    return linearised(fronts, pairs, problem.ke, x, angles, first.stresses)


def test_blocks_have_the_energy_forces_and_stiffness_that_rows_have():
    mesh = compliant_strip(3)
    problem, x = crumpled(mesh)
    angles = hinge_angles(mesh, mesh.rest)
    fronts, system = tangent(problem, x, angles)
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


def test_negative_pivots_and_the_lowest_mode_are_those_of_the_stiffness():
    mesh = compliant_strip(2)
    x = 0.9 * mesh.rest + np.random.default_rng(4).normal(0.0, 2e-4, mesh.rest.shape)
    angles = hinge_angles(mesh, mesh.rest)
    bare = build_problem(sheet(mesh), Fold(contact=False))
    fronts, system = tangent(bare, x, angles)
    none = near_at(bare, x, 0.0).pairs
    K = stiffness_matrix(assemble(bare.model, none, bare.ke, x, angles)).toarray()
    factor = factorised(fronts, system, 0.0)
    assert factor.negative == (np.linalg.eigvalsh(K) < 0.0).sum() > 0
    made = partial(factorised, fronts, system)
    z = lowest_mode(positive_factor(made, 1e-9 * system.largest).factor.solve, len(K))
    assert z @ K @ z < 0.0
