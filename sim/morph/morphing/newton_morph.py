"""Morphing by constrained Newton steps with step control.

It finds what eqs. (11) and (12) of [dJ23] are after, also where those cycle (links in
tension) or stop early (|dE| is small on the way): it ends where the gradient along the
constraints vanishes, and every configuration that it yields satisfies the constraints.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.morph.equations.constraint_forces import (
    ConstraintForces,
    MorphConfiguration,
    constraint_forces,
    inner,
)
from sim.morph.equations.descent import (
    ARMIJO,
    NewtonDirection,
    largest_rotation,
    newton_direction,
    second_order_correction,
)
from sim.morph.equations.inertia_correction import StepDamping
from sim.morph.equations.projection import admissible
from sim.morph.equations.retraction import retract
from sim.morph.mobility.curved import CurvedModel, curved_model
from sim.morph.mobility.mobility import mobility
from sim.morph.mobility.near_dependence import near_dependence
from sim.morph.mobility.units import own_unit, rescaled
from sim.morph.morphing.morph import MorphStep, Stop
from sim.morph.morphing.problem import (
    MorphProblem,
    NewtonOptions,
    dense_curvature,
    moved_off_bounds,
    nearest_free,
    negative_directions,
)
from sim.morph.structure.measures import distance_error, shape_factor
from sim.morph.structure.structure import Structure
from sim.morph.targets.protocol import Target
from sim.morph.targets.pull import jumping
from sim.morph.targets.rescaled import Rescaled

FAST = 0.1  # gradient over that before, below which Newton's own step is taken
PLAIN = 4  # steps before the size of negative curvature is used
CORRECTIONS = 8  # back to the floor of a valley, with one basis
CORRECTIONS_AMONG_OBSTACLES = 2
SHRINKS = 8  # of a trust region, until a step lowers E
SHORTEST_STEP = 1e-6  # step length at which the line search ends
MOST_SADDLES = 3  # saddles left before the search is given up
PERTURBATION = 1e-4  # of L, displacement that leaves a saddle
SMALL_MOVE = 1e-4  # of L, by which goals that jump are found
NAMED = 5  # nodes in a message
PATIENCE = 6  # steps with negative curvature before that


def morph_newton(
    structure: Structure,
    target: Target,
    options: NewtonOptions,
    start: Floats | None = None,
    first: int = 0,
) -> Iterator[MorphStep]:
    """Yield the configurations from the initial one to the matched one.

    Parameters
    ----------
    start : (n + k, 3) state close to the constraints to begin at, else the structure's
    first : of `max_steps`, how many were made to come to `start`
    """
    unit, n = own_unit(structure), len(structure.r0)
    if unit == 1.0:
        yield from _morph(structure, target, options, start, first)
        return
    if start is not None:
        start = np.concatenate([start[:n] / unit, start[n:]])
    made = rescaled(structure, unit)
    try:
        for step in _morph(made, Rescaled(target, unit), options, start, first):
            yield step._replace(r=unit * step.r, g=unit * step.g)
    except NotConvergedError as error:
        best = np.array(error.best)
        best[:n] *= unit
        raise NotConvergedError(str(error), best=best) from None


def _morph(
    structure: Structure,
    target: Target,
    options: NewtonOptions,
    start: Floats | None,
    first: int,
) -> Iterator[MorphStep]:
    """The same in the unit of `structure`."""
    problem, z = MorphProblem.at(structure, target, options, start)
    point, damping, escapes = problem.point(z), StepDamping(), 0
    rng = np.random.default_rng(options.seed)
    for s in range(first, options.max_steps + 1):
        forces = constraint_forces(point, problem.contacts(point))
        gradient = problem.gradient(point, forces)
        while gradient <= problem.tolerance and (harder := problem.continued()):
            problem, damping = harder, StepDamping()
            forces = constraint_forces(point, problem.contacts(point))
            gradient = problem.gradient(point, forces)
        found = gradient <= problem.tolerance
        indefinite = damping.indefinite >= PATIENCE or (
            found and negative_directions(problem, point, forces) > 0
        )
        saddle = indefinite and escapes < (MOST_SADDLES if options.leave_saddles else 0)
        yield _record(problem, s, point, gradient, found and not saddle)
        if found and not saddle:
            return
        if saddle:
            escapes += 1
            noise = rng.normal(size=(problem.system.n, 3)) * PERTURBATION * problem.L
            aside = admissible(problem.system, point.z, noise)
            point = problem.point(nearest_free(problem, point.z, aside))
            damping = StepDamping()
        elif s == first and problem.is_tight(point.z):
            point = problem.point(moved_off_bounds(problem, point.z))
        else:
            point, damping = _next_point(problem, point, forces, damping)
    raise _refused(
        problem,
        point,
        f"the gradient {gradient:.1e} along the constraints is above "
        f"{options.tolerance:.0e} after {options.max_steps} steps",
        "raise max_steps, or move the target a little",
    )


def _record(
    problem: MorphProblem,
    s: int,
    point: MorphConfiguration,
    gradient: float,
    last: bool,
) -> MorphStep:
    n, L = problem.system.n, problem.L
    r = point.z[:n]
    return MorphStep(
        s=s,
        r=r,
        g=point.g,
        lam=point.z[n:, 0],
        E=distance_error(r, point.g, L),
        S=shape_factor(r, L),
        residual=point.linear.residual,
        gradient=gradient,
        stop=Stop.GRADIENT if last else None,
    )


def _next_point(
    problem: MorphProblem,
    point: MorphConfiguration,
    forces: ConstraintForces,
    damping: StepDamping,
) -> tuple[MorphConfiguration, StepDamping]:
    """The next configuration; the same with more damping if none is found."""
    if problem.obstacles is not None and problem.is_small:
        return _curved_point(problem, point, forces, damping)
    L, W = problem.L, problem.curvature(point)
    contacts = problem.contacts(point)
    direction, damping = newton_direction(
        problem.pattern, point, W, forces, L, damping, contacts
    )
    fast = damping.exact and forces.size / L < FAST * damping.gradient
    if damping.bent and not fast and damping.taken >= PLAIN and problem.is_small:
        return _curved_point(problem, point, forces, damping, direction)
    found = _line_search(problem, point, forces, direction.dz, direction)
    if found is not None:
        there, alpha = found
        rotation = alpha * largest_rotation(problem.system, direction.dz)
        most, least = problem.pace
        eased = min(max(most / max(rotation, 1e-300), least), 64.0)
        return there, _next_damping(damping, alpha, eased, forces.size / L)
    if damping.rotation > 1e6:
        raise _stuck(problem, point, forces)
    return point, replace(damping, rotation=max(16.0 * damping.rotation, 1e-2))


def _line_search(
    problem: MorphProblem,
    point: MorphConfiguration,
    forces: ConstraintForces,
    dz: Floats,
    measure: NewtonDirection | None,
) -> tuple[MorphConfiguration, float] | None:
    """The configuration after the longest step tried that lowers the merit function
    enough, and the step length alpha.

    A long step is first brought back to the constraints in the measure of a damped one,
    if there is one.

    The merit function is f + y.c with the multipliers y of the start: y.c makes up for
    what the residuals, small as they are, have let the nodes gain. Enough is Armijo's
    condition (Nocedal and Wright, sect. 3.1), backtracking halves alpha:

        merit(alpha) <= merit(0) + ARMIJO alpha grad f.dz
    """
    start, rounding = problem.merit(point, forces), problem.rounding(point, forces)
    slope = inner(forces.gradient, dz)
    enough = problem.options.residual
    wanted = max(min(enough, 1e-4 * forces.size / problem.L), 1e-14)
    longest = problem.first_step_length(point, dz)
    for residual in (wanted, enough):
        alpha = longest
        while alpha > SHORTEST_STEP:
            z = point.z + alpha * dz
            if measure is not None:
                z = second_order_correction(forces, measure, z)
            retracted = retract(forces.linear, forces.normal, z, residual, enough)
            if retracted is not None:
                there = problem.point(*retracted)
                merit = problem.merit(there, forces)
                lower = merit <= start + ARMIJO * alpha * slope + rounding
                if lower and not problem.passes_through(point.z, there.z):
                    return there, alpha
            alpha *= 0.5
    return None


def _next_damping(
    damping: StepDamping, alpha: float, eased: float, gradient: float
) -> StepDamping:
    """Less damping, by `eased`, after a full step, more after a short one."""
    weight = damping.rotation
    if alpha >= 1.0:
        weight /= eased
    elif alpha < 0.5:
        weight *= min(0.5 / alpha, 64.0)
    if gradient < 1e-3:
        weight = min(weight, gradient)
    taken = damping.taken + 1
    return replace(damping, rotation=weight, taken=taken, gradient=gradient)


def _stuck(
    problem: MorphProblem, point: MorphConfiguration, forces: ConstraintForces
) -> NotConvergedError:
    return _refused(
        problem,
        point,
        f"no step lowers E; the gradient {forces.size / problem.L:.1e} along the "
        f"constraints is above {problem.options.tolerance:.0e}",
        "raise tolerance, or move the target a little",
    )


def _refused(
    problem: MorphProblem, point: MorphConfiguration, what: str, remedy: str
) -> NotConvergedError:
    """The error that carries the best state; where rows lose their rank, or goals jump,
    it says so."""
    residual, table = problem.options.residual, problem.system.table
    near = near_dependence(problem.structure, point.z, residual)
    lost = np.setdiff1d(
        point.linear.factorise().dropped, mobility(problem.structure, point.z).redundant
    )
    names = [table.name_of_row(int(row)) for row in lost]
    if near is not None:
        names += near.names(table)
    if names:
        remedy = (
            f"{'; '.join(dict.fromkeys(names))}: these nearly say what others do, as "
            "at a dead centre or in an infinitesimal mechanism, which moves by about "
            f"the root of residual; take a residual of {max(100 * residual, 1e-9):.0e},"
            " or other lengths"
        )
    elif jumps := _nodes_whose_goals_jump(problem, point):
        few = ", ".join(map(str, jumps[:NAMED]))
        remedy = (
            f"the nearest points of nodes {few} jump as these move, as in holes, "
            "beyond the rim and beside outliers of a cloud: leave outliers out, fill "
            "holes, or let these nodes not lead"
        )
    return NotConvergedError(f"{what}: {remedy}", best=point.z)


def _nodes_whose_goals_jump(
    problem: MorphProblem, point: MorphConfiguration
) -> list[int]:
    lead = problem.structure.leading
    r, g = point.z[lead], point.g[lead]
    jumps = jumping(problem.target, r, g, SMALL_MOVE * problem.L)
    nodes: list[int] = np.sort(lead[jumps]).tolist()
    return nodes


def _curved_point(
    problem: MorphProblem,
    point: MorphConfiguration,
    forces: ConstraintForces,
    damping: StepDamping,
    measure: NewtonDirection | None = None,
) -> tuple[MorphConfiguration, StepDamping]:
    """The next configuration where the size of negative curvature is used.

    Parameters
    ----------
    measure : of the damped step, in which to come back to the constraints; it knows no
        walls, and among them the shortest way back serves better
    """
    unit = problem.L * float(np.sqrt(problem.system.n))
    H, radius = dense_curvature(problem, point, forces), damping.radius
    model = curved_model(problem.system, point.z, H)
    for _ in range(SHRINKS):
        dz = model.step(forces.gradient, radius * unit)
        found = _line_search(problem, point, forces, dz, measure)
        if found is not None:
            there, alpha = found
            moved = alpha * float(np.sqrt(inner(dz, dz))) / unit
            there = _on_the_floor(problem, point.z, there, model, moved * unit)
            radius = _next_radius(radius, moved, alpha)
            taken, slope = damping.taken + 1, forces.size / problem.L
            return there, replace(damping, taken=taken, radius=radius, gradient=slope)
        radius *= 0.1
    raise _stuck(problem, point, forces)


def _on_the_floor(
    problem: MorphProblem,
    begun: Floats,
    point: MorphConfiguration,
    model: CurvedModel,
    longest: float,
) -> MorphConfiguration:
    """Where further steps with the basis of the step from `begun` come to, if lower."""
    enough = problem.options.residual
    free = problem.obstacles is None
    for _ in range(CORRECTIONS if free else CORRECTIONS_AMONG_OBSTACLES):
        forces = constraint_forces(point, problem.contacts(point))
        z = point.z + model.step(forces.gradient, longest)
        wanted = max(min(enough, 1e-4 * forces.size / problem.L), 1e-14)
        found = retract(forces.linear, forces.normal, z, wanted, enough)
        if found is None or problem.passes_through(begun, found[0]):
            return point
        there = problem.point(*found)
        if not problem.merit(there, forces) < problem.merit(point, forces):
            return point
        point = there
    return point


def _next_radius(radius: float, moved: float, alpha: float) -> float:
    """A larger trust region after a full step, a smaller one after a short one."""
    if alpha >= 1.0:
        return max(radius, 2.0 * moved)
    return max(moved, 0.25 * radius) if alpha < 0.5 else radius
