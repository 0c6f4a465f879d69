"""Folding and loading of origami, an increment at a time: [ZF19], Sect. 5."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sim.arrays import Floats
from sim.contact.crossing import crossings
from sim.contact.potential import pair_distance
from sim.newton import NotConvergedError
from sim.origami.assembly import assemble, contact_forces, largest_strain
from sim.origami.contact import Contact, Rules, build_surface, no_surface
from sim.origami.equilibrium import (
    Near,
    Outcome,
    Problem,
    minimise,
    near_at,
    newton,
    path_step,
    tangent_move,
)
from sim.origami.hinges import hinge_angle
from sim.origami.mesh import Mesh
from sim.origami.model import build_model
from sim.origami.phases import Displace, Fold, Load, Path, Phase, Rows
from sim.origami.skyline import factorise

SKIN_SHARE = 0.06  # of the pattern's size: how far nodes move before pairs are sought
MOST_NEWTON = 29  # linear solves of an increment with full steps, as in [ZF19]
MOST_SEARCHES = 500  # linear solves of an increment that searches for a minimum
HALVINGS = 10  # of an increment that does not converge
FREE = 1e-13  # pivot of the stiffness below which a displacement is unsupported
TOUCHING = 1e-9  # distance, of the pattern's size, at which parts already meet


@dataclass(frozen=True, eq=False)
class Sheet:
    """A mesh, how it is held, and how it touches itself.

    Parameters
    ----------
    supports : rows (node, x, y, z) with 1 where the node is held
    max_iterations : linear solves of an increment
    accept_unconverged : with the paper's rules, go on where an increment has not
        converged, as the paper does; its step says so
    """

    mesh: Mesh
    supports: Rows
    contact: Contact
    max_iterations: int = 0
    accept_unconverged: bool = False

    def __post_init__(self) -> None:
        if self.accept_unconverged and self.contact.rules is not Rules.PAPER:
            raise ValueError("accept_unconverged belongs to the paper's rules")
        if self.max_iterations < 0:
            raise ValueError(f"max_iterations is negative: {self.max_iterations}")


@dataclass(frozen=True, eq=False)
class OrigamiStep:
    """An accepted increment.

    Attributes
    ----------
    s, phase, stage, increment : numbers from 0; the increment counts from 1
    x : (n, 3) m
    angles : (h,) rest angles, rad
    energies : (6,) J, see `sim.origami.assembly.System`
    contact_force : (n, 3) N
    factor : load factor, or part of the stage that is done
    load : norm of all applied forces, N
    displacement : of the watched coordinate since the phase began, m
    gap : smallest distance of the pairs that touch, m; inf where there is none
    strain : largest Green strain of a bar so far
    residual : norm of the unbalanced force, N
    iterations : linear solves, of all parts of the increment
    parts : into how many the increment was divided
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
    gap: float
    strain: float
    residual: float
    iterations: int
    parts: int
    converged: bool


@dataclass(frozen=True, eq=False)
class State:
    """Where a sheet is.

    Attributes
    ----------
    x : (n, 3) m
    angles : (h,) rest angles, rad
    factor : load factor
    along, sign : of the last increment of a `Path`
    """

    x: Floats
    angles: Floats
    near: Near
    factor: float = 0.0
    along: Floats | None = None
    sign: float = 1.0


Advance = Callable[[State, float], tuple[State, Outcome]]


def hinge_angles(mesh: Mesh, x: Floats) -> Floats:
    """(h,) angles of all hinges, rad."""
    return np.array([hinge_angle(x[nodes]) for nodes in mesh.hinge])


def build_problem(sheet: Sheet, phase: Phase) -> Problem:
    """The compiled loops' view of a sheet in one phase."""
    mesh = sheet.mesh
    supports = sheet.supports if phase.supports is None else phase.supports
    contact = sheet.contact.filled(mesh)
    on = contact.enabled and phase.contact
    assert contact.ke is not None  # `filled` has set it
    return Problem(
        model=build_model(mesh, supports, phase.elastic),
        surface=build_surface(mesh, contact) if on else no_surface(mesh.rest),
        ke=contact.ke,
        skin=SKIN_SHARE * mesh.pattern.size,
        safe=contact.rules is Rules.FULL,
    )


def run(sheet: Sheet, phases: Sequence[Phase]) -> Iterator[OrigamiStep]:
    """Yield the accepted increments of all phases, the flat sheet first.

    Raises
    ------
    NotConvergedError
        where an increment has no equilibrium even in small parts, with the last
        accepted step as `best`.
    """
    rest = sheet.mesh.rest
    problem = build_problem(sheet, phases[0])
    check_start(sheet.mesh, problem)
    state = State(rest, hinge_angles(sheet.mesh, rest), near_at(problem, rest))
    step = _first_step(state, smallest_distance(problem, state))
    yield step
    for number, phase in enumerate(phases):
        problem = build_problem(sheet, phase)
        state = replace(state, near=near_at(problem, state.x), along=None, sign=1.0)
        start = state.x
        for stage, advance, load in _stages(sheet, phase, problem, state):
            state = replace(state, factor=0.0)
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
                    gap=smallest_distance(problem, state),
                    strain=max(step.strain, largest_strain(problem.model, state.x)),
                    residual=out.residual,
                    iterations=out.iterations,
                    parts=parts,
                    converged=out.converged,
                )
                yield step


def goals(phase: Phase) -> Floats:
    """Parts of a stage, or load factors, at the end of each increment."""
    count = np.arange(1, phase.increments + 1, dtype=np.float64)
    return count if isinstance(phase, Load) else count / phase.increments


def contact_force(problem: Problem, state: State) -> Floats:
    """(n, 3) forces of contact on the nodes, N."""
    pairs = state.near.pairs
    return contact_forces(problem.surface, pairs, problem.ke, state.x)


