"""No step goes through anything."""

import numpy as np
import pytest

from sim.contact.collisions import KEEP, crossings, largest_step, pair_step, pierces
from sim.contact.near_pairs import find_pairs
from tests.sim.contact.surfaces import edges_of, scattered_triangles, surface_of

FLOOR = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def test_a_thickness_is_kept_clear():
    x = np.vstack([[0.2, 0.2, 1.0], FLOOR])
    move = np.zeros((4, 3))
    move[0, 2] = -4.0
    step = pair_step(x, move, 1, 0.5, 1.0)
    assert 0.125 * (1 - 2 * KEEP) < step < 0.125


def test_a_move_that_meets_nothing_is_made_in_full():
    x = np.vstack([[0.2, 0.2, 1.0], FLOOR])
    move = np.zeros((4, 3))
    move[0] = [0.5, 0.5, 3.0]
    assert pair_step(x, move, 1, 0.0, 1.0) == 1.0


def test_a_common_move_is_free():
    x = np.vstack([[0.2, 0.2, 1e-9], FLOOR])
    assert pair_step(x, np.full((4, 3), 7.0), 1, 0.0, 1.0) == 1.0


def test_an_edge_through_a_triangle_is_seen_and_one_beside_it_is_not():
    down, up = np.array([0.2, 0.2, -1.0]), np.array([0.2, 0.2, 1.0])
    beside = np.array([1.0, 0.0, 0.0])
    assert pierces(down, up, *FLOOR)
    assert pierces(up, down, *FLOOR)
    assert not pierces(down + beside, up + beside, *FLOOR)
    assert not pierces(up, 2 * up, *FLOOR)


@pytest.mark.parametrize("seed", range(5))
def test_moved_surfaces_never_cross(seed):
    """Triangles that are free of each other stay so, however they are thrown about."""
    rng = np.random.default_rng(seed)
    x, triangle = scattered_triangles(rng, 60, 0.12)
    edge = edges_of(triangle)
    tag = np.full((len(x), 2), -1)
    while len(bad := crossings(edge, triangle, tag, x)):
        keep = np.setdiff1d(np.arange(len(triangle)), bad[:, 1])
        x, triangle = x[triangle[keep]].reshape(-1, 3), np.arange(3 * len(keep))
        triangle = triangle.reshape(-1, 3)
        edge, tag = edges_of(triangle), np.full((len(x), 2), -1)
    surface = surface_of(triangle, x, reach=0.01, edge=edge)
    shortened = 0
    for _ in range(20):
        move = 0.3 * rng.normal(size=(len(triangle), 1, 3))
        move = (move + 0.05 * rng.normal(size=(len(triangle), 3, 3))).reshape(-1, 3)
        pairs = find_pairs(surface, x, 2.0 * float(np.linalg.norm(move, axis=1).max()))
        step = largest_step(pairs, x, move, 1.0)
        shortened += step < 1.0
        x = x + step * move
        assert len(crossings(edge, triangle, tag, x)) == 0
    assert shortened > 10
