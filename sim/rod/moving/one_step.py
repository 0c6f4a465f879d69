"""One step of a rod that moves in space.

With unknown places at the end of a step of length h,

    2 M (dq - h v0) / h^2 + alpha M dq / h = F + load,     v1 = 2 dq / h - v0

where dq are moves of nodes and turns of edges. F is that of `conserving_forces`, or the
mean of both ends with a viscous part (Newmark's rule, as in the plane). Newton's matrix
has half the Hessian, at the end or, of conserving forces, in the middle of the step, of
a rod whose elements are stiffer by 1 + 2 beta / h and whose natural strains are moved
so that its force there is that of the step. (Half a turn off, stretching would stand in
the way of bending: EA of it is far more than what bends.)
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sim.arrays import Bools, Floats
from sim.linear.sparse import Factor
from sim.rod.moving.balancing import (
    ADVANCE,
    FORCES,
    HARDER,
    INERTIAL,
    LARGEST_TURN,
    MATRIX,
    ROUNDED,
    START,
    UNBALANCED,
    balance,
    stage,
)
from sim.rod.moving.conserving_forces import add_step_forces, force_space
from sim.rod.moving.contact_rows import ContactRows
from sim.rod.moving.dry import Dry, rubbed_further, stopped
from sim.rod.moving.edge_loads import of_edges, slopes_of_edges
from sim.rod.moving.pulled import tensions_at
from sim.rod.moving.pushing import (
    Pushed,
    begun,
    passes_through,
    pushed_at,
    pushed_further,
    settled_kick,
    taken,
    what_is_near,
    what_overlaps,
)
from sim.rod.moving.soaked import drag as drag_in_fluid
from sim.rod.moving.soaked import drag_slopes
from sim.rod.moving.softened import changes, softened_at_end, softened_midway
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.moving.tally import largest_forces, works
from sim.rod.moving.touching import Contacts, Near
from sim.rod.moving.workspace import KeptFactor, SpaceWork, Workspace, workspace_of
from sim.rod.space.elastic import energies
from sim.rod.space.elements import SpaceElements
from sim.rod.space.frames import SpaceState, edge_lengths, moved_on, turning, turns
from sim.rod.space.hinges import strains_of_hinges
from sim.rod.space.space_rod import edge_tangents
from sim.rod.stepping.options import Integrator, StepOptions

ROUNDING = 1e-12  # of the energies
CONTACT_ROUNDING = 1e-3  # of the tolerance of places: residual of contacts
PLACED = 8  # iterations after which contacts keep their places on edges
FAR = 0.02  # of an edge, of a first move: its matrix is not taken again
WILD = 10.0  # of all rods' length, of a move with contacts: its step has no such end
STRAIGHT = 1e-3  # of an edge, of moves in which matrices hardly change
SLOW = 0.15, 0.7  # contraction of moves that are drawn on
BESIDE = 0.25  # of a move, by which it is off the last one's direction
QUARTER = 0.5 * np.pi  # rad, largest change of a twist in a step
LARGEST_SPIN = 2.0  # rad, turn of an edge about itself in a step


class SpaceLedger(NamedTuple):
    """Energies since the start, J, and the worst of all steps.

    Attributes
    ----------
    given, damped : as in `sim.rod.stepping.energy_balance`
    left : what steps made of nothing
    at_work : exchanged, against which `left` is measured
    supplied : stored at the start or put in since then
    over : share of it by which more is stored
    friction, impact : what contacts take along and across them; `friction` also what
        tendons and hinges do
    residual, share : largest unbalanced force, N; over the largest force of its step
    balance : energy of a step out of balance over that at work in it
    complementarity, gap : largest residual of contact and of friction within the rod,
        and largest distance of skins that push each other, m
    """

    given: float = 0.0
    damped: float = 0.0
    left: float = 0.0
    at_work: float = 0.0
    residual: float = 0.0
    share: float = 0.0
    balance: float = 0.0
    friction: float = 0.0
    impact: float = 0.0
    complementarity: float = 0.0
    gap: float = 0.0
    supplied: float = 0.0
    over: float = 0.0


class SpaceMoving(NamedTuple):
    """All that later steps depend on.

    Attributes
    ----------
    v : (3 n + m,) velocities of nodes and spins of edges, m/s, rad/s
    acceleration : (3 n + m,) mean of the last step, without contacts
    push : (3 n + m,) what contacts and impulses there added to it
    drift : (3 n + m,) change of acceleration in the last step, 0 with contacts
    step, time, length, last : steps made; s; next and last length of a step, s
    pulse : (limbs,) s, when each limb was last switched on; inf if never
    rubbing : (r,) forces of friction within the rod in the last step, see `dry`
    """

    state: SpaceState
    v: Floats
    acceleration: Floats
    push: Floats
    drift: Floats
    step: int
    time: float
    length: float
    last: float
    ledger: SpaceLedger
    pulse: Floats
    rubbing: Floats


@dataclass
class Effort:
    """What steps took since the last record, the energy that the last one left, and
    how it ended."""

    iterations: int = 0
    substeps: int = 0
    error: float = 0.0
    left: tuple[SpaceState, SpaceElements, float] | None = None
    end: "SpaceEnd | None" = None

    def stored(self, state: SpaceState, part: SpaceElements) -> float:
        """Of stretching, bending and twisting, J."""
        if not (self.left and self.left[0] is state and self.left[1] is part):
            self.left = state, part, sum(energies(state, part))
        return self.left[2]


class _Trial(NamedTuple):
    """One step of h seconds as it is set up.

    Attributes
    ----------
    part, earlier : elements as actuated at its end and its start
    pull : (3 n + m,) weight and forces, N
    tension : (q,) of pieces of tendons, N
    """

    now: SpaceMoving
    h: float
    part: SpaceElements
    earlier: SpaceElements
    conserving: bool
    pull: Floats
    tension: Floats


class _Forces(NamedTuple):
    """Of a step, (3 n + m,): inner ones, those of tendons with friction within and
    loads of edges, what is unbalanced; moves; what damps, J; contacts; friction
    within."""

    inner: Floats
    drawn: Floats
    unbalanced: Floats
    moves: Floats
    damped: float
    pushed: Pushed | None = None
    dry: Dry | None = None

    @property
    def residual(self) -> float:
        """Of the laws of contact and of friction within, m."""
        of_contacts = self.pushed.residual if self.pushed else 0.0
        return max(of_contacts, self.dry.left if self.dry else 0.0)


def _set_up(
    world: SpaceWorld, options: StepOptions, now: SpaceMoving, h: float
) -> _Trial:
    conserving = options.integrator is Integrator.ENERGY_MOMENTUM
    part = world.part(now.time + h, now.pulse)
    earlier = world.part(now.time, now.pulse)
    pull = world.loaded(now.time, h)
    tension = tensions_at(world, now.time + 0.5 * h)
    return _Trial(now, h, part, earlier, conserving, pull, tension)


def _stiffness(part: SpaceElements) -> Floats:
    """(b, 3) about d1, d2 and t, N m^2."""
    return np.column_stack([part.bending, part.twisting])


def _ends(world: SpaceWorld, trial: _Trial, after: SpaceState) -> tuple[Floats, float]:
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


def _gyration(
    world: SpaceWorld, trial: _Trial, after: SpaceState, turn: Floats
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


def _forces(
    world: SpaceWorld, trial: _Trial, after: SpaceState, rubbing: Floats
) -> _Forces:
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
    return _Forces(inner, drawn, unbalanced, moves, damped, dry=dry)


def _midway(world: SpaceWorld, trial: _Trial, moves: Floats) -> SpaceState:
    """The state in the middle of a step."""
    rod, n, half = world.rod, world.rod.nodes.size, 0.5 * moves
    move = half[:n].reshape(-1, 3)
    return moved_on(trial.now.state, rod.edges, rod.bends, move, half[n:])


def _drawn(
    world: SpaceWorld, trial: _Trial, after: SpaceState, moves: Floats, rubbing: Floats
) -> tuple[Floats, Dry | None]:
    """(3 n + m,) what tendons and friction within do in a step, and that friction."""
    total, dry, system = np.zeros(len(moves)), None, world.system
    ends, places = (trial.now.state, after), world.dry
    if not len(trial.tension) and places is None:
        return total, dry
    states = (_midway(world, trial, moves),) if trial.conserving else ends
    each = [system.of_tendons(state, trial.tension)[0] for state in states]
    slopes = np.mean(each, axis=0)
    total -= system.spread(slopes, trial.tension)
    if places is not None:
        rows = places.rows(slopes, ends, trial.conserving)
        dry = Dry(rubbing, rows, rows @ moves, places.law(trial.tension, states))
        total -= rubbing @ rows
    return total, dry


def _guess(world: SpaceWorld, trial: _Trial) -> Floats:
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


def _factor(world: SpaceWorld, trial: _Trial, at: SpaceState, found: _Forces) -> Factor:
    """Of Newton's matrix: conserving forces act along the middle of a step.

    Contacts need it positive: where a guess presses edges it is shifted until it is.
    """
    system, h = world.system, trial.h
    before, part, viscous = trial.now.state, trial.part, world.damping.beta / h
    end = at
    if trial.conserving:
        at = _midway(world, trial, found.moves)
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


def _solved(
    world: SpaceWorld, options: StepOptions, trial: _Trial, report: Effort
) -> tuple[SpaceState, _Forces] | None:
    """The end of a step; None where Newton's method does not converge."""
    guess = _guess(world, trial)
    move = guess[: world.rod.nodes.size].reshape(-1, 3)
    found_near = what_is_near(world, trial.now.state, move, trial.now.time, trial.h)
    beside = len(trial.tension) + len(world.along.ends)
    plain = not (beside or world.dry or world.fluid)
    if not (plain and trial.conserving):
        parts = _ByParts(world, trial, guess)
        return _balanced_by_parts(world, options, parts, report, found_near)
    space = workspace_of(world)
    space.begin(trial.now.state, trial.now.v, trial.part, trial.pull, guess)
    if found_near is None:
        return _balanced_freely(world, options, trial, report, space)
    compiled = _Compiled(world, trial, space)
    return _balanced_by_parts(world, options, compiled, report, found_near)


