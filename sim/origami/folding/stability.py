"""Is an equilibrium stable, and is its material still elastic?"""

import numpy as np
from scipy.linalg import eigvalsh
from scipy.sparse import csc_array
from scipy.sparse.linalg import eigsh

from sim.arrays import Floats
from sim.origami.folding.folding import OrigamiStep
from sim.origami.folding.problem import FoldingProblem, near_at
from sim.origami.folding.sheet import Sheet, build_problem, hinge_angles
from sim.origami.loading.phases import Phase
from sim.origami.model.assembly import EquilibriumSystem, assemble
from sim.origami.model.material import SheetMaterial
from sim.origami.model.mesh import BarHingeMesh

DENSE_UP_TO = 900  # unknowns


def stiffness_matrix(system: EquilibriumSystem) -> csc_array:
    """The tangent stiffness as a sparse symmetric matrix, N/m."""
    count = np.diff(system.start)
    row = np.repeat(np.arange(len(count)), count)
    column = np.arange(len(row)) - system.start[row] + system.first[row]
    lower = csc_array((system.values, (row, column)))
    strict = csc_array((system.values * (row > column), (row, column)))
    return csc_array(lower + strict.T)


def tangent_at(
    sheet: Sheet, phase: Phase, step: OrigamiStep
) -> tuple[FoldingProblem, csc_array]:
    """The phase's problem, and the tangent stiffness of its unknowns there, N/m."""
    problem = build_problem(sheet, phase)
    near = near_at(problem, step.x, problem.skin)
    system = assemble(problem.model, near.pairs, problem.ke, step.x, step.angles)
    return problem, stiffness_matrix(system)


def smallest_eigenvalues(
    sheet: Sheet, phase: Phase, step: OrigamiStep, count: int
) -> Floats:
    """(count,) of the tangent stiffness, ascending, N/m.

    One that falls to zero announces a limit point or a bifurcation; below zero the
    equilibrium is unstable.
    """
    _, K = tangent_at(sheet, phase, step)
    if K.shape[0] <= DENSE_UP_TO:
        return np.asarray(
            eigvalsh(K.toarray(), subset_by_index=(0, min(count, K.shape[0]) - 1))
        )
    start = np.ones(K.shape[0])
    found = eigsh(K, k=count, sigma=0.0, v0=start, return_eigenvectors=False)
    return np.sort(found)


def bending_strain(mesh: BarHingeMesh, material: SheetMaterial, x: Floats) -> float:
    """Largest strain in the outer fibre of a crease, t/2 times its curvature.

    A hinge makes its share of the fold over its share of the crease's width.
    """
    folds = mesh.hinge_share > 0
    if not folds.any():
        return 0.0
    turn = np.abs(hinge_angles(mesh, x, folds) - np.pi)
    curvature = turn / (mesh.hinge_share[folds] * material.crease_width)
    return float(0.5 * material.crease_thickness * curvature.max())


def panel_strain(mesh: BarHingeMesh, material: SheetMaterial, x: Floats) -> float:
    """Largest strain in a panel: of a bar, or of the outer fibre where it bends.

    A panel bends about its spokes, over the width W by which their stiffness is set.
    """
    bar = mesh.bar[mesh.bar_of_panel]
    rest, now = (y[bar[:, 1]] - y[bar[:, 0]] for y in (mesh.rest, x))
    moved = now - rest
    green = ((rest + 0.5 * moved) * moved).sum(axis=1)
    length = mesh.bar_length[mesh.bar_of_panel]
    stretched = np.abs(green / length**2).max(initial=0.0)
    spoke = mesh.hinge[mesh.hinge_crease < 0]
    turn = np.abs(_bends(x[spoke]) - _bends(mesh.rest[spoke]))
    panel = np.searchsorted(mesh.centre, spoke[:, 2])
    thickness = material.thicknesses(len(mesh.pattern.panels))[panel]
    bent = 0.5 * thickness * turn / material.crease_width
    return float(max(stretched, bent.max(initial=0.0)))


def _bends(y: Floats) -> Floats:
    """(h,) how far hinges at positions (h, 4, 3) are from flat, rad."""
    axis, wing = y[:, 2] - y[:, 1], y[:, 2] - y[:, 3]
    m, n = np.cross(y[:, 0] - y[:, 1], axis), np.cross(axis, wing)
    sine = np.linalg.norm(axis, axis=1) * (m * wing).sum(axis=1)
    return np.asarray(np.arctan2(-sine, -(m * n).sum(axis=1)))
