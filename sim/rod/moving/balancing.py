"""Newton's iteration of a step without tendons, compiled.

Without contacts it is one loop; with them Python asks for its parts one by one.

A turn of an edge that is taken at once lengthens it at second order, which stretching
answers by a force far above all others. It is gone with the next move, but would make
that move a wrong one, as part of Newton's matrix. With contacts, which bend rods
suddenly, the matrix therefore takes the strains that the last move foretold at first
order (Magisano, Leonetti and Garcea, CMAME 313, 2017), those of the start at first, and
leaves out pressure where it is not positive. What is balanced stays the same.
"""

import numpy as np

from sim.arrays import Floats
from sim.kernels import kernel
from sim.linear.fronts import factorise_fronts, solve_fronts
from sim.linear.sparse import DROP
from sim.rod.moving.conserving_forces import add_forces_between, fill_frames
from sim.rod.moving.softened import soften
from sim.rod.moving.tally import largest_forces
from sim.rod.moving.workspace import SpaceWork
from sim.rod.space.elastic import add_elastic
from sim.rod.space.frames import SpaceState, carry, tangent, twists
from sim.rod.space.system import edge_turn

INERTIAL = 1e-14  # of mass times length over h^2: rounding of inertial forces
ROUNDED = 1e-15  # of the farthest coordinate: moves that doubles do not hold
UNBALANCED = 1e-2  # of the largest force: what may be left where moves are rounding
LARGEST_TURN = 0.5  # of an edge in one iteration, or its stretch
HARDER = 4.0  # of the inertia, by which Newton's matrix is shifted
START, FORCES, MATRIX, ADVANCE = range(4)


@kernel
def _move(work: SpaceWork, state: SpaceState, change: Floats, share: float) -> None:
    """spare <- a state after a share of a change, but for its twists."""
    n = len(state.x)
    for i in range(n):
        for a in range(3):
            work.spare.x[i, a] = state.x[i, a] + share * change[3 * i + a]
    turn = share * change[3 * n :]
    carry(state.x, state.d, work.part.edges, work.spare.x, turn, work.spare.d)


@kernel
def _move_on(work: SpaceWork) -> None:
    """`at` goes on by `change`."""
    at, spare = work.at, work.spare
    _move(work, at, work.change, 1.0)
    for i in range(len(at.x)):
        for a in range(3):
            at.x[i, a] = spare.x[i, a]
    for e in range(len(at.d)):
        for a in range(3):
            at.d[e, a] = spare.d[e, a]
    twists(at.x, at.d, work.part.edges, work.part.bends, at.twist)


@kernel
def _unbalance(work: SpaceWork, h: float, alpha: float, beta: float) -> float:
    """moves, inner, unbalanced <- those of a step that ends at `at`; damping, J."""
    n, moves = 3 * len(work.at.x), work.moves
    for i in range(len(work.at.x)):
        for a in range(3):
            moves[3 * i + a] = work.at.x[i, a] - work.before.x[i, a]
    work.inner[:] = 0.0
    damped = add_forces_between(
        work.before, work.at, work.part, beta / h, work.spins, h, work.space,
        work.inner, moves[n:],
    )  # fmt: skip
    for i in range(len(moves)):
        drag = alpha * work.inertia[i] * moves[i] / h
        pushed = 2.0 * work.inertia[i] * (moves[i] - h * work.v[i]) / h**2
        work.unbalanced[i] = work.inner[i] + work.pull[i] - drag - pushed
    return float(damped)


@kernel
def _renew(
    work: SpaceWork, h: float, alpha: float, beta: float, positive: bool
) -> None:
    """L and pivot <- of Newton's matrix, along the middle of the step.

    Where it must be positive, strains are foretold ones, and inertia is made larger
    until it is.
    """
    before, at, part, more = work.before, work.at, work.part, 1.0 + 2.0 * beta / h
    middle = work.spare
    _move(work, before, work.moves, 0.5)
    for j in range(len(before.twist)):
        middle.twist[j] = before.twist[j]
    twists(middle.x, middle.d, part.edges, part.bends, middle.twist)
    share = 1.0, (beta / h - 0.5) / more, -0.5
    soften(part, (middle, before, at), share, more, work.soft)
    pressed = positive
    if positive:
        _stretch_as_told(work, more, -np.inf)
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
            _stretch_as_told(work, more, 0.0)
            _take_slopes(work)
        else:
            heavier *= HARDER


