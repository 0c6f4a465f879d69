"""Morphing by constrained Newton steps with step control.

It finds what eqs. (11) and (12) of [dJ23] are after, also where those cycle (links in
tension) or stop early (|dE| is small on the way): it ends where the gradient along the
constraints vanishes, and every configuration that it yields satisfies the constraints.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from sim.mechanism.constrained_newton import (
    LEFT,
    NewtonDirection,
    StepDamping,
    curvature_along,
    inertia_corrected,
    largest_rotation,
    newton_direction,
    second_order_correction,
)
from sim.mechanism.constraint_forces import (
    ConstraintForces,
    MorphConfiguration,
    constraint_forces,
    inner,
)
from sim.mechanism.constraint_projection import admissible, retract
from sim.mechanism.mobility import mobility, near_dependence, own_unit, rescaled
from sim.mechanism.morph_objective import (
    MorphProblem,
    NewtonOptions,
    dense_curvature,
    moved_off_bounds,
    nearest_free,
    negative_directions,
    newton_matrix,
)
from sim.mechanism.projection_morph import MorphStep, Stop
from sim.mechanism.shape_measures import distance_error, shape_factor
from sim.mechanism.structure import Structure
from sim.mechanism.targets.target_interface import Target, jumping
from sim.mechanism.targets.transformed import Rescaled
from sim.optimize.curvature import Spectrum
from sim.optimize.newton import End, Step, Trial, halved, minimise

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
    search, taken = _MorphSearch(options), first
    at = _Place(problem, problem.point(z))
    if problem.is_tight(z):
        yield _record(at, taken)
        at = _Place(problem, problem.point(moved_off_bounds(problem, z)))
        taken += 1
    while True:
        for found in minimise(search, at, options.max_steps - taken):
            at, last = found.point, found.end is End.MINIMUM
            if last and not at.problem.is_last:
                break
            if found.end is not End.NO_STEP:
                yield _record(at, taken + found.steps, Stop.GRADIENT if last else None)
        if not last:
            raise _not_converged(at, found.end is End.NO_STEP)
        continued, taken = at.problem.continued(), taken + found.steps
        if continued is None:
            return
        at = _Place(continued, at.point)


@dataclass(frozen=True, eq=False)
class _Place:
    """A configuration on the way.

    Attributes
    ----------
    end : of the step that led there
    damping : of the step from here
    valley : state, model and length of a step whose end is first brought to the floor
        of a valley
    """

    problem: MorphProblem
    end: MorphConfiguration
    damping: StepDamping = field(default_factory=StepDamping)
    valley: tuple[Floats, Spectrum, float] | None = None

    @cached_property
    def point(self) -> MorphConfiguration:
        """Where further steps with the basis of the last come to, as long as lower."""
        problem, point = self.problem, self.end
        if self.valley is None:
            return point
        begun, model, moved = self.valley
        longest = moved * _unit(problem)
        enough, free = problem.options.residual, problem.obstacles is None
        for _ in range(CORRECTIONS if free else CORRECTIONS_AMONG_OBSTACLES):
            forces = constraint_forces(point, problem.contacts(point))
            z = point.z + model.step(forces.gradient, longest)
            sought = max(min(enough, 1e-4 * forces.size / problem.L), 1e-14)
            found = retract(forces.linear, forces.normal, z, sought, enough)
            if found is None or problem.passes_through(begun, found[0]):
                return point
            there = problem.point(*found)
            if not problem.merit(there, forces) < problem.merit(point, forces):
                return point
            point = there
        return point

    @cached_property
    def forces(self) -> ConstraintForces:
        return constraint_forces(self.point, self.problem.contacts(self.point))

    @cached_property
    def gradient(self) -> float:
        """Along the constraints, root mean square / L."""
        return self.problem.gradient(self.point, self.forces)


class _MorphSearch:
    """What `minimise` asks of a morph."""

    def __init__(self, options: NewtonOptions) -> None:
        # Saddles that may still be left; then an end at one counts.
        self.left = MOST_SADDLES if options.leave_saddles else 0
        self.rng = np.random.default_rng(options.seed)

    def is_balanced(self, at: _Place) -> bool:
        """Or close to it where curvature stays negative."""
        small = at.gradient <= at.problem.tolerance
        return small or (self.left > 0 and at.damping.indefinite >= PATIENCE)

    def negative(self, at: _Place) -> int:
        small = at.gradient <= at.problem.tolerance
        if self.left == 0 or (small and not at.problem.is_last):
            return 0
        if at.damping.indefinite >= PATIENCE:
            return at.damping.indefinite
        return negative_directions(at.problem, at.point, at.forces)

    def escaped(self, at: _Place) -> _Place:
        """By a small random motion."""
        problem, z = at.problem, at.point.z
        self.left -= 1
        noise = self.rng.normal(size=(problem.system.n, 3)) * PERTURBATION * problem.L
        aside = admissible(problem.system, z, noise)
        return _Place(problem, problem.point(nearest_free(problem, z, aside)))

    def steps(self, at: _Place) -> Iterator[Step[_Place]]:
        """Newton's, ever more damped; through negative curvature by its size."""
        problem, forces, damping = at.problem, at.forces, at.damping
        if problem.obstacles is not None and problem.is_small:
            yield from _curved_steps(at, damping)
            return
        L, size = problem.L, forces.size
        K = newton_matrix(problem, at.point, forces)
        to_goals = at.point.z[: problem.system.n] - at.point.g
        error = float(np.sqrt(inner(to_goals, to_goals) / problem.system.n))
        while True:
            factor, damping = inertia_corrected(K, damping, size, error, L)
            enough = min(LEFT, size / L) / L
            direction = newton_direction(K, factor, forces.gradient, enough)
            fast = damping.exact and size / L < FAST * damping.gradient
            bent = damping.bent and not fast and damping.taken >= PLAIN
            if bent and problem.is_small:
                yield from _curved_steps(at, damping, direction)
                return
            rotation = largest_rotation(problem.system.layout, direction.dz)
            after = partial(_next_damping, damping, size / L, rotation, problem.pace)
            yield from _steps_along(at, direction.dz, direction, after)
            if damping.rotation > 1e6:
                return
            damping = replace(damping, rotation=max(16.0 * damping.rotation, 1e-2))