def smallest_distance(problem: Problem, state: State) -> float:
    """Of all pairs that touch, m; inf where there is none."""
    return pair_distance(problem.surface, state.near.pairs, state.x, True)[0]


def _first_step(state: State, gap: float) -> OrigamiStep:
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
        gap=gap,
        strain=0.0,
        residual=0.0,
        iterations=0,
        parts=1,
        converged=True,
    )


def check_start(mesh: Mesh, problem: Problem) -> None:
    """Refuse a sheet that can move freely, or that meets itself before it folds."""
    model, surface = problem.model, problem.surface
    bare = problem._replace(surface=no_surface(mesh.rest))
    none = near_at(bare, mesh.rest).pairs
    angles = hinge_angles(mesh, mesh.rest)
    system = assemble(model, bare.surface, none, problem.ke, mesh.rest, angles)
    factorise(system.values, system.start, system.first)
    pivots = system.values[system.start[1:] - 1]
    stiffest = abs(pivots).max()
    if pivots.min() < FREE * stiffest:
        node, axis = np.argwhere(model.unknown == pivots.argmin())[0]
        raise ValueError(
            f"the sheet can move without resistance, node {node} along "
            f"{'xyz'[axis]} for one: add supports"
        )
    if not problem.safe:
        return
    cross = crossings(surface.edge, surface.triangle, surface.tag, mesh.rest)
    near = near_at(problem, mesh.rest)
    gap, which = pair_distance(surface, near.pairs, mesh.rest, False)
    if len(cross) or gap <= TOUCHING * mesh.pattern.size:
        faces = near.pairs.face
        if len(cross):
            triangle = cross[0, 1]
        elif which < len(faces):
            triangle = faces[which, 1]
        else:
            edge = surface.edge[near.pairs.edge[which - len(faces), 0]]
            triangle = np.argmax(np.isin(surface.triangle, edge).sum(axis=1))
        raise ValueError(
            f"panel {surface.triangle_panel[triangle]} meets another part of the sheet "
            "before it is folded: move its vertices apart, or switch contact off"
        )


def _watched(phase: Phase, u: Floats) -> float:
    """Displacement of the coordinate that a load watches, m."""
    if not isinstance(phase, Load):
        return 0.0
    node = phase.watch if phase.watch >= 0 else phase.nodes[0]
    return float(u[node, phase.axis])


def _stages(
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
    for node in (*phase.nodes, *([phase.watch] if phase.watch >= 0 else [])):
        if not 0 <= node < n:
            raise ValueError(f"load names node {node}, but nodes go from 0 to {n - 1}")
    f = np.zeros((n, 3))
    f[list(phase.nodes)] = phase.force
    unknown = problem.model.unknown
    out = np.zeros(len(problem.model.first))
    out[unknown[unknown >= 0]] = f[unknown >= 0]
    if not out.any():
        raise ValueError("the load acts on supports only: name nodes that can move")
    return out


def _solve(
    sheet: Sheet,
    problem: Problem,
    state: State,
    angles: Floats,
    load: Floats,
    tolerance: float,
    by_move: float = 0.0,
) -> Outcome:
    """Equilibrium at the given rest angles and load, by the sheet's rules."""
    most = sheet.max_iterations
    if problem.safe:
        return minimise(
            problem, state.near, state.x, angles, load, tolerance, most or MOST_SEARCHES
        )
    limit = by_move or tolerance
    return newton(
        problem,
        state.near,
        state.x,
        angles,
        load,
        limit,
        most or MOST_NEWTON,
        by_move > 0,
    )


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
            state: State, part: float, now: Floats = now
        ) -> tuple[State, Outcome]:
            done = np.minimum(1.0, speed[now] * part)
            angles = state.angles.copy()
            angles[folds[now]] = (1 - done) * flat[now] + done * end[now]
            out = _solve(sheet, problem, state, angles, zero, phase.tolerance)
            return State(out.x, angles, out.near, part), out

        yield stage, advance, 0.0


def _load_control(sheet: Sheet, phase: Load, problem: Problem, P: Floats) -> Advance:
    def advance(state: State, part: float) -> tuple[State, Outcome]:
        out = _solve(
            sheet,
            problem,
            state,
            state.angles,
            part * P,
            phase.tolerance,
            phase.move_tolerance,
        )
        return State(out.x, state.angles, out.near, part), out

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
        return State(out.x, state.angles, out.near, out.factor), out

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
        return State(out.x, state.angles, out.near, out.factor, u, sign), out

    return advance


def _increment(
    sheet: Sheet,
    phase: Phase,
    advance: Advance,
    state: State,
    goal: float,
    last: OrigamiStep,
) -> tuple[State, Outcome, int]:
    """Advance to `goal`, in halves where it does not converge at once.

    The paper's rules know no halves, and a `Path` has no end to divide.
    """
    divisible = sheet.contact.rules is Rules.FULL and not isinstance(phase, Path)
    ahead, parts, iterations = [goal], 0, 0
    while ahead:
        reached, out = advance(state, ahead[-1])
        iterations += out.iterations
        if out.converged or sheet.accept_unconverged:
            state, parts = reached, parts + 1
            ahead.pop()
        elif divisible and len(ahead) <= HALVINGS:
            ahead.append(0.5 * (state.factor + ahead[-1]))
        else:
            raise NotConvergedError(
                f"the unbalanced force is {out.residual:.1e} after {out.iterations} "
                f"iterations in phase {last.phase} after step {last.s}: take smaller "
                "increments, a larger tolerance, or contact rules 'full'",
                best=last,
            )
    return state, out._replace(iterations=iterations), parts
