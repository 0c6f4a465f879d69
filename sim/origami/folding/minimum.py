"""Equilibrium as a minimum of the energy that is reached without touching anything.

Full Newton steps come first: stiff bars make the energy rise on the way round a bend
and fall again. If they do not arrive, or arrive higher than they set out, the search
starts again with a nonmonotone line search: Armijo's condition need not be met against
the last energy, only against the highest of the last few (Grippo, Lampariello and
Lucidi, SIAM J. Numer. Anal. 23, 1986). A saddle is left along its direction of negative
curvature. Where the stiffness K is not positive definite, K + mu I takes its place
(inertia correction: Nocedal and Wright, Numerical Optimization, 2006, sect. 3.4).
"""

import numpy as np

from sim.arrays import Floats
from sim.kernels import inlined, kernel
from sim.origami.folding.equilibrium import NewtonResult, norm, spread
from sim.origami.folding.problem import (
    FoldingProblem,
    NearbyPairs,
    farthest,
    moved_safely,
    potential,
    refreshed,
    safe_step_length,
)
from sim.origami.model.assembly import EquilibriumSystem, assemble
from sim.origami.model.skyline import back_substitute, factorise, solve

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
    angles: Floats,
    load: Floats,
    tolerance: float,
    most: int,
) -> NewtonResult:
    """A minimum of the total potential; x has none lower on the way to it.

    Parameters
    ----------
    x, angles, load : as in `newton`
    ahead : (n, 3) move that probably leads near it, zero where nothing is known, m
    tolerance : on the unbalanced force, N
    most : linear solves at most
    """
    begin = potential(problem, near, x, angles, load)
    near, start = moved_safely(problem, near, x, ahead)
    few = min(FULL_STEPS, most)
    plain, negative = _full_steps(problem, near, start, angles, load, tolerance, few)
    at_rest = plain.residual <= tolerance
    if at_rest and negative == 0:
        end = potential(problem, plain.near, plain.x, angles, load)
        if end <= begin + ROUNDING * abs(begin):
            return plain
        at_rest = False
    start = plain.x if at_rest else x
    near, left = plain.near, most - plain.iterations
    searched = _line_search_descent(problem, near, start, angles, load, tolerance, left)
    return NewtonResult(
        searched.x,
        searched.near,
        searched.energies,
        searched.residual,
        plain.iterations + searched.iterations,
        searched.converged,
        1.0,
    )


@inlined
def _full_steps(
    problem: FoldingProblem,
    near: NearbyPairs,
    x: Floats,
    angles: Floats,
    load: Floats,
    tolerance: float,
    most: int,
) -> tuple[NewtonResult, int]:
    """Newton steps as long as nothing is touched; and the negative pivots at the end.

    They have converged where the residual is small enough, minimum or not.
    """
    near = refreshed(problem, near, x, farthest(x, near.base))
    system = assemble(problem.model, near.pairs, problem.ke, x, angles)
    residual, negative = np.inf, 0
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
    angles: Floats,
    load: Floats,
    tolerance: float,
    most: int,
) -> NewtonResult:
    """Descend, each step no higher than the highest of the last few energies."""
    recent = np.full(MEMORY, potential(problem, near, x, angles, load))
    near = refreshed(problem, near, x, farthest(x, near.base))
    system = assemble(problem.model, near.pairs, problem.ke, x, angles)
    residual = np.inf
    for iteration in range(most):
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
    return NewtonResult(x, near, system.energies, residual, most, False, 1.0)


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
def _largest_diagonal(system: EquilibriumSystem) -> float:
    largest = 0.0
    for i in range(len(system.first)):
        largest = max(largest, abs(system.values[system.start[i + 1] - 1]))
    return largest


@kernel
def _inertia_corrected_step(system: EquilibriumSystem, r: Floats) -> tuple[Floats, int]:
    """Solve (K + mu I) p = r with the smallest mu tried that makes all pivots positive.

    Returns p and the number of negative pivots of K itself.
    """
    n = len(system.first)
    largest = _largest_diagonal(system)
    values = system.values.copy()
    negative, smallest = factorise(values, system.start, system.first)
    bad, mu = negative, 1e-9 * largest
    while bad > 0 or smallest < 1e-14 * largest:
        for k in range(len(values)):
            values[k] = system.values[k]
        for i in range(n):
            values[system.start[i + 1] - 1] += mu
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
