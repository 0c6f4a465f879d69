"""Morphing by constrained Newton steps with step control.

It finds what eqs. (11) and (12) of [dJ23] are after, also where those cycle (links in
tension) or stop early (|dE| is small on the way): it ends where the gradient along the
constraints vanishes, and every configuration that it yields satisfies the constraints.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sim.arrays import Floats
from sim.morph.descent import (
    TURN,
    Damping,
    Forces,
    Point,
    Way,
    bend,
    direction,
    forces,
    inner,
    turn,
)
from sim.morph.measures import distance_error, shape_factor
from sim.morph.morph import MorphStep, Stop
from sim.morph.problem import Newton, Problem, eased, negative_directions
from sim.morph.projection import admissible, satisfy_constraints
from sim.morph.retraction import retract
from sim.morph.structure import Structure
from sim.morph.targets.protocol import Target
from sim.morph.units import Rescaled, own_unit, rescaled
from sim.newton import NotConvergedError

SMALLEST = 1e-6  # share of a Newton step
ESCAPES = 3  # saddles left before the search is given up
KICK = 1e-4  # of L, displacement that leaves a saddle
PATIENCE = 6  # steps with negative curvature before that


def morph_newton(
    structure: Structure, target: Target, options: Newton, start: Floats | None = None
) -> Iterator[MorphStep]:
    """Yield the configurations from the initial one to the matched one.

    Parameters
    ----------
    start : (n + k, 3) state close to the constraints to begin at, else the structure's
    """
    unit, n = own_unit(structure), len(structure.r0)
    if unit == 1.0:
        yield from _morph(structure, target, options, start)
        return
    if start is not None:
        start = np.concatenate([start[:n] / unit, start[n:]])
    made = rescaled(structure, unit)
    try:
        for step in _morph(made, Rescaled(target, unit), options, start):
            yield step._replace(r=unit * step.r, g=unit * step.g)
    except NotConvergedError as error:
        best = np.array(error.best)
        best[:n] *= unit
        raise NotConvergedError(str(error), best=best) from None


def _morph(
    structure: Structure, target: Target, options: Newton, start: Floats | None
) -> Iterator[MorphStep]:
    """The same in the unit of `structure`."""
    problem, z = Problem.at(structure, target, options, start)
    point, damping, escapes = problem.point(z), Damping(), 0
    rng = np.random.default_rng(options.seed)
    for s in range(options.max_steps + 1):
        held = forces(point, problem.contacts(point))
        gradient = problem.gradient(point, held)
        while gradient <= problem.tolerance and (next_one := problem.harder()):
            problem, damping = next_one, Damping()
            held = forces(point, problem.contacts(point))
            gradient = problem.gradient(point, held)
        found = gradient <= problem.tolerance
        bent = damping.bent >= PATIENCE or (
            found and negative_directions(problem, point, held) > 0
        )
        saddle = bent and escapes < (ESCAPES if options.leave_saddles else 0)
        yield _record(problem, s, point, gradient, found and not saddle)
        if found and not saddle:
            return
        if saddle:
            escapes += 1
            point = problem.point(_kicked(problem, point.z, rng))
            damping = Damping()
        elif s == 0 and problem.is_tight(point.z):
            point = problem.point(eased(problem, point.z))
        else:
            point, damping = _next_point(problem, point, held, damping)
    raise NotConvergedError(
        f"the gradient {gradient:.1e} along the constraints is above "
        f"{options.tolerance:.0e} after {options.max_steps} steps: raise max_steps, or "
        "move the target a little",
        best=point.z,
    )


def _kicked(problem: Problem, z: Floats, rng: np.random.Generator) -> Floats:
    """A configuration a little beside z, no farther than bodies and ranges let it."""
    noise = rng.normal(size=(problem.system.n, 3)) * KICK * problem.L
    dz = admissible(problem.system, z, noise)
    for _ in range(20):
        there = satisfy_constraints(
            problem.system, z + dz, tolerance=problem.options.residual
        )
        if problem.is_free(there) and not problem.passes(z, there):
            return there
        dz *= 0.5
    return z


def _record(
    problem: Problem, s: int, point: Point, gradient: float, last: bool
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
    problem: Problem, point: Point, held: Forces, damping: Damping
) -> tuple[Point, Damping]:
    """The next configuration; the same with more damping if none is found."""
    L, W = problem.L, problem.curvature(point)
    contacts = problem.contacts(point)
    way, damping = direction(problem.places, point, W, held, L, damping, contacts)
    found = _search(problem, point, held, way)
    if found is not None:
        rotation = found[1] * turn(problem.system, way.dz)
        return found[0], _next_damping(damping, found[1], rotation, held.size / L)
    if damping.turn > 1e6:
        raise NotConvergedError(
            f"no step lowers E; the gradient {held.size / L:.1e} along the constraints "
            f"is above {problem.options.tolerance:.0e}: raise tolerance, or check the "
            "structure for a dead centre",
            best=point.z,
        )
    return point, replace(damping, turn=max(16.0 * damping.turn, 1e-2))


def _search(
    problem: Problem, point: Point, held: Forces, way: Way
) -> tuple[Point, float] | None:
    """As far along the way as f falls: the configuration and the share of the way.

    f is compared after y.c is added to it, which makes up for what the residuals, small
    as they are, have let the nodes gain.
    """
    f = problem.objective(point) + inner(held.y, held.linear.c)
    slope = inner(held.gradient, way.dz)
    enough = problem.options.residual
    wanted = max(min(enough, 1e-4 * held.size / problem.L), 1e-14)
    size = problem.first_share(point, way.dz)
    while size > SMALLEST:
        z = bend(held, way, point.z + size * way.dz)
        back = retract(held.linear, held.normal, z, wanted, enough)
        if back is not None:
            there = problem.point(*back)
            value = problem.objective(there) + inner(held.y, there.linear.c)
            lower = value <= f + 1e-4 * size * slope + 1e-13 * abs(f)
            if lower and not problem.passes(point.z, there.z):
                return there, size
        size *= 0.5
    return None


def _next_damping(
    damping: Damping, size: float, rotation: float, gradient: float
) -> Damping:
    """Less damping after a full step that turned little, more after a short one."""
    stiff = damping.turn
    if size >= 1.0:
        stiff /= min(max(TURN / max(rotation, 1e-300), 4.0), 64.0)
    elif size < 0.5:
        stiff *= min(0.5 / size, 64.0)
    if gradient < 1e-3:
        stiff = min(stiff, gradient)
    return replace(damping, turn=stiff)
