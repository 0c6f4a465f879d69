"""How what depends on a state of a rod in space changes with the state.

A change of a state is (u, w): moves of nodes, and turns of directors about their edges
beyond what carrying them along does. Carried from t0 to t1, directors turn by what
encloses an area,

    w1 = w0 + turn - (t0 x t1) . (dt0 + dt1) / (1 + t0 . t1),

which is how the twist of a bend changes too, with the tangents of its two edges. So the
slope g of an energy changes by its Hessian, and, as moves of an edge by u and v in turn
differ from those by v and u by a turn, by g_w (t x dt) / 2 |e| on the ends of edges
(the frames of Bergou et al., 2010, are not those of coordinates).
"""

import numpy as np
from scipy.sparse import csr_array

from sim.arrays import Floats
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.space.elements import SpaceElements
from sim.rod.space.frames import SpaceState, edge_lengths, of_runs, turning
from sim.rod.space.space_rod import edge_tangents

LARGEST = 0.01  # strain and turning to which changes are scaled


def around(t: Floats, to: Floats, dt: Floats, dto: Floats) -> Floats:
    """(k,) how directors turn that are carried from t to `to`, as both change."""
    way = np.cross(t, to) / (1.0 + np.sum(t * to, axis=1))[:, None]
    return np.asarray(-np.sum(way * (dt + dto), axis=1))


class StateTangent:
    """A state, and how what depends on it changes."""

    def __init__(self, world: SpaceWorld, state: SpaceState) -> None:
        self.world, self.state = world, state
        self.edges, self.bends = world.rod.edges, world.rod.bends
        self.size = edge_lengths(state.x, self.edges)
        self.t = edge_tangents(state.x, self.edges)
        self.turning = turning(state, self.edges, self.bends)

    def tangents(self, by: Floats) -> tuple[Floats, Floats]:
        """(m, 3) changes of tangents, and (m,) of lengths, m, with (3 n + m,)."""
        u = by[: self.state.x.size].reshape(-1, 3)
        e = u[self.edges[:, 1]] - u[self.edges[:, 0]]
        longer = np.sum(e * self.t, axis=1)
        return (e - longer[:, None] * self.t) / self.size[:, None], longer

    def turned(self, by: Floats) -> Floats:
        """(b, 3) changes of `turning`."""
        dt, w = self.tangents(by)[0], by[self.state.x.size :]
        first, second = self.state.d, np.cross(self.t, self.state.d)
        d_first = w[:, None] * second - self.t * np.sum(first * dt, axis=1)[:, None]
        d_second = -w[:, None] * first - self.t * np.sum(second * dt, axis=1)[:, None]
        number, way = of_runs(self.bends, len(self.edges))
        (e, f), (p, q) = number.T, way.T[:, :, None]
        t, s, ds, dr = p * self.t[e], q * self.t[f], p * dt[e], q * dt[f]
        over = 1.0 + np.sum(t * s, axis=1)[:, None]
        k = 2.0 * np.cross(t, s) / over
        dk = 2.0 * (np.cross(ds, s) + np.cross(t, dr))
        dk = (dk - k * np.sum(ds * s + t * dr, axis=1)[:, None]) / over
        found = np.empty_like(self.turning)
        for a, (d, dd, flips) in enumerate(
            ((first, d_first, True), (second, d_second, False))
        ):
            sign = (p, q) if flips else (1.0, 1.0)
            both = sign[0] * d[e] + sign[1] * d[f]
            d_both = sign[0] * dd[e] + sign[1] * dd[f]
            found[:, a] = 0.5 * np.sum(d_both * k + both * dk, axis=1)
        own = q[:, 0] * w[f] - p[:, 0] * w[e]
        found[:, 2] = own - around(t, s, ds, dr)
        return found

    def sloped(self, by: Floats, g: Floats, hessian: csr_array) -> Floats:
        """(3 n + m,) change of slopes g of an energy."""
        dt, _ = self.tangents(by)
        n = self.state.x.size
        total = hessian @ by
        pair = np.cross(self.t, dt) * (0.5 * g[n:] / self.size)[:, None]
        ends = total[:n].reshape(-1, 3)
        np.add.at(ends, self.edges[:, 1], pair)
        np.add.at(ends, self.edges[:, 0], -pair)
        return np.asarray(total)

    def strained(self, part: SpaceElements, curved: Floats, longer: Floats) -> Floats:
        """(3 n + m,) slopes of what strains (b, 3) 1/m and (m,) alone resist."""
        most = max(np.abs(longer).max(), np.abs(curved * part.voronoi[:, None]).max())
        scale = LARGEST / max(float(most), 1e-300)
        alone = part._replace(
            curvature=self.turning / part.voronoi[:, None] - scale * curved,
            rest=self.size / (1.0 + scale * longer),
        )
        return np.asarray(self.world.system.elastic(self.state, alone)[0] / scale)
