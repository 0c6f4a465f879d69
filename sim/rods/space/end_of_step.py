"""The end of a step by Newton's method, with any forces and with contacts."""

import numpy as np

from sim.core.arrays import Floats
from sim.linalg.sparse_ldl import Factor
from sim.rods.plane.options import StepOptions
from sim.rods.space.assembled_system import edge_turn
from sim.rods.space.contact_detection import Candidates, Contacts
from sim.rods.space.contact_forces import (
    begun,
    contact_candidates,
    contact_newton_step,
    evaluate_contact,
    overlaps_at,
)
from sim.rods.space.energy_balance import StepStatistics, forces_of_step
from sim.rods.space.frames import SpaceState, moved_on
from sim.rods.space.state import (
    BorrowedFactor,
    SpaceForces,
    SpaceTrial,
    SpaceWork,
    Workspace,
    workspace_of,
)
from sim.rods.space.step_equation import (
    INERTIAL,
    LARGEST_TURN,
    ROUNDED,
    UNBALANCED,
    advance,
    balance,
    begin,
    guessed,
    newton_matrix,
    renew,
    step_forces,
    unbalance,
)
from sim.rods.space.tendon_hinge_friction import friction_newton_step
from sim.rods.space.world import SpaceWorld

CONTACT_ROUNDING = 1e-3  # of the tolerance of places: residual of contacts
PLACES_FIXED_AFTER = 8  # iterations after which contacts keep their places on edges
SMALL_FIRST_MOVE = 0.02  # of an edge, of a first move: its matrix is not taken again
RESIDUAL = 1e-6  # of the largest force, at most, that a step leaves
LARGEST_MOVE = 10.0  # of all rods' length, in one iteration with contacts
SMALL_MOVE = 1e-3  # of an edge, of moves in which matrices hardly change
SLOWEST = 0.15, 0.7  # contraction of moves that are extended
ASIDE = 0.25  # of a move, by which it is off the last one's direction


def end_of_step(
    world: SpaceWorld, options: StepOptions, trial: SpaceTrial, report: StepStatistics
) -> tuple[SpaceState, SpaceForces] | None:
    """The end of a step; None where Newton's method does not converge."""
    guess = guessed(world, trial)
    move = guess[: world.rod.nodes.size].reshape(-1, 3)
    candidates = contact_candidates(
        world, trial.now.state, move, trial.now.time, trial.h
    )
    loaded = len(trial.tension) + len(world.along.ends)
    plain = not (loaded or world.dry or world.fluid)
    if not (plain and trial.conserving):
        parts = _ByParts(world, trial, guess)
        return _balanced_by_parts(world, options, parts, report, candidates)
    space = workspace_of(world)
    space.begin(trial.now.state, trial.now.v, trial.part, trial.pull, guess)
    if candidates is not None:
        compiled = _Compiled(world, trial, space)
        return _balanced_by_parts(world, options, compiled, report, candidates)
    iterations, converged, damped = balance(
        space.handed, trial.h, (world.damping.alpha, world.damping.beta),
        (options.tolerance, min(options.residual, RESIDUAL), options.reuse),
        options.max_newton,
    )  # fmt: skip
    report.iterations += iterations
    after, time = space.end(), trial.now.time + trial.h
    if not converged or overlaps_at(world, after, time).contacts:
        return None
    return after, _of_work(space.work, damped)


def _of_work(work: SpaceWork, damped: float) -> SpaceForces:
    """What a compiled step found."""
    return SpaceForces(work.inner, work.none, work.unbalanced, work.moves, damped)


class _ByParts:
    """The end of a step with any forces, and how Newton's method changes it."""

    def __init__(self, world: SpaceWorld, trial: SpaceTrial, guess: Floats) -> None:
        self.world, self.trial = world, trial
        self.at = self._moved(trial.now.state, guess)
        self.friction = trial.now.inner_friction
        self.compliance = np.zeros_like(self.friction)

    def _moved(self, state: SpaceState, change: Floats) -> SpaceState:
        rod, n = self.world.rod, self.world.rod.nodes.size
        move, turn = change[:n].reshape(-1, 3), change[n:]
        return moved_on(state, rod.edges, rod.bends, move, turn)

    def forces(self) -> SpaceForces:
        """Without contacts."""
        found = step_forces(self.world, self.trial, self.at, self.friction)
        if found.dry is None or self.world.dry is None:
            return found
        left = found.dry.residual(self.compliance) * self.world.dry.sizes
        return found._replace(dry=found.dry._replace(left=float(left.max())))

    def matrix(self, found: SpaceForces) -> Factor:
        """Newton's, factorised."""
        return newton_matrix(self.world, self.trial, self.at, found)

    def advance(self, change: Floats) -> float:
        """Go on by a change, or as much as edges may turn; how far, m, or inf."""
        system = self.world.system
        turned = edge_turn(self.at.x, system.part.edges, change)
        if not np.isfinite(turned):
            return np.inf
        change *= min(1.0, LARGEST_TURN / max(turned, 1e-300))
        self.at = self._moved(self.at, change)
        return float(np.abs(change * system.sizes).max())

    def ended(self) -> SpaceState:
        """A state that later iterations leave alone."""
        return self.at


