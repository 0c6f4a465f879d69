"""The equation of one step of a rod that moves in space.

With unknown places at the end of a step of length h,

    2 M (dq - h v0) / h^2 + alpha M dq / h = F + load,     v1 = 2 dq / h - v0

where dq are moves of nodes and turns of edges. F is that of `conserving_forces`, or the
mean of both ends with a viscous part (Newmark's rule, as in the plane). Newton's matrix
has half the Hessian, at the end or, of conserving forces, in the middle of the step, of
a rod whose elements are stiffer by 1 + 2 beta / h and whose natural strains are moved
so that its force there is that of the step. (Half a turn off, stretching would stand in
the way of bending: EA of it is far more than what bends.)
"""

import numpy as np

from sim.arrays import Floats
from sim.linear.sparse import Factor
from sim.rod.moving.balancing import HARDER
from sim.rod.moving.conserving_forces import add_step_forces, force_space
from sim.rod.moving.dry import Dry
from sim.rod.moving.edge_loads import of_edges, slopes_of_edges
from sim.rod.moving.soaked import drag as drag_in_fluid
from sim.rod.moving.soaked import drag_slopes
from sim.rod.moving.softened import softened_at_end, softened_midway
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.moving.trial import SpaceForces, SpaceTrial
from sim.rod.space.elements import SpaceElements
from sim.rod.space.frames import SpaceState, edge_lengths, moved_on, turning, turns
from sim.rod.space.hinges import strains_of_hinges
from sim.rod.space.space_rod import edge_tangents


def step_forces(
    world: SpaceWorld, trial: SpaceTrial, after: SpaceState, rubbing: Floats
) -> SpaceForces:
    """What acts in a step that ends in a state, with friction (r,) within."""
    now, h, n = trial.now, trial.h, world.rod.nodes.size
    moves = np.concatenate([(after.x - now.state.x).ravel(), np.empty(len(after.d))])
    damped = 0.0
    if trial.conserving:
        inner = np.zeros(len(moves))
        damped = add_step_forces(
            now.state, after, trial.part, world.damping.beta / h,
            world.rod.inertia, h, force_space(len(after.d)), inner, moves[n:],
        )  # fmt: skip
    else:
        moves[n:] = turns(now.state, after, world.rod.edges)
        inner, damped = _ends(world, trial, after)
        inner += _gyration(world, trial, after, moves[n:])
    drag = world.damping.alpha * world.inertia * moves / h
    pushed = 2.0 * world.inertia * (moves - h * now.v) / h**2
    drawn, dry = _drawn(world, trial, after, moves, rubbing)
    if len(world.along.ends):
        drawn += of_edges(world, (now.state, after), now.time, h)
    unbalanced = inner + drawn + trial.pull - drag - pushed
    if world.fluid is not None:
        soaked = drag_in_fluid(world, now.state.x, moves, h)
        unbalanced, damped = unbalanced + soaked, damped - float(soaked @ moves)
    return SpaceForces(inner, drawn, unbalanced, moves, damped, dry=dry)


def _ends(
    world: SpaceWorld, trial: SpaceTrial, after: SpaceState
) -> tuple[Floats, float]:
    """(3 n + m,) mean forces of both ends, by Newmark's rule; what damps, J.

    Its viscous part, beta / h k (e1 - e0), has the mean slope of both, and k as
    actuated at the end.
    """
    viscous, system = world.damping.beta / trial.h, world.system
    both, parts = (trial.now.state, after), (trial.earlier, trial.part)
    edges, bends = trial.part.edges, trial.part.bends
    turn = [turning(state, edges, bends) for state in both]
    size = [edge_lengths(state.x, edges) for state in both]
    slipped = np.diff([strains_of_hinges(state, trial.part) for state in both], axis=0)
    faster, longer = turn[1] - turn[0], (size[1] - size[0]) / trial.part.rest
    total = np.zeros(len(trial.now.v))
    for state, part in zip(both, parts, strict=True):
        shorter = 1.0 - viscous * longer * (trial.part.stretching / part.stretching)
        stiffer = _stiffness(trial.part) / _stiffness(part)
        flown = viscous * faster / part.voronoi[:, None] * stiffer
        pulled = part._replace(
            rest=part.rest * shorter,
            stretching=part.stretching * shorter,
            curvature=part.curvature - flown,
            hinge_rest=part.hinge_rest - viscous * slipped[0],
        )
        total -= 0.5 * system.elastic(state, pulled)[0]
    part = trial.part
    stiff = _stiffness(part) / part.voronoi[:, None]
    bent = np.sum(stiff * faster**2)
    stretched = np.sum(part.stretching * part.rest * longer**2)
    hinged = np.sum(part.hinge_stiffness * slipped[0] ** 2)
    return total, float(viscous * (bent + stretched + hinged))


