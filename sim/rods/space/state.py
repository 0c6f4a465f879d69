"""State of a rod that moves in space, and of a step that is tried.

`SpaceMoving` is what a step starts from, `SpaceTrial` how it is set up, `SpaceForces`
what acts in it, `Workspace` what its compiled loop reads and writes.

Tendons have tensions that are known in time. A tendon's energy would be its
tension times its length, so a step of the conserving rule has the slopes of its length
in the middle of the step, Newmark's rule the mean of those at both ends; both take the
tension of the middle. What tendons give to the rod is their forces' work. What friction
takes along them is in `tendon_hinge_friction`.
"""

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from sim.core.arrays import Bools, Floats, Ints
from sim.core.numba_kernels import pointed
from sim.linalg.multifrontal import Fronts
from sim.linalg.sparse_ldl import Factor
from sim.rods.plane.options import Integrator, StepOptions
from sim.rods.space.contact_forces import ContactForces
from sim.rods.space.elastic_energy import OF_BEND, OF_EDGE
from sim.rods.space.energy_conserving_forces import ForceSpace, force_space
from sim.rods.space.frames import SpaceState
from sim.rods.space.rod import SpaceElements, copied, refill
from sim.rods.space.tendon_hinge_friction import Dry
from sim.rods.space.world import SpaceWorld


class SpaceWork(NamedTuple):
    """Space of one step; (3 n + m,) unless stated otherwise.

    Attributes
    ----------
    part, soft : elements at the end of the step, and those of Newton's matrix
    before, at, spare : states before the step and at its end, and space for one
    v, pull, free, inertia, sizes : as in `SpaceMoving`, `SpaceWorld`, `SpaceSystem`
    spins : (m,) rotary inertia of edges
    weight : `SpaceWorld.pull`, without what acts for a time
    moves, inner, unbalanced, change : of an iteration
    none : zero
    space : of forces
    predicted : (m,) mean strains of the step, by the last move
    entries, of_edges, of_bends : (e,), (m, 21), (b + k, 66) of the Hessian, in one
        place
    entry : (k,) entries of free unknowns
    number : of each unknown among free ones, or -1
    values, L, pivot : of Newton's matrix, and of its factor
    reach : m, length of the rod
    heaviest : kg, of its nodes
    stiffest : N/m, of its edges along them
    """

    part: SpaceElements
    soft: SpaceElements
    before: SpaceState
    at: SpaceState
    spare: SpaceState
    v: Floats
    pull: Floats
    free: Bools
    inertia: Floats
    sizes: Floats
    spins: Floats
    weight: Floats
    moves: Floats
    inner: Floats
    unbalanced: Floats
    change: Floats
    none: Floats
    space: ForceSpace
    predicted: Floats
    entries: Floats
    of_edges: Floats
    of_bends: Floats
    entry: Ints
    number: Ints
    values: Floats
    fronts: Fronts
    L: Floats
    pivot: Floats
    reach: float
    heaviest: float
    stiffest: float


_MADE: WeakKeyDictionary[SpaceWorld, "Workspace"] = WeakKeyDictionary()


OF_UNKNOWNS = ("v", "moves", "inner", "unbalanced", "change")


