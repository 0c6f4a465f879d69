"""Loads of edges in space, spread along them or turning with them, in a step.

With E the mean edge of a step from a node to the other, of length l, N the sum of its
d2 before and after, which is across the plane of a rod that is in one, and B the
direction of N x E, a node of the share w feels

    w (F + f_t E + f_n l B) s / h    or    w (F + (f_t E + f_n l B) / l) s / h

where s is how long the load acts, so that what loads give is their forces' work, and a
rod in a plane feels what `sim.rod.stepping.along` says. As the edge turns by dE / l and
carries N,

    d(l B) = n x dE,    dB = (n x dE - B t.dE) / l,    n = N / |N|,  t = E / l

of which Newton's matrix, being symmetric, has the mean with its transpose; how B turns
as the edge turns about itself is left to the iteration.
"""

import numpy as np

from sim.arrays import Floats
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.space.elastic import OF_EDGE
from sim.rod.space.frames import SpaceState
from sim.rod.space.space_rod import edge_tangents

Ends = tuple[SpaceState, SpaceState]  # of a step


def _mean_frames(world: SpaceWorld, both: Ends) -> tuple[Floats, Floats, Floats]:
    """t and n (k, 3) of loaded edges, and their lengths (k,), m."""
    i, j = world.along.ends.T
    k, mean = world.loaded_edges, 0.5 * (both[0].x + both[1].x)
    edge, n = mean[j] - mean[i], np.zeros((len(k), 3))
    for state in both:
        n += np.cross(edge_tangents(state.x, world.rod.edges[k]), state.d[k])
    length = np.linalg.norm(edge, axis=1)
    return edge / length[:, None], n / np.linalg.norm(n, axis=1)[:, None], length


def _acts(world: SpaceWorld, time: float, h: float) -> Floats:
    """(k,) which part of a step from `time` each load acts."""
    begin, end = world.along.window.T
    on = np.minimum(end, time + h) - np.maximum(begin, time)
    return np.asarray(np.maximum(on, 0.0) / h)


def of_edges(world: SpaceWorld, both: Ends, time: float, h: float) -> Floats:
    """(3 n + m,) forces of a step of h seconds from `time`, N."""
    along, total = world.along, np.zeros_like(world.rod.nodes)
    t, n, length = _mean_frames(world, both)
    b = np.cross(n, t)
    b /= np.linalg.norm(b, axis=1, keepdims=True)
    size = np.where(along.by_length, length, 1.0)[:, None]
    turned = size * (along.force[:, 3:4] * t + along.force[:, 4:] * b)
    each = _acts(world, time, h)[:, None] * (along.force[:, :3] + turned)
    for a in range(2):
        np.add.at(total, along.ends[:, a], along.share[:, a, None] * each)
    return np.concatenate([total.ravel(), np.zeros(len(world.rod.edges))])


def slopes_of_edges(world: SpaceWorld, both: Ends, time: float, h: float) -> Floats:
    """(21 m,) lower triangles of edges: of minus their slope by the mean edge, N/m."""
    along, k = world.along, world.loaded_edges
    t, n, length = _mean_frames(world, both)
    b = np.cross(n, t)
    acts = _acts(world, time, h) / np.where(along.by_length, 1.0, length)
    f_t, f_n = (acts * along.force[:, 3:].T)[:, :, None, None]
    turned = np.where(along.by_length, 0.0, 1.0)[:, None, None] * t[:, None, :]
    slope = f_t * (np.eye(3) - t[:, :, None] * turned)
    slope -= f_n * (np.cross(n[:, None], np.eye(3)) + b[:, :, None] * turned)
    K = np.einsum("ka,b,kij->kaibj", along.share, [-1.0, 1.0], slope)
    backwards = along.ends[:, 0] != world.rod.edges[k, 0]
    K[backwards] = K[backwards][:, ::-1, :, ::-1]
    K = K.reshape(-1, OF_EDGE, OF_EDGE)
    r, c = np.tril_indices(OF_EDGE)
    total = np.zeros((len(world.rod.edges), len(r)))
    np.add.at(total, k, -0.5 * (K + K.swapaxes(1, 2))[:, r, c])
    return total.ravel()
