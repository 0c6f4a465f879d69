"""What the compiled loop of a step reads and writes, kept from step to step."""

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.linear.fronts import Fronts
from sim.linear.sparse import Factor
from sim.pointed import pointed
from sim.rod.moving.conserving_forces import ForceSpace, force_space
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.space.elastic import OF_BEND, OF_EDGE
from sim.rod.space.elements import SpaceElements, copied, refill
from sim.rod.space.frames import SpaceState


class SpaceWork(NamedTuple):
    """Space of one step; (3 n + m,) where nothing else is said.

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
    told : (m,) mean strains of the step that the last move foretells
    entries, of_edges, of_bends : (e,), (m, 21), (b + k, 66) of the Hessian, in one
        place
    entry : (k,) entries of free unknowns
    number : of each unknown among free ones, or -1
    values, L, pivot : of Newton's matrix, and of its factor
    reach : m, length of the rod
    heaviest : kg, of its nodes
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
    told: Floats
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


_MADE: WeakKeyDictionary[SpaceWorld, "Workspace"] = WeakKeyDictionary()


class Workspace:
    """The space of a world's steps, and its address for kernels."""

    def __init__(self, world: SpaceWorld) -> None:
        rod, system = world.rod, world.system
        self.pattern = system.shortest_pattern
        n, m, b = len(rod.nodes), len(rod.edges), len(rod.bends)
        of_edge, of_bend = (k * (k + 1) // 2 for k in (OF_EDGE, OF_BEND))
        pairs, border = b + len(rod.hinges), m * of_edge
        entries = np.empty(border + pairs * of_bend)
        entry = np.flatnonzero(system.entries_kept)
        self.work = SpaceWork(
            copied(system.part),
            copied(system.part),
            _state(n, m, b),
            _state(n, m, b),
            _state(n, m, b),
            v=np.empty(3 * n + m),
            pull=world.pull.copy(),
            free=system.free,
            inertia=world.inertia,
            sizes=system.sizes,
            spins=np.ascontiguousarray(rod.inertia, dtype=np.float64),
            weight=world.pull,
            moves=np.empty(3 * n + m),
            inner=np.empty(3 * n + m),
            unbalanced=np.empty(3 * n + m),
            change=np.empty(3 * n + m),
            none=np.zeros(3 * n + m),
            space=force_space(m),
            told=np.empty(m),
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


class KeptFactor(Factor):
    """A factor whose memory is kept by a workspace."""

    def __del__(self) -> None:
        """Nothing is given back."""


def _state(n: int, m: int, b: int) -> SpaceState:
    return SpaceState(np.empty((n, 3)), np.empty((m, 3)), np.empty(b))


def workspace_of(world: SpaceWorld) -> Workspace:
    """That of a world, made once."""
    if world not in _MADE:
        _MADE[world] = Workspace(world)
    return _MADE[world]
