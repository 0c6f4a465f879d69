"""Drag of a rod that moves in a fluid, by resistive-force theory as in the plane.

With the mean edge t of a step and the mean velocity of its nodes, each end of an edge
of length l at rest feels - l / 2 (c_t t t^T + c_n (1 - t t^T)) dq / h, so that drag
takes energy at any h. What is held feels none, and nothing resists turns about an edge.
"""

import numpy as np

from sim.arrays import Floats
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.space.elastic import OF_EDGE
from sim.rod.stepping.surroundings import Fluid


def _resistance(world: SpaceWorld, x: Floats, to: Floats) -> Floats:
    """(m, 3, 3) of each end of the edges that go from x to `to`, N s/m."""
    edges = world.rod.edges
    fluid = world.fluid or Fluid(0.0, 0.0)
    mean = np.diff((x + to)[edges], axis=1)[:, 0]
    t = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    along = t[:, :, None] * t[:, None, :]
    each = fluid.across * np.eye(3) + (fluid.along - fluid.across) * along
    return np.asarray(0.5 * world.rod.rest_length[:, None, None] * each)


def drag(world: SpaceWorld, x: Floats, moves: Floats, h: float) -> Floats:
    """(3 n + m,) of a step of h seconds from x, N.

    Parameters
    ----------
    moves : (3 n + m,) m, rad
    """
    way = moves[: x.size].reshape(-1, 3)
    each, force = _resistance(world, x, x + way), np.zeros_like(x)
    for end in world.rod.edges.T:
        np.add.at(force, end, -np.einsum("mab,mb->ma", each, way[end]) / h)
    force[world.rod.held] = 0.0
    return np.concatenate([force.ravel(), np.zeros(len(moves) - x.size)])


def drag_slopes(world: SpaceWorld, x: Floats, moves: Floats, h: float) -> Floats:
    """(21 m,) lower triangles of edges: of minus its slope by moves, N/m."""
    to = x + moves[: x.size].reshape(-1, 3)
    both = np.kron(np.eye(2), _resistance(world, x, to) / h)
    r, c = np.tril_indices(OF_EDGE)
    return np.asarray(both[:, r, c].ravel())