class _Compiled(_ByParts):
    """Likewise, of conserving forces without tendons and friction within."""

    def __init__(self, world: SpaceWorld, trial: SpaceTrial, space: Workspace) -> None:
        self.world, self.trial, self.space = world, trial, space
        self.at, damping = space.work.at, world.damping
        self.rates = trial.h, damping.alpha, damping.beta
        begin(space.handed)

    def forces(self) -> SpaceForces:
        damped = unbalance(self.space.handed, *self.rates)
        return _of_work(self.space.work, damped)

    def matrix(self, found: SpaceForces) -> Factor:
        assert found.contact is not None  # else the matrix need not be positive
        renew(self.space.handed, *self.rates, True)
        work = self.space.work
        return BorrowedFactor(self.space.pattern, work.L, work.pivot)

    def advance(self, change: Floats) -> float:
        self.space.work.change[...] = change
        return advance(self.space.handed, self.rates[2] / self.trial.h)

    def ended(self) -> SpaceState:
        return self.space.end()


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _balanced_by_parts(
    world: SpaceWorld, options: StepOptions, parts: _ByParts, report: StepStatistics,
    candidates: Candidates | None,
) -> tuple[SpaceState, SpaceForces] | None:  # fmt: skip
    """Likewise, with contacts, or of any forces."""
    trial, factor, force, start = parts.trial, None, None, None
    going = _Going(options, world.system.sizes, float(world.rod.rest_length.min()))
    if candidates is not None:
        force = np.zeros((candidates.contacts, 3))
        start = begun(world, candidates, trial.now.state, trial.now.time, trial.h)
    places: Contacts | None = None
    fresh = PLACES_FIXED_AFTER  # while contacts still follow the closest points
    for _ in range(options.max_newton):
        found, at = parts.forces(), parts.at
        if candidates is not None and force is not None and start is not None:
            known = places if fresh < 0 else None
            contact = evaluate_contact(
                world, candidates, force, (start, at), found.moves, trial.h, known
            )
            found = found._replace(
                unbalanced=found.unbalanced + contact.push, contact=contact
            )
            places, fresh = contact.contacts, fresh - 1
        if going.small and _balanced(world, options, trial, found, going.moved):
            overlapping = overlaps_at(world, at, trial.now.time + trial.h)
            if not overlapping.contacts:
                return parts.ended(), found
            if candidates is None or not candidates.holds(overlapping):
                return None
            places, fresh, going.small = None, 0, False
            continue
        report.iterations += 1
        renewed, factor = factor is None, factor or parts.matrix(found)
        change, force = _change(world, options, trial, factor, found)
        if found.dry is not None:
            change, parts.friction, parts.compliance = friction_newton_step(
                factor, world.system.free, found.dry, change
            )
        if candidates is not None:
            far = float(np.abs(change * world.system.sizes).max())
            if not far < LARGEST_MOVE * world.rod.length:
                return None
            going.extend(change)
        size = parts.advance(change)
        if not size < np.inf:
            return None
        if not going.by(size, renewed):
            factor = None
    return None


class _Going:
    """How an iteration goes on, and how long a matrix serves.

    Near the end moves shrink as contact forces follow them, and no other matrix changes
    that. Where they shrink slowly along one direction, by t each, a move is extended to
    its limit, 1 / (1 - t) times as far (Aitken).

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

    def extend(self, change: Floats) -> None:
        """Lengthen a change (3 n + m,) that goes on as the last one did."""
        own, last = change * self.sizes, self._last
        share = float(own @ last) / max(float(last @ last), 1e-300)
        slow = SLOWEST[0] < abs(share) < SLOWEST[1]
        slow = slow and self.moved <= SMALL_MOVE * self.edge
        aside = np.linalg.norm(own - share * last)
        extended = slow and aside < ASIDE * np.linalg.norm(own)
        self._last = np.zeros_like(own) if extended else own
        change *= 1.0 / (1.0 - share) if extended else 1.0

    def by(self, size: float, renewed: bool) -> bool:
        """Take note of a move, m; whether its matrix, renewed or not, may serve on."""
        share, first = size / max(self.moved, 1e-300), not self.moved < np.inf
        self.moved, self.small = size, size <= self.options.tolerance
        if first:
            return size <= SMALL_FIRST_MOVE * self.edge
        straight = renewed and size < SMALL_MOVE * self.edge and share < SLOWEST[1]
        return straight or share <= self.options.reuse


def _change(
    world: SpaceWorld, options: StepOptions, trial: SpaceTrial, factor: Factor,
    found: SpaceForces,
) -> tuple[Floats, Floats | None]:  # fmt: skip
    """Of all unknowns in an iteration, and the forces of contacts after it."""
    if found.contact is None:
        change = np.zeros(len(world.system.free))
        change[world.system.free] = factor.solve(found.unbalanced[world.system.free])
        return change, None
    return contact_newton_step(
        world, factor, found.contact, found.unbalanced - found.contact.push,
        found.moves, contact_allowed(options, trial),
    )  # fmt: skip


def contact_allowed(options: StepOptions, trial: SpaceTrial) -> float:
    """Residual of the contact problem, m."""
    return max(options.complementarity * trial.h, CONTACT_ROUNDING * options.tolerance)


def _balanced(
    world: SpaceWorld,
    options: StepOptions,
    trial: SpaceTrial,
    found: SpaceForces,
    moved: float,
) -> bool:
    """Whether no force is left over but by rounding of the places, nor a contact.

    Stubs of tapes are held so stiffly that the last digit of a place is a force of
    1e-4 of the weight: nothing is nearer to balance than what its last move leaves,
    as long as that is little.

    Parameters
    ----------
    moved : the largest in the last iteration, m
    """
    if found.residual > contact_allowed(options, trial):
        return False
    far = float(np.abs(trial.now.state.x).max())
    rod, h = world.rod, trial.h
    least = INERTIAL * (far + rod.length) * float(rod.mass.max()) / h**2
    stiffest = float((rod.stretching / rod.rest_length).max())
    least += ROUNDED * far * stiffest * (1.0 + world.damping.beta / h)
    worst, _, force = forces_of_step(world, found)
    allowed = max(least, min(options.residual, RESIDUAL) * force)
    return worst <= allowed or (worst <= UNBALANCED * force and moved <= ROUNDED * far)
