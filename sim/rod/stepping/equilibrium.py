"""The shape in which a rod comes to rest: backward Euler steps that forget velocity.

    M (x1 - x0) / h^2 = F(x1) + contact forces

is a step of Newton's method on the equilibrium, held back by the mass as long as h is
short. h grows from step to step until F is in balance. Where that is a saddle, the rod
is pushed along the motion that falls fastest, to either side, and goes on in steps so
short that M / h^2 + K is positive definite at their ends: each lowers the energy.

Loads that turn with the rod have no energy: what balances them is told as it is. A
fluid does nothing at rest.
"""

from dataclasses import dataclass, replace

import numpy as np

from sim.convergence import NotConvergedError
from sim.rod.contact.coulomb import OPEN
from sim.rod.contact.ground import GroundPlane, gaps
from sim.rod.energy.blocks import empty, factorise, solve_each
from sim.rod.energy.elastic import Rates, gradients, passive, unstrained
from sim.rod.energy.stiffness import add_mass, add_stiffness
from sim.rod.stepping.inputs import scheme_of
from sim.rod.stepping.minima import Falling, convex_matrix, falling_mode, neutral
from sim.rod.stepping.options import StepOptions
from sim.rod.stepping.simulate import Loop
from sim.rod.stepping.state import RodState, clear, copied
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.surroundings import DistributedLoad, FollowerForce
from sim.rod.stepping.world import Damping, NodeLoad, World

GROWTH = 2.0
FIRST, SHORTEST, LONGEST = 2e-3, 2e-9, 1e4  # s
SAFE = 1.4  # times a step for which the matrix must be positive definite at its start
TOLERANCE, TOUCHING = 1e-13, 1e-11  # m; what contacts that say the same twice round off
SHORT, STALLED = 2e-4, 0.9  # s; of the force of the step before
EASY = 6  # iterations of a step after which a longer one is tried
CREEP = 1e-7  # of the outer forces, by which rods on rods may give way
DEEP = 0.1  # of the shortest edge, in the ground, on the way to rest
SLID = 1e-7  # of it, by which curved ground may be slid along in a step at rest
PUSH = 1e-3  # from a saddle, as a fraction of the rod's size
SADDLES = 8  # one after the other
POLISH = 4  # Newton steps after which an equilibrium is one to rounding


def settle(
    world: World,
    *,
    tolerance: float = 1e-9,
    max_steps: int = 400,
    minimum: bool = True,
) -> RodStep:
    """The equilibrium that the rod of `world` sinks to from its start.

    Parameters
    ----------
    tolerance : on the unbalanced force of any node, as a fraction of all outer forces;
        1e-7 at least where rods lie on rods and it stays
    minimum : whether to leave saddles; else the first equilibrium is told

    Raises
    ------
    ValueError
        for `touching` with arcs, whose rests are not told from saddles, for ends that
        turn, and loads for a time; unless `minimum` is false, for loads that turn.
    """
    _refuse_what_has_no_rest(world, minimum=minimum)
    found = TOLERANCE if world.touching is None else TOUCHING
    options = StepOptions(tolerance=found, reuse=0.0, h=FIRST)
    loop = Loop(replace(world, damping=Damping(beta=0.0), fluid=None), options, None)
    loop.scheme = scheme_of(options, world, gamma=1.0)
    outer = float(world.rod.mass.sum() * np.linalg.norm(world.gravity))
    if world.load is not None:
        outer += float(np.linalg.norm(world.load.force) * len(world.load.nodes))
    for load in world.distributed_loads:
        size = np.linalg.norm(load.force) + np.hypot(load.along, load.across)
        outer += float(size * world.rod.rest_length[load.edges].sum())
    for follower in world.follower_forces:
        outer += float(np.hypot(follower.along, follower.across))
    at = _Equilibrium(loop, tolerance, outer, max_steps, minimum)
    at.sink()
    for _ in range(SADDLES):
        falling = falling_mode(loop, outer) if minimum else None
        if falling is None:
            return at.told()
        at.leave(falling)
    raise at.failure()


