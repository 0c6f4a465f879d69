"""Where a rod in space rests: Newton's method that ends at minima.

A step solves the Hessian of the energy, shifted until its factor has no negative pivot,
and is shortened until the energy falls (Nocedal and Wright 2006, sects. 3.1, 3.4). From
a saddle the rod leaves along a direction of negative curvature. Moments of fixed
direction have no energy: the work that they do in a step stands in its place, and the
matrix is not symmetric, so that such a rest is balanced but not proven stable.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import splu

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.limits import refuse_unless_count, refuse_unless_positive
from sim.linear.sparse import Factor
from sim.rod.space.elastic import energies
from sim.rod.space.frames import SpaceState
from sim.rod.space.loads import SpaceLoads, moment_forces
from sim.rod.space.space_rod import SpaceRod
from sim.rod.space.system import SpaceSystem

ROUNDING = 1e-14  # of forces, relative to EA
FARTHEST = 0.5  # turn of an edge, or its stretch, in one step
FIRST_SHIFT, HARDER = 1e-2, 4.0  # of the bending stiffness of the whole rod, EI / L^4
LEAST_STEP = 1e-6
CORRECTIONS = 3  # by the matrix of a step, before a shorter one is tried
LEAVING = 0.05  # turn of an edge when a saddle is left
SEED = 20_100_811


@dataclass(frozen=True)
class SpaceOptions:
    """When to stop.

    Parameters
    ----------
    tolerance : largest unbalanced force, of the largest load or support; moments over
        the length of an edge
    max_steps : of Newton's method
    stable : leave saddles
    """

    tolerance: float = 1e-9
    max_steps: int = 200
    stable: bool = True

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "tolerance", of="rest")
        refuse_unless_count(self, "max_steps", of="rest")


class SpaceRest(NamedTuple):
    """A rod at rest.

    Attributes
    ----------
    energy : (3,) of stretching, bending and twisting, J
    reaction : (3 n + m,) of supports, N and N m; 0 where nothing is held
    tension : (q,) of each piece of the tendons, N
    residual, allowed : largest unbalanced force and what was allowed, N
    steps : of Newton's method
    negative : pivots of the symmetric part below zero; 0: stable
    """

    state: SpaceState
    energy: Floats
    reaction: Floats
    tension: Floats
    residual: float
    allowed: float
    steps: int
    negative: int


class _Step(NamedTuple):
    """A change of all unknowns (3 n + m,), and how its matrix is solved.

    Attributes
    ----------
    solve : of (f,) for the free unknowns
    """

    change: Floats
    solve: Callable[[Floats], Floats]


def _positive(system: SpaceSystem, values: Floats) -> tuple[Factor, Floats]:
    """A factor without negative pivots, and the shift (f,) that it took."""
    d, shift = system.shift, 0.0
    factor = system.factor(values, 0.0 * d)
    while factor.negative or len(factor.dropped):
        shift = max(FIRST_SHIFT, HARDER * shift)
        factor = system.factor(values, shift * d)
    return factor, shift * d


def _newton(system: SpaceSystem, state: SpaceState, g: Floats, values: Floats) -> _Step:
    """Newton's step where its matrix is positive, a shorter one elsewhere."""
    factor, shift = _positive(system, values)
    solve: Callable[[Floats], Floats] = factor.solve
    if system.loads.turning:
        solve = splu(system.turned(state, values, shift).tocsc()).solve
    return _Step(_all(system, -solve(g[system.free])), solve)


def _all(system: SpaceSystem, of_free: Floats) -> Floats:
    """(3 n + m,) what is held does not change."""
    change = np.zeros(len(system.free))
    change[system.free] = of_free
    return change


def _left(system: SpaceSystem, state: SpaceState, values: Floats) -> SpaceState:
    """Off a saddle, by a turn of LEAVING in a direction of negative curvature."""
    factor, shift = _positive(system, values)
    v = np.random.default_rng(SEED).standard_normal(system.count)
    for _ in range(30):  # inverse iteration
        v = factor.solve(shift * v)
        v /= np.linalg.norm(v)
    step = _all(system, v)
    return system.moved(state, step * (LEAVING / system.largest_turn(state, step)))


