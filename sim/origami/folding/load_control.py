"""Ways to advance a sheet: by rest angles, moments, load, displacement, along its path.

`stages` divides a phase into advances. Each ends in `equilibrate`, which begins where
the sheet would be if it went on as it went so far (`extrapolated_move`).

A moment M on a hinge of stiffness k has the potential -M theta, which differs from a
rest angle moved by M / k by a constant.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from sim.core.arrays import Bools, Floats, Ints
from sim.core.numba_kernels import kernel
from sim.origami.fold_and_load_phases import Displace, Fold, Load, Moments, Path, Phase
from sim.origami.folding.equilibrium import (
    FoldingProblem,
    Increment,
    NewtonResult,
    continuation_step,
    full_newton,
    minimise,
    tangent_move,
)
from sim.origami.folding.flat_state_branching import folds_together
from sim.origami.folding.minimise_multifrontal import minimise_large
from sim.origami.folding.sheet import Sheet, SheetState, hinge_angles
from sim.origami.model.assembly import CREASE_BENDING
from sim.origami.model.mesh import BarHingeMesh, fold_weights

MOST_NEWTON = 29  # linear solves of an increment with full steps, as in [ZF19]
MOST_SEARCHES = 500  # linear solves of an increment that searches for a minimum
Advance = Callable[[SheetState, float], tuple[SheetState, NewtonResult]]


def equilibrate(
    sheet: Sheet,
    problem: FoldingProblem,
    state: SheetState,
    part: float,
    angles: Floats,
    load: Floats,
    tolerance: float,
    by_move: float = 0.0,
) -> tuple[SheetState, NewtonResult]:
    """Equilibrium at the given rest angles and load, by the sheet's rules."""
    near, x, most = state.near, state.x, sheet.max_iterations
    fronts, stresses, points = state.fronts, state.stresses, MOST_POINTS
    if fronts is not None:
        ahead, most = extrapolated_move(*state.past, part), most or MOST_SEARCHES
        first = foretold_stresses(stresses, state.past[0], part)
        asked = Increment(angles, load, tolerance, most)
        out, fronts, last = minimise_large(
            problem, fronts, near, x, ahead, first, asked
        )
        stresses = np.concatenate([stresses, last[None]])[-OF_LARGE:]
        points = OF_LARGE
    elif problem.safe:
        ahead, most = extrapolated_move(*state.past, part), most or MOST_SEARCHES
        asked = Increment(angles, load, tolerance, most)
        out = minimise(problem, near, x, ahead, asked)
    else:
        asked = Increment(angles, load, by_move or tolerance, most or MOST_NEWTON)
        out = full_newton(problem, near, x, asked, by_move > 0)
    past = remembered(*state.past, part, out.x, points)
    reached = replace(state, x=out.x, angles=angles, near=out.near, factor=part)
    return replace(reached, past=past, fronts=fronts, stresses=stresses), out


def turning(
    sheet: Sheet, phase: Moments, problem: FoldingProblem, state: SheetState
) -> Advance:
    """By moments on creases; energies are those of the creases, without the moments."""
    mesh, base = sheet.mesh, state.angles
    zero = np.zeros(len(problem.model.first))
    turned = mesh.hinge_share > 0
    k = mesh.hinge_stiffness[turned]
    moments = phase.targets(mesh)[mesh.hinge_crease[turned]]
    shift = np.zeros(len(base))
    shift[turned] = moments * fold_weights(mesh)[turned] / k

    def advance(state: SheetState, part: float) -> tuple[SheetState, NewtonResult]:
        angles = base + part * shift
        reached, out = equilibrate(
            sheet, problem, state, part, angles, zero, phase.tolerance
        )
        theta, energies = hinge_angles(mesh, out.x, turned), out.energies.copy()
        strained = (theta - base[turned]) ** 2 - (theta - angles[turned]) ** 2
        energies[CREASE_BENDING] += 0.5 * float(k @ strained)
        return replace(reached, unloaded=base), out._replace(energies=energies)

    return advance


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
    start = np.radians(phase.on_edges(mesh, phase.start, 0.0))
    flat = flat + share * start[edge] if phase.start else flat
    end = np.pi + share * (phase.targets(mesh)[edge] - np.pi)
    speed = phase.on_edges(mesh, phase.speeds, 1.0)[edge]

    def straight(part: float, now: Bools) -> Floats:
        done = np.minimum(1.0, speed[now] * part)
        return np.asarray((1 - done) * flat[now] + done * end[now])

    return straight


def _load_control(
    sheet: Sheet, phase: Load, problem: FoldingProblem, P: Floats
) -> Advance:
    def advance(state: SheetState, part: float) -> tuple[SheetState, NewtonResult]:
        tolerances = phase.tolerance, phase.move_tolerance
        return equilibrate(
            sheet, problem, state, part, state.angles, part * P, *tolerances
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
    asked = Increment(state.angles, P, phase.tolerance, most)
    out = continuation_step(
        problem, state.near, state.x, asked, state.factor, change, along
    )
    return replace(state, x=out.x, near=out.near, factor=out.factor), out


MOST_POINTS = 4  # positions from which the next is foretold,
OF_LARGE = 10  # and of large sheets, whose iterations cost more


@kernel
def extrapolated_move(times: Floats, places: Floats, t: float) -> Floats:
    """(n, 3) move from the last place to where the sheet will probably be at t.

    A polynomial goes through the last places: through as many as would have foretold
    the last one best.

    Parameters
    ----------
    times : (k,) load factor or part of the stage, ascending
    places : (k, n, 3) node positions then, m
    """
    k = len(times)
    best, least = min(k, 2), np.inf
    for count in range(1, k if k > 2 else 0):
        guess = _extrapolated(times, places, k - 1 - count, k - 1, times[k - 1])
        miss = ((guess - places[k - 1]) ** 2).sum()
        if miss < least:
            best, least = count, miss
    move: Floats = _extrapolated(times, places, k - best, k, t) - places[k - 1]
    return move


@kernel
def _extrapolated(
    times: Floats, places: Floats, low: int, high: int, t: float
) -> Floats:
    """The polynomial through the places from `low` to before `high`, at t."""
    total: Floats = np.zeros_like(places[0])
    for i in range(low, high):
        weight = 1.0
        for j in range(low, high):
            if j != i:
                weight *= (t - times[j]) / (times[i] - times[j])
        total += weight * places[i]
    return total


def remembered(
    times: Floats, places: Floats, t: float, x: Floats, most: int = MOST_POINTS
) -> tuple[Floats, Floats]:
    """The last places with one more; the oldest forgotten where there are `most`."""
    return np.append(times, t)[-most:], np.concatenate([places, x[None]])[-most:]


def foretold_stresses(stresses: Floats, times: Floats, t: float) -> Floats:
    """(b + h,) at the load factor or part t, as positions are foretold.

    Parameters
    ----------
    stresses : (k, b + h) of the last equilibria
    times : (l,) of those in the same stage, which end with the last of `stresses`
    """
    known = stresses[-len(times) :]
    move = extrapolated_move(times[-len(known) :], known[:, :, None].copy(), t)
    return np.asarray(known[-1] + move[:, 0])