def _unit(problem: MorphProblem) -> float:
    """Length of a motion whose root mean square is L."""
    return problem.L * float(np.sqrt(problem.system.n))


def _record(at: _Place, s: int, stop: Stop | None = None) -> MorphStep:
    n, L = at.problem.system.n, at.problem.L
    r, g = at.point.z[:n], at.point.g
    residual, lam = at.point.linear.residual, at.point.z[n:, 0]
    E, S = distance_error(r, g, L), shape_factor(r, L)
    return MorphStep(s, r, g, lam, E, S, residual, at.gradient, stop)


def _steps_along(
    at: _Place,
    dz: Floats,
    measure: NewtonDirection | None,
    after: Callable[[float], StepDamping],
    model: Spectrum | None = None,
) -> Iterator[Step[_Place]]:
    """A step that ends on the constraints, as closely as is sought, then as needs be.

    A long step is first brought back to the constraints in the measure of a damped one,
    if there is one.

    The merit function is f + y.c with the multipliers y of the start: y.c makes up for
    what the residuals, small as they are, have let the nodes gain.

    Parameters
    ----------
    after : the damping after a share of the step
    model : with which its end is brought to the floor of a valley
    """
    problem, point, forces = at.problem, at.point, at.forces
    start, rounding = problem.merit(point, forces), problem.rounding(point, forces)
    enough = problem.options.residual

    def step(residual: float) -> Step[_Place]:
        def trials(share: float) -> Iterator[Trial[_Place]]:
            z = point.z + share * dz
            if measure is not None:
                z = second_order_correction(forces.linear, measure, z)
            retracted = retract(forces.linear, forces.normal, z, residual, enough)
            if retracted is None:
                return
            there = problem.point(*retracted)
            change = problem.merit(there, forces) - start
            if change <= rounding and not problem.passes_through(point.z, there.z):
                valley = None
                if model is not None:
                    moved = share * float(np.sqrt(inner(dz, dz))) / _unit(problem)
                    valley = (point.z, model, moved)
                yield Trial(_Place(problem, there, after(share), valley), change)

        shares = halved(problem.first_step_length(point, dz), SHORTEST_STEP)
        return Step(trials, inner(forces.gradient, dz), rounding, shares)

    yield step(max(min(enough, 1e-4 * forces.size / problem.L), 1e-14))
    yield step(enough)