def _work(
    system: SpaceSystem, before: SpaceState, after: SpaceState, by: Floats
) -> float:
    """Of moments of fixed direction, J, along a step."""
    if not system.loads.turning:
        return 0.0
    forces = [
        moment_forces(system.rod, state, system.loads.moment)
        for state in (before, after)
    ]
    return float(0.5 * (forces[0] + forces[1]) @ by)


def _searched(
    system: SpaceSystem, state: SpaceState, step: _Step, g: Floats, tension: Floats
) -> SpaceState | None:
    """The first state along a step, ever shorter, at which the energy has fallen.

    Turning an edge by u lengthens it by u^2 / 2. Where EA is large that raises the
    energy by far more than bending can lower it, so the way back, by the same matrix,
    belongs to the step (second-order correction, Nocedal and Wright sect. 15.6).
    """
    first = system.energy(state, tension)
    share = min(1.0, FARTHEST / max(system.largest_turn(state, step.change), 1e-300))
    rounding = 1e-12 * abs(first) + 1e-15 * sum(energies(state, system.part))
    slope = min(float(g @ step.change), 0.0)
    while share > LEAST_STEP:
        here, by, work = state, share * step.change, 0.0
        far = system.largest_turn(state, by)
        for _ in range(1 + CORRECTIONS):
            trial = system.moved(here, by)
            work += _work(system, here, trial, by)
            fallen = system.energy(trial, tension) - first - work
            if fallen <= 1e-4 * share * slope + rounding:
                return trial
            left = system.gradient(trial, tension)[0][system.free]
            here, by = trial, _all(system, -step.solve(left))
            if not system.largest_turn(here, by) < far:
                break
        share *= 0.5
    return None


def rest(
    rod: SpaceRod,
    loads: SpaceLoads,
    start: SpaceState | None = None,
    options: SpaceOptions | None = None,
) -> SpaceRest:
    """Equilibrium near a start.

    Raises
    ------
    NotConvergedError
        with the SpaceRest that was reached, where the tolerance is not met
    """
    options = options or SpaceOptions()
    if rod.hinge_friction.any():
        raise ValueError("rest: friction of hinges is of motions: set it to 0")
    system = SpaceSystem(rod, loads)
    state = rod.state if start is None else start
    lost = any(t.friction > 0.0 for t in loads.tendons)
    tension = system.tensions(state)
    for steps in range(options.max_steps + 1):
        g, values = system.gradient(state, tension)
        found = _seen(system, state, g, values, tension, steps, options)
        balanced = found.residual <= found.allowed
        if balanced and lost:
            now = system.tensions(state)
            if np.abs(now - tension).max() > options.tolerance * now.max():
                tension = now
                continue
        if balanced and (found.negative == 0 or not options.stable or loads.turning):
            return found
        if balanced:
            state = _left(system, state, values)
            continue
        step = _newton(system, state, g, values)
        after = _searched(system, state, step, g, tension)
        if after is None:
            break
        state = after
        if lost:
            tension = system.tensions(state)
    raise NotConvergedError(
        f"rod: unbalanced force {found.residual:.2g} N, allowed {found.allowed:.2g} N, "
        f"{found.negative} negative pivots after {found.steps} steps: smaller load "
        "steps, or a start closer to rest",
        best=found,
    )


def _seen(
    system: SpaceSystem, state: SpaceState, g: Floats, values: Floats, tension: Floats,
    steps: int, options: SpaceOptions,
) -> SpaceRest:  # fmt: skip
    """What a state is."""
    rod = system.rod
    by_length = np.abs(g) / system.sizes
    residual = float(by_length[system.free].max(initial=0.0))
    scale = max(
        system.loads.largest(rod),
        float(by_length[~system.free].max(initial=0.0)),
        float(rod.bending.max()) / rod.length**2,
    )
    allowed = options.tolerance * scale + ROUNDING * float(rod.stretching.max())
    negative = 0
    if residual <= allowed:
        negative = system.factor(values, np.zeros(system.count)).negative
    return SpaceRest(
        state, np.array(energies(state, system.part)), np.where(system.free, 0.0, g),
        tension, residual, allowed, steps, negative,
    )  # fmt: skip
