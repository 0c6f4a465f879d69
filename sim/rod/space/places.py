"""Which unknowns the elements of a rod in space touch: coordinates, then angles."""

import numpy as np

from sim.arrays import Bools, Ints
from sim.rod.space.frames import of_runs, run_ends
from sim.rod.space.space_rod import SpaceRod


def pair_places(rod: SpaceRod, bends: Ints) -> Ints:
    """(b, 11) unknowns of pairs of runs that meet at a node."""
    n, axes, ends = len(rod.nodes), np.arange(3), run_ends(rod.edges, bends)
    first, second = of_runs(bends, len(rod.edges))[0].T
    follow = (ends[:, 0, 1, None] == ends[:, 1]).any(axis=1)
    middle = np.where(follow, ends[:, 0, 1], ends[:, 0, 0])
    tail = np.where(follow, ends[:, 0, 0], ends[:, 0, 1])
    head = np.where(ends[:, 1, 0] == middle, ends[:, 1, 1], ends[:, 1, 0])
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
