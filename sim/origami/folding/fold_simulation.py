"""Folding and loading of origami, an increment at a time: [ZF19], Sect. 5.

`support_forces` has what equilibrium leaves at the nodes that supports hold.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from sim.origami.fold_and_load_phases import Displace, Load, Path, Phase
from sim.origami.folding.equilibrium import FoldingProblem, NewtonResult, near_at
from sim.origami.folding.flat_state_branching import left_flat
from sim.origami.folding.load_control import Advance, stages
from sim.origami.folding.sheet import (
    Rules,
    Sheet,
    SheetState,
    build_problem,
    check_phase,
    check_start,
    contact_force,
    flat_state,
    smallest_distance,
    supports_of,
)
from sim.origami.model.assembly import assemble, held_table, largest_strain
from sim.origami.model.large_sheet_stiffness import fronts_of

HALVINGS = 10  # of an increment that does not converge


@dataclass(frozen=True, eq=False)
class OrigamiStep:
    """An accepted increment.

    Attributes
    ----------
    s, phase, stage, increment : numbers from 0; the increment counts from 1
    x : (n, 3) m
    angles : (h,) rest angles, rad; with moments, those that have the same effect
    energies : (6,) J, see `sim.origami.model.assembly.EquilibriumSystem`
    contact_force : (n, 3) N
    factor : load factor, or part of the stage that is done
    load : norm of all applied forces, N
    displacement : of the watched coordinate since the phase began, m
    smallest_distance : of the pairs that touch, m; inf where there is none
    strain : largest Green strain of a bar so far
    residual : norm of the unbalanced force, N
    iterations : linear solves, of all parts of the increment
    parts : into how many the increment was divided
    unconverged : increments so far that were let through without convergence
    """

    x: Floats
    angles: Floats
    energies: Floats
    contact_force: Floats
    smallest_distance: float
    s: int = 0
    phase: int = 0
    stage: int = 0
    increment: int = 0
    factor: float = 0.0
    load: float = 0.0
    displacement: float = 0.0
    strain: float = 0.0
    residual: float = 0.0
    iterations: int = 0
    parts: int = 1
    converged: bool = True
    unconverged: int = 0


def run(sheet: Sheet, phases: Sequence[Phase]) -> Iterator[OrigamiStep]:
    """Yield the accepted increments of all phases, the flat sheet first.

    Raises
    ------
    StartError
        where the sheet can move freely, meets itself, or has panels that are not flat.
    NotConvergedError
        where an increment has no equilibrium even in small parts, with the last
        accepted step as `best`.
    """
    for phase in phases:
        check_phase(sheet, phase)
    problem = build_problem(sheet, phases[0])
    state = flat_state(sheet.mesh, problem)
    check_start(sheet.mesh, problem, state.fronts)
    still = np.zeros_like(state.x)
    clear = smallest_distance(state)
    step = OrigamiStep(state.x, state.angles, np.zeros(6), still, clear)
    yield step
    state = left_flat(sheet, phases[0], problem, state)
    for number, phase in enumerate(phases):
        problem = build_problem(sheet, phase)
        state = begun(problem, state)
        start = state.x
        for stage, advance, load in stages(sheet, phase, problem, state):
            state = replace(state, factor=0.0, past=(np.zeros(1), state.x[None]))
            for increment, goal in enumerate(goals(phase), start=1):
                state, out, parts = _increment(sheet, phase, advance, state, goal, step)
                step = OrigamiStep(
                    s=step.s + 1,
                    phase=number,
                    stage=stage,
                    increment=increment,
                    x=state.x,
                    angles=state.angles,
                    energies=out.energies,
                    contact_force=contact_force(problem, state),
                    factor=state.factor,
                    load=load * abs(state.factor) * isinstance(phase, Load),
                    displacement=_watched(phase, state.x - start),
                    smallest_distance=smallest_distance(state),
                    strain=max(step.strain, largest_strain(problem.model, state.x)),
                    residual=out.residual,
                    iterations=out.iterations,
                    parts=parts,
                    converged=out.converged,
                    unconverged=step.unconverged + (not out.converged),
                )
                yield step


def begun(problem: FoldingProblem, state: SheetState) -> SheetState:
    """The state at the beginning of a phase; moments of the last have left."""
    near = near_at(problem, state.x, problem.skin)
    angles = state.angles if state.unloaded is None else state.unloaded
    fronts = state.fronts and fronts_of(problem.model, state.fronts)
    same = replace(state, near=near, angles=angles, fronts=fronts)
    return replace(same, unloaded=None, along=None, sign=1.0)


def goals(phase: Phase) -> Floats:
    """Parts of a stage, or load factors, at the end of each increment."""
    count = np.arange(1, phase.increments + 1, dtype=np.float64)
    return count if isinstance(phase, Load) else count / phase.increments


def _watched(phase: Phase, u: Floats) -> float:
    """Displacement of the coordinate that a load watches, m."""
    if not isinstance(phase, Load):
        return 0.0
    node = phase.watch if phase.watch >= 0 else phase.nodes[0]
    return float(u[node, phase.axis])


def _increment(
    sheet: Sheet,
    phase: Phase,
    advance: Advance,
    state: SheetState,
    goal: float,
    last: OrigamiStep,
) -> tuple[SheetState, NewtonResult, int]:
    """Advance to `goal`, in halves where it does not converge at once.

    The paper's rules know no halves, and a `Path` has no end to divide.
    """
    divisible = sheet.contact.rules is Rules.FULL and not isinstance(phase, Path)
    ahead, parts, iterations = [goal], 0, 0
    done = goal - 1.0 if isinstance(phase, Displace) else state.factor
    while ahead:
        reached, out = advance(state, ahead[-1])
        iterations += out.iterations
        if out.converged or sheet.accept_unconverged:
            state, parts = reached, parts + 1
            done = ahead.pop()
        elif divisible and len(ahead) <= HALVINGS:
            ahead.append(0.5 * (done + ahead[-1]))
        else:
            raise NotConvergedError(
                f"the unbalanced force is {out.residual:.1e} after {out.iterations} "
                f"iterations in phase {last.phase} after step {last.s}: take smaller "
                "increments, a larger tolerance, or contact rules 'full'",
                best=last,
            )
    return state, out._replace(iterations=iterations), parts


def unsupported(sheet: Sheet, phase: Phase) -> FoldingProblem:
    """The sheet without its supports: an unknown for every coordinate of a node."""
    return build_problem(sheet, replace(phase, supports=()))


def support_forces(
    problem: FoldingProblem, sheet: Sheet, phase: Phase, step: OrigamiStep
) -> Floats:
    """(n, 3) force of the supports on each node, N; zero where nothing is held.

    The inner forces less the applied ones, f(x) - factor P.

    Parameters
    ----------
    problem : of `unsupported`, for the same sheet and phase
    """
    pairs = near_at(problem, step.x, 0.0).pairs
    system = assemble(problem.model, pairs, problem.ke, step.x, step.angles)
    applied = np.zeros_like(step.x)
    if isinstance(phase, Load):
        applied[list(phase.nodes)] = phase.force
    force = system.force[problem.model.unknown] - step.factor * applied
    held = held_table(supports_of(sheet, phase), len(force)) != 0
    return np.where(held, force, 0.0)