def _refuse_what_has_no_rest(world: World, *, minimum: bool) -> None:
    if world.touching is not None and world.touching.arcs:
        raise ValueError("touching: arcs are of motions: settle without them")
    if world.turning:
        raise ValueError("ends that turn are of motions: let them come to rest in one")
    spread, followers = world.distributed_loads, world.follower_forces
    loads: list[NodeLoad | DistributedLoad | FollowerForce] = [*spread, *followers]
    for load in [*loads, world.load] if world.load else loads:
        if (load.start, load.duration) != (0.0, np.inf):
            raise ValueError(
                f"a load acts from {load.start:g} s for {load.duration:g} s: at rest "
                "loads act all the time, leave out start and duration"
            )
    if minimum and (followers or any(load.along or load.across for load in spread)):
        raise ValueError(
            "loads that turn have no energy, whose minimum a rest would be: settle "
            "with minimum=False, or let the rod come to rest in a motion"
        )


@dataclass(eq=False)
class _Equilibrium:
    """The equilibria that a loop comes to."""

    loop: Loop
    tolerance: float
    outer: float  # N
    steps: int
    falls: bool  # to the minimum whose valley it is in; else to any equilibrium

    @property
    def creep(self) -> float:
        """The tolerance of a force that stays: contacts of edges are a little soft."""
        touching = (self.loop.state.pair[:1, 2] != OPEN).any()
        return max(self.tolerance, CREEP) if touching else self.tolerance

    def stays_in_valley(self, h: float) -> bool:
        """Whether a step of h from here, or to here, leaves no minimum for another."""
        if not self.falls:
            return True
        shift = max(1.0 / h**2, neutral(self.loop, self.outer))
        return convex_matrix(self.loop, shift) is not None

    def is_deep(self) -> bool:
        """Whether a step was too long for the curvature of its ground."""
        ground, rod = self.loop.world.ground, self.loop.world.rod
        if ground is None:
            return False
        deepest = -float(gaps(ground, self.loop.state.x).min())
        return deepest > DEEP * float(rod.rest_length.min())

    def slides(self, before: RodState) -> bool:
        """Whether a step went on along curved ground, whose normals are its start's."""
        world = self.loop.world
        if world.ground is None or isinstance(world.ground, GroundPlane):
            return False
        way = float(np.abs(self.loop.state.x - before.x).max())
        return way > SLID * float(world.rod.rest_length.min())

    def sink(self, falling: Falling | None = None, side: float = 1.0) -> None:
        """Go to rest, from a saddle along a motion if one is given."""
        loop, h, longest, last = self.loop, FIRST, LONGEST, np.inf
        mass, push = loop.world.rod.mass[:, None], np.zeros_like(loop.state.x)
        if falling is not None:
            h = 0.5 / falling.rate
            size = float(np.ptp(loop.state.x, axis=0).max())
            push = side * PUSH * size / h * falling.mode
        for _ in range(self.steps):
            while h > SHORTEST and not self.stays_in_valley(SAFE * h):
                h = 0.5 * h
            loop.state.v[:] = push
            loop.state.acceleration[:] = 0.0
            loop.options = replace(loop.options, h=h)
            clear(loop.state.clock)
            clear(loop.work.report)
            before = copied(loop.state)
            if not loop.steps(1, h):
                loop.state, h = before, 0.1 * h
                loop.state.pair[:] = 0  # its contacts are looked for anew
                if h < SHORTEST:
                    break
                continue
            deep = self.is_deep()
            if deep or not self.stays_in_valley(h):
                loop.state, h = before, 0.5 * h
                longest = h if deep else longest
                continue
            push = np.zeros_like(push)
            force = np.abs(mass * (loop.state.v - before.v)).max() / h
            stays = force > STALLED * last
            allowed = self.creep if stays else self.tolerance
            balanced = force <= allowed * self.outer
            if balanced and not self.slides(before):
                return
            if loop.work.report.substeps > 1 and _same_pairs(before, loop.state):
                h = longest = 0.5 * h  # contacts give way by h: equal steps rest
            elif loop.work.report.iterations <= EASY and not balanced:
                if h == longest and stays:  # too short to get there
                    longest *= GROWTH
                h = min(h * GROWTH, longest)
            last = force
            if longest < SHORT:  # contacts come by turns
                loop.state.pair[:], h, longest = 0, FIRST, LONGEST
        raise self.failure()

    def leave(self, falling: Falling) -> None:
        """Leave a saddle for the lower of two equilibria."""
        start, ends = copied(self.loop.state), []
        for side in (1.0, -1.0):
            self.loop.state = copied(start)
            self.sink(falling, side)
            reaction = self.loop.reaction.copy()
            ends.append((self.potential(), side, self.loop.state, reaction))
        _, _, self.loop.state, self.loop.reaction = min(ends)
        if self.loop.world.touching is not None:
            self.sink()  # for the forces of its contacts

    def potential(self) -> float:
        """Energy of the rod and of its loads, J."""
        world, x = self.loop.world, self.loop.state.x
        energy = sum(self.loop.elastic())
        energy -= float(world.rod.mass @ (x @ np.array(world.gravity)))
        if world.load is not None:
            energy -= float(np.sum(x[world.load.nodes] @ np.array(world.load.force)))
        for load in world.distributed_loads:
            middle = x[world.rod.edges[load.edges]].mean(axis=1)
            weight = world.rod.rest_length[load.edges]
            energy -= float(weight @ (middle @ np.array(load.force)))
        return energy

    def told(self) -> RodStep:
        """The record of the equilibrium: no time has passed on the way."""
        self.loop.state.clock.time = self.loop.state.clock.step = 0.0
        return self.loop.record()

    def failure(self) -> NotConvergedError:
        return NotConvergedError(
            f"no equilibrium to {self.tolerance:g} of the outer forces after "
            f"{self.steps} steps: start closer to it, or hold what rolls, slides "
            "or falls away",
            best=self.loop.record(),
        )


