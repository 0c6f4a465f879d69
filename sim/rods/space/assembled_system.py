"""A rod in space with its loads as a system of equations, for Newton's method.

Its unknowns are coordinates, then angles. `SpaceLoads` is what acts from outside.
`edge_factors` help to put nodes where given changes of edges want them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from sim.core.arrays import Bools, Floats, Ints
from sim.core.numba_kernels import kernel
from sim.linalg.sparse_ldl import Factor, SparsityPattern, analyse, factorise
from sim.rods.space.elastic_energy import OF_BEND, OF_EDGE, add_elastic, energies
from sim.rods.space.frames import SpaceState, moved_on, of_runs, run_ends
from sim.rods.space.rod import SpaceElements, SpaceRod, space_elements
from sim.rods.space.tendons import (
    Tendon,
    TendonSegments,
    fill_tendons,
    segments,
    tendon_lengths,
    tensions,
)


def pair_places(rod: SpaceRod, bends: Ints) -> Ints:
    """(b, 11) unknowns of pairs of runs that meet at a node."""
    n, axes, ends = len(rod.nodes), np.arange(3), run_ends(rod.edges, bends)
    first, second = of_runs(bends, len(rod.edges))[0].T
    follow = (ends[:, 0, 1, None] == ends[:, 1]).any(axis=1)
    middle = np.where(follow, ends[:, 0, 1], ends[:, 0, 0])
    tail = np.where(follow, ends[:, 0, 0], ends[:, 0, 1])
    head = np.where(ends[:, 1, 0] == middle, ends[:, 1, 1], ends[:, 1, 0])
    before, at, after = (3 * node[:, None] + axes for node in (tail, middle, head))
    one, other = (3 * n + edge[:, None] for edge in (first, second))
    return np.hstack([before, one, at, other, after])


def triangle_places(places: Ints) -> tuple[Ints, Ints]:
    """Rows and columns of the lower triangles that the elements keep."""
    r, c = np.tril_indices(places.shape[1])
    return places[:, r].ravel(), places[:, c].ravel()


@dataclass(frozen=True, eq=False)
class SpaceLoads:
    """Loads that keep their direction, and tendons.

    Attributes
    ----------
    gravity : (3,) m/s^2
    force : (n, 3) on nodes, N
    tendons : within the rod
    """

    gravity: Floats
    force: Floats
    tendons: Sequence[Tendon] = ()

    def on_nodes(self, rod: SpaceRod) -> Floats:
        """(n, 3) weight and forces, N."""
        return self.force + rod.mass[:, None] * self.gravity

    def largest(self, rod: SpaceRod) -> float:
        """Of forces, weight and tension, N."""
        tensions = [t.tension for t in self.tendons]
        weight = float(np.linalg.norm(self.gravity)) * float(rod.mass.sum())
        return max(float(np.abs(self.force).max(initial=0.0)), weight, *tensions)


def no_loads(rod: SpaceRod) -> SpaceLoads:
    """Nothing acts."""
    return SpaceLoads(np.zeros(3), np.zeros_like(rod.nodes))


TIE = 1e-9  # of a node to where it would go, in edges as long as the rod


@lru_cache(maxsize=16)
def edge_factors(edges: bytes, held: bytes, rest_length: bytes) -> tuple[Factor, ...]:
    """By axis, of nodes that are free along it, joined by edges that weigh 1 / length.

    One for all rods whose arrays of these names have the same bytes.
    """
    pairs = np.frombuffer(edges, dtype=np.int64).reshape(-1, 2)
    free = ~np.frombuffer(held, dtype=np.bool_).reshape(-1, 3)
    weight = 1.0 / np.frombuffer(rest_length, dtype=np.float64)
    return tuple(_laplacian(pairs, weight, free[:, a]) for a in range(3))


def _laplacian(edges: Ints, weight: Floats, free: Bools) -> Factor:
    """Of the graph of edges, with a slight tie of every node to where it is."""
    n = int(free.sum())
    number = np.where(free, np.cumsum(free) - 1, -1)
    i, j = number[edges].T
    own = np.arange(n)
    rows = np.concatenate([i, j, i, own])
    cols = np.concatenate([i, j, j, own])
    tie = np.full(n, TIE / float(np.sum(1.0 / weight)))
    values = np.concatenate([weight, weight, -weight, tie])
    inner = (rows >= 0) & (cols >= 0)
    return factorise(analyse(n, rows[inner], cols[inner]), values[inner])


FRAME_ARM = 1e-2  # of the length: how far off the axis a turning frame is measured


@dataclass(frozen=True, eq=False)
class SpaceSystem:
    """A rod with its loads as a system of equations; what is found once for all states.

    Unknowns are coordinates of nodes, then angles of edges: (3 n + m,).
    """

    rod: SpaceRod
    loads: SpaceLoads

    @cached_property
    def part(self) -> SpaceElements:
        return space_elements(self.rod)

    @cached_property
    def way(self) -> TendonSegments:
        return segments(self.rod, self.loads.tendons)

    @cached_property
    def free(self) -> Bools:
        """(3 n + m,) unknowns that are not held."""
        return ~np.concatenate([self.rod.held.ravel(), self.rod.held_frames])

    @cached_property
    def number(self) -> Ints:
        """(3 n + m,) of each unknown among free ones; -1 if it is held."""
        return np.where(self.free, np.cumsum(self.free) - 1, -1)

    @cached_property
    def _places(self) -> tuple[Ints, Ints, Bools]:
        """Rows and columns among free unknowns, and which entries are of these."""
        rod, axes = self.rod, np.arange(3)
        of_edges = np.hstack([3 * rod.edges[:, [k]] + axes for k in (0, 1)])
        groups = of_edges, pair_places(rod, rod.pairs), self.tendon_places
        each = [triangle_places(places) for places in groups]
        rows, cols = (np.concatenate([one[k] for one in each]) for k in (0, 1))
        number = self.number
        free = (number[rows] >= 0) & (number[cols] >= 0)
        return number[rows[free]], number[cols[free]], free

    @cached_property
    def pattern(self) -> SparsityPattern:
        rows, cols, _ = self._places
        own = np.arange(self.count)
        both = np.concatenate([rows, own]), np.concatenate([cols, own])
        return _analysed(self.count, *(places.tobytes() for places in both))

    @property
    def count(self) -> int:
        """Free unknowns."""
        return int(self.free.sum())

    @cached_property
    def sizes(self) -> Floats:
        """(3 n + m,) lengths over which unknowns are measured: 1, or an edge's, m."""
        ones = np.ones(self.rod.nodes.size)
        return np.concatenate([ones, self.rod.rest_length])

    def tensions(self, state: SpaceState) -> Floats:
        """(q,) of each piece of the tendons, N."""
        return tensions(self.rod, self.loads.tendons, state)

    def energy(self, state: SpaceState, tension: Floats) -> float:
        """Of rod, weight, forces and tendons, J."""
        stored = sum(energies(state, self.part))
        outer = float(np.sum(self.loads.on_nodes(self.rod) * state.x))
        if not len(tension):
            return stored - outer
        length = np.empty(len(tension))
        tendon_lengths(state, self.part, self.way, length)
        return stored - outer + float(tension @ length)

    def gradient(self, state: SpaceState, tension: Floats) -> tuple[Floats, Floats]:
        """Unbalanced forces (3 n + m,), and the Hessian's entries (e,) at `pattern`."""
        g, values = self.elastic(state, self.part)
        g[: self.rod.nodes.size] -= self.loads.on_nodes(self.rod).ravel()
        slopes, of_tendons = self.of_tendons(state, tension)
        g += self.spread(slopes, tension)
        return g, np.concatenate([values, of_tendons])[self.free_entries]

    def of_tendons(self, state: SpaceState, tension: Floats) -> tuple[Floats, Floats]:
        """Slopes (q, 11) of lengths, and the Hessian of tension times them."""
        slopes = np.empty((len(tension), OF_BEND))
        values = np.empty((len(tension), _triangle(OF_BEND)))
        if len(tension):
            fill_tendons(state, self.part, self.way, tension, slopes, values)
        return slopes, values.ravel()

    def spread(self, slopes: Floats, by: Floats) -> Floats:
        """(3 n + m,) sum of slopes (q, 11) of pieces of tendons by (q,) numbers."""
        each = (by[:, None] * slopes).ravel()
        places, count = self.tendon_places.ravel(), len(self.free)
        return np.bincount(places, each, count).astype(np.float64)

    @cached_property
    def tendon_places(self) -> Ints:
        """(q, 11) unknowns that the length of each piece hangs on."""
        return pair_places(self.rod, self.way.edges)

    def elastic(self, state: SpaceState, part: SpaceElements) -> tuple[Floats, Floats]:
        """Slopes (3 n + m,) of the energy of `part`, and its Hessian's entries."""
        g = np.zeros(len(self.free))
        of_edges = np.empty((len(self.rod.edges), _triangle(OF_EDGE)))
        of_bends = np.empty((len(self.rod.pairs), _triangle(OF_BEND)))
        add_elastic(state, part, g, of_edges, of_bends)
        return g, np.concatenate([of_edges.ravel(), of_bends.ravel()])

    @property
    def free_entries(self) -> Bools:
        """(e,) which of the Hessian's entries are of free unknowns only."""
        return self._places[2]

    @cached_property
    def shift(self) -> Floats:
        """(f,) by which the diagonal is shifted: as of a rod in a soft, even bed."""
        rod, length = self.rod, self.rod.length
        own = np.zeros(len(rod.nodes))
        for end in range(2):
            np.add.at(own, rod.edges[:, end], 0.5 * rod.rest_length)
        frames = (FRAME_ARM * length) ** 2 * rod.rest_length
        unit = float(rod.bending.max()) / length**4
        return unit * np.concatenate([np.repeat(own, 3), frames])[self.free]

    def factor(self, values: Floats, shift: Floats) -> Factor:
        """Of the Hessian with `shift` (f,) on its diagonal."""
        return factorise(self.pattern, np.concatenate([values, shift]))

    def moved(self, state: SpaceState, change: Floats) -> SpaceState:
        """The state after all unknowns changed by (3 n + m,), edges along arcs.

        A straight way of the nodes would lengthen an edge that turns by u by u^2 / 2,
        which costs far more than bending where EA is large. So each edge turns and
        stretches by what the change says at first, and nodes are put where they fit
        these edges best; held ones stay.
        """
        n, edges = self.rod.nodes.size, self.rod.edges
        move = change[:n].reshape(-1, 3)
        e = state.x[edges[:, 1]] - state.x[edges[:, 0]]
        by = move[edges[:, 1]] - move[edges[:, 0]]
        size = np.linalg.norm(e, axis=1, keepdims=True)
        t = e / size
        along = np.sum(by * t, axis=1, keepdims=True)
        turn = (by - along * t) / size
        angle = np.linalg.norm(turn, axis=1, keepdims=True)
        to = np.cos(angle) * t + np.sinc(angle / np.pi) * turn
        bent = (size + along) * to - e
        fitted = self._fitted(bent - by, move)
        return moved_on(state, edges, self.rod.bends, fitted, change[n:])

    def _fitted(self, apart: Floats, move: Floats) -> Floats:
        """(n, 3) moves that change edges by (m, 3) more, as well as supports let them.

        Parameters
        ----------
        move : (n, 3) where nodes go if the edges leave that open
        """
        rod, pull, found = self.rod, np.zeros_like(move), move.copy()
        apart = (1.0 / rod.rest_length)[:, None] * apart
        np.add.at(pull, rod.edges[:, 1], apart)
        np.add.at(pull, rod.edges[:, 0], -apart)
        arrays = rod.edges, rod.held, rod.rest_length
        for a, factor in enumerate(edge_factors(*(one.tobytes() for one in arrays))):
            free = ~rod.held[:, a]
            found[free, a] += factor.solve(pull[free, a])
        return found


@kernel
def edge_turn(x: Floats, edges: Ints, change: Floats) -> float:
    """Largest of an edge in a change of all unknowns; inf where that is not finite."""
    largest = 0.0
    for e in range(len(edges)):
        by = size = 0.0
        for a in range(3):
            tail, head = edges[e, 0], edges[e, 1]
            by += (change[3 * head + a] - change[3 * tail + a]) ** 2
            size += (x[head, a] - x[tail, a]) ** 2
        turn = max(np.sqrt(by) / np.sqrt(size), abs(change[x.size + e]))
        if not turn < np.inf:
            return float(np.inf)
        largest = max(largest, turn)
    return float(largest)


def _triangle(n: int) -> int:
    return n * (n + 1) // 2


@lru_cache(maxsize=16)
def _analysed(count: int, rows: bytes, cols: bytes) -> SparsityPattern:
    """One for all rods that are joined and held alike."""
    places = (np.frombuffer(own, dtype=np.int64) for own in (rows, cols))
    return analyse(count, *places)
