"""Equilibria of a sheet by Newton's iterations, whole loops compiled.

full_newton        full steps, whatever the energy does, as in [ZF19]
continuation_step  load and displacement together, past limit points
minimise           ends at a minimum, reached without contact on the way

They work on a `FoldingProblem`. Its near pairs are sought within a skin around the
positions, and are complete until a node has left it, as the neighbour lists of
molecular dynamics are (Verlet, Phys. Rev. 159, 1967).

`minimise` makes full Newton steps first: stiff bars make the energy rise on the way
round a bend and fall again. If they do not arrive, or arrive higher than they set out,
the search starts again with a nonmonotone line search: Armijo's condition need not be
met against the last energy, only against the highest of the last few (Grippo,
Lampariello and Lucidi, SIAM J. Numer. Anal. 23, 1986). A saddle is left along its
direction of negative curvature. Where the stiffness K is not positive definite,
K + mu I takes its place (inertia correction: Nocedal and Wright, Numerical
Optimization, 2006, sect. 3.4).
"""

from typing import NamedTuple

import numpy as np

from sim.contact.collisions import largest_step
from sim.contact.near_pairs import ContactPairs, ContactSurface, find_pairs
from sim.core.arrays import Floats
from sim.core.numba_kernels import inlined, kernel
from sim.linalg.skyline import back_substitute, factorise, solve
from sim.origami.model.assembly import (
    BarHingeModel,
    EquilibriumSystem,
    assemble,
    energies_at,
)

THINNEST = 1.0 / 64.0  # skin, of the thickest
GENEROUS = 1.0 / 8.0  # skin, of the thickest, that hardly costs more than the thinnest
CROWDED = 3.0  # pairs a node, triangle or edge at which a thinner skin pays
MOST_SKINS = 32.0  # that a move may be long, before it is shortened


class FoldingProblem(NamedTuple):
    """What stays the same from increment to increment.

    Attributes
    ----------
    ke : scale of the contact potential, J
    skin : how far nodes may move at most before pairs are sought again, m
    safe : whether steps end before anything touches
    """

    model: BarHingeModel
    surface: ContactSurface
    ke: float
    skin: float
    safe: bool


class NearbyPairs(NamedTuple):
    """Pairs that are complete as long as nodes stay within `skin` around `base`."""

    pairs: ContactPairs
    base: Floats
    skin: float


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
def near_at(problem: FoldingProblem, x: Floats, skin: float) -> NearbyPairs:
    """Pairs around the positions x (n, 3), complete within `skin`."""
    surface = problem.surface
    activation = surface.edge_activation if len(surface.edge) else 0.0
    for p in range(len(surface.point_activation)):
        activation = max(activation, surface.point_activation[p])
    full = activation + surface.thickness + 2.0 * skin
    return NearbyPairs(find_pairs(surface, x, full), x.copy(), skin)


@kernel
def refreshed(
    problem: FoldingProblem, near: NearbyPairs, x: Floats, last: float
) -> NearbyPairs:
    """`near`, sought again if nodes have left the skin or it is far too thick.

    Newton steps become short: after a move of `last` metres, a skin of a third of it
    will do for the next, and a thin skin holds few pairs.
    """
    thinnest = THINNEST * problem.skin
    skin = min(max(last / 3.0, thinnest), problem.skin)
    parts = problem.surface
    elements = len(parts.point) + len(parts.triangle) + len(parts.edge)
    crowded = len(near.pairs.node) > CROWDED * elements
    if farthest(x, near.base) > near.skin or (crowded and near.skin > 6.0 * skin):
        return near_at(problem, x, skin)
    return near


@kernel
def safe_step_length(
    problem: FoldingProblem, near: NearbyPairs, x: Floats, move: Floats
) -> tuple[NearbyPairs, float]:
    """How much of a move stays within the skin and touches nothing."""
    longest = farthest(x + move, x)
    room = near.skin - farthest(x, near.base)
    if (longest > room and room < problem.skin) or room < 0.5 * near.skin:
        room = min(max(2.0 * longest, GENEROUS * problem.skin), problem.skin)
        near = near_at(problem, x, room)
    step = 1.0 if longest <= room else room / longest
    if problem.safe:
        step = largest_step(near.pairs, x, move, step)
    return near, step


@kernel
def moved_safely(
    problem: FoldingProblem, near: NearbyPairs, x: Floats, move: Floats
) -> tuple[NearbyPairs, Floats]:
    """Where a move ends that may be longer than the skin; it stops at what it meets."""
    skins = farthest(x + move, x) / problem.skin
    pieces = max(int(np.ceil(min(skins, MOST_SKINS))), 1)
    move = move * (min(1.0, MOST_SKINS / skins) if skins > 0.0 else 0.0) / pieces
    for _ in range(pieces):
        near, step = safe_step_length(problem, near, x, move)
        x = x + step * move
        if step < 1.0:
            break
    return near, x