def hung(world: World, load: NodeLoad) -> World:
    """The world at rest under a load that is then gone, to rounding."""
    if world.ground is not None:
        raise ValueError(
            "released_from: where a rod settles on a ground depends on the way: "
            "leave the ground out, or start from the shape of the rod at rest"
        )
    if world.distributed_loads or world.follower_forces:
        raise ValueError(
            "released_from: a rod hangs by its weight and one load: leave out loads "
            "that are spread or turn, or start from the shape at rest"
        )
    x = settle(replace(world, load=load, schedule=None)).x
    setting = Loop(
        replace(world, load=None, schedule=None), StepOptions(), None
    ).setting
    pattern, element, free = setting.pattern, setting.element, ~setting.held
    matrix, actuated = empty(pattern), passive(world.rod)
    force = element.mass[:, None] * setting.gravity
    force[load.nodes] += load.force
    for _ in range(POLISH):
        matrix.diagonal[:], matrix.lower[:] = 0.0, 0.0
        add_mass(pattern, matrix, element.mass, setting.held, 0.0)
        add_stiffness(
            x, element, actuated, Rates(1.0, 0.0), unstrained(world.rod), pattern, 1.0,
            matrix,
        )  # fmt: skip
        factorise(pattern, matrix)
        slope, none = np.zeros_like(x), unstrained(world.rod)
        gradients(
            x, element, actuated, 0.0, none, unstrained(world.rod), slope,
            np.zeros_like(x),
        )  # fmt: skip
        move = ((force - slope) * free)[None]
        solve_each(pattern, matrix, np.zeros_like(x), move)
        x = x + move[0]
    return replace(world, rod=replace(world.rod, nodes=x), load=None)


def _same_pairs(before: RodState, after: RodState) -> bool:
    """Whether edges touch, and all that did before."""
    touching = (after.pair[:1, 2] != OPEN).any()
    return bool(touching) and np.array_equal(before.pair[:, :2], after.pair[:, :2])
