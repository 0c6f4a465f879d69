"""Where a rod in space rests: Newton's method that ends at minima.

The method is that of `sim.optimize`. Tendons with friction have the tension of the
start of a step.

`followed` follows a rod as its loads, supports or natural shape change.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from sim.core.arrays import Floats
from sim.core.options import Checked, Count, NotConvergedError, Positive
from sim.optimize.curvature import PositiveFactor, lowest_mode, positive_factor
from sim.optimize.newton import End, Step, Trial, halved, minimise
from sim.rods.space.assembled_system import SpaceLoads, SpaceSystem, edge_turn
from sim.rods.space.elastic_energy import energies
from sim.rods.space.frames import SpaceState, moved_on
from sim.rods.space.rod import SpaceRod

ROUNDING = 1e-14  # of forces, relative to EA
FARTHEST = 0.5  # turn of an edge, or its stretch, in one step
LEAST_STEP = 1e-6
FIRST_SHIFT = 1e-2  # of the bending stiffness of the whole rod, EI / L^4
CORRECTIONS = 3  # by the matrix of a step, before a shorter one is tried
LEAVING = 0.05  # turn of an edge when a saddle is left
SEED = 20_100_811


@dataclass(frozen=True)
class SpaceOptions(Checked):
    """When to stop.

    Parameters
    ----------
    tolerance : largest unbalanced force, of the largest load or support; moments over
        the length of an edge
    max_steps : of Newton's method
    stable : leave saddles
    """

    of: ClassVar[str] = "rest"
    tolerance: Positive = 1e-9
    max_steps: Count = 200
    stable: bool = True


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

    @property
    def x(self) -> Floats:
        """(n, 3) m, the nodes."""
        return self.state.x


class _State:
    """A state of a rod, with forces and Hessian once they are asked for.

    Attributes
    ----------
    tension : (q,) of each piece of the tendons, N
    """

    def __init__(self, system: SpaceSystem, state: SpaceState) -> None:
        self.system, self.state = system, state
        self.tension = system.tensions(state)

    @cached_property
    def linear(self) -> tuple[Floats, Floats]:
        """Unbalanced forces (3 n + m,), and the Hessian's entries."""
        return self.system.gradient(self.state, self.tension)

    @cached_property
    def positive(self) -> PositiveFactor:
        """By how much of the system's shift, too."""
        system, values = self.system, self.linear[1]
        return positive_factor(
            lambda shift: system.factor(values, shift * system.shift), FIRST_SHIFT
        )

    def unbalanced(self, tolerance: float) -> tuple[float, float]:
        """The largest force that is left, and what is allowed, N."""
        system, rod = self.system, self.system.rod
        by_length = np.abs(self.linear[0]) / system.sizes
        scale = max(
            system.loads.largest(rod),
            float(by_length[~system.free].max(initial=0.0)),
            float(rod.bending.max()) / rod.length**2,
        )
        allowed = tolerance * scale + ROUNDING * float(rod.stretching.max())
        return float(by_length[system.free].max(initial=0.0)), allowed


