"""The equation of one step of a rod that moves in space, and its compiled iteration.

With unknown places at the end of a step of length h,

    2 M (dq - h v0) / h^2 + alpha M dq / h = F + load,     v1 = 2 dq / h - v0

where dq are moves of nodes and turns of edges. F is that of `energy_conserving_forces`,
or the mean of both ends with a viscous part (Newmark's rule, as in the plane). Newton's
matrix has half the Hessian, at the end or, of conserving forces, in the middle of the
step, of a rod whose elements are stiffer by 1 + 2 beta / h and whose natural strains
are moved so that its force there is that of the step. (Half a turn off, stretching
would stand in the way of bending: EA of it is far more than what bends.)

Newton's iteration of a step without tendons is compiled. Without contacts it is one
loop; with them Python asks for its parts one by one.

A turn of an edge that is taken at once lengthens it at second order, which stretching
answers by a force far above all others. The next move removes it, but as part of
Newton's matrix it would make that move a wrong one. With contacts, which bend rods
suddenly, the matrix therefore takes the strains that the last move foretold at first
order (Magisano, Leonetti and Garcea, CMAME 313, 2017), those of the start at first, and
leaves out pressure where it is not positive. What is balanced stays the same.

Loads of edges are spread along them or turn with them. With E the mean edge of a step
from a node to the other, of length l, N the sum of its d2 before and after, which is
across the plane of a rod that is in one, and B the direction of N x E, a node of the
share w feels

    w (F + f_t E + f_n l B) s / h    or    w (F + (f_t E + f_n l B) / l) s / h

where s is how long the load acts, so that what loads give is their forces' work, and a
rod in a plane feels what `plane.implicit_step` says. As the edge turns by dE / l and
carries N,

    d(l B) = n x dE,    dB = (n x dE - B t.dE) / l,    n = N / |N|,  t = E / l

of which Newton's matrix, being symmetric, has the mean with its transpose; how B turns
as the edge turns about itself is left to the iteration.
"""

import numpy as np

from sim.core.arrays import Floats
from sim.core.numba_kernels import kernel
from sim.linalg.multifrontal import factorise_fronts, solve_fronts
from sim.linalg.sparse_ldl import DROP, Factor
from sim.rods.fluid_drag import drag_in_fluid, drag_slopes
from sim.rods.plane.world import overlap
from sim.rods.space.assembled_system import edge_turn
from sim.rods.space.elastic_energy import OF_EDGE, add_elastic, strains_of_hinges
from sim.rods.space.energy_balance import largest_forces
from sim.rods.space.energy_conserving_forces import (
    add_forces_between,
    add_step_forces,
    effective_elements,
    fill_effective_elements,
    fill_frames,
    force_space,
)
from sim.rods.space.frames import (
    SpaceState,
    carry,
    edge_lengths,
    edge_tangents,
    moved_on,
    tangent,
    turning,
    turns,
    twists,
)
from sim.rods.space.rod import SpaceElements
from sim.rods.space.state import SpaceForces, SpaceTrial, SpaceWork
from sim.rods.space.tendon_hinge_friction import Dry
from sim.rods.space.world import SpaceWorld

INERTIAL = 1e-14  # of mass times length over h^2: rounding of inertial forces
ROUNDED = 1e-15  # of the farthest coordinate: moves that doubles do not hold
UNBALANCED = 1e-2  # of the largest force: what may be left where moves are rounding
LARGEST_TURN = 0.5  # of an edge in one iteration, or its stretch
SHIFT_GROWTH = 4.0  # of the inertia, by which Newton's matrix is shifted


@kernel
def _move(work: SpaceWork, state: SpaceState, change: Floats, share: float) -> None:
    """spare <- a state after a share of a change, but for its twists."""
    n = len(state.x)
    work.spare.x[:] = state.x + share * change[: 3 * n].reshape((n, 3))
    turn = share * change[3 * n :]
    carry(state.x, state.d, work.part.edges, work.spare.x, turn, work.spare.d)


