"""How far a rod and its parts travel: delta of [Hu20], Fig. 2b."""

from collections.abc import Sequence

import numpy as np

from sim.arrays import Floats


def path_lengths(shapes: Sequence[Floats]) -> Floats:
    """(n,) length of the path of each node through shapes of (n, 2), m."""
    steps = np.diff(np.asarray(shapes), axis=0)
    return np.asarray(np.linalg.norm(steps, axis=2).sum(axis=0))


def centroid(x: Floats, mass: Floats) -> Floats:
    """(2,) centre of mass of nodes x (n, 2)."""
    return np.asarray(mass @ x / mass.sum())


def route_ratio(shapes: Sequence[Floats], mass: Floats) -> float:
    """delta = s_b / s_c: route of a boundary point by that of the centroid.

    The paper follows one point. Its route depends on where a motion ends within a
    revolution; the mean over all nodes does not, so that is taken.
    """
    centre = np.array([[centroid(x, mass)] for x in shapes])
    return float(np.mean(path_lengths(shapes)) / path_lengths(list(centre))[0])
