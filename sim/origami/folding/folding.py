"""Folding and loading of origami, an increment at a time: [ZF19], Sect. 5."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.origami.folding.controls import stages
from sim.origami.folding.equilibrium import NewtonResult
from sim.origami.folding.leaving import left_flat
from sim.origami.folding.problem import FoldingProblem, near_at
from sim.origami.folding.resting import Advance
from sim.origami.folding.sheet import (
    Sheet,
    SheetState,
    build_problem,
    check_phase,
    check_start,
    contact_force,
    flat_state,
    smallest_distance,
)
from sim.origami.loading.phases import Displace, Load, Path, Phase
from sim.origami.model.assembly import largest_strain
from sim.origami.model.blocks import fronts_of
from sim.origami.model.contact import Rules

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

    s: int
    phase: int
    stage: int
    increment: int
    x: Floats
    angles: Floats
    energies: Floats
    contact_force: Floats
    factor: float
    load: float
    displacement: float
    smallest_distance: float
    strain: float
    residual: float
    iterations: int
    parts: int
    converged: bool
    unconverged: int


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
    step = _first_step(state, smallest_distance(state))
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
    return replace(
        state,
        near=near,
        angles=angles,
        unloaded=None,
        along=None,
        sign=1.0,
        fronts=fronts,
    )


def goals(phase: Phase) -> Floats:
    """Parts of a stage, or load factors, at the end of each increment."""
    count = np.arange(1, phase.increments + 1, dtype=np.float64)
    return count if isinstance(phase, Load) else count / phase.increments


def _first_step(state: SheetState, smallest_distance: float) -> OrigamiStep:
    return OrigamiStep(
        s=0,
        phase=0,
        stage=0,
        increment=0,
        x=state.x,
        angles=state.angles,
        energies=np.zeros(6),
        contact_force=np.zeros_like(state.x),
        factor=0.0,
        load=0.0,
        displacement=0.0,
        smallest_distance=smallest_distance,
        strain=0.0,
        residual=0.0,
        iterations=0,
        parts=1,
        converged=True,
        unconverged=0,
    )


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