def _balanced_freely(
    world: SpaceWorld, options: StepOptions, trial: _Trial, report: Effort,
    space: Workspace,
) -> tuple[SpaceState, _Forces] | None:  # fmt: skip
    """Likewise, without contacts, in one compiled call."""
    work, damping = space.work, world.damping
    made = balance(
        space.handed, trial.h, (damping.alpha, damping.beta),
        (options.tolerance, options.residual, options.reuse), options.max_newton,
    )  # fmt: skip
    report.iterations += made[0]
    after = space.end()
    end = trial.now.time + trial.h
    if not made[1] or what_overlaps(world, after, end).contacts:
        return None
    return after, _of_work(work, made[2])


def _of_work(work: SpaceWork, damped: float) -> _Forces:
    """What a compiled step found."""
    return _Forces(work.inner, work.none, work.unbalanced, work.moves, damped)


class _ByParts:
    """The end of a step with any forces, and how Newton's method changes it."""

    def __init__(self, world: SpaceWorld, trial: _Trial, guess: Floats) -> None:
        self.world, self.trial = world, trial
        self.at = self._moved(trial.now.state, guess)
        self.rubbing = trial.now.rubbing
        self.compliance = np.zeros_like(self.rubbing)

    def _moved(self, state: SpaceState, change: Floats) -> SpaceState:
        rod, n = self.world.rod, self.world.rod.nodes.size
        move, turn = change[:n].reshape(-1, 3), change[n:]
        return moved_on(state, rod.edges, rod.bends, move, turn)

    def forces(self) -> _Forces:
        """Without contacts."""
        found = _forces(self.world, self.trial, self.at, self.rubbing)
        if found.dry is None or self.world.dry is None:
            return found
        left = found.dry.residual(self.compliance) * self.world.dry.sizes
        return found._replace(dry=found.dry._replace(left=float(left.max())))

    def rubbed(self, factor: Factor, found: _Forces, change: Floats) -> Floats:
        """A change with that of friction within the rod."""
        if found.dry is not None:
            change, self.rubbing, self.compliance = rubbed_further(
                factor, self.world.system.free, found.dry, change
            )
        return change

    def matrix(self, found: _Forces) -> Factor:
        """Newton's, factorised."""
        return _factor(self.world, self.trial, self.at, found)

    def advance(self, change: Floats) -> float:
        """Go on by a change, or as much as edges may turn; how far, m, or inf."""
        system = self.world.system
        turned = system.largest_turn(self.at, change)
        if not np.isfinite(turned):
            return np.inf
        change *= min(1.0, LARGEST_TURN / max(turned, 1e-300))
        self.at = self._moved(self.at, change)
        return float(np.abs(change * system.sizes).max())

    def ended(self) -> SpaceState:
        """To be kept."""
        return self.at