@kernel
def potential(
    problem: FoldingProblem, near: NearbyPairs, x: Floats, angles: Floats, load: Floats
) -> float:
    """Total potential, J: energies less the work of the load; inf where panels meet."""
    model = problem.model
    total = energies_at(model, near.pairs, problem.ke, x, angles).sum()
    for i in range(len(x)):
        for c in range(3):
            if model.unknown[i, c] >= 0:
                total -= load[model.unknown[i, c]] * (x[i, c] - model.rest[i, c])
    return float(total)


class Increment(NamedTuple):
    """What the next equilibrium is asked for.

    Attributes
    ----------
    angles : (h,) rest angles, rad
    load : (u,) N
    tolerance : on the unbalanced force, N
    most : linear solves at most
    """

    angles: Floats
    load: Floats
    tolerance: float
    most: int


class NewtonResult(NamedTuple):
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
    near: NearbyPairs
    energies: Floats
    residual: float
    iterations: int
    converged: bool
    factor: float


@kernel
def spread(model: BarHingeModel, u: Floats) -> Floats:
    """(n, 3) moves of the nodes from the unknowns u."""
    out = np.zeros_like(model.rest)
    for i in range(len(out)):
        for c in range(3):
            if model.unknown[i, c] >= 0:
                out[i, c] = u[model.unknown[i, c]]
    return out


@kernel
def norm(u: Floats) -> float:
    return float(np.sqrt(np.dot(u, u)))


@kernel
def full_newton(
    problem: FoldingProblem,
    near: NearbyPairs,
    x: Floats,
    asked: Increment,
    by_move: bool,
) -> NewtonResult:
    """Full Newton steps, as in [ZF19].

    Parameters
    ----------
    x : (n, 3) start, m
    by_move : whether the tolerance is on the last step, m, and not on the unbalanced
        force before it
    """
    angles, load, tolerance = asked.angles, asked.load, asked.tolerance
    system = assemble(problem.model, near.pairs, problem.ke, x, angles)
    residual, iterations, last = np.inf, 0, farthest(x, near.base)
    while iterations < asked.most:
        near = refreshed(problem, near, x, last)
        system = assemble(problem.model, near.pairs, problem.ke, x, angles)
        r = load - system.force
        residual = norm(r)
        factorise(system.values, system.start, system.first)
        solve(system.values, system.start, system.first, r)
        moved = x + spread(problem.model, r)
        last, x = farthest(moved, x), moved
        iterations += 1
        if by_move:
            residual = norm(r)
        if not residual > tolerance:
            break
    done = residual <= tolerance
    return NewtonResult(x, near, system.energies, residual, iterations, done, 1.0)


@kernel
def continuation_step(
    problem: FoldingProblem,
    near: NearbyPairs,
    x: Floats,
    asked: Increment,
    factor: float,
    first_change: float,
    along: Floats,
) -> NewtonResult:
    """Change load factor and displacement together until they are in equilibrium.

    The first step changes the factor by `first_change`; the others move at right
    angles to `along` (u,): dlam = -(along . u_r) / (along . u_p), with K u_p = load and
    K u_r = factor load - f. With the u_p of the start of the increment as `along` this
    is generalised displacement control (Yang and Shieh, AIAA J. 28, 1990), with the
    unit vector of one unknown displacement control (Batoz and Dhatt, IJNME 14, 1979).
    """
    angles, load, tolerance = asked.angles, asked.load, asked.tolerance
    residual, iterations, last = np.inf, 0, farthest(x, near.base)
    system = assemble(problem.model, near.pairs, problem.ke, x, angles)
    while iterations < asked.most:
        near = refreshed(problem, near, x, last)
        system = assemble(problem.model, near.pairs, problem.ke, x, angles)
        u_r, u_p = factor * load - system.force, load.copy()
        residual = norm(u_r)
        if iterations > 0 and residual <= tolerance:
            return NewtonResult(
                x, near, system.energies, residual, iterations, True, factor
            )
        values = system.values
        factorise(values, system.start, system.first)
        solve(values, system.start, system.first, u_r)
        solve(values, system.start, system.first, u_p)
        change = first_change
        if iterations > 0:
            change = -np.dot(along, u_r) / np.dot(along, u_p)
        move = spread(problem.model, change * u_p + u_r)
        near, step = safe_step_length(problem, near, x, move)
        x = x + step * move
        last = step * farthest(x + move, x)
        factor += step * change
        iterations += 1
    return NewtonResult(x, near, system.energies, residual, iterations, False, factor)


@kernel
def tangent_move(
    problem: FoldingProblem, near: NearbyPairs, x: Floats, angles: Floats, load: Floats
) -> Floats:
    """(u,) displacement that the load would make on the tangent at x."""
    system = assemble(problem.model, near.pairs, problem.ke, x, angles)
    factorise(system.values, system.start, system.first)
    out = load.copy()
    solve(system.values, system.start, system.first, out)
    return out


FULL_STEPS = 20  # full steps before the search on a line
ARMIJO = 1e-4  # share of the predicted decrease of energy that a step must bring
ROUNDING = 1e-13  # relative error of an energy
CONTRACTION = 0.5  # of a step that does not decrease the energy enough
SHORTEST = 1e-12  # step at which only rounding is left to decrease
MEMORY = 8  # energies among which a step must not be the highest
AWAY = 0.1  # of the skin: the step away from a saddle