@kernel
def _take_slopes(work: SpaceWork) -> None:
    """values <- half the Hessian of softened elements, in the state `spare`."""
    add_elastic(work.spare, work.soft, work.change, work.of_edges, work.of_bends)
    for i in range(len(work.entry)):
        work.values[i] = 0.5 * work.entries[work.entry[i]]


@kernel
def _stretch_as_told(work: SpaceWork, more: float, least: float) -> None:
    """Softened elements in the state `spare` pull by the strains told, from least up.

    Parameters
    ----------
    more : by which they are stiffer
    """
    part, t = work.part, np.empty(3)
    for e in range(len(part.edges)):
        longer = tangent(work.spare.x, part.edges[e], t) / part.rest[e]
        longer -= max(work.told[e], least) / more
        work.soft.rest[e] = part.rest[e] * longer
        work.soft.stretching[e] = part.stretching[e] * more * longer


@kernel
def _foretell(work: SpaceWork, viscous: float) -> None:
    """told <- (e0 + e1) / 2 + viscous (e1 - e0), with e1 as `change` will make it."""
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
        work.told[e] = 0.5 * (e0 + e1) + viscous * (e1 - e0)


@kernel
def _solve(work: SpaceWork) -> None:
    """change <- that of an iteration."""
    b = np.empty(len(work.pivot))
    for i in range(len(work.free)):
        if work.free[i]:
            b[work.number[i]] = work.unbalanced[i]
    x = solve_fronts(work.fronts, work.L, work.pivot, b)
    for i in range(len(work.free)):
        work.change[i] = x[work.number[i]] if work.free[i] else 0.0


@kernel
def _start(work: SpaceWork) -> None:
    """`at` <- the first guess, which is `change` from where the step begins."""
    for own, given in ((work.at.x, work.before.x), (work.at.d, work.before.d)):
        for i in range(len(own)):
            for a in range(3):
                own[i, a] = given[i, a]
    for j in range(len(work.at.twist)):
        work.at.twist[j] = work.before.twist[j]
    fill_frames(work.before, work.part.edges, work.space.old, work.space.size[0])
    for e in range(len(work.told)):
        work.told[e] = work.space.size[0, e] / work.part.rest[e] - 1.0
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
def stage(work: SpaceWork, what: int, h: float, damping: tuple[float, float]) -> float:
    """One part of an iteration: START, FORCES, MATRIX or ADVANCE."""
    alpha, beta = damping
    if what == FORCES:
        return _unbalance(work, h, alpha, beta)
    if what == ADVANCE:
        size = _shorten(work)
        if size < np.inf:
            _foretell(work, beta / h)
            _move_on(work)
        return size
    if what == START:
        _start(work)
    else:
        _renew(work, h, alpha, beta, True)
    return 0.0


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
    _start(work)
    ready, small, before = False, False, np.inf
    for k in range(iterations):
        damped = _unbalance(work, h, alpha, beta)
        if small:
            worst, _, force = largest_forces(
                work.free, work.sizes, work.unbalanced, work.inner, work.weight,
                work.none, work.none,
            )  # fmt: skip
            far = np.abs(work.before.x).max()
            least = INERTIAL * (far + work.reach) * work.heaviest / h**2
            at_rounding = worst <= UNBALANCED * force and before <= ROUNDED * far
            if worst <= max(least, residual * force) or at_rounding:
                return k, True, damped
        if not ready:
            _renew(work, h, alpha, beta, False)
            ready = True
        _solve(work)
        size = _shorten(work)
        if not size < np.inf:
            return k + 1, False, damped
        _move_on(work)
        small, ready, before = size <= tolerance, size <= reuse * before, size
    return iterations, False, np.inf