class _Compiled(_ByParts):
    """Likewise, of conserving forces without tendons and friction within."""

    def __init__(self, world: SpaceWorld, trial: _Trial, space: Workspace) -> None:
        self.world, self.trial, self.space = world, trial, space
        self.at = space.work.at
        self._stage(START)

    def _stage(self, what: int) -> float:
        damping = self.world.damping
        rates = damping.alpha, damping.beta
        return float(stage(self.space.handed, what, self.trial.h, rates))

    def forces(self) -> _Forces:
        damped = self._stage(FORCES)
        return _of_work(self.space.work, damped)

    def matrix(self, found: _Forces) -> Factor:
        assert found.pushed is not None  # so that it is made positive
        self._stage(MATRIX)
        work = self.space.work
        return KeptFactor(self.space.pattern, work.L, work.pivot)

    def advance(self, change: Floats) -> float:
        self.space.work.change[...] = change
        return self._stage(ADVANCE)

    def ended(self) -> SpaceState:
        return self.space.end()


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _balanced_by_parts(
    world: SpaceWorld, options: StepOptions, parts: _ByParts, report: Effort,
    found_near: Near | None,
) -> tuple[SpaceState, _Forces] | None:  # fmt: skip
    """Likewise, with contacts, or of any forces."""
    trial, factor, force, start = parts.trial, None, None, None
    going = _Going(options, world.system.sizes, float(world.rod.rest_length.min()))
    if found_near is not None:
        force = np.zeros((found_near.contacts, 3))
        start = begun(world, found_near, trial.now.state, trial.now.time, trial.h)
    places: Contacts | None = None
    fresh = PLACED  # iterations for which contacts still follow the closest points
    for _ in range(options.max_newton):
        found, at = parts.forces(), parts.at
        if found_near is not None and force is not None and start is not None:
            known = places if fresh < 0 else None
            pushed = pushed_at(
                world, found_near, force, (start, at), found.moves, trial.h, known
            )
            found = found._replace(
                unbalanced=found.unbalanced + pushed.push, pushed=pushed
            )
            places, fresh = pushed.contacts, fresh - 1
        if going.small and _balanced(world, options, trial, found, going.moved):
            overlapping = what_overlaps(world, at, trial.now.time + trial.h)
            if not overlapping.contacts:
                return parts.ended(), found
            if found_near is None or not found_near.holds(overlapping):
                return None
            places, fresh, going.small = None, 0, False
            continue
        report.iterations += 1
        renewed, factor = factor is None, factor or parts.matrix(found)
        change, force = _change(world, options, trial, factor, found)
        change = parts.rubbed(factor, found, change)
        if found_near is not None:
            far = float(np.abs(change * world.system.sizes).max())
            if not far < WILD * world.rod.length:
                return None
            going.draw_on(change)
        size = parts.advance(change)
        if not size < np.inf:
            return None
        if not going.by(size, renewed):
            factor = None
    return None