@kernel
def _move_on(work: SpaceWork) -> None:
    """`at` goes on by `change`."""
    at, spare = work.at, work.spare
    _move(work, at, work.change, 1.0)
    at.x[:] = spare.x
    at.d[:] = spare.d
    twists(at.x, at.d, work.part.edges, work.part.bends, at.twist)


@kernel
def unbalance(work: SpaceWork, h: float, alpha: float, beta: float) -> float:
    """moves, inner, unbalanced <- those of a step that ends at `at`; damping, J."""
    n, moves = 3 * len(work.at.x), work.moves
    moves[:n] = (work.at.x - work.before.x).ravel()
    work.inner[:] = 0.0
    damped = add_forces_between(
        work.before, work.at, work.part, beta / h, work.spins, h, work.space,
        work.inner, moves[n:],
    )  # fmt: skip
    drag = alpha * work.inertia * moves / h
    inertial = 2.0 * work.inertia * (moves - h * work.v) / h**2
    work.unbalanced[:] = work.inner + work.pull - drag - inertial
    return float(damped)


@kernel
def renew(work: SpaceWork, h: float, alpha: float, beta: float, positive: bool) -> None:
    """L and pivot <- of Newton's matrix, along the middle of the step.

    Where it must be positive, strains are foretold ones, and inertia is made larger
    until it is.
    """
    before, at, part, more = work.before, work.at, work.part, 1.0 + 2.0 * beta / h
    middle = work.spare
    _move(work, before, work.moves, 0.5)
    middle.twist[:] = before.twist
    twists(middle.x, middle.d, part.edges, part.bends, middle.twist)
    share = 1.0, (beta / h - 0.5) / more, -0.5
    fill_effective_elements(part, (middle, before, at), share, more, work.soft)
    pressed = positive
    if positive:
        _use_predicted_strains(work, more, -np.inf)
    _take_slopes(work)
    k, heavier = len(work.entry), 1.0
    while heavier < np.inf:
        for i in range(len(work.free)):
            if work.free[i]:
                shift = work.inertia[i] * (2.0 / h**2 + alpha / h)
                work.values[k + work.number[i]] = heavier * shift
        factorise_fronts(work.fronts, work.values, DROP, work.L, work.pivot, False)
        if not positive or len(work.pivot) == 0 or work.pivot.min() >= 0.0:
            break
        if pressed:
            pressed = False
            _use_predicted_strains(work, more, 0.0)
            _take_slopes(work)
        else:
            heavier *= SHIFT_GROWTH


@kernel
def _take_slopes(work: SpaceWork) -> None:
    """values <- half the Hessian of effective elements, in the state `spare`."""
    add_elastic(work.spare, work.soft, work.change, work.of_edges, work.of_bends)
    work.values[: len(work.entry)] = 0.5 * work.entries[work.entry]


@kernel
def _use_predicted_strains(work: SpaceWork, more: float, least: float) -> None:
    """Give effective elements, in the state `spare`, predicted strains from least up.

    Parameters
    ----------
    more : by which they are stiffer
    """
    part, t = work.part, np.empty(3)
    for e in range(len(part.edges)):
        longer = tangent(work.spare.x, part.edges[e], t) / part.rest[e]
        longer -= max(work.predicted[e], least) / more
        work.soft.rest[e] = part.rest[e] * longer
        work.soft.stretching[e] = part.stretching[e] * more * longer


@kernel
def _predict_strains(work: SpaceWork, viscous: float) -> None:
    """predicted <- (e0 + e1) / 2 + viscous (e1 - e0), with e1 after `change`."""
    part, old, new = work.part, np.empty(3), np.empty(3)
    for e in range(len(part.edges)):
        tail, head = part.edges[e]
        before = tangent(work.before.x, part.edges[e], old)
        after = tangent(work.at.x, part.edges[e], new)
        along = size = 0.0
        for a in range(3):
            mean = before * old[a] + after * new[a]
            along += mean * (work.change[3 * head + a] - work.change[3 * tail + a])
            size += mean * mean
        e0 = before / part.rest[e] - 1.0
        e1 = (after + along / np.sqrt(size)) / part.rest[e] - 1.0
        work.predicted[e] = 0.5 * (e0 + e1) + viscous * (e1 - e0)


