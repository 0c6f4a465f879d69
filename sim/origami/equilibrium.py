"""Newton iterations towards equilibrium, whole loops compiled.

newton     as [ZF19]: full steps, whatever the energy does
minimise   steps that touch nothing, to a minimum of the energy
path_step  load and displacement together, past limit points
"""

from typing import NamedTuple

import numpy as np

from sim.arrays import Floats
from sim.contact.candidates import find_pairs
from sim.contact.safe_step import largest_step
from sim.contact.surface import Pairs, Surface
from sim.kernels import kernel
from sim.origami.assembly import System, assemble, energies_at
from sim.origami.model import Model
from sim.origami.skyline import back_substitute, factorise, solve

PLAIN_ITERATIONS = 20  # full steps that `minimise` tries before it searches on a line
SUFFICIENT = 1e-4  # part of the predicted decrease of energy that a step must make
THINNEST = 1.0 / 64.0  # skin, of the thickest
ROUNDING = 1e-13  # relative error of an energy
SHRINK = 0.5  # of a step that does not decrease the energy enough
SHORTEST = 1e-12  # step at which only rounding is left to decrease
MEMORY = 8  # energies among which a step must not be the highest


class Problem(NamedTuple):
    """What stays the same from increment to increment.

    Attributes
    ----------
    ke : scale of the contact potential, J
    skin : how far nodes may move at most before pairs are sought again, m
    safe : whether steps end before anything touches
    """

    model: Model
    surface: Surface
    ke: float
    skin: float
    safe: bool


class Near(NamedTuple):
    """Pairs that are complete as long as nodes stay within `skin` around `base`."""

    pairs: Pairs
    base: Floats
    skin: float


class Outcome(NamedTuple):
    """Where an iteration ended.

    Attributes
    ----------
    x : (n, 3) m
    energies : (6,) J, see `System`
    residual : norm of the unbalanced force, N, or of the last move, m
    iterations : linear solves
    factor : load factor
    """

    x: Floats
    near: Near
    energies: Floats
    residual: float
    iterations: int
    converged: bool
    factor: float


@kernel
def farthest(x: Floats, base: Floats) -> float:
    """Largest distance of a node from where it was."""
    square = 0.0
    for i in range(len(x)):
        s = (
            (x[i, 0] - base[i, 0]) ** 2
            + (x[i, 1] - base[i, 1]) ** 2
            + (x[i, 2] - base[i, 2]) ** 2
        )
        square = max(square, s)
    return float(np.sqrt(square))


@kernel
def near_at(problem: Problem, x: Floats, skin: float) -> Near:
    """Pairs around the positions x (n, 3), complete within `skin`."""
    surface = problem.surface
    reach = surface.edge_reach if len(surface.edge) else 0.0
    for p in range(len(surface.point_reach)):
        reach = max(reach, surface.point_reach[p])
    full = reach + surface.thickness + 2.0 * skin
    return Near(find_pairs(surface, x, full), x.copy(), skin)


@kernel
def _kept(problem: Problem, near: Near, x: Floats, last: float) -> Near:
    """`near`, sought again if nodes have left the skin or it is far too thick.

    Newton steps become short: after a move of `last` metres, a skin of a third of it
    will do for the next, and a thin skin holds few pairs.
    """
    thinnest = THINNEST * problem.skin
    skin = min(max(last / 3.0, thinnest), problem.skin)
    if farthest(x, near.base) > near.skin or near.skin > 6.0 * skin:
        return near_at(problem, x, skin)
    return near


@kernel
def spread(model: Model, u: Floats) -> Floats:
    """(n, 3) moves of the nodes from the unknowns u."""
    out = np.zeros_like(model.rest)
    for i in range(len(out)):
        for c in range(3):
            if model.unknown[i, c] >= 0:
                out[i, c] = u[model.unknown[i, c]]
    return out


@kernel
def potential(
    problem: Problem, near: Near, x: Floats, angles: Floats, load: Floats
) -> float:
    """Total potential, J: energies less the work of the load; inf where panels meet."""
    model = problem.model
    total = energies_at(model, problem.surface, near.pairs, problem.ke, x, angles).sum()
    for i in range(len(x)):
        for c in range(3):
            if model.unknown[i, c] >= 0:
                total -= load[model.unknown[i, c]] * (x[i, c] - model.rest[i, c])
    return float(total)