class _Going:
    """How an iteration goes on, and how long a matrix serves.

    Near the end moves shrink as what contacts push follows them, and no other matrix
    changes that: where they shrink slowly along one direction, by t each, they are
    drawn on to where they lead, 1 / (1 - t) as far (Aitken).

    Attributes
    ----------
    edge : the shortest, m
    moved : the largest of the last move, m
    small : whether that is within the tolerance
    """

    def __init__(self, options: StepOptions, sizes: Floats, edge: float) -> None:
        self.options, self.sizes, self.edge = options, sizes, edge
        self.moved, self.small = np.inf, False
        self._last = np.zeros_like(sizes)

    def draw_on(self, change: Floats) -> None:
        """Lengthen a change (3 n + m,) that goes on as the last one did."""
        own, last = change * self.sizes, self._last
        share = float(own @ last) / max(float(last @ last), 1e-300)
        slow = SLOW[0] < abs(share) < SLOW[1] and self.moved <= STRAIGHT * self.edge
        beside = np.linalg.norm(own - share * last)
        drawn = slow and beside < BESIDE * np.linalg.norm(own)
        self._last = np.zeros_like(own) if drawn else own
        change *= 1.0 / (1.0 - share) if drawn else 1.0

    def by(self, size: float, renewed: bool) -> bool:
        """Take note of a move, m; whether its matrix, renewed or not, may serve on."""
        share, first = size / max(self.moved, 1e-300), not self.moved < np.inf
        self.moved, self.small = size, size <= self.options.tolerance
        if first:
            return size <= FAR * self.edge
        straight = renewed and size < STRAIGHT * self.edge and share < SLOW[1]
        return straight or share <= self.options.reuse


