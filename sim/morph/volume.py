"""Nodes as balls that cannot overlap.

[dJ23] leaves volume out and names it as a next step (Discussion). Here every node is
the middle of a ball of one radius a, as in its printed parts. Two balls whose distance
no link fixes stay d > 2 a apart by a barrier: with s = d^2, s0 = (2 a)^2,
s1 = (2 a REACH)^2 and t = (s - s0) / (s1 - s0),

    B = kappa sum_pairs b(t),    b = -(1 - t)^2 ln t for 0 < t < 1, else 0,

after Li et al., ACM Trans. Graph. 39:49 (2020), is added to f of `sim.morph.descent`.
B depends on s, which is what a link holds constant: so each pair enters K of
`sim.morph.curvature` as a link with the force y = dB/ds and the weight rho = d2B/ds2.
Morphs are repeated for ever smaller kappa. No ball moves by its radius or more in a
step, and no configuration with an overlap is accepted: nothing passes through anything.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.spatial import cKDTree

from sim.arrays import Floats, Ints
from sim.morph.constraints import Kind, Table
from sim.morph.curvature import Places, find_places
from sim.morph.descent import Contacts
from sim.morph.structure import Structure
from sim.morph.system import System, linearise, system_with

REACH = 1.3  # distance at which two balls begin to feel each other, over 2 a
STIFFNESS = tuple(10.0**-k for k in range(2, 9))  # kappa / L^2, one after the other
ROUGH = 1e-2  # gradient / sqrt(kappa) that is enough for all but the last


@dataclass(frozen=True, eq=False)
class Balls:
    """The balls of a structure.

    Attributes
    ----------
    radius : a, the case's unit
    fixed : (links,) pairs that a link holds apart, ascending, as `_key` names them
    """

    structure: Structure
    radius: float
    fixed: Ints

    @classmethod
    def of(cls, structure: Structure, radius: float) -> "Balls":
        table, n = structure.constraints, len(structure.r0)
        links = table.nodes[table.kind == Kind.DIST, :2]
        return cls(structure, radius, np.unique(_key(links, n)))

    def pairs(self, r: Floats, reach: float = REACH) -> Ints:
        """(p, 2) the balls closer than `reach` times their distance at a touch."""
        found = cKDTree(r).query_pairs(2.0 * self.radius * reach, output_type="ndarray")
        ends = np.sort(found.reshape(-1, 2).astype(np.int64), axis=1)
        key = _key(ends, len(r))
        order = np.argsort(key)
        return ends[order[~np.isin(key[order], self.fixed)]]

    def overlaps(self, r: Floats) -> int:
        """How many pairs of balls overlap."""
        return len(self.pairs(r, 1.0))

    def check(self, r: Floats) -> None:
        """Refuse balls that overlap at the beginning."""
        ends = self.pairs(r, 1.0)
        if len(ends):
            a, b = ends[0]
            raise ValueError(
                f"the balls of nodes {a} and {b} overlap at the start: they are "
                f"{np.linalg.norm(r[b] - r[a]):.4g} apart and need "
                f"{2.0 * self.radius:.4g}: take a smaller ball_radius "
                f"({len(ends)} pairs overlap)"
            )

    def energy(self, r: Floats, kappa: float) -> float:
        """B, infinite where balls overlap."""
        ends = self.pairs(r)
        d = r[ends[:, 1]] - r[ends[:, 0]]
        t = self._nearness(np.einsum("ij,ij->i", d, d))
        if len(t) and t.min() <= 0.0:
            return np.inf
        return kappa * float(barrier(t)[0].sum())

    def contacts(self, z: Floats, kappa: float) -> Contacts:
        """What the pairs do at the state z (n + k, 3)."""
        ends = self.pairs(z[: len(self.structure.r0)])
        touch = (2.0 * self.radius) ** 2
        system, places = _with_pairs(self.structure, ends.tobytes(), touch)
        linear = linearise(system, z)
        m = system.m - len(ends)
        _, slope, bend = barrier(self._nearness(linear.c[m:] + touch))
        width = self._width
        return Contacts(linear, places, kappa * slope / width, kappa * bend / width**2)

    def allows(self, before: Floats, after: Floats) -> bool:
        """Whether no ball has gone so far that it may have passed another."""
        moved = np.square(after - before).sum(axis=1).max()
        return bool(moved < self.radius**2)

    @property
    def _width(self) -> float:
        return (2.0 * self.radius) ** 2 * (REACH**2 - 1.0)

    def _nearness(self, s: Floats) -> Floats:
        """t, at most 1."""
        near: Floats = np.minimum((s - (2.0 * self.radius) ** 2) / self._width, 1.0)
        return near


def barrier(t: Floats) -> tuple[Floats, Floats, Floats]:
    """b and its first two derivatives in t, for 0 < t <= 1."""
    u, log = 1.0 - t, np.log(t)
    return (
        -(u**2) * log,
        2.0 * u * log - u**2 / t,
        -2.0 * log + 4.0 * u / t + (u / t) ** 2,
    )


def _key(ends: Ints, n: int) -> Ints:
    keys: Ints = ends.min(axis=1) * n + ends.max(axis=1)
    return keys


@lru_cache(maxsize=1)
def _with_pairs(
    structure: Structure, pairs: bytes, touch: float
) -> tuple[System, Places]:
    """The system with one more link for each pair."""
    ends = np.frombuffer(pairs, dtype=np.int64).reshape(-1, 2)
    table = structure.constraints
    nodes = np.full((len(ends), 6), -1, dtype=np.int64)
    nodes[:, :2] = ends
    more = Table(
        np.append(table.kind, np.full(len(ends), int(Kind.DIST))),
        np.append(table.nodes, nodes, axis=0),
        np.append(table.constant, np.full(len(ends), touch)),
    )
    system = system_with(structure, more)
    return system, find_places(system)