@kernel
def _norm(u: Floats) -> float:
    return float(np.sqrt(np.dot(u, u)))


@kernel
def newton(
    problem: Problem,
    near: Near,
    x: Floats,
    angles: Floats,
    load: Floats,
    tolerance: float,
    most: int,
    by_move: bool,
) -> Outcome:
    """Full Newton steps, as in [ZF19].

    Parameters
    ----------
    x : (n, 3) start, m
    angles : (h,) rest angles
    load : (u,) N
    tolerance : on the unbalanced force (N) before the last step, or, `by_move`, on
        that step (m)
    most : linear solves at most
    """
    residual, system, iterations = np.inf, _start(problem, near, x, angles), 0
    last = farthest(x, near.base)
    while iterations < most:
        near = _kept(problem, near, x, last)
        system = assemble(
            problem.model, problem.surface, near.pairs, problem.ke, x, angles
        )
        r = load - system.force
        residual = _norm(r)
        factorise(system.values, system.start, system.first)
        solve(system.values, system.start, system.first, r)
        moved = x + spread(problem.model, r)
        last, x = farthest(moved, x), moved
        iterations += 1
        if by_move:
            residual = _norm(r)
        if not residual > tolerance:
            break
    done = residual <= tolerance
    return Outcome(x, near, system.energies, residual, iterations, done, 1.0)


@kernel
def _start(problem: Problem, near: Near, x: Floats, angles: Floats) -> System:
    return assemble(problem.model, problem.surface, near.pairs, problem.ke, x, angles)


@kernel
def _largest_diagonal(system: System) -> float:
    largest = 0.0
    for i in range(len(system.first)):
        largest = max(largest, abs(system.values[system.start[i + 1] - 1]))
    return largest


@kernel
def _descent(system: System, r: Floats) -> tuple[Floats, int]:
    """Solve (K + mu I) p = r with the smallest mu tried that makes all pivots positive.

    Returns p and the number of negative pivots of K itself.
    """
    n = len(system.first)
    largest = _largest_diagonal(system)
    values = system.values.copy()
    negative, smallest = factorise(values, system.start, system.first)
    bad, mu = negative, 1e-9 * largest
    while bad > 0 or smallest < 1e-14 * largest:
        values[:] = system.values
        for i in range(n):
            values[system.start[i + 1] - 1] += mu
        bad, smallest = factorise(values, system.start, system.first)
        mu *= 8.0
    p = r.copy()
    solve(values, system.start, system.first, p)
    return p, negative


@kernel
def _downhill_mode(system: System, r: Floats) -> Floats:
    """Direction of negative curvature, of length 1: where the energy falls at a saddle.

    With K = L D L^T and a pivot D_k < 0, L^T z = e_k gives z K z = D_k. Its sign is
    chosen along the unbalanced force, so that equal runs turn the same way.
    """
    values = system.values.copy()
    factorise(values, system.start, system.first)
    z, lowest = np.zeros(len(r)), 0.0
    for i in range(len(r)):
        pivot = values[system.start[i + 1] - 1]
        if pivot < lowest:
            lowest = pivot
            z[:] = 0.0
            z[i] = 1.0
    back_substitute(values, system.start, system.first, z)
    z /= _norm(z)
    return z if np.dot(z, r) >= 0.0 else -z


@kernel
def _allowed(
    problem: Problem, near: Near, x: Floats, move: Floats
) -> tuple[Near, float]:
    """How much of a move stays within the skin and touches nothing."""
    longest = farthest(x + move, x)
    room = near.skin - farthest(x, near.base)
    if (longest > room and near.skin < problem.skin) or room < 0.5 * near.skin:
        room = min(longest, problem.skin)
        near = near_at(problem, x, room)
    step = 1.0 if longest <= room else room / longest
    if problem.safe:
        step = largest_step(problem.surface, near.pairs, x, move, step)
    return near, step


@kernel
def _searched(
    problem: Problem,
    near: Near,
    x: Floats,
    angles: Floats,
    load: Floats,
    move: Floats,
    step: float,
    limit: float,
    slope: float,
) -> tuple[Floats, float]:
    """The move shortened until the potential is low enough, and that potential."""
    while True:
        trial = x + step * move
        value = potential(problem, near, trial, angles, load)
        if value <= limit + SUFFICIENT * step * slope or step < SHORTEST:
            return trial, value
        step *= SHRINK