@kernel
def _solve(work: SpaceWork) -> None:
    """change <- that of an iteration."""
    b = work.unbalanced[work.free]
    work.change[:] = 0.0
    work.change[work.free] = solve_fronts(work.fronts, work.L, work.pivot, b)


@kernel
def begin(work: SpaceWork) -> None:
    """`at` <- the first guess, which is `change` from where the step begins."""
    work.at.x[:] = work.before.x
    work.at.d[:] = work.before.d
    work.at.twist[:] = work.before.twist
    fill_frames(work.before, work.part.edges, work.space.old, work.space.size[0])
    work.predicted[:] = work.space.size[0] / work.part.rest - 1.0
    _move_on(work)


@kernel
def _shorten(work: SpaceWork) -> float:
    """change <- as much of it as edges may turn; how far that is, m, or inf."""
    turned, size = edge_turn(work.at.x, work.part.edges, work.change), 0.0
    if not turned < np.inf:
        return float(np.inf)
    less = min(1.0, LARGEST_TURN / max(turned, 1e-300))
    for i in range(len(work.change)):
        work.change[i] *= less
        size = max(size, abs(work.change[i] * work.sizes[i]))
    return size


@kernel
def advance(work: SpaceWork, viscous: float) -> float:
    """Go on by `change`, or as much as edges may turn; how far, m, or inf."""
    size = _shorten(work)
    if size < np.inf:
        _predict_strains(work, viscous)
        _move_on(work)
    return size


@kernel
def balance(
    work: SpaceWork, h: float, damping: tuple[float, float],
    allowed: tuple[float, float, float], iterations: int,
) -> tuple[int, bool, float]:  # fmt: skip
    """Find the end of a step of h seconds from `change`, its first guess.

    Parameters
    ----------
    damping : alpha, beta
    allowed : tolerance of places, m, residual of forces, contraction with one matrix

    Returns
    -------
    iterations, whether they converged, and energy damped, J
    """
    (alpha, beta), (tolerance, residual, reuse) = damping, allowed
    begin(work)
    ready, small, before = False, False, np.inf
    for k in range(iterations):
        damped = unbalance(work, h, alpha, beta)
        if small:
            worst, _, force = largest_forces(
                work.free, work.sizes, work.unbalanced, work.inner, work.weight,
                work.none, work.none,
            )  # fmt: skip
            far = np.abs(work.before.x).max()
            least = INERTIAL * (far + work.reach) * work.heaviest / h**2
            least += ROUNDED * far * work.stiffest * (1.0 + beta / h)
            at_rounding = worst <= UNBALANCED * force and before <= ROUNDED * far
            if worst <= max(least, residual * force) or at_rounding:
                return k, True, damped
        if not ready:
            renew(work, h, alpha, beta, False)
            ready = True
        _solve(work)
        size = _shorten(work)
        if not size < np.inf:
            return k + 1, False, damped
        _move_on(work)
        small, ready, before = size <= tolerance, size <= reuse * before, size
    return iterations, False, np.inf


Ends = tuple[SpaceState, SpaceState]  # of a step


def _mean_frames(world: SpaceWorld, both: Ends) -> tuple[Floats, Floats, Floats]:
    """t and n (k, 3) of loaded edges, and their lengths (k,), m."""
    i, j = world.along.ends.T
    k, mean = world.along.edge, 0.5 * (both[0].x + both[1].x)
    edge, n = mean[j] - mean[i], np.zeros((len(k), 3))
    for state in both:
        n += np.cross(edge_tangents(state.x, world.rod.edges[k]), state.d[k])
    length = np.linalg.norm(edge, axis=1)
    return edge / length[:, None], n / np.linalg.norm(n, axis=1)[:, None], length


def _acts(world: SpaceWorld, time: float, h: float) -> Floats:
    """(k,) which part of a step from `time` each load acts."""
    return np.array([overlap(own, time, h) for own in world.along.window]) / h


