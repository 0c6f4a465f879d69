"""How a flat sheet is left: along the folds that rigid panels can have.

A flat sheet is in balance whichever way it is folded, up to the first order of its
folds, and rounding would choose for it. It is therefore started from folds that close
around every vertex to the second order, each on the side that is assigned to it
(`left_flat`). `placed_nodes` says where nodes are when rigid panels have given folds.
"""

from collections import deque
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from sim.core.arrays import Bools, Floats, Ints
from sim.origami.fold_and_load_phases import Fold, Phase
from sim.origami.folding.equilibrium import FoldingProblem, farthest, safe_step_length
from sim.origami.folding.sheet import Rules, Sheet, SheetState, StartError, hinge_angles
from sim.origami.model.mesh import BarHingeMesh
from sim.origami.pattern.pattern import CreasePattern
from sim.origami.pattern.rigid_folding import PARTS, RigidSheet

ALIGNMENTS = 8  # Newton steps of a rigid motion towards what is held


def panel_motions(pattern: CreasePattern, folds: Floats) -> tuple[Floats, Floats]:
    """Rotations (p, 3, 3) and shifts (p, 3) m of panels; x becomes R x + t.

    From the first panel of each part on, which stays, panels are turned about the
    creases they share. Around a vertex the way does not matter if folds close there.

    Parameters
    ----------
    folds : (c,) added to those of the pattern, rad, valleys positive
    """
    fold = np.zeros(len(pattern.edges))
    fold[pattern.creases] = folds
    neighbours: list[list[tuple[int, int]]] = [[] for _ in pattern.panels]
    for edge, panels in enumerate(pattern.edge_panels):
        if len(panels) == 2:
            one, other = panels
            neighbours[one].append((other, edge))
            neighbours[other].append((one, edge))
    R, t = np.zeros((len(neighbours), 3, 3)), np.zeros((len(neighbours), 3))
    placed = np.zeros(len(neighbours), dtype=bool)
    for root in range(len(neighbours)):
        if placed[root]:
            continue
        R[root], placed[root] = np.eye(3), True
        ahead = deque([root])
        while ahead:
            panel = ahead.popleft()
            for other, edge in neighbours[panel]:
                if not placed[other]:
                    turn, shift = _about(pattern, panel, edge, fold[edge])
                    R[other] = R[panel] @ turn
                    t[other] = R[panel] @ shift + t[panel]
                    placed[other] = True
                    ahead.append(other)
    return R, t


def _about(
    pattern: CreasePattern, panel: int, edge: int, fold: float
) -> tuple[Floats, Floats]:
    """Rotation and shift of what lies beyond an edge of a panel."""
    a, b = (int(v) for v in pattern.edges[edge])
    around = list(pattern.panels[panel])
    if around[(around.index(a) + 1) % len(around)] != b:
        a, b = b, a
    x, y = pattern.vertices[a], pattern.vertices[b]
    u = (x - y) / np.sqrt((x - y) @ (x - y))  # valleys rise along the panel's normal
    turn = Rotation.from_rotvec(fold * u).as_matrix()
    return turn, x - turn @ x


def placed_nodes(mesh: BarHingeMesh, folds: Floats) -> Floats:
    """(n, 3) m, nodes of panels where `panel_motions` takes them.

    Corners that panels share are in the middle of where these put them; nodes of
    creases move as the panel nodes do that bars tie them to.
    """
    R, t = panel_motions(mesh.pattern, folds)
    node = np.concatenate([mesh.corner, mesh.centre])
    panel = np.concatenate([mesh.corner_panel, np.arange(len(mesh.centre))])
    there = np.einsum("pij,pj->pi", R[panel], mesh.rest[node]) + t[panel]
    moved, count = np.zeros_like(mesh.rest), np.zeros(len(mesh.rest))
    np.add.at(moved, node, there - mesh.rest[node])
    np.add.at(count, node, 1.0)
    known = count > 0
    moved[known] /= count[known, None]
    return np.asarray(mesh.rest + _carried(mesh.bar, moved, known))


def _carried(bar: Ints, moved: Floats, known: Bools) -> Floats:
    """Moves of all nodes: those not known are the mean of those that bars lead to."""
    total, count = np.zeros_like(moved), np.zeros(len(moved))
    for a, b in (bar.T, bar.T[::-1]):
        reached = known[b]
        np.add.at(total, a[reached], moved[b[reached]])
        np.add.at(count, a[reached], 1.0)
    mean = total / np.maximum(count, 1.0)[:, None]
    return np.where(known[:, None], moved, mean)


def held_in_place(x: Floats, rest: Floats, held: Bools) -> Floats:
    """x (n, 3) moved as a whole until held coordinates (n, 3) are as at rest.

    Where more is held than a rigid motion can meet, the squares are smallest.
    """
    nodes, axes = np.nonzero(held)
    for _ in range(ALIGNMENTS):
        middle = x.mean(axis=0)
        turns = np.stack([np.cross(e, x - middle) for e in np.eye(3)], axis=-1)
        shifts = np.broadcast_to(np.eye(3), (len(x), 3, 3))
        slopes = np.concatenate([shifts, turns], axis=-1)[nodes, axes]
        motion = np.linalg.lstsq(slopes, (rest - x)[nodes, axes], rcond=1e-9)[0]
        turned = Rotation.from_rotvec(motion[3:]).apply(x - middle)
        x = middle + motion[:3] + turned
    return x


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
            f"{len(path) / PARTS:.0%} of the target folds: set together to false, or "
            "change the assignment"
        )
    for row, there in zip(out[1:], path, strict=True):
        row[mesh.pattern.creases] = there.folds
    return parts, out