@kernel
def minimise(
    problem: FoldingProblem,
    near: NearbyPairs,
    x: Floats,
    ahead: Floats,
    asked: Increment,
) -> NewtonResult:
    """A minimum of the total potential; x has none lower on the way to it.

    Parameters
    ----------
    x : (n, 3) start, m
    ahead : (n, 3) move that probably leads near it, zero where nothing is known, m
    """
    begin = potential(problem, near, x, asked.angles, asked.load)
    near, start = moved_safely(problem, near, x, ahead)
    plain, negative = _full_steps(problem, near, start, asked)
    at_rest = plain.residual <= asked.tolerance
    if at_rest and negative == 0:
        end = potential(problem, plain.near, plain.x, asked.angles, asked.load)
        if end <= begin + ROUNDING * abs(begin):
            return plain
        at_rest = False
    start = plain.x if at_rest else x
    return _line_search_descent(problem, plain.near, start, asked, plain.iterations)


@inlined
def _full_steps(
    problem: FoldingProblem, near: NearbyPairs, x: Floats, asked: Increment
) -> tuple[NewtonResult, int]:
    """Newton steps as long as nothing is touched; and the negative pivots at the end.

    They have converged where the residual is small enough, minimum or not.
    """
    angles, load, tolerance = asked.angles, asked.load, asked.tolerance
    near = refreshed(problem, near, x, farthest(x, near.base))
    system = assemble(problem.model, near.pairs, problem.ke, x, angles)
    residual, negative, most = np.inf, 0, min(FULL_STEPS, asked.most)
    for iteration in range(most):
        r = load - system.force
        residual = norm(r)
        p, negative = _inertia_corrected_step(system, r)
        if residual <= tolerance:
            done = NewtonResult(
                x, near, system.energies, residual, iteration, True, 1.0
            )
            return done, negative
        near, moved = moved_safely(problem, near, x, spread(problem.model, p))
        near, x = refreshed(problem, near, moved, farthest(moved, x)), moved
        system = assemble(problem.model, near.pairs, problem.ke, x, angles)
    return NewtonResult(x, near, system.energies, residual, most, False, 1.0), negative


@inlined
def _line_search_descent(
    problem: FoldingProblem,
    near: NearbyPairs,
    x: Floats,
    asked: Increment,
    made: int,
) -> NewtonResult:
    """Descend, each step no higher than the highest of the last few energies.

    made : iterations made before
    """
    angles, load, tolerance = asked.angles, asked.load, asked.tolerance
    recent = np.full(MEMORY, potential(problem, near, x, angles, load))
    near = refreshed(problem, near, x, farthest(x, near.base))
    system = assemble(problem.model, near.pairs, problem.ke, x, angles)
    residual = np.inf
    for iteration in range(made, asked.most):
        r = load - system.force
        residual = norm(r)
        p, negative = _inertia_corrected_step(system, r)
        if residual <= tolerance:
            if negative == 0:
                return NewtonResult(
                    x, near, system.energies, residual, iteration, True, 1.0
                )
            p = AWAY * problem.skin * _negative_curvature(system, r)
            recent[:] = potential(problem, near, x, angles, load)
        move = spread(problem.model, p)
        near, step = safe_step_length(problem, near, x, move)
        before, slope = x, min(-float(np.dot(r, p)), 0.0)
        limit = recent.max()
        limit += ROUNDING * abs(limit)
        x, recent[iteration % MEMORY] = _backtracked(
            problem, near, x, angles, load, move, step, limit, slope
        )
        near = refreshed(problem, near, x, farthest(x, before))
        system = assemble(problem.model, near.pairs, problem.ke, x, angles)
    return NewtonResult(x, near, system.energies, residual, asked.most, False, 1.0)


@inlined
def _backtracked(
    problem: FoldingProblem,
    near: NearbyPairs,
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
        if value <= limit + ARMIJO * step * slope or step < SHORTEST:
            return trial, value
        step *= CONTRACTION


@kernel
def _inertia_corrected_step(system: EquilibriumSystem, r: Floats) -> tuple[Floats, int]:
    """Solve (K + mu I) p = r with the smallest mu tried that makes all pivots positive.

    Returns p and the number of negative pivots of K itself.
    """
    diagonal, largest = system.start[1:] - 1, 0.0
    for row in diagonal:
        largest = max(largest, abs(system.values[row]))
    values = system.values.copy()
    negative, smallest = factorise(values, system.start, system.first)
    bad, mu = negative, 1e-9 * largest
    while bad > 0 or smallest < 1e-14 * largest:
        values = system.values.copy()
        for row in diagonal:
            values[row] += mu
        bad, smallest = factorise(values, system.start, system.first)
        mu *= 8.0
    p = r.copy()
    solve(values, system.start, system.first, p)
    return p, negative


@kernel
def _negative_curvature(system: EquilibriumSystem, r: Floats) -> Floats:
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
    z /= norm(z)
    return z if np.dot(z, r) >= 0.0 else -z