def of_edges(world: SpaceWorld, both: Ends, time: float, h: float) -> Floats:
    """(3 n + m,) forces of a step of h seconds from `time`, N."""
    along, total = world.along, np.zeros_like(world.rod.nodes)
    t, n, length = _mean_frames(world, both)
    b = np.cross(n, t)
    b /= np.linalg.norm(b, axis=1, keepdims=True)
    size = (length**along.power)[:, None]
    turned = size * (along.force[:, 3:4] * t + along.force[:, 4:] * b)
    each = _acts(world, time, h)[:, None] * (along.force[:, :3] + turned)
    for a in range(2):
        np.add.at(total, along.ends[:, a], along.share[:, a, None] * each)
    return np.concatenate([total.ravel(), np.zeros(len(world.rod.edges))])


def slopes_of_edges(world: SpaceWorld, both: Ends, time: float, h: float) -> Floats:
    """(21 m,) lower triangles of edges: of minus their slope by the mean edge, N/m."""
    along, k = world.along, world.along.edge
    t, n, length = _mean_frames(world, both)
    b = np.cross(n, t)
    acts = _acts(world, time, h) * length ** (along.power - 1.0)
    f_t, f_n = (acts * along.force[:, 3:].T)[:, :, None, None]
    turned = (1.0 - along.power)[:, None, None] * t[:, None, :]
    slope = f_t * (np.eye(3) - t[:, :, None] * turned)
    slope -= f_n * (np.cross(n[:, None], np.eye(3)) + b[:, :, None] * turned)
    K = np.einsum("ka,b,kij->kaibj", along.share, [-1.0, 1.0], slope)
    backwards = along.ends[:, 0] != world.rod.edges[k, 0]
    K[backwards] = K[backwards][:, ::-1, :, ::-1]
    K = K.reshape(-1, OF_EDGE, OF_EDGE)
    r, c = np.tril_indices(OF_EDGE)
    total = np.zeros((len(world.rod.edges), len(r)))
    np.add.at(total, k, -0.5 * (K + K.swapaxes(1, 2))[:, r, c])
    return total.ravel()


def step_forces(
    world: SpaceWorld, trial: SpaceTrial, after: SpaceState, friction: Floats
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
    inertial = 2.0 * world.inertia * (moves - h * now.v) / h**2
    applied, dry = _tendon_forces(world, trial, after, moves, friction)
    if len(world.along.ends):
        applied += of_edges(world, (now.state, after), now.time, h)
    unbalanced = inner + applied + trial.pull - drag - inertial
    if world.fluid is not None:
        resistance = drag_in_fluid(world.rod, world.fluid, now.state.x, moves, h)
        unbalanced, damped = unbalanced + resistance, damped - float(resistance @ moves)
    return SpaceForces(inner, applied, unbalanced, moves, damped, dry=dry)


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
        loaded = part._replace(
            rest=part.rest * shorter,
            stretching=part.stretching * shorter,
            curvature=part.curvature - flown,
            hinge_rest=part.hinge_rest - viscous * slipped[0],
        )
        total -= 0.5 * system.elastic(state, loaded)[0]
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


def _tendon_forces(
    world: SpaceWorld,
    trial: SpaceTrial,
    after: SpaceState,
    moves: Floats,
    friction: Floats,
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
        dry = Dry(friction, rows, rows @ moves, places.law(trial.tension, states))
        total -= friction @ rows
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
    soft = effective_elements(part, (at, before, end), viscous, trial.conserving)
    values = system.elastic(at, soft)[1]
    if len(tension := trial.tension):
        if found.dry and world.dry:
            tension = world.dry.tension(tension, found.dry.force)
        of_tendons = world.system.of_tendons(at, tension)[1]
        values = np.concatenate([values, of_tendons])
    if world.fluid is not None:
        slopes = drag_slopes(world.rod, world.fluid, before.x, found.moves, h)
        values[: len(slopes)] += 2.0 * slopes
    if len(world.along.ends):
        slopes = slopes_of_edges(world, (before, end), trial.now.time, h)
        values[: len(slopes)] += slopes
    values = 0.5 * values[system.free_entries]
    shift = (world.inertia * (2.0 / h**2 + world.damping.alpha / h))[system.free]
    factor = system.factor(values, shift)
    while found.contact and factor.negative:
        shift *= SHIFT_GROWTH
        factor = system.factor(values, shift)
    return factor