def _change(
    world: SpaceWorld, options: StepOptions, trial: _Trial, factor: Factor,
    found: _Forces,
) -> tuple[Floats, Floats | None]:  # fmt: skip
    """Of all unknowns in an iteration, and the forces of contacts after it."""
    if found.pushed is None:
        change = np.zeros(len(world.system.free))
        change[world.system.free] = factor.solve(found.unbalanced[world.system.free])
        return change, None
    return pushed_further(
        world, factor, found.pushed, found.unbalanced - found.pushed.push, found.moves,
        _contact_allowed(options, trial),
    )  # fmt: skip


def _contact_allowed(options: StepOptions, trial: _Trial) -> float:
    """Residual of the contact problem, m."""
    return max(options.complementarity * trial.h, CONTACT_ROUNDING * options.tolerance)


def _balanced(
    world: SpaceWorld, options: StepOptions, trial: _Trial, found: _Forces, moved: float
) -> bool:
    """Whether no force is left over but by rounding of the places, nor a contact.

    Stubs of tapes are held so stiffly that the last digit of a place is a force of
    1e-4 of the weight: nothing is nearer to balance than what its last move leaves,
    as long as that is little.

    Parameters
    ----------
    moved : the largest in the last iteration, m
    """
    if found.residual > _contact_allowed(options, trial):
        return False
    far = float(np.abs(trial.now.state.x).max())
    least = INERTIAL * (far + world.rod.length) * float(world.rod.mass.max())
    worst, _, force = _largest(world, found)
    allowed = max(least / trial.h**2, options.residual * force)
    return worst <= allowed or (worst <= UNBALANCED * force and moved <= ROUNDED * far)


def _largest(world: SpaceWorld, found: _Forces) -> tuple[float, float, float]:
    """Unbalanced, inner, and of all forces, N."""
    none = np.zeros_like(found.inner)
    return largest_forces(
        world.system.free, world.system.sizes, found.unbalanced, found.inner,
        world.pull, found.drawn, found.pushed.push if found.pushed else none,
    )  # fmt: skip


def made(
    world: SpaceWorld, options: StepOptions, now: SpaceMoving, h: float, effort: Effort
) -> SpaceMoving | None:
    """What a step of h seconds ends in; None where there is no sound end."""
    if h * np.abs(now.v[world.rod.nodes.size :]).max() > LARGEST_SPIN:
        return None
    trial = _set_up(world, options, now, h)
    effort.substeps += 1
    solved = _solved(world, options, trial, effort)
    if solved is None or not _sound(world, options, now.state, solved[0]):
        return None
    after, found = solved
    if passes_through(world, now.state, after, now.time, h):
        return None
    v = np.where(world.system.free, 2.0 * found.moves / h - now.v, found.moves / h)
    acceleration = (v - now.v) / h
    ending = _stopped(world, SpaceEnd(after, found, v, v, np.empty(0)))
    v = ending.v
    if found.pushed and world.touching:
        rows = found.pushed.facing
        allowed = _contact_allowed(options, trial)
        kick, unsettled = settled_kick(world, found.pushed, rows, v, h, allowed)
        if not unsettled <= allowed:
            return None
        pushed = rows.push(kick, len(v)) / world.inertia
        v = np.where(world.system.free, v + pushed, v)
        ending = ending._replace(v=v, kick=kick, rows=rows)
        acceleration -= found.pushed.push / world.inertia
        acceleration[~world.system.free] = 0.0
    push = (v - now.v) / h - acceleration
    effort.end, smooth = ending, now.step > 0 and not found.pushed
    drift = acceleration - now.acceleration if smooth else np.zeros_like(v)
    ledger = _accounted(world, options, trial, ending, effort)
    if (
        max(
            ledger.balance,
            ledger.over,
            abs(ledger.left) / max(ledger.at_work, 1e-300),
        )
        > options.balance
    ):
        return None
    return SpaceMoving(
        after, v, acceleration, push, drift, now.step, now.time + h, now.length, h,
        ledger, now.pulse, found.dry.force if found.dry else now.rubbing,
    )  # fmt: skip


def _sound(
    world: SpaceWorld, options: StepOptions, before: SpaceState, after: SpaceState
) -> bool:
    """Whether strains stay those of a rod, and nothing turns by a quarter turn."""
    part = world.system.part
    if part.hinge_stiffness[:, 2].any():
        both = [strains_of_hinges(state, part)[:, 2] for state in (before, after)]
        beyond = np.abs(both[1] - both[0]) > np.pi
        if (beyond & (part.hinge_stiffness[:, 2] > 0.0)).any():
            return False
    stretched, ahead = changes(before.x, after.x, part.edges, part.rest)
    twisted = np.abs(after.twist - before.twist).max(initial=0.0)
    return bool(stretched <= options.strain and ahead > 0.0 and twisted <= QUARTER)


