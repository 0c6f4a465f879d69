"""How a flat sheet is left: along the folds that rigid panels can have.

A flat sheet is in balance whichever way it is folded, up to the first order of its
folds, and rounding would choose for it. It is therefore started from folds that close
around every vertex to the second order, each on the side that is assigned to it.
"""

from dataclasses import replace

import numpy as np

from sim.arrays import Floats
from sim.origami.folding.placing import held_in_place, placed_nodes
from sim.origami.folding.problem import FoldingProblem, farthest, safe_step_length
from sim.origami.folding.sheet import Sheet, SheetState, StartError, hinge_angles
from sim.origami.loading.phases import Fold, Phase
from sim.origami.model.contact import Rules
from sim.origami.model.mesh import BarHingeMesh
from sim.origami.pattern.rigid_path import PARTS, RigidSheet

MOST_HALVINGS = 30  # of the first folds, until nodes stay within the skin
FLAT = 1e-6  # fold at rest, rad, up to which a pattern counts as flat


def asked_folds(mesh: BarHingeMesh, phase: Fold) -> Floats:
    """(c,) folds at the end of a phase, rad; nan where a crease is not folded."""
    return np.asarray(phase.targets(mesh)[mesh.pattern.creases] - np.pi)


def crease_stiffness(mesh: BarHingeMesh) -> Floats:
    """(c,) energy is half of it times the square of the fold, N m."""
    whole = np.zeros(len(mesh.pattern.edges))
    folding = mesh.hinge_share > 0
    each = mesh.hinge_stiffness[folding] * mesh.hinge_share[folding] ** 2
    np.add.at(whole, mesh.hinge_crease[folding], each)
    return whole[mesh.pattern.creases]


def rigid_sheet(mesh: BarHingeMesh, asked: Floats) -> RigidSheet | None:
    """The pattern with rigid panels; None if it is not flat or has no inner vertex."""
    folding = mesh.hinge_share > 0
    rest = hinge_angles(mesh, mesh.rest, folding) - np.pi
    if not folding.any() or np.abs(rest).max() > FLAT:
        return None
    rigid = RigidSheet(mesh.pattern, asked, crease_stiffness(mesh))
    return rigid if rigid.vertices else None


def left_flat(
    sheet: Sheet, phase: Phase, problem: FoldingProblem, state: SheetState
) -> SheetState:
    """The state from which a flat sheet folds along its assignment.

    The same where the paper's rules hold, creases are named one by one, or no rigid
    folds have the signs assigned.
    """
    if not isinstance(phase, Fold) or phase.creases:
        return state
    if sheet.contact.rules is not Rules.FULL:
        return state
    rigid = rigid_sheet(sheet.mesh, asked_folds(sheet.mesh, phase))
    if rigid is None or (first := rigid.left_to()).open_vertices:
        return state
    free, near = problem.model.unknown >= 0, state.near
    folds, move = first.folds, np.zeros_like(state.x)
    for _ in range(MOST_HALVINGS):
        x = held_in_place(placed_nodes(sheet.mesh, folds), state.x, ~free)
        move = np.where(free, x - state.x, 0.0)
        if farthest(x, state.x) <= problem.skin:
            break
        folds = 0.5 * folds  # close to flat, closure is the same for all multiples
    near, step = safe_step_length(problem, near, state.x, move)
    x = state.x + step * move
    return replace(state, x=x, near=near, past=(np.zeros(1), x[None]))


def folds_together(mesh: BarHingeMesh, phase: Fold) -> tuple[Floats, Floats]:
    """Parts of the way (k,) and folds (k, e) that rigid panels have there, rad.

    Raises
    ------
    StartError
        where the sheet is not flat, or its panels cannot stay rigid.
    """
    asked = asked_folds(mesh, phase)
    rigid = rigid_sheet(mesh, asked)
    out = np.zeros((PARTS + 1, len(mesh.pattern.edges)))
    parts = np.linspace(0.0, 1.0, PARTS + 1)
    if rigid is None:
        out[:, mesh.pattern.creases] = parts[:, None] * np.nan_to_num(asked)
        return parts, out
    path = rigid.path()
    if path[-1].open_vertices:
        raise StartError(
            f"rigid panels do not close around vertex {path[-1].open_vertices[0]} at "
            f"{len(path) / PARTS:.0%} of the folds asked for: they cannot arrive "
            "together; set together to false, or change the assignment"
        )
    for row, there in zip(out[1:], path, strict=True):
        row[mesh.pattern.creases] = there.folds
    return parts, out
