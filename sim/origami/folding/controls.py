"""Ways to advance a sheet: by rest angles, by load, by displacement, along its path.

Those of moments stand in `sim.origami.folding.actuated`.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.origami.folding.actuated import turning
from sim.origami.folding.equilibrium import (
    NewtonResult,
    continuation_step,
    tangent_move,
)
from sim.origami.folding.leaving import folds_together
from sim.origami.folding.problem import FoldingProblem
from sim.origami.folding.resting import MOST_NEWTON, Advance, equilibrate
from sim.origami.folding.sheet import Sheet, SheetState, hinge_angles
from sim.origami.loading.actuation import Moments
from sim.origami.loading.phases import Displace, Fold, Load, Path, Phase
from sim.origami.model.mesh import BarHingeMesh

MOST_CONTINUED = 60  # linear solves of an increment along a path


def stages(
    sheet: Sheet, phase: Phase, problem: FoldingProblem, state: SheetState
) -> Iterator[tuple[int, Advance, float]]:
    """Number, the way to advance, and the norm of the load (N) of each stage."""
    if isinstance(phase, Fold):
        yield from _fold_stages(sheet, phase, problem)
        return
    if isinstance(phase, Moments):
        yield 0, turning(sheet, phase, problem, state), 0.0
        return
    P = load_vector(sheet.mesh, phase, problem)
    norm = float(np.sqrt(len(phase.nodes)) * np.linalg.norm(phase.force))
    if isinstance(phase, Displace):
        yield 0, _displacement_control(sheet, phase, problem, state, P), norm
    elif isinstance(phase, Path):
        yield 0, _path_control(sheet, phase, problem, state, P), norm
    else:
        yield 0, _load_control(sheet, phase, problem, P), norm


def load_vector(mesh: BarHingeMesh, phase: Load, problem: FoldingProblem) -> Floats:
    """(u,) force of one increment on each unknown, N."""
    n = len(mesh.rest)
    f = np.zeros((n, 3))
    f[list(phase.nodes)] = phase.force
    unknown = problem.model.unknown
    out = np.zeros(len(problem.model.first))
    out[unknown[unknown >= 0]] = f[unknown >= 0]
    return out


def _fold_stages(
    sheet: Sheet, phase: Fold, problem: FoldingProblem
) -> Iterator[tuple[int, Advance, float]]:
    mesh = sheet.mesh
    folds = np.flatnonzero(mesh.hinge_crease >= 0)
    edge = mesh.hinge_crease[folds]
    moves = np.isfinite(phase.targets(mesh)[edge])
    stage_of, rest = phase.stage_of(mesh)[edge], _rest_angles(mesh, phase, folds)
    zero = np.zeros(len(problem.model.first))
    for stage in range(1, int(stage_of.max()) + 1):
        now = moves & (stage_of == stage)

        def advance(
            state: SheetState, part: float, now: Bools = now, stage: int = stage
        ) -> tuple[SheetState, NewtonResult]:
            angles = state.angles.copy()
            angles[folds[now]] = rest(part, now)
            if phase.start:
                later = moves & (stage_of > stage)
                angles[folds[later]] = rest(0.0, later)
            return equilibrate(
                sheet, problem, state, part, angles, zero, phase.tolerance
            )

        yield stage, advance, 0.0


def _rest_angles(
    mesh: BarHingeMesh, phase: Fold, folds: Ints
) -> Callable[[float, Bools], Floats]:
    """Rest angles (rad) of some of the hinges `folds` after a part of their stage."""
    edge, share = mesh.hinge_crease[folds], mesh.hinge_share[folds]
    if phase.together:
        parts, way = folds_together(mesh, phase)

        def along(part: float, now: Bools) -> Floats:
            here = [np.interp(part, parts, way[:, e]) for e in edge[now]]
            return np.asarray(np.pi + share[now] * np.array(here))

        return along
    flat = hinge_angles(mesh, mesh.rest)[folds]
    flat = flat + share * phase.start_of(mesh)[edge] if phase.start else flat
    end = np.pi + share * (phase.targets(mesh)[edge] - np.pi)
    speed = phase.speed_of(mesh)[edge]

    def straight(part: float, now: Bools) -> Floats:
        done = np.minimum(1.0, speed[now] * part)
        return np.asarray((1 - done) * flat[now] + done * end[now])

    return straight


def _load_control(
    sheet: Sheet, phase: Load, problem: FoldingProblem, P: Floats
) -> Advance:
    def advance(state: SheetState, part: float) -> tuple[SheetState, NewtonResult]:
        return equilibrate(
            sheet,
            problem,
            state,
            part,
            state.angles,
            part * P,
            phase.tolerance,
            phase.move_tolerance,
        )

    return advance


def _displacement_control(
    sheet: Sheet, phase: Displace, problem: FoldingProblem, start: SheetState, P: Floats
) -> Advance:
    row = problem.model.unknown[phase.watch, phase.axis]
    if row < 0:
        raise ValueError(
            f"displace moves coordinate {phase.axis} of node {phase.watch}, which is "
            "held: name one that can move"
        )
    along = np.zeros(len(P))
    along[row] = 1.0
    origin = start.x[phase.watch, phase.axis]

    def advance(state: SheetState, part: float) -> tuple[SheetState, NewtonResult]:
        goal = origin + part * phase.distance
        move = goal - state.x[phase.watch, phase.axis]
        u = tangent_move(problem, state.near, state.x, state.angles, P)
        most = sheet.max_iterations or MOST_NEWTON
        state, out = _continued(problem, state, P, move / u[row], along, phase, most)
        reached = out.x[phase.watch, phase.axis]
        met = out.converged and abs(reached - goal) <= 1e-9 * abs(phase.distance)
        return state, out._replace(converged=met)

    return advance


def _path_control(
    sheet: Sheet, phase: Path, problem: FoldingProblem, start: SheetState, P: Floats
) -> Advance:
    first = tangent_move(problem, start.near, start.x, start.angles, P)

    def advance(state: SheetState, part: float) -> tuple[SheetState, NewtonResult]:
        del part  # the path has no end that could be divided
        u = tangent_move(problem, state.near, state.x, state.angles, P)
        last, sign = (u, 1.0) if state.along is None else (state.along, state.sign)
        sign = sign if last @ u >= 0 else -sign
        change = float(np.sqrt((first @ first) / (u @ u)))
        change *= sign * phase.first_factor
        most = sheet.max_iterations or MOST_CONTINUED
        state, out = _continued(problem, state, P, change, u, phase, most)
        return replace(state, along=u, sign=sign), out

    return advance


def _continued(
    problem: FoldingProblem,
    state: SheetState,
    P: Floats,
    change: float,
    along: Floats,
    phase: Load,
    most: int,
) -> tuple[SheetState, NewtonResult]:
    """The state after a step of continuation, and how it went."""
    near, x, angles, factor = state.near, state.x, state.angles, state.factor
    out = continuation_step(
        problem, near, x, angles, P, factor, change, along, phase.tolerance, most
    )
    return replace(state, x=out.x, near=out.near, factor=out.factor), out