def _stiffness(part: SpaceElements) -> Floats:
    """(b, 3) about d1, d2 and t, N m^2."""
    return np.column_stack([part.bending, part.twisting])


def _gyration(
    world: SpaceWorld, trial: SpaceTrial, after: SpaceState, turn: Floats
) -> Floats:
    """(3 n + m,) what turns the axes of spinning edges."""
    edges = world.rod.edges
    both = trial.now.state.x, after.x
    t = [edge_tangents(x, edges) for x in both]
    size = 0.5 * (edge_lengths(both[0], edges) + edge_lengths(both[1], edges))
    moment = -(world.rod.inertia * turn / trial.h**2)[:, None] * (t[1] - t[0])
    w = 0.5 * (t[0] + t[1])
    w /= np.sum(w * w, axis=1, keepdims=True)
    couple = np.cross(moment, w) / size[:, None]
    total = np.zeros_like(world.rod.nodes)
    np.add.at(total, edges[:, 1], couple)
    np.add.at(total, edges[:, 0], -couple)
    return np.concatenate([total.ravel(), np.zeros(len(edges))])


def _drawn(
    world: SpaceWorld,
    trial: SpaceTrial,
    after: SpaceState,
    moves: Floats,
    rubbing: Floats,
) -> tuple[Floats, Dry | None]:
    """(3 n + m,) what tendons and friction within do in a step, and that friction."""
    total, dry, system = np.zeros(len(moves)), None, world.system
    ends, places = (trial.now.state, after), world.dry
    if not len(trial.tension) and places is None:
        return total, dry
    states = (midway(world, trial, moves),) if trial.conserving else ends
    each = [system.of_tendons(state, trial.tension)[0] for state in states]
    slopes = np.mean(each, axis=0)
    total -= system.spread(slopes, trial.tension)
    if places is not None:
        rows = places.rows(slopes, ends, trial.conserving)
        dry = Dry(rubbing, rows, rows @ moves, places.law(trial.tension, states))
        total -= rubbing @ rows
    return total, dry


def midway(world: SpaceWorld, trial: SpaceTrial, moves: Floats) -> SpaceState:
    """The state in the middle of a step."""
    rod, n, half = world.rod, world.rod.nodes.size, 0.5 * moves
    move = half[:n].reshape(-1, 3)
    return moved_on(trial.now.state, rod.edges, rod.bends, move, half[n:])


def guessed(world: SpaceWorld, trial: SpaceTrial) -> Floats:
    """(3 n + m,) moves with the last acceleration, of supports where they go.

    With contacts, the mean velocity of the last step goes on: what they push rings,
    to and fro from step to step, and twice its velocity would be far within others.
    """
    now, h, rod = trial.now, trial.h, world.rod
    free, n = world.system.free, rod.nodes.size
    mean = 0.5 * h * (now.acceleration + now.drift * (h / now.last))
    if now.push.any():
        mean = -0.5 * now.last * (now.acceleration + now.push)
    moves = np.where(free, h * (now.v + mean), 0.0)
    if world.drive is not None:
        shift, spun = world.drive.moved(now.time, h)
        moves[:n] = np.where(rod.held, shift, moves[:n].reshape(-1, 3)).ravel()
        moves[n:] = np.where(rod.held_frames, spun, moves[n:])
    return moves


def newton_matrix(
    world: SpaceWorld, trial: SpaceTrial, at: SpaceState, found: SpaceForces
) -> Factor:
    """Newton's matrix, factorised: conserving forces act along the middle of a step.

    Contacts need it positive: where a guess presses edges it is shifted until it is.
    """
    system, h = world.system, trial.h
    before, part, viscous = trial.now.state, trial.part, world.damping.beta / h
    end = at
    if trial.conserving:
        at = midway(world, trial, found.moves)
        soft = softened_midway(part, (at, before, end), viscous)
    else:
        soft = softened_at_end(part, before, viscous)
    values = system.elastic(at, soft)[1]
    if len(tension := trial.tension):
        if found.dry and world.dry:
            tension = world.dry.tension(tension, found.dry.force)
        of_tendons = world.system.of_tendons(at, tension)[1]
        values = np.concatenate([values, of_tendons])
    if world.fluid is not None:
        slopes = drag_slopes(world, before.x, found.moves, h)
        values[: len(slopes)] += 2.0 * slopes
    if len(world.along.ends):
        slopes = slopes_of_edges(world, (before, end), trial.now.time, h)
        values[: len(slopes)] += slopes
    values = 0.5 * system.kept(values)
    shift = (world.inertia * (2.0 / h**2 + world.damping.alpha / h))[system.free]
    factor = system.factor(values, shift)
    while found.pushed and factor.negative:
        shift *= HARDER
        factor = system.factor(values, shift)
    return factor
