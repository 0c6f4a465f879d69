"""What fits of a rod compare and find: markers at given times, and parameters.

A marker is where the centroid, the tip or a node is. Between two steps a place is the
cubic through the places and velocities at both, whose error is that of the steps
themselves.

The parameters are Young's modulus and beta of eq. (1), and the constants of eq. (7) of
[Hu20] but t0: at t0 eq. (7) jumps, so that no shape of a rod has a derivative by it.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.core.options import Choice


class Marker(NamedTuple):
    """A weighted mean of one coordinate of the nodes.

    weight : (n,)
    axis : 0 for x, 1 for y, 2 for z
    """

    weight: Floats
    axis: int


def marker(name: str, nodes: Floats, mass: Floats) -> Marker:
    """x_c, y_c of the centroid, x_tip, y_tip of the last node, x_12 of node 12; or z.

    Parameters
    ----------
    nodes, mass : (n, 2 or 3) m; (n,) kg
    """
    n, axes = len(nodes), "xyz"[: nodes.shape[1]]
    found = re.fullmatch(rf"([{axes}])_(c|tip|\d+)", name)
    node = n - 1
    if found and found[2].isdigit():
        node = int(found[2])
    if found is None or node >= n:
        one, last = (", ".join(f"{a}_{k}" for a in axes) for k in (0, n - 1))
        raise ValueError(
            f"quantity is {name!r}: a rod has {', '.join(f'{a}_c' for a in axes)} "
            f"(centroid), {', '.join(f'{a}_tip' for a in axes)} (last node) and "
            f"{one} to {last}"
        )
    weight = np.zeros(n)
    weight[node] = 1.0
    if found[2] == "c":
        weight = mass / mass.sum()
    return Marker(weight, axes.index(found[1]))


def observed(
    motion: Iterable[Any], markers: Sequence[Marker], which: Ints, at: Floats
) -> Floats:
    """(m,) what would be measured.

    Parameters
    ----------
    motion : steps in the plane or in space, with `time`, `x` and `v` of nodes
    which : (m,) its marker
    at : (m,) s, within the motion
    """
    from scipy.interpolate import CubicHermiteSpline  # slow to import

    times, rows = [], []
    for step in motion:
        times.append(step.time)
        rows.append(
            [[m.weight @ a[:, m.axis] for m in markers] for a in (step.x, step.v)]
        )
    x, v = np.array(rows).transpose(1, 0, 2)
    curves = CubicHermiteSpline(times, x, v)(at)
    return np.asarray(curves[np.arange(len(at)), which])


class Parameter(Choice):
    """What may be fitted."""

    MODULUS = "modulus"  # E, Pa
    BETA = "beta"  # s
    RATE = "rate"  # tau, 1/s
    DELAY = "delay"  # tbar, s
    LEAST_CURVATURE = "least_curvature"  # n of the curvature
    MOST_MODULUS = "most_modulus"  # n of the modulus

    @property
    def positive(self) -> bool:
        """Whether it makes sense above zero only."""
        return self not in (Parameter.DELAY, Parameter.LEAST_CURVATURE)


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
