"""The shape in which a rod comes to rest, and whether it is stable.

Backward Euler steps forget velocity:

    M (x1 - x0) / h^2 = F(x1) + contact forces

is a step of Newton's method on the equilibrium, held back by the mass as long as h is
short. h grows from step to step until F is in balance. Where that is a saddle, the rod
sets out along the motion that falls fastest, to either side, and goes on in steps so
short that M / h^2 + K is positive definite at their ends: each lowers the energy.

Loads that turn with the rod have no energy: their equilibrium may be unstable. A
fluid does nothing at rest.

`loaded_slowly` seeks each rest from the one at a smaller load. Where two are far apart
the load between them is halved, on the side of the longer way: the two draw near to
each other unless the rod snaps there, however little its load grows.

`falling_mode` says whether an equilibrium is a minimum of the energy, and else the way
down. With the contacts held as they are (sliding: their normal, sticking: both
coordinates), the matrix K + s M is positive definite exactly if no motion lowers the
energy faster than its shift s lets it: the inertia of the factor, Nocedal and Wright
(2006), 3.4. At a saddle the least shift that makes it so is that of the motion that
falls fastest.

Rods on rods couple nodes that no element does: then the matrix is dense. A contact of
gap g and force N adds - N times the second derivatives of g. Of a node at a
distance D from the inside of an edge of length l, with normal n and tangent t, they are

    d2g = -2 w u - D w^2       w = n . (dx_k - dx_j) / l, u = t . (dx_i - dx_there)

and of a node at a distance D from another u^2 / D.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from sim.rods.plane.actuation import actuate
from sim.rods.plane.block_factorisation import (
    BlockMatrix,
    dense,
    empty,
    factorise,
    solve_each,
)
from sim.rods.plane.contact_impulses import OPEN, STICK
from sim.rods.plane.elastic_energy import (
    Rates,
    add_mass,
    add_stiffness,
    join,
    room_for_limbs,
)
from sim.rods.plane.ground import GroundPlane, bend, gaps, surface
from sim.rods.plane.options import StepOptions, step_method
from sim.rods.plane.simulate import RodSimulator
from sim.rods.plane.state import RodState, RodStep, clear, copied
from sim.rods.plane.world import (
    Damping,
    DistributedLoad,
    FollowerForce,
    NodeLoad,
    World,
    end_edge,
)

NEUTRAL = 1e-6  # shift that no falling motion needs, over that of the outer forces
SAME = 1e-9  # of what contacts block, below which they say it twice
ITERATIONS = 60  # of the inverse iteration


class Falling(NamedTuple):
    """A motion from a saddle.

    Attributes
    ----------
    mode : (n, 2) its largest component is 1
    rate : 1/s, at which it grows
    """

    mode: Floats
    rate: float


Solve = Callable[[Floats], None]  # A^-1 r in place of r (P, n, 2)


def convex_matrix(
    loop: RodSimulator, shift: float, *, at_rest: bool = False
) -> Solve | None:
    """What solves with K + shift M where the loop is; None if not positive definite.

    At rest, where they are in balance, forces of contacts count where they turn.
    """
    model, state, rod = loop.model, loop.state, loop.world.rod
    matrix, actuated = empty(model.pattern), room_for_limbs(rod)
    actuate(state.clock.time, state.pulse, model.law, actuated)
    join(model.element, actuated)
    add_mass(model.pattern, matrix, rod.mass, model.held, shift)
    add_stiffness(
        state.x, model.element, actuated, Rates(1.0, 0.0), loop.state.strain,
        loop.work.predicted, model.pattern, 1.0, matrix,
    )  # fmt: skip
    if at_rest and len(state.pair) and state.pair[0, 2] != OPEN:
        return _dense_solver(loop, matrix)
    free = _hold_contacts(loop, matrix, at_rest=at_rest)
    if not factorise(model.pattern, matrix):
        return None

    def solve(r: Floats) -> None:
        own = np.einsum("nab,pnb->pna", free, r)
        solve_each(model.pattern, matrix, np.zeros_like(state.x), own)
        r[:] = np.einsum("nab,pna->pnb", free, own)

    return solve


def _dense_solver(loop: RodSimulator, matrix: BlockMatrix) -> Solve | None:
    """Likewise with contacts of edges, in the motions that all contacts let."""
    held = loop.model.held.ravel()
    curved, rows = _of_pairs(loop)
    for i in np.flatnonzero(loop.state.contact != OPEN).tolist():
        block, directions = _of_node(loop, i, at_rest=True)
        curved[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] += block
        for direction in directions:
            rows.append(np.zeros_like(loop.state.x))
            rows[-1][i] = direction
    blocked = np.array([row.ravel() for row in rows]) * ~held
    _, sizes, motions = np.linalg.svd(np.vstack([blocked, np.diag(held * 1.0)]))
    free = motions[np.count_nonzero(sizes > SAME * sizes[0]) :] * ~held
    reduced = free @ (dense(loop.model.pattern, matrix) + curved) @ free.T
    try:
        np.linalg.cholesky(reduced)
    except np.linalg.LinAlgError:
        return None

    def solve(r: Floats) -> None:
        own = free @ r.reshape(len(r), -1).T
        r[:] = (free.T @ np.linalg.solve(reduced, own)).T.reshape(r.shape)

    return solve


def _of_pairs(loop: RodSimulator) -> tuple[Floats, list[Floats]]:
    """What forces of the contacts of edges add (2n, 2n), and what they block (n, 2)."""
    model, state, work = loop.model, loop.state, loop.work
    curved, rows, c = np.zeros((state.x.size, state.x.size)), [], 0
    for node, e, how in state.pair.tolist():
        if how == OPEN:
            break
        while (work.who[c], work.edge[c]) != (node, e):
            c += 1
        along, away = (_row(loop, c, direction) for direction in _axes(work.frame[c]))
        rows.append(away)
        if how == STICK and model.mu > 0.0:
            rows.append(along)
        if node >= 0:
            force = float(work.p[2 * c] / state.clock.last_step)
            curved += force * _turning(loop, c, along.ravel())
        c += 1
    return curved, rows


def _axes(frame: Floats) -> tuple[Floats, Floats]:
    """Tangent and normal of a contact."""
    return frame, np.array([-frame[1], frame[0]])


def _row(loop: RodSimulator, c: int, direction: Floats) -> Floats:
    """(n, 2) how a contact moves along a direction."""
    work, row = loop.work, np.zeros_like(loop.state.x)
    for a in range(work.node_count[c]):
        row[work.acts_on[c, a]] += work.weight[c, a] * direction
    return row


def _turning(loop: RodSimulator, c: int, u: Floats) -> Floats:
    """(2n, 2n) minus the second derivatives of the gap of a node with an edge, 1/m."""
    work, distance = loop.work, loop.model.touch.distance
    _, j, k = work.acts_on[c, :3]
    if not 0.0 < -work.weight[c, 2] < 1.0:
        return -np.outer(u, u) / distance
    length = np.linalg.norm(loop.state.x[k] - loop.state.x[j])
    row = np.zeros_like(loop.state.x)
    row[k] = _axes(work.frame[c])[1] / length
    row[j] = -row[k]
    w = row.ravel()
    return np.outer(w, u) + np.outer(u, w) + distance * np.outer(w, w)


def _hold_contacts(loop: RodSimulator, matrix: BlockMatrix, *, at_rest: bool) -> Floats:
    """Let contacts move along the ground only, or not at all where they stick.

    Along ground of curvature k a contact of force N lowers or raises the rest by
    N k / 2 times the square of its way: a crest is no place to stay on. Returns (n, 2,
    2) the motions that are free, in which the matrix is written, zero for one that is
    blocked: a stiffness for it, on a slope, would leave no digits of the others.
    """
    pattern, n = loop.model.pattern, len(loop.state.x)
    node, free = np.argsort(pattern.place), np.tile(np.eye(2), (n, 1, 1))
    for i in np.flatnonzero(loop.state.contact != OPEN).tolist():
        block, directions = _of_node(loop, i, at_rest=at_rest)
        matrix.diagonal[pattern.place[i]] += block[[0, 0, 1], [0, 1, 1]]
        free[i] = 0.0
        if len(directions) == 1:
            free[i, 0] = [directions[0][1], -directions[0][0]]
    by_place, column = free[node], np.repeat(np.arange(n), np.diff(pattern.start))
    whole = matrix.diagonal[:, [0, 1, 1, 2]].reshape(-1, 2, 2)
    whole = by_place @ whole @ by_place.transpose(0, 2, 1)
    whole[:, [0, 1], [0, 1]] += ~np.any(by_place, axis=2)
    matrix.diagonal[:] = whole[:, [0, 0, 1], [0, 1, 1]]
    lower = by_place[pattern.row] @ matrix.lower.reshape(-1, 2, 2)
    lower = lower @ by_place[column].transpose(0, 2, 1)
    matrix.lower[:] = lower.reshape(-1, 4)
    return free


def _of_node(
    loop: RodSimulator, i: int, *, at_rest: bool
) -> tuple[Floats, list[Floats]]:
    """What the force of the ground on a node adds (2, 2), and what it blocks."""
    model, state = loop.model, loop.state
    slope = surface(model.relief, state.x[i, 0])[1]
    n = np.array([-slope, 1.0]) / np.hypot(1.0, slope)
    if state.contact[i] == STICK and model.mu > 0.0:
        return np.zeros((2, 2)), [np.array([1.0, 0.0]), np.array([0.0, 1.0])]
    if not at_rest:
        return np.zeros((2, 2)), [n]
    curved = bend(model.relief, state.x[i, 0]) / np.hypot(1.0, slope) ** 3
    t = np.array([n[1], -n[0]])
    return float(loop.work.reaction[i] @ n) * curved * np.outer(t, t), [n]


def neutral(loop: RodSimulator, outer: float) -> float:
    """The shift, 1/s^2, up to which a motion neither falls nor resists."""
    size = float(np.ptp(loop.state.x, axis=0).max())
    return NEUTRAL * outer / (float(loop.world.rod.mass.sum()) * size)


def falling_mode(loop: RodSimulator, outer: float) -> Falling | None:
    """The motion that falls fastest from an equilibrium of the loop; none at a minimum.

    Parameters
    ----------
    outer : N, sum of the outer forces
    """
    rod, shift = loop.world.rod, neutral(loop, outer)
    factor = convex_matrix(loop, shift, at_rest=True)
    if factor is not None:
        return None
    while factor is None:
        shift *= 2.0
        factor = convex_matrix(loop, shift, at_rest=True)
    mode = np.random.default_rng(0).standard_normal((1, *loop.state.x.shape))
    for _ in range(ITERATIONS):
        mode = mode * rod.mass[:, None]
        factor(mode)
        mode /= np.abs(mode).max()
    return Falling(mode[0], float(np.sqrt(shift)))


GROWTH = 2.0
FIRST, SHORTEST, LONGEST = 2e-3, 2e-9, 1e4  # s
SAFE = 1.4  # times a step for which the matrix must be positive definite at its start
TOLERANCE, CONTACT_TOLERANCE = (
    1e-13,
    1e-11,
)  # m; what contacts that say the same twice round off
SHORT, STALLED = 2e-4, 0.9  # s; of the force of the step before
EASY = 6  # iterations of a step after which a longer one is tried
CREEP = 1e-7  # of the outer forces, by which rods on rods may give way
DEEP = 0.1  # of the shortest edge, in the ground, on the way to rest
SLID = 1e-7  # of it, by which curved ground may be slid along in a step at rest
PUSH = 1e-3  # from a saddle, as a fraction of the rod's size
SADDLES = 8  # one after the other
RELEASE_TOLERANCE = 1e-12  # of the outer forces, of a rest that is let go
FAR, HALVINGS = 0.01, 20  # of the rod's size, between two rests; of a load step


def solve_static(
    world: World, *, tolerance: float = 1e-9, max_steps: int = 1000,
    minimum: bool = True, share: float = 1.0, start: Floats | None = None,
) -> RodStep:  # fmt: skip
    """The equilibrium that the rod of `world` sinks to from its start.

    Parameters
    ----------
    tolerance : on the unbalanced force of any node, as a fraction of all outer forces;
        1e-7 at least where rods lie on rods and it stays
    minimum : whether to leave saddles; else the first equilibrium is returned
    share : of weight and loads
    start : (n, 2) m, nodes at first; None: as the rod has them

    Raises
    ------
    ValueError
        for `edge_contact` with arcs, whose rests may be saddles, for ends that
        turn, and loads for a time; unless `minimum` is false, for loads that turn.
    """
    refuse_what_has_no_rest(world, minimum=minimum)
    found = TOLERANCE if world.edge_contact is None else CONTACT_TOLERANCE
    options = StepOptions(tolerance=found, residual=tolerance, reuse=0.0, h=FIRST)
    loop = RodSimulator(
        replace(world, damping=Damping(beta=0.0), fluid=None), options, None
    )
    loop.method = step_method(options, world, gamma=1.0)
    outer = float(world.rod.mass.sum() * np.linalg.norm(world.gravity))
    if world.load is not None:
        outer += float(np.linalg.norm(world.load.force) * len(world.load.nodes))
    for load in world.distributed_loads:
        size = np.linalg.norm(load.force) + np.hypot(load.along, load.across)
        outer += float(size * world.rod.rest_length[load.edges].sum())
    for follower in world.follower_forces:
        arm = float(world.rod.rest_length[end_edge(world.rod, follower.node)])
        outer += float(np.hypot(follower.along, follower.across))
        outer += abs(follower.moment) / arm
    for loads in (loop.model.gravity, loop.model.load, loop.model.along.force):
        loads *= share
    if start is not None:
        loop.state.x[:] = start
    at = _Equilibrium(loop, tolerance, share * outer, max_steps, minimum)
    at.relax()
    for _ in range(SADDLES):
        falling = falling_mode(loop, at.outer) if minimum else None
        if falling is None:
            return at.result()
        at.escape_saddle(falling)
    raise at.failure()


def loaded_slowly(
    world: World, count: int, *, minimum: bool = True
) -> Iterator[RodStep]:
    """Yield rests at shares 1/count, ..., 1 of all loads, and where the rod snapped.

    A share below 1 at which no rest is found is left out.
    """

    def rest(share: float, start: Floats) -> RodStep | None:
        try:
            return solve_static(world, minimum=minimum, share=share, start=start)
        except NotConvergedError:
            if share == 1.0:
                raise
            return None

    def way(end: RodStep) -> float:
        return float(np.abs(end.x - x).max())

    x, low = world.rod.nodes, 0.0
    far, snaps = FAR * float(np.ptp(x, axis=0).max()), list[float]()
    for s in range(1, count + 1):
        share = high = s / count
        if (end := rest(share, x)) is None:
            continue
        there = end
        for _ in range(HALVINGS):
            middle = rest(0.5 * (low + high), x) if way(there) > far else None
            if middle is None:
                break
            if way(middle) > 0.5 * way(there):
                high, there = 0.5 * (low + high), middle
            else:
                low, x = 0.5 * (low + high), middle.x
        else:
            snaps.append(high)
        low, x = share, end.x
        yield replace(end, step=s, share=share, snaps=tuple(snaps))


def refuse_what_has_no_rest(world: World, *, minimum: bool) -> None:
    """A ValueError for what works in motions only."""
    if world.edge_contact is not None and world.edge_contact.arcs:
        raise ValueError(
            "edge contact: arcs=true works in motions only: set it to false"
        )
    if world.turning or world.driven:
        raise ValueError(
            "`turns` and `moves` work in motions only: run a motion until it rests"
        )
    spread, followers = world.distributed_loads, world.follower_forces
    loads: list[NodeLoad | DistributedLoad | FollowerForce] = [*spread, *followers]
    for load in [*loads, world.load] if world.load else loads:
        if (load.start, load.duration) != (0.0, np.inf):
            raise ValueError(
                f"a load acts from {load.start:g} s for {load.duration:g} s, but at "
                "rest loads act all the time: omit start and duration"
            )
    if minimum and (followers or any(load.along or load.across for load in spread)):
        raise ValueError(
            "follower loads have no energy to minimise: use minimum=False, or simulate "
            "a motion until it rests"
        )


@dataclass(eq=False)
class _Equilibrium:
    """The equilibria that a loop comes to."""

    loop: RodSimulator
    tolerance: float
    outer: float  # N
    steps: int
    falls: bool  # to the minimum whose valley it is in; else to any equilibrium

    @property
    def force_tolerance(self) -> float:
        """The tolerance of a force that stays: contacts of edges are a little soft."""
        in_contact = (self.loop.state.pair[:1, 2] != OPEN).any()
        return max(self.tolerance, CREEP) if in_contact else self.tolerance

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

    def relax(self, falling: Falling | None = None, side: float = 1.0) -> None:
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
            allowed = self.force_tolerance if stays else self.tolerance
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

    def escape_saddle(self, falling: Falling) -> None:
        """Leave a saddle for the lower of two equilibria."""
        start, ends = copied(self.loop.state), []
        for side in (1.0, -1.0):
            self.loop.state = copied(start)
            self.relax(falling, side)
            reaction = self.loop.work.reaction.copy()
            ends.append((self.potential(), side, self.loop.state, reaction))
        _, _, self.loop.state, self.loop.work.reaction[:] = min(ends)
        if self.loop.world.edge_contact is not None:
            self.relax()  # for the forces of its contacts

    def potential(self) -> float:
        """Energy of the rod and of its loads, J."""
        model, x = self.loop.model, self.loop.state.x
        energy = sum(self.loop.elastic()) - float(np.sum(x * model.load))
        energy -= float(self.loop.world.rod.mass @ (x @ model.gravity))
        along = model.along
        middle = np.sum(along.share[..., None] * x[along.ends], axis=1)
        return energy - float(np.sum(middle * along.force[:, :2]))

    def result(self) -> RodStep:
        """The record of the equilibrium: no time has passed on the way."""
        clock = self.loop.state.clock
        clock.time, clock.step = 0.0, 0
        return self.loop.record()

    def failure(self) -> NotConvergedError:
        return NotConvergedError(
            f"no equilibrium in {self.steps} steps: the residual is above "
            f"{self.tolerance:g} of the external forces; start closer, or fix parts "
            "that roll, slide or fall",
            best=self.loop.record(),
        )


def hung(world: World, load: NodeLoad) -> World:
    """The world at rest under a load that is then removed, to rounding."""
    if world.ground is not None:
        raise ValueError(
            "released_from: an equilibrium on a ground depends on the path: remove the "
            "ground, or start from the undeformed shape"
        )
    if world.distributed_loads or world.follower_forces:
        raise ValueError(
            "released_from: only weight and one load are supported: remove distributed "
            "and follower loads, or start from the undeformed shape"
        )
    loaded = replace(world, load=load, schedule=None)
    x = solve_static(loaded, tolerance=RELEASE_TOLERANCE).x
    return replace(world, rod=replace(world.rod, nodes=x), load=None)


def _same_pairs(before: RodState, after: RodState) -> bool:
    """Whether edges touch, and all that did before."""
    in_contact = (after.pair[:1, 2] != OPEN).any()
    return bool(in_contact) and np.array_equal(before.pair[:, :2], after.pair[:, :2])