def kinetic_energy(world: SpaceWorld, v: Floats) -> float:
    """Of what is free, J."""
    return 0.5 * float(np.sum((world.inertia * v**2)[world.system.free]))


class SpaceEnd(NamedTuple):
    """Of a step: state, forces, velocities before and after impulses (3 c,) there; what
    friction within takes, and supports give, as it stops what sticks, J."""

    after: SpaceState
    found: _Forces
    landing: Floats
    v: Floats
    kick: Floats
    rows: ContactRows | None = None
    stop: tuple[float, float] = (0.0, 0.0)


def _stopped(world: SpaceWorld, end: SpaceEnd) -> SpaceEnd:
    """The end of a step once what sticks within the rod has stopped."""
    dry = end.found.dry
    if dry is None:
        return end
    v, taken, given = stopped(dry, world.inertia, world.system.free, end.v)
    return end._replace(landing=v, v=v, stop=(taken, given))


def _of_friction(end: SpaceEnd, held: Bools, h: float) -> tuple[float, float, float]:
    """What friction takes, contacts do across them, and supports and moving bodies
    take in a step, J.

    Parameters
    ----------
    held : (3 n + m,)
    """
    pushed, moves = end.found.pushed, end.found.moves
    within = end.found.dry.taken if end.found.dry else 0.0
    stop, given = end.stop
    if not (pushed and end.rows):
        return within + stop, 0.0, -within - given
    both = end.landing, end.v
    friction, impact, moved = taken(pushed, moves, end.rows, end.kick, both, h)
    kicked = end.rows.push(end.kick, len(end.v))
    supports = (pushed.push * moves)[held].sum() + (kicked * end.v)[held].sum()
    friction += within + stop
    return friction, impact, float(supports) - within - given - moved


def _accounted(
    world: SpaceWorld,
    options: StepOptions,
    trial: _Trial,
    end: SpaceEnd,
    effort: Effort,
) -> SpaceLedger:
    """The ledger after a step: its change of energy, and where that came from."""
    now, free, h = trial.now, world.system.free, trial.h
    after, found, v = end.after, end.found, end.v
    earlier = trial.earlier
    stored = [effort.stored(now.state, earlier), effort.stored(after, trial.part)]
    given = 0.0
    if earlier is not trial.part:  # natural strains changed
        told = sum(energies(now.state, trial.part)) - stored[0]
        moved = stored[1] - sum(energies(after, earlier))
        given = told if trial.conserving else 0.5 * (told + moved)
    *kinetic, added, drag, fallen = works(
        free, world.inertia, world.damping.alpha, h, (now.v, v), found.moves,
        trial.pull, world.pull, found.inner, found.drawn,
    )  # fmt: skip
    given, damped, raised = given + added, found.damped + drag, -fallen
    friction, impact, held = _of_friction(end, ~free, h)
    given -= held
    left = kinetic[1] - kinetic[0] + stored[1] - stored[0] + raised - given
    left += damped + friction + impact
    scale = 0.5 * sum(kinetic) + abs(raised) + abs(given) + damped
    scale = scale + abs(friction) + abs(impact) + abs(stored[1] - stored[0])
    worst, inside, force = _largest(world, found)
    rounding = ROUNDING * sum(stored) + options.tolerance * inside
    over = max(0.0, abs(left) - rounding) / max(scale, 1e-300)
    was = now.ledger
    supplied = was.supplied if now.time else kinetic[0] + stored[0]
    supplied += max(given, 0.0) + max(fallen, 0.0)
    more = kinetic[1] + stored[1] - rounding - supplied
    return SpaceLedger(
        was.given + given, was.damped + damped, was.left + left,
        was.at_work + scale + rounding / options.balance,
        max(was.residual, worst),
        max(was.share, worst / max(force, 1e-300)), max(was.balance, over),
        was.friction + friction, was.impact + impact,
        max(was.complementarity, found.residual),
        max(was.gap, found.pushed.gap if found.pushed else 0.0),
        supplied,
        max(0.0, more) / max(supplied, 1e-300),
    )  # fmt: skip
