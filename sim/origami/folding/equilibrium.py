"""Newton iterations towards equilibrium, whole loops compiled.

full_newton        full steps, whatever the energy does, as in [ZF19]
continuation_step  load and displacement together, past limit points

`sim.origami.folding.minimum` has the iteration that ends at a minimum and passes
nothing.
"""

from typing import NamedTuple

import numpy as np

from sim.arrays import Floats
from sim.kernels import kernel
from sim.origami.folding.problem import (
    FoldingProblem,
    NearbyPairs,
    farthest,
    refreshed,
    safe_step_length,
)
from sim.origami.model.assembly import assemble
from sim.origami.model.model import BarHingeModel
from sim.origami.model.skyline import factorise, solve


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
    angles: Floats,
    load: Floats,
    tolerance: float,
    most: int,
    by_move: bool,
) -> NewtonResult:
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
    residual, system, iterations = (
        np.inf,
        assemble(problem.model, near.pairs, problem.ke, x, angles),
        0,
    )
    last = farthest(x, near.base)
    while iterations < most:
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
    angles: Floats,
    load: Floats,
    factor: float,
    first_change: float,
    along: Floats,
    tolerance: float,
    most: int,
) -> NewtonResult:
    """Change load factor and displacement together until they are in equilibrium.

    The first step changes the factor by `first_change`; the others move at right
    angles to `along` (u,): dlam = -(along . u_r) / (along . u_p), with K u_p = load and
    K u_r = factor load - f. With the u_p of the start of the increment as `along` this
    is generalised displacement control (Yang and Shieh, AIAA J. 28, 1990), with the
    unit vector of one unknown displacement control (Batoz and Dhatt, IJNME 14, 1979).
    """
    residual, iterations, last = np.inf, 0, farthest(x, near.base)
    system = assemble(problem.model, near.pairs, problem.ke, x, angles)
    while iterations < most:
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
