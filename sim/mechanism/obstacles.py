"""Bodies that cannot pass through each other, and ranges that are not left.

[dJ23] leaves volume out and names it as a next step (Discussion). Spheres, capsules
and panels stay the sum of their radii apart, and links and joints within their ranges,
by an interior point method: the potential of `sim.contact`, logarithmic close to
contact,

    B = kappa ( sum_pairs m Pi(d - min_distance) + sum_bounds Pi(|h - bound|) ),

is added to f of `sim.mechanism.constrained_newton`, and morphs are repeated for ever
smaller kappa. Pairs feel each other from a share of their size on, and steps are little
longer than that while many come within it and leave it; thin bodies therefore do so
from afar at first, and from the nearer the smaller kappa is. At the last they do so
from that share on: where f is flat, forces that are next to nothing would be all that
is left. -kappa Pi' is the force of a contact: never negative, zero away from it, and
with a clearance that vanishes with kappa, which are the conditions of Karush, Kuhn and
Tucker (Nocedal and Wright 2006, sect. 19.1). Bounds enter K of
`sim.mechanism.constraint_system` as rows with the force y = dB/dh and the weight rho =
d2B/dh2, pairs as blocks.

No configuration with an overlap is accepted, and no step whose straight line from one
configuration to the next has one: nothing passes through anything. Which parts of
bodies may meet: see `sim.contact.bodies_that_may_meet`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from sim.contact.bodies_that_may_meet import TOUCH, CollisionGeometry
from sim.contact.collisions import largest_step
from sim.contact.contact_energy import (
    barrier,
    contact_energy,
    felt_pairs,
    pair_curvatures,
    pair_slopes,
    separations,
)
from sim.contact.near_pairs import ContactPairs
from sim.core.arrays import Floats, Ints, connected
from sim.mechanism.constraint_forces import ObstacleTerms
from sim.mechanism.constraint_system import (
    ConstraintSystem,
    HessianPattern,
    Topology,
    hessian_pattern_with,
    linearise,
    system_with,
)
from sim.mechanism.constraints import ConstraintKind, ConstraintTable
from sim.mechanism.ranges import Ranges, bound_terms
from sim.mechanism.shape_measures import characteristic_length
from sim.mechanism.structure import Structure


def one_node_each(table: ConstraintTable, n: int) -> Ints:
    """(n,) of the nodes that `coin` holds at one place, the first."""
    _, place = connected(table.nodes[table.kind == ConstraintKind.COIN, :2], n)
    return np.asarray(np.unique(place, return_index=True)[1][place])


BARRIER_PARAMETERS = tuple(
    10.0**-k for k in range(2, 9)
)  # kappa / L^2, one after the other
FAR = 0.08  # of L, clearance from which thin bodies feel each other at the first
NEAR = 0.0002  # at the last, of those whose own reach is less
THIN = 0.008  # of L, reach of their own below which bodies are thin; then, in motion
KEPT = 4  # sparsity patterns, each of one set of pairs
ROUGH = 1e-2  # gradient / sqrt(kappa) that is enough for all but the last
SIDES = {"least": "lower limit", "most": "upper limit"}  # in words
ROUGH_IN_VALLEYS = 1e-3  # where steps follow flat valleys: easiest while walls are soft


def _last_reach(own: float, L: float) -> float:
    """Clearance from which thin bodies feel each other at the last kappa; else 0."""
    if own >= THIN * L:
        return 0.0
    return NEAR * L if own < NEAR * L else THIN * L


class Touch(NamedTuple):
    """A pair of bodies or a bound that is felt.

    Attributes
    ----------
    name : of the bodies, or of the range with its bound
    room : the clearance that is left: a length, for a range in the unit of its row
    force : that keeps them apart, -dB/d(room), of all their parts
    bound : of a range, in words; "" of bodies
    """

    name: str
    room: float
    force: float
    bound: str = ""

    def row(self) -> dict[str, str | float]:
        """Of contacts.csv."""
        return {"name": self.name, "room": self.room, "force": self.force}


@dataclass(frozen=True, eq=False)
class Obstacles:
    """What a structure cannot move through.

    Attributes
    ----------
    meetings : its bodies
    system : its constraints, with its ranges as the last rows
    bounded : its ranges alone
    activation : (q,) of the ranges
    reach : clearance from which thin bodies feel each other, zero without them
    pattern_with : of K by the nodes of the pairs that are felt, which change along a
        morph; the last few are cached
    """

    structure: Structure
    meetings: CollisionGeometry
    ranges: Ranges
    system: ConstraintSystem
    bounded: ConstraintSystem
    activation: Floats
    pattern_with: Callable[[bytes], HessianPattern]
    reach: float

    @classmethod
    def of(cls, structure: Structure) -> "Obstacles":
        ranges, table = structure.ranges, structure.constraints
        solids, r0 = structure.solids, structure.r0
        same = one_node_each(table, len(r0))
        links = table.nodes[table.kind == ConstraintKind.DIST, :2]
        met = CollisionGeometry.of(solids, same, links, r0)
        L = characteristic_length(r0)
        system = system_with(structure, table.followed_by(ranges.table))
        return cls(
            structure,
            met,
            ranges,
            system,
            system_with(structure, ranges.table),
            ranges.activation(L),
            lru_cache(KEPT)(partial(_pattern_with, system.topology)),
            _last_reach(met.shortest, L),
        )

    @property
    def nearest(self) -> "Obstacles":
        """The same as thin bodies are felt at the end of a morph: from their own reach,
        from NEAR those of less."""
        near = NEAR * characteristic_length(self.structure.r0)
        own = max(self.meetings.shortest, near)
        return replace(self, reach=own) if own < self.reach else self

    def reaching(self, way: float) -> "Obstacles":
        """The same as thin bodies are felt from the first kappa, 0, to the last, 1."""
        if self.reach == 0.0:
            return self
        L = characteristic_length(self.structure.r0)
        first, last = FAR * L, _last_reach(self.meetings.shortest, L)
        return replace(self, reach=first * (last / first) ** way)

    @property
    def in_motion(self) -> "Obstacles":
        """The same as thin bodies are felt in steps of time, which would skip less."""
        if self.reach == 0.0:
            return self
        return replace(self, reach=THIN * characteristic_length(self.structure.r0))

    def check(self, z: Floats) -> None:
        """Refuse a start with an overlap or outside a range."""
        self.ranges.refuse_outside(linearise(self.bounded, z).c, self.activation)
        r = z[: len(self.structure.r0)]
        pairs = self.meetings.near(r)
        d = separations(pairs, r.copy())
        found = np.flatnonzero(~(d > pairs.min_distance))
        if len(found):
            k = int(found[np.argmin(d[found] - pairs.min_distance[found])])
            one, other = self.meetings.names(pairs, k)
            raise ValueError(
                f"the {one} and the {other} overlap at the start: they are {d[k]:.4g} "
                f"apart and need {pairs.min_distance[k]:.4g}: take smaller radii, or "
                f"start with them apart (pairs of parts that overlap: {len(found)})"
            )
        for one, other in self.meetings.pierced(r):
            raise ValueError(
                f"the {one} passes through the {other} at the start: move them apart"
            )

    def overlaps(self, r: Floats) -> int:
        """How many pairs of parts overlap."""
        pairs = self.meetings.near(r)
        close = ~(separations(pairs, r.copy()) > pairs.min_distance)
        return int(np.count_nonzero(close)) + len(self.meetings.pierced(r))

    def smallest_clearance(self, z: Floats) -> float:
        """The smallest clearance of a pair or a bound, over its reach; at most 1.

        Beyond a distance of one reach nothing is felt.
        """
        h = linearise(self.bounded, z).c
        room = np.minimum(h - self.ranges.least, self.ranges.most - h)
        r = z[: len(self.structure.r0)].copy()
        pairs = self.meetings.near(r)
        apart = (separations(pairs, r) - pairs.min_distance) / pairs.activation
        return float(np.append(room / self.activation, apart).min(initial=1.0))

    def energy(self, z: Floats, kappa: float) -> float:
        """B, infinite where bodies overlap or a range is left."""
        h = linearise(self.bounded, z).c
        total = bound_terms(h, self._bounds, kappa, np.empty_like(h), np.empty_like(h))
        if not total < np.inf:
            return total
        r = z[: len(self.structure.r0)]
        return total + contact_energy(self._felt(r), kappa, r)

    def contacts(self, z: Floats, kappa: float) -> ObstacleTerms:
        """What pairs and bounds do at the state z (n + k, 3)."""
        linear, q = linearise(self.system, z), len(self.ranges)
        y, rho = np.empty(q), np.empty(q)
        bound_terms(linear.c[len(linear.c) - q :], self._bounds, kappa, y, rho)
        r = z[: len(self.structure.r0)].copy()
        pairs = felt_pairs(self._felt(r), r)
        pattern = self.pattern_with(pairs.node.tobytes())
        slopes, *curvature = pair_curvatures(pairs, kappa, r)
        of_nodes = slopes.reshape(-1, 4, 3)
        return ObstacleTerms(linear, pattern, y, rho, pairs.node, of_nodes, *curvature)

    def touching(self, z: Floats, kappa: float) -> list["Touch"]:
        """Everything that is felt at z, the strongest first."""
        h = linearise(self.bounded, z).c
        bounds = _touched_bounds(self.ranges, self.activation, h, kappa)
        r = z[: len(self.structure.r0)].copy()
        pairs = felt_pairs(self._felt(r), r)
        clearances = separations(pairs, r) - pairs.min_distance
        slopes, bodies = pair_slopes(pairs, kappa, r), dict[str, Touch]()
        for k, clearance in enumerate(clearances.tolist()):
            own = slopes[k, : 1 if k < pairs.faces else 2].sum(axis=0)
            name = " and ".join(sorted(self.meetings.names(pairs, k)))
            before = bodies.get(name, Touch(name, np.inf, 0.0))
            force = before.force + float(np.linalg.norm(own))
            bodies[name] = Touch(name, min(clearance, before.room), force)
        return sorted([*bounds, *bodies.values()], key=lambda touch: -touch.force)

    def allows(self, before: Floats, after: Floats) -> bool:
        """Whether nothing touches on the straight way from one r (n, 3) to another."""
        return self.largest_step_length(before, after - before) >= 1.0

    def largest_step_length(self, r: Floats, dr: Floats) -> float:
        """The largest share of dr (n, 3), at most 1, on which nothing touches."""
        farthest = float(np.sqrt(np.square(dr).sum(axis=1).max()))
        pairs = self.meetings.near(r, farthest)
        return float(largest_step(pairs, r.copy(), dr.copy(), 1.0))

    def _felt(self, r: Floats) -> ContactPairs:
        return self.meetings.near(r, reach=self.reach)

    @property
    def _bounds(self) -> tuple[Floats, Floats, Floats]:
        return self.ranges.least, self.ranges.most, self.activation


def _touched_bounds(
    ranges: Ranges, activation: Floats, h: Floats, kappa: float
) -> Iterator[Touch]:
    least_angle = {"least": "most", "most": "least"}  # an angle falls as h rises
    clearances = {"least": h - ranges.least, "most": ranges.most - h}
    for word, clearance in clearances.items():
        for i in np.flatnonzero(clearance < activation).tolist():
            slack = TOUCH * float(activation[i])
            force = -barrier(float(clearance[i]) + slack, float(activation[i]), kappa)[
                1
            ]
            side = least_angle[word] if ranges.is_angle(i) else word
            bound = ranges.shown_bound(i, getattr(ranges, word)[i])
            name = f"{ranges.name(i)} at its {SIDES[side]}"
            yield Touch(name, float(clearance[i]), force, bound)


def _pattern_with(topology: Topology, nodes: bytes) -> HessianPattern:
    """Of K with the matrix of each pair, by its nodes (p, 4) as bytes."""
    quads = np.frombuffer(nodes, dtype=np.int64).reshape(-1, 4)
    return hessian_pattern_with(topology, quads)
