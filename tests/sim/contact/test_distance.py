"""Distances in every zone, with slopes checked by their Taylor remainders."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from sim.contact.distance import (
    distance_slopes,
    edge_edge_distance,
    edge_weights,
    point_triangle_distance,
    triangle_weights,
)
from sim.core.arrays import Floats
from tests.sim.contact.taylor import remainder_order

TRIANGLE = np.array([[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 0.9, 0.1]])
OVER = {  # a place in each zone, and its number of free parameters
    "plane": ([0.35, 0.3, 0.4], 2),
    "edge 1-2": ([0.5, -0.4, 0.3], 1),
    "edge 2-3": ([0.9, 0.8, 0.3], 1),
    "edge 3-1": ([-0.4, 0.5, 0.3], 1),
    "node 1": ([-0.3, -0.4, 0.3], 0),
    "node 2": ([1.5, 0.1, 0.2], 0),
    "node 3": ([0.2, 1.6, 0.2], 0),
}
CROSSING = {  # ends of two edges, and their number of free parameters
    "both inside": ([[-1, 0, 0], [1, 0.1, 0], [0.1, -1, 0.4], [0, 1, 0.6]], 2),
    "end on edge": ([[-1, 0, 0], [1, 0.1, 0], [0.1, 0.3, 0.4], [0.2, 1, 0.6]], 1),
    "edge on end": ([[0.3, 0, 0], [1, 0.1, 0], [0.1, -1, 0.4], [0, 1, 0.6]], 1),
    "end on end": ([[0.5, 0, 0], [1, 0.1, 0], [0.1, 0.5, 0.4], [0, 1, 0.6]], 0),
}


def placed(point: list[float]) -> Floats:
    return np.vstack([point, TRIANGLE])


def slopes(x: Floats, first: int) -> tuple[int, Floats, Floats]:
    w, dw = np.empty(4), np.empty((2, 4))
    closest = triangle_weights if first == 1 else edge_weights
    k = closest(x, w, dw)
    gradient, hessian = np.empty(12), np.empty((12, 12))
    distance_slopes(x, w, dw, k, gradient, hessian)
    return k, gradient, hessian


def distance(x: Floats, first: int) -> float:
    x = np.ascontiguousarray(x.reshape(4, 3))
    return point_triangle_distance(x) if first == 1 else edge_edge_distance(x)


FREE = [k for _, k in (*OVER.values(), *CROSSING.values())]
PLACES = [(placed(p), 1) for p, _ in OVER.values()] + [
    (np.array(x, dtype=float), 2) for x, _ in CROSSING.values()
]
NAMES = [*OVER, *CROSSING]


def test_each_zone_is_told_by_its_free_parameters():
    assert [slopes(x, first)[0] for x, first in PLACES] == FREE


@pytest.mark.parametrize(("x", "first"), PLACES, ids=NAMES)
def test_gradient_has_a_second_order_remainder(x, first, rng):
    v = rng.normal(size=12) * 0.1
    _, gradient, _ = slopes(x, first)
    order = remainder_order(lambda y: distance(y, first), gradient @ v, x.ravel(), v)
    assert order == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize(("x", "first"), PLACES, ids=NAMES)
def test_hessian_agrees_with_differences_of_the_gradient_to_1e_7(x, first):
    _, _, hessian = slopes(x, first)
    h, found = 1e-5, np.empty((12, 12))
    for i in range(12):
        up, down = x.ravel().copy(), x.ravel().copy()
        up[i] += h
        down[i] -= h
        found[:, i] = (
            slopes(up.reshape(4, 3), first)[1] - slopes(down.reshape(4, 3), first)[1]
        ) / (2 * h)
    assert abs(hessian - found).max() < 1e-7 * abs(hessian).max()
    assert abs(hessian - hessian.T).max() < 1e-13 * abs(hessian).max()


def from_triangle(p: Floats, x: Floats) -> float:
    y = x[1] + p[0] * (x[2] - x[1]) + p[1] * (x[3] - x[1])
    return float(((x[0] - y) ** 2).sum())


def between_edges(p: Floats, x: Floats) -> float:
    a, b = x[0] + p[0] * (x[1] - x[0]), x[2] + p[1] * (x[3] - x[2])
    return float(((a - b) ** 2).sum())


INSIDE = LinearConstraint(np.ones((1, 2)), ub=1.0)


@pytest.mark.parametrize(
    ("squared", "first", "start", "within", "near"),
    [
        (from_triangle, 1, 0.3, {"constraints": INSIDE, "method": "SLSQP"}, 1e-12),
        (between_edges, 2, 0.5, {}, 1e-9),
    ],
)
def test_a_distance_is_the_smallest_there_is(squared, first, start, within, near, rng):
    for _ in range(20):
        x = rng.normal(size=(4, 3))
        best = minimize(
            squared, [start, start], args=(x,), bounds=[(0, 1), (0, 1)],
            options={"ftol": 1e-16}, **within,
        )  # fmt: skip
        expected = pytest.approx(np.sqrt(best.fun), rel=1e-6, abs=near)
        assert distance(x, first) == expected


def test_no_place_is_without_a_zone(rng):
    """Points over the borders of the zones, where rounding decides, have a distance."""
    for _ in range(2000):
        a, b = rng.integers(-2, 4, size=2) / 2.0
        foot = TRIANGLE[0] + a * (TRIANGLE[1] - TRIANGLE[0])
        foot = foot + b * (TRIANGLE[2] - TRIANGLE[0])
        foot[2] += 1e-3 * rng.random()
        x = placed(list(foot))
        nearest = min(np.linalg.norm(x[0] - x[1:], axis=1))
        assert 0.0 <= distance(x, 1) <= nearest


def test_parallel_edges_have_the_distance_of_their_lines():
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0.4, 0.3, 0], [1.4, 0.3, 0]])
    assert distance(x, 2) == pytest.approx(0.3, abs=1e-15)
    apart = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0.0, 0], [3, 0.0, 0]])
    assert distance(apart, 2) == pytest.approx(1.0, abs=1e-15)


def test_distance_ignores_rigid_motion(rng):
    x = rng.normal(size=(4, 3))
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    moved = x @ turn.T + rng.normal(size=3)
    for first in (1, 2):
        assert distance(moved, first) == pytest.approx(distance(x, first), rel=1e-13)
        _, gradient, _ = slopes(x, first)
        pulls = gradient.reshape(4, 3)
        assert abs(pulls.sum(axis=0)).max() < 1e-14
        assert abs(np.cross(x, pulls).sum(axis=0)).max() < 1e-13