def _next_damping(
    damping: StepDamping, gradient: float, rotation: float, pace: tuple[float, float],
    share: float,
) -> StepDamping:  # fmt: skip
    """Less damping after a full step, by its rotation; more after a short one."""
    weight, (most, least) = damping.rotation, pace
    if share >= 1.0:
        weight /= min(max(most / max(rotation, 1e-300), least), 64.0)
    elif share < 0.5:
        weight *= min(0.5 / share, 64.0)
    if gradient < 1e-3:
        weight = min(weight, gradient)
    taken = damping.taken + 1
    return replace(damping, rotation=weight, taken=taken, gradient=gradient)


def _next_radius(
    damping: StepDamping, gradient: float, radius: float, length: tuple[float, float],
    share: float,
) -> StepDamping:  # fmt: skip
    """A larger trust region after a full step, a smaller one after a short one."""
    moved, taken = share * length[0] / length[1], damping.taken + 1
    if share >= 1.0:
        radius = max(radius, 2.0 * moved)
    elif share < 0.5:
        radius = max(moved, 0.25 * radius)
    return replace(damping, taken=taken, radius=radius, gradient=gradient)


def _curved_steps(
    at: _Place, damping: StepDamping, measure: NewtonDirection | None = None
) -> Iterator[Step[_Place]]:
    """Steps that use the size of negative curvature, ever shorter.

    Parameters
    ----------
    measure : of the damped step, in which to come back to the constraints; it knows no
        walls, and among them the shortest way back serves better
    """
    problem, point, forces = at.problem, at.point, at.forces
    unit = _unit(problem)
    H = dense_curvature(problem, point, forces)
    model, slope = curvature_along(problem.system, point.z, H), forces.size / problem.L
    radius = damping.radius
    for _ in range(SHRINKS):
        dz = model.step(forces.gradient, radius * unit)
        length = float(np.sqrt(inner(dz, dz)))
        after = partial(_next_radius, damping, slope, radius, (length, unit))
        yield from _steps_along(at, dz, measure, after, model)
        radius *= 0.1


def _not_converged(at: _Place, no_step: bool) -> NotConvergedError:
    """With the best state; where rows lose their rank, or goals jump, it says so."""
    problem, point, options = at.problem, at.point, at.problem.options
    if no_step:
        what = f"no step lowers E; its gradient {at.forces.size / problem.L:.1e} along"
        what += f" the constraints is above {options.tolerance:.0e}"
        remedy = "raise tolerance, or move the target a little"
    else:
        what = f"the gradient {at.gradient:.1e} along the constraints is above"
        what += f" {options.tolerance:.0e} after {options.max_steps} steps"
        remedy = "raise max_steps, or move the target a little"
    residual, table = options.residual, problem.system.table
    near = near_dependence(problem.structure, point.z, residual)
    lost = np.setdiff1d(
        point.linear.factorise().dropped, mobility(problem.structure, point.z).redundant
    )
    names = [table.name_of_row(int(row)) for row in lost]
    if near is not None:
        names += near.names(table)
    if names:
        remedy = (
            f"{'; '.join(dict.fromkeys(names))} are nearly redundant (dead centre or "
            "infinitesimal mechanism, which moves by about sqrt(residual)): set "
            f"residual to {max(100 * residual, 1e-9):.0e}, or change lengths"
        )
    elif jumps := _nodes_whose_goals_jump(problem, point):
        few = ", ".join(map(str, jumps[:NAMED]))
        remedy = (
            f"the nearest target points of nodes {few} jump (hole, edge or outlier of "
            "the cloud?): remove outliers, fill holes, or make these nodes not leading"
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
