"""Which unknowns the elements of a rod in space touch: coordinates, then angles."""

import numpy as np

from sim.arrays import Bools, Ints
from sim.rod.space.space_rod import SpaceRod


def pair_places(rod: SpaceRod, bends: Ints) -> Ints:
    """(b, 11) unknowns of pairs of edges that follow each other."""
    n, first, second = len(rod.nodes), bends[:, 0], bends[:, 1]
    tail, middle, head = rod.edges[first, 0], rod.edges[first, 1], rod.edges[second, 1]
    axes = np.arange(3)
    return np.hstack(
        [
            3 * tail[:, None] + axes,
            3 * n + first[:, None],
            3 * middle[:, None] + axes,
            3 * n + second[:, None],
            3 * head[:, None] + axes,
        ]
    )


def edge_places(rod: SpaceRod) -> Ints:
    """(m, 6) unknowns of the ends of each edge."""
    return np.hstack([3 * rod.edges[:, [k]] + np.arange(3) for k in (0, 1)])


def triangle_places(places: Ints) -> tuple[Ints, Ints]:
    """Rows and columns of the lower triangles that the elements keep."""
    r, c = np.tril_indices(places.shape[1])
    return places[:, r].ravel(), places[:, c].ravel()


def free_unknowns(rod: SpaceRod) -> Bools:
    """(3 n + m,) what is not held."""
    return ~np.concatenate([rod.held.ravel(), rod.held_frames])
