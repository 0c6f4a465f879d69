"""What acts on a rod in space from outside."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sim.arrays import Floats
from sim.rod.space.frames import SpaceState
from sim.rod.space.space_rod import SpaceRod, edge_tangents
from sim.rod.space.tendons import Tendon


@dataclass(frozen=True, eq=False)
class SpaceLoads:
    """Loads that keep their direction, and tendons.

    Attributes
    ----------
    gravity : (3,) m/s^2
    force : (n, 3) on nodes, N
    moment : (m, 3) on edges, N m: it does not follow the edge, and has no energy
    tendons : within the rod
    """

    gravity: Floats
    force: Floats
    moment: Floats
    tendons: Sequence[Tendon] = field(default_factory=tuple)

    @property
    def turning(self) -> bool:
        """Whether there are moments, so that work depends on the way."""
        return bool(self.moment.any())

    def on_nodes(self, rod: SpaceRod) -> Floats:
        """(n, 3) weight and forces, N."""
        return self.force + rod.mass[:, None] * self.gravity

    def largest(self, rod: SpaceRod) -> float:
        """Of forces, weight, tension, and moments over the length, N."""
        pulled = [t.tension for t in self.tendons]
        weight = float(np.linalg.norm(self.gravity)) * float(rod.mass.sum())
        moment = float(np.abs(self.moment).max(initial=0.0)) / rod.length
        return max(
            float(np.abs(self.force).max(initial=0.0)), weight, moment, *pulled, 0
        )


def no_loads(rod: SpaceRod) -> SpaceLoads:
    """Nothing acts."""
    return SpaceLoads(
        np.zeros(3), np.zeros_like(rod.nodes), np.zeros((len(rod.edges), 3))
    )


def moment_forces(rod: SpaceRod, state: SpaceState, moment: Floats) -> Floats:
    """(3 n + m,) what moments on edges do to the unknowns.

    An edge that moves turns by t x dt, and about itself by the change of its angle.
    """
    total = np.zeros_like(rod.nodes)
    t = edge_tangents(state.x, rod.edges)
    length = np.linalg.norm(np.diff(state.x[rod.edges], axis=1)[:, 0], axis=1)
    pull = np.cross(moment, t) / length[:, None]
    np.add.at(total, rod.edges[:, 0], -pull)
    np.add.at(total, rod.edges[:, 1], pull)
    return np.concatenate([total.ravel(), np.sum(moment * t, axis=1)])


def moment_stiffness(rod: SpaceRod, state: SpaceState, moment: Floats) -> Floats:
    """(k, 7, 7) slopes of `moment_forces` in tail, head and angle of loaded edges.

    Not symmetric: a moment of fixed direction has no energy. A move d carries frames
    straight from where the rod is, so a further one e spins them by -t.(d x e) / 2.
    """
    found = []
    for e in np.flatnonzero(moment.any(axis=1)).tolist():
        M, (i, j) = moment[e], rod.edges[e]
        edge = state.x[j] - state.x[i]
        size = float(np.linalg.norm(edge))
        t = edge / size
        across = np.eye(3) - np.outer(t, t)
        spun = _cross_matrix(M) @ across - 0.5 * (M @ t) * _cross_matrix(t)
        by_edge = (spun - np.outer(np.cross(M, t), t)) / size**2
        K = np.zeros((7, 7))
        for a, one in ((0, -1.0), (3, 1.0)):
            for b, other in ((0, -1.0), (3, 1.0)):
                K[a : a + 3, b : b + 3] = one * other * by_edge
            K[6, a : a + 3] = one * (across @ M) / size
        found.append(K)
    return np.array(found).reshape(-1, 7, 7)


def _cross_matrix(a: Floats) -> Floats:
    """(3, 3) of the cross product with a."""
    return -np.cross(np.eye(3), a).T
