"""Ways to advance a sheet: by rest angles, by load, by displacement, along its path."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from sim.arrays import Bools, Floats
from sim.origami.equilibrium import Outcome, newton, path_step, tangent_move
from sim.origami.mesh import Mesh
from sim.origami.minimum import minimise
from sim.origami.phases import Displace, Fold, Load, Path, Phase
from sim.origami.prediction import foretold, remembered
from sim.origami.problem import Problem
from sim.origami.sheet import Sheet, State, hinge_angles

MOST_NEWTON = 29  # linear solves of an increment with full steps, as in [ZF19]
MOST_SEARCHES = 500  # linear solves of an increment that searches for a minimum

Advance = Callable[[State, float], tuple[State, Outcome]]


def stages(
    sheet: Sheet, phase: Phase, problem: Problem, state: State
) -> Iterator[tuple[int, Advance, float]]:
    """Number, the way to advance, and the norm of the load (N) of each stage."""
    if isinstance(phase, Fold):
        yield from _fold_stages(sheet, phase, problem)
        return
    P = load_vector(sheet.mesh, phase, problem)
    norm = float(np.sqrt(len(phase.nodes)) * np.linalg.norm(phase.force))
    if isinstance(phase, Displace):
        yield 0, _displacement_control(sheet, phase, problem, state, P), norm
    elif isinstance(phase, Path):
        yield 0, _path_control(sheet, phase, problem, state, P), norm
    else:
        yield 0, _load_control(sheet, phase, problem, P), norm


def load_vector(mesh: Mesh, phase: Load, problem: Problem) -> Floats:
    """(u,) force of one increment on each unknown, N."""
    n = len(mesh.rest)
    f = np.zeros((n, 3))
    f[list(phase.nodes)] = phase.force
    unknown = problem.model.unknown
    out = np.zeros(len(problem.model.first))
    out[unknown[unknown >= 0]] = f[unknown >= 0]
    return out


def settle(
    sheet: Sheet,
    problem: Problem,
    state: State,
    part: float,
    angles: Floats,
    load: Floats,
    tolerance: float,
    by_move: float = 0.0,
) -> tuple[State, Outcome]:
    """Equilibrium at the given rest angles and load, by the sheet's rules."""
    near, x, most = state.near, state.x, sheet.max_iterations
    if problem.safe:
        ahead, most = foretold(*state.past, part), most or MOST_SEARCHES
        out = minimise(problem, near, x, ahead, angles, load, tolerance, most)
    else:
        limit, most = by_move or tolerance, most or MOST_NEWTON
        out = newton(problem, near, x, angles, load, limit, most, by_move > 0)
    past = remembered(*state.past, part, out.x)
    return State(out.x, angles, out.near, part, past), out


def _fold_stages(
    sheet: Sheet, phase: Fold, problem: Problem
) -> Iterator[tuple[int, Advance, float]]:
    mesh = sheet.mesh
    folds = np.flatnonzero(mesh.hinge_crease >= 0)
    edge, share = mesh.hinge_crease[folds], mesh.hinge_share[folds]
    flat = hinge_angles(mesh, mesh.rest)[folds]
    end = np.pi + share * (phase.targets(mesh)[edge] - np.pi)
    moves = np.isfinite(end)
    stage_of, speed = phase.stage_of(mesh)[edge], phase.speed_of(mesh)[edge]
    zero = np.zeros(len(problem.model.first))
    for stage in range(1, int(stage_of.max()) + 1):
        now = moves & (stage_of == stage)

        def advance(
            state: State, part: float, now: Bools = now
        ) -> tuple[State, Outcome]:
            done = np.minimum(1.0, speed[now] * part)
            angles = state.angles.copy()
            angles[folds[now]] = (1 - done) * flat[now] + done * end[now]
            return settle(sheet, problem, state, part, angles, zero, phase.tolerance)

        yield stage, advance, 0.0


def _load_control(sheet: Sheet, phase: Load, problem: Problem, P: Floats) -> Advance:
    def advance(state: State, part: float) -> tuple[State, Outcome]:
        return settle(
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
    sheet: Sheet, phase: Displace, problem: Problem, start: State, P: Floats
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

    def advance(state: State, part: float) -> tuple[State, Outcome]:
        goal = origin + part * phase.distance
        move = goal - state.x[phase.watch, phase.axis]
        u = tangent_move(problem, state.near, state.x, state.angles, P)
        out = path_step(
            problem,
            state.near,
            state.x,
            state.angles,
            P,
            state.factor,
            move / u[row],
            along,
            phase.tolerance,
            sheet.max_iterations or MOST_NEWTON,
        )
        reached = out.x[phase.watch, phase.axis]
        met = out.converged and abs(reached - goal) <= 1e-9 * abs(phase.distance)
        out = out._replace(converged=met)
        return replace(state, x=out.x, near=out.near, factor=out.factor), out

    return advance


def _path_control(
    sheet: Sheet, phase: Path, problem: Problem, start: State, P: Floats
) -> Advance:
    first = tangent_move(problem, start.near, start.x, start.angles, P)

    def advance(state: State, part: float) -> tuple[State, Outcome]:
        del part  # the path has no end that could be divided
        u = tangent_move(problem, state.near, state.x, state.angles, P)
        last, sign = (u, 1.0) if state.along is None else (state.along, state.sign)
        sign = sign if last @ u >= 0 else -sign
        change = float(np.sqrt((first @ first) / (u @ u)))
        change *= sign * phase.first_factor
        out = path_step(
            problem,
            state.near,
            state.x,
            state.angles,
            P,
            state.factor,
            change,
            u,
            phase.tolerance,
            sheet.max_iterations or 60,
        )
        state = replace(
            state, x=out.x, near=out.near, factor=out.factor, along=u, sign=sign
        )
        return state, out

    return advance