class Workspace:
    """The space of a world's steps, and its address for kernels."""

    def __init__(self, world: SpaceWorld) -> None:
        rod, system = world.rod, world.system
        self.pattern = system.pattern
        n, m, b = len(rod.nodes), len(rod.edges), len(rod.bends)
        of_edge, of_bend = (k * (k + 1) // 2 for k in (OF_EDGE, OF_BEND))
        pairs, border = b + len(rod.hinges), m * of_edge
        entries = np.empty(border + pairs * of_bend)
        entry = np.flatnonzero(system.free_entries)
        self.work = SpaceWork(
            copied(system.part),
            copied(system.part),
            _state(n, m, b),
            _state(n, m, b),
            _state(n, m, b),
            **{name: np.empty(3 * n + m) for name in OF_UNKNOWNS},
            pull=world.pull.copy(),
            free=system.free,
            inertia=world.inertia,
            sizes=system.sizes,
            spins=np.ascontiguousarray(rod.inertia, dtype=np.float64),
            weight=world.pull,
            none=np.zeros(3 * n + m),
            space=force_space(m),
            predicted=np.empty(m),
            entries=entries,
            of_edges=entries[:border].reshape(m, of_edge),
            of_bends=entries[border:].reshape(pairs, of_bend),
            entry=entry,
            number=system.number,
            values=np.empty(len(entry) + system.count),
            fronts=self.pattern.fronts,
            L=np.empty(self.pattern.fill),
            pivot=np.empty(system.count),
            reach=rod.length,
            heaviest=float(rod.mass.max()),
            stiffest=float((rod.stretching / rod.rest_length).max()),
        )
        self.part: SpaceElements | None = None
        self.handed = pointed(self.work)

    def begin(
        self, state: SpaceState, v: Floats, part: SpaceElements, pull: Floats,
        guess: Floats,
    ) -> None:  # fmt: skip
        """Take over where a step begins, its elements and a first guess of moves."""
        for own, given in zip(self.work.before, state, strict=True):
            own[...] = given
        work = self.work
        work.v[...], work.pull[...], work.change[...] = v, pull, guess
        if part is not self.part:
            refill(self.work.part, part)
            self.part = part

    def end(self) -> SpaceState:
        """A copy of the state at the end of a step."""
        return SpaceState(*(own.copy() for own in self.work.at))


class BorrowedFactor(Factor):
    """A factor whose memory belongs to a workspace."""

    def __del__(self) -> None:
        """Nothing is given back."""


def _state(n: int, m: int, b: int) -> SpaceState:
    return SpaceState(np.empty((n, 3)), np.empty((m, 3)), np.empty(b))


def workspace_of(world: SpaceWorld) -> Workspace:
    """That of a world, made once."""
    if world not in _MADE:
        _MADE[world] = Workspace(world)
    return _MADE[world]


def tensions_at(world: SpaceWorld, time: float) -> Floats:
    """(q,) of each piece of the tendons, N."""
    each = np.array([tendon.tension for tendon in world.tendons])
    if world.pulling is not None and len(each):
        each = each * world.pulling(time)
    return np.asarray(each[world.system.way.tendon])


class SpaceLedger(NamedTuple):
    """Energies since the start, J, and the worst of all steps.

    Attributes
    ----------
    given, damped : as in `sim.rods.plane.energy_balance`
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

    @property
    def unbalanced(self) -> float:
        """The largest of `balance`, `over` and what is left of all at work."""
        share = abs(self.left) / max(self.at_work, 1e-300)
        return max(self.balance, self.over, share)


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
    inner_friction : (r,) forces of friction within the rod in the last step
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
    inner_friction: Floats


class SpaceTrial(NamedTuple):
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


def set_up(
    world: SpaceWorld, options: StepOptions, now: SpaceMoving, h: float
) -> SpaceTrial:
    conserving = options.integrator is Integrator.ENERGY_MOMENTUM
    part = world.part(now.time + h, now.pulse)
    earlier = world.part(now.time, now.pulse)
    pull = world.loaded(now.time, h)
    tension = tensions_at(world, now.time + 0.5 * h)
    return SpaceTrial(now, h, part, earlier, conserving, pull, tension)


class SpaceForces(NamedTuple):
    """Of a step, (3 n + m,): inner ones, those of tendons with friction within and
    loads of edges, what is unbalanced; moves; what damps, J; contacts; friction
    within."""

    inner: Floats
    applied: Floats
    unbalanced: Floats
    moves: Floats
    damped: float
    contact: ContactForces | None = None
    dry: Dry | None = None

    @property
    def residual(self) -> float:
        """Of the laws of contact and of friction within, m."""
        of_contacts = self.contact.residual if self.contact else 0.0
        return max(of_contacts, self.dry.left if self.dry else 0.0)