@dataclass(frozen=True)
class _RestProblem:
    """What `minimise` asks of a rod in space."""

    system: SpaceSystem
    options: SpaceOptions

    def is_balanced(self, at: _State) -> bool:
        residual, allowed = at.unbalanced(self.options.tolerance)
        return residual <= allowed

    def negative(self, at: _State) -> int:
        return at.positive.negative if self.options.stable else 0

    def escaped(self, at: _State) -> _State:
        """By a turn of LEAVING in a direction of negative curvature."""
        system = self.system
        factor, shift, _ = at.positive
        mode = lowest_mode(
            lambda v: factor.solve(shift * system.shift * v), system.count, SEED
        )
        step = _all(system, mode)
        step *= LEAVING / edge_turn(at.state.x, system.part.edges, step)
        return _State(system, system.moved(at.state, step))

    def steps(self, at: _State) -> Iterator[Step[_State]]:
        """Newton's step where its matrix is positive, a shorter one elsewhere.

        Turning an edge by u lengthens it by u^2 / 2. Where EA is large that raises the
        energy by far more than bending can lower it, so the way back, by the same
        matrix, belongs to the step (second-order correction, Nocedal and Wright sect.
        15.6).
        """
        system, g, tension = self.system, at.linear[0], at.tension
        edges, solve = system.part.edges, at.positive.factor.solve
        change = _all(system, -solve(g[system.free]))
        energy = system.energy(at.state, tension)

        def trials(share: float) -> Iterator[Trial[_State]]:
            here, by = at.state, share * change
            far = edge_turn(here.x, edges, by)
            for _ in range(1 + CORRECTIONS):
                there = system.moved(here, by)
                change_of_energy = system.energy(there, tension) - energy
                yield Trial(_State(system, there), change_of_energy)
                left = system.gradient(there, tension)[0][system.free]
                here, by = there, _all(system, -solve(left))
                if not edge_turn(here.x, edges, by) < far:
                    return

        turn = max(edge_turn(at.state.x, edges, change), 1e-300)
        rounding = 1e-12 * abs(energy) + 1e-15 * sum(energies(at.state, system.part))
        slope = min(float(g @ change), 0.0)
        shares = halved(min(1.0, FARTHEST / turn), LEAST_STEP)
        yield Step(trials, slope, rounding, shares)


def _all(system: SpaceSystem, of_free: Floats) -> Floats:
    """(3 n + m,) what is held does not change."""
    change = np.zeros(len(system.free))
    change[system.free] = of_free
    return change


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
        raise ValueError("rest: hinge friction works in motions only: set it to 0")
    system = SpaceSystem(rod, loads)
    first = _State(system, rod.state if start is None else start)
    *_, last = minimise(_RestProblem(system, options), first, options.max_steps)
    at = last.point
    found = SpaceRest(
        at.state, np.array(energies(at.state, system.part)),
        np.where(system.free, 0.0, at.linear[0]), at.tension,
        *at.unbalanced(options.tolerance), last.steps,
        at.positive.negative if last.balanced else 0,
    )  # fmt: skip
    if last.end is End.MINIMUM:
        return found
    raise NotConvergedError(
        f"rod: unbalanced force {found.residual:.2g} N exceeds {found.allowed:.2g} N "
        f"(negative eigenvalues: {found.negative}) after {found.steps} steps: use "
        "smaller load steps, or start closer to rest",
        best=found,
    )


SMALLEST = 2.0**-10  # of a load step


class SpaceSetting(NamedTuple):
    """A rod, what acts on it, and where its supports are.

    Attributes
    ----------
    moved : (n, 3) m, of held nodes from their start
    turned : (m,) rad, of held frames about their edges from their start
    """

    rod: SpaceRod
    loads: SpaceLoads
    moved: Floats
    turned: Floats


class SpaceStep(NamedTuple):
    """One rest on the way.

    Attributes
    ----------
    share : of the whole way
    """

    s: int
    share: float
    rest: SpaceRest


def settled(rod: SpaceRod, loads: SpaceLoads) -> SpaceSetting:
    """Supports stay where they are."""
    return SpaceSetting(rod, loads, np.zeros_like(rod.nodes), np.zeros(len(rod.edges)))


def followed(
    setting: Callable[[float], SpaceSetting],
    count: int,
    options: SpaceOptions | None = None,
) -> Iterator[SpaceStep]:
    """Yield rests at shares 0, 1/count, ..., 1 of the way.

    Parameters
    ----------
    setting : by the share of the way

    Raises
    ------
    NotConvergedError
        where no rest is found with a thousandth of a step
    """
    before = setting(0.0)
    state, at = before.rod.state, 0.0
    for s in range(count + 1):
        share = s / count
        step, found = share - at, None
        while found is None or at < share:  # by smaller steps where one is too large
            to = min(at + step, share) if step > 0.0 else share
            now = setting(to)
            moved, turned = now.moved - before.moved, now.turned - before.turned
            start = moved_on(state, now.rod.edges, now.rod.bends, moved, turned)
            try:
                found = rest(now.rod, now.loads, start, options)
            except NotConvergedError:
                step *= 0.5
                if step <= SMALLEST / count:
                    raise
                continue
            state, before, at = found.state, now, to
        yield SpaceStep(s, share, found)
