"""The end of a step by Newton's method, with any forces and with contacts."""

import numpy as np

from sim.core.arrays import Floats
from sim.linalg.sparse import Factor
from sim.rods.plane.options import StepOptions
from sim.rods.space.contact_detection import Contacts, Near
from sim.rods.space.contact_forces import (
    begun,
    pushed_at,
    pushed_further,
    what_is_near,
    what_overlaps,
)
from sim.rods.space.energy_balance import Effort, forces_of_step
from sim.rods.space.frames import SpaceState, moved_on
from sim.rods.space.state import (
    KeptFactor,
    SpaceForces,
    SpaceTrial,
    SpaceWork,
    Workspace,
    workspace_of,
)
from sim.rods.space.step_equation import (
    ADVANCE,
    FORCES,
    INERTIAL,
    LARGEST_TURN,
    MATRIX,
    ROUNDED,
    START,
    UNBALANCED,
    balance,
    guessed,
    newton_matrix,
    stage,
    step_forces,
)
from sim.rods.space.tendon_hinge_friction import rubbed_further
from sim.rods.space.world import SpaceWorld

CONTACT_ROUNDING = 1e-3  # of the tolerance of places: residual of contacts
PLACED = 8  # iterations after which contacts keep their places on edges
FAR = 0.02  # of an edge, of a first move: its matrix is not taken again
WILD = 10.0  # of all rods' length, of a move with contacts: its step has no such end
STRAIGHT = 1e-3  # of an edge, of moves in which matrices hardly change
SLOW = 0.15, 0.7  # contraction of moves that are drawn on
BESIDE = 0.25  # of a move, by which it is off the last one's direction


def end_of_step(
    world: SpaceWorld, options: StepOptions, trial: SpaceTrial, report: Effort
) -> tuple[SpaceState, SpaceForces] | None:
    """The end of a step; None where Newton's method does not converge."""
    guess = guessed(world, trial)
    move = guess[: world.rod.nodes.size].reshape(-1, 3)
    found_near = what_is_near(world, trial.now.state, move, trial.now.time, trial.h)
    beside = len(trial.tension) + len(world.along.ends)
    plain = not (beside or world.dry or world.fluid)
    if not (plain and trial.conserving):
        parts = _ByParts(world, trial, guess)
        return _balanced_by_parts(world, options, parts, report, found_near)
    space = workspace_of(world)
    space.begin(trial.now.state, trial.now.v, trial.part, trial.pull, guess)
    if found_near is not None:
        compiled = _Compiled(world, trial, space)
        return _balanced_by_parts(world, options, compiled, report, found_near)
    iterations, converged, damped = balance(
        space.handed, trial.h, (world.damping.alpha, world.damping.beta),
        (options.tolerance, options.residual, options.reuse), options.max_newton,
    )  # fmt: skip
    report.iterations += iterations
    after, time = space.end(), trial.now.time + trial.h
    if not converged or what_overlaps(world, after, time).contacts:
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
        self.rubbing = trial.now.rubbing
        self.compliance = np.zeros_like(self.rubbing)

    def _moved(self, state: SpaceState, change: Floats) -> SpaceState:
        rod, n = self.world.rod, self.world.rod.nodes.size
        move, turn = change[:n].reshape(-1, 3), change[n:]
        return moved_on(state, rod.edges, rod.bends, move, turn)

    def forces(self) -> SpaceForces:
        """Without contacts."""
        found = step_forces(self.world, self.trial, self.at, self.rubbing)
        if found.dry is None or self.world.dry is None:
            return found
        left = found.dry.residual(self.compliance) * self.world.dry.sizes
        return found._replace(dry=found.dry._replace(left=float(left.max())))

    def rubbed(self, factor: Factor, found: SpaceForces, change: Floats) -> Floats:
        """A change with that of friction within the rod."""
        if found.dry is not None:
            change, self.rubbing, self.compliance = rubbed_further(
                factor, self.world.system.free, found.dry, change
            )
        return change

    def matrix(self, found: SpaceForces) -> Factor:
        """Newton's, factorised."""
        return newton_matrix(self.world, self.trial, self.at, found)

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

    def __init__(self, world: SpaceWorld, trial: SpaceTrial, space: Workspace) -> None:
        self.world, self.trial, self.space = world, trial, space
        self.at = space.work.at
        self._stage(START)

    def _stage(self, what: int) -> float:
        damping = self.world.damping
        rates = damping.alpha, damping.beta
        return float(stage(self.space.handed, what, self.trial.h, rates))

    def forces(self) -> SpaceForces:
        damped = self._stage(FORCES)
        return _of_work(self.space.work, damped)

    def matrix(self, found: SpaceForces) -> Factor:
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
) -> tuple[SpaceState, SpaceForces] | None:  # fmt: skip
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
    world: SpaceWorld, options: StepOptions, trial: SpaceTrial, factor: Factor,
    found: SpaceForces,
) -> tuple[Floats, Floats | None]:  # fmt: skip
    """Of all unknowns in an iteration, and the forces of contacts after it."""
    if found.pushed is None:
        change = np.zeros(len(world.system.free))
        change[world.system.free] = factor.solve(found.unbalanced[world.system.free])
        return change, None
    return pushed_further(
        world, factor, found.pushed, found.unbalanced - found.pushed.push, found.moves,
        contact_allowed(options, trial),
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
    least = INERTIAL * (far + world.rod.length) * float(world.rod.mass.max())
    worst, _, force = forces_of_step(world, found)
    allowed = max(least / trial.h**2, options.residual * force)
    return worst <= allowed or (worst <= UNBALANCED * force and moved <= ROUNDED * far)