@kernel
def minimise(
    problem: Problem,
    near: Near,
    x: Floats,
    angles: Floats,
    load: Floats,
    tolerance: float,
    most: int,
) -> Outcome:
    """A minimum of the total potential that is reached without touching anything.

    Full Newton steps come first: stiff bars make the energy rise on the way round a
    bend and fall again. If they do not arrive, or arrive higher than they set out,
    the search starts again, and each step must end below the highest of the last few
    energies. A saddle is left along its direction of negative curvature.

    Parameters
    ----------
    x, angles, load : as in `newton`
    tolerance : on the unbalanced force, N
    most : linear solves at most
    """
    origin, begin = x, potential(problem, near, x, angles, load)
    plain, recent = True, np.full(MEMORY, begin)
    system = _start(problem, near, x, angles)
    residual, last = np.inf, farthest(x, near.base)
    for iteration in range(most):
        if plain and iteration == PLAIN_ITERATIONS:
            plain, x = False, origin
        near = _kept(problem, near, x, last)
        system = assemble(
            problem.model, problem.surface, near.pairs, problem.ke, x, angles
        )
        r = load - system.force
        residual = _norm(r)
        p, negative = _descent(system, r)
        if residual <= tolerance and negative == 0:
            end = potential(problem, near, x, angles, load)
            if not plain or end <= begin + ROUNDING * abs(begin):
                return Outcome(x, near, system.energies, residual, iteration, True, 1.0)
            plain, x = False, origin
            continue
        if residual <= tolerance:
            plain = False
            p = 0.1 * problem.skin * _downhill_mode(system, r)
            recent[:] = potential(problem, near, x, angles, load)
        move = spread(problem.model, p)
        near, step = _allowed(problem, near, x, move)
        before = x
        if plain:
            x = x + step * move
            last = farthest(x, before)
            continue
        highest = recent.max()
        x, recent[iteration % MEMORY] = _searched(
            problem,
            near,
            x,
            angles,
            load,
            move,
            step,
            highest + ROUNDING * abs(highest),
            min(-float(np.dot(r, p)), 0.0),
        )
        last = farthest(x, before)
    return Outcome(x, near, system.energies, residual, most, False, 1.0)


@kernel
def path_step(
    problem: Problem,
    near: Near,
    x: Floats,
    angles: Floats,
    load: Floats,
    factor: float,
    first_change: float,
    along: Floats,
    tolerance: float,
    most: int,
) -> Outcome:
    """Change load factor and displacement together until they are in equilibrium.

    The first step changes the factor by `first_change`; the others move at right
    angles to `along` (u,): dlam = -(along . u_r) / (along . u_p), with K u_p = load and
    K u_r = factor load - f.
    """
    residual, iterations, last = np.inf, 0, farthest(x, near.base)
    system = _start(problem, near, x, angles)
    while iterations < most:
        near = _kept(problem, near, x, last)
        system = assemble(
            problem.model, problem.surface, near.pairs, problem.ke, x, angles
        )
        u_r, u_p = factor * load - system.force, load.copy()
        residual = _norm(u_r)
        if iterations > 0 and residual <= tolerance:
            return Outcome(x, near, system.energies, residual, iterations, True, factor)
        values = system.values
        factorise(values, system.start, system.first)
        solve(values, system.start, system.first, u_r)
        solve(values, system.start, system.first, u_p)
        change = first_change
        if iterations > 0:
            change = -np.dot(along, u_r) / np.dot(along, u_p)
        move = spread(problem.model, change * u_p + u_r)
        near, step = _allowed(problem, near, x, move)
        x = x + step * move
        last = step * farthest(x + move, x)
        factor += step * change
        iterations += 1
    return Outcome(x, near, system.energies, residual, iterations, False, factor)


@kernel
def tangent_move(
    problem: Problem, near: Near, x: Floats, angles: Floats, load: Floats
) -> Floats:
    """(u,) displacement that the load would make on the tangent at x."""
    system = _start(problem, near, x, angles)
    factorise(system.values, system.start, system.first)
    out = load.copy()
    solve(system.values, system.start, system.first, out)
    return out
