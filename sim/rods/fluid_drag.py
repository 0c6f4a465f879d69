"""Drag of a fluid at rest on rods, by resistive-force theory.

A piece of rod of tangent t feels -(c_t t t^T + c_n (1 - t t^T)) v per length, whatever
the others do (Gray and Hancock, J. Exp. Biol. 32, 1955). With t of the mean edge of a
step and the mean velocity of its nodes, each end of an edge of length l at rest feels
l / 2 of that, so that drag takes energy at any step. What is held feels none, and
nothing resists turns about an edge.

In the plane kernels find the drag of a step (`find_drag`), and add its slope to the
matrix of Newton's method (`add_drag`); edges in a fluid are rows of `EdgeForces` of
`sim.rods.plane.world`. In space `drag_in_fluid` has the forces of a step and
`drag_slopes` their slopes.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sim.core.arrays import Bools, Floats, Ints
from sim.core.numba_kernels import inlined, kernel
from sim.core.options import Checked, NotNegative


class Edged(Protocol):
    """A rod in the plane or in space."""

    @property
    def nodes(self) -> Floats: ...
    @property
    def edges(self) -> Ints: ...
    @property
    def rest_length(self) -> Floats: ...
    @property
    def held(self) -> Bools: ...


@dataclass(frozen=True)
class Fluid(Checked):
    """A fluid at rest, N s/m^2 along a rod and across it; it has no buoyancy."""

    of = "fluid"
    along: NotNegative
    across: NotNegative


Both = tuple[Floats, Floats]  # (n, 2) before and after a step


@kernel
def mean_tangent(x: Both, gamma: float, i: int, j: int) -> tuple[float, float, float]:
    """Direction and length of the mean edge of a step, from node i to j."""
    x0, x1 = x
    ex = gamma * (x1[j, 0] - x1[i, 0]) + (1.0 - gamma) * (x0[j, 0] - x0[i, 0])
    ey = gamma * (x1[j, 1] - x1[i, 1]) + (1.0 - gamma) * (x0[j, 1] - x0[i, 1])
    length = np.sqrt(ex * ex + ey * ey)
    return ex / length, ey / length, length


@inlined
def find_drag(
    ends: Ints, each: Floats, x: Both, v: Both, gamma: float, h: float, drag: Floats
) -> None:
    """drag (n, 2) <- h (d_t t t^T + d_n (1 - t t^T)) v of both ends of rows, N s.

    Parameters
    ----------
    ends, each : (k, 2) nodes of edges, and d_t and d_n of half an edge, N s/m
    """
    drag[:] = 0.0
    for k in range(len(ends)):
        tx, ty, _ = mean_tangent(x, gamma, ends[k, 0], ends[k, 1])
        dt, dn = h * each[k, 0], h * each[k, 1]
        for a in range(2):
            i = ends[k, a]
            vx = gamma * v[1][i, 0] + (1.0 - gamma) * v[0][i, 0]
            vy = gamma * v[1][i, 1] + (1.0 - gamma) * v[0][i, 1]
            slip = (dt - dn) * (tx * vx + ty * vy)
            drag[i, 0] += dn * vx + slip * tx
            drag[i, 1] += dn * vy + slip * ty


@inlined
def add_drag(
    ends: Ints, each: Floats, x: Both, gamma: float, h: float, place: Ints, A: Floats
) -> None:
    """A (n, 3) += h gamma (d_t t t^T + d_n (1 - t t^T)) at the places of both ends."""
    for k in range(len(ends)):
        tx, ty, _ = mean_tangent(x, gamma, ends[k, 0], ends[k, 1])
        dn = h * gamma * each[k, 1]
        less = h * gamma * each[k, 0] - dn
        for a in range(2):
            block = A[place[ends[k, a]]]
            block[0] += dn + less * tx * tx
            block[1] += less * tx * ty
            block[2] += dn + less * ty * ty


def _resistance(rod: Edged, fluid: Fluid, x: Floats, to: Floats) -> Floats:
    """(m, 3, 3) of each end of the edges that go from x to `to`, N s/m."""
    mean = np.diff((x + to)[rod.edges], axis=1)[:, 0]
    t = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    along = t[:, :, None] * t[:, None, :]
    each = fluid.across * np.eye(3) + (fluid.along - fluid.across) * along
    return np.asarray(0.5 * rod.rest_length[:, None, None] * each)


def drag_in_fluid(
    rod: Edged, fluid: Fluid, x: Floats, moves: Floats, h: float
) -> Floats:
    """(3 n + m,) of a step of h seconds from x, N.

    Parameters
    ----------
    moves : (3 n + m,) m, rad
    """
    way = moves[: x.size].reshape(-1, 3)
    each, force = _resistance(rod, fluid, x, x + way), np.zeros_like(x)
    for end in rod.edges.T:
        np.add.at(force, end, -np.einsum("mab,mb->ma", each, way[end]) / h)
    force[rod.held] = 0.0
    return np.concatenate([force.ravel(), np.zeros(len(moves) - x.size)])


def drag_slopes(rod: Edged, fluid: Fluid, x: Floats, moves: Floats, h: float) -> Floats:
    """(21 m,) lower triangles of edges: of minus its slope by moves, N/m."""
    to = x + moves[: x.size].reshape(-1, 3)
    both = np.kron(np.eye(2), _resistance(rod, fluid, x, to) / h)
    r, c = np.tril_indices(both.shape[1])
    return np.asarray(both[:, r, c].ravel())
