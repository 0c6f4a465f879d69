"""Which pairs are near: the sweep finds what a test of all against all finds."""

import numpy as np
import pytest

from sim.contact.distance import edge_edge_distance, point_triangle_distance
from sim.contact.near_pairs import boxes, find_pairs, overlaps
from tests.sim.contact.surfaces import edges_of, scattered_triangles, surface_of


@pytest.mark.parametrize("count", [1, 7, 300])
@pytest.mark.parametrize("flat", [True, False])
def test_a_sweep_finds_all_overlapping_boxes_in_ascending_order(count, flat, rng):
    x, triangle = scattered_triangles(rng, count, 0.2)
    if flat:
        x[:, 2] = 0.0
    a = boxes(np.arange(len(x)).reshape(-1, 1), x, 0.05)
    b = boxes(triangle, x, 0.0)
    for one, same in ((a, False), (b, True)):
        low, high = one[:, None, :3], one[:, None, 3:]
        hit = ((low <= b[:, 3:]) & (b[:, :3] <= high)).all(axis=2)
        expected = np.argwhere(np.triu(hit, 1) if same else hit)
        assert np.array_equal(overlaps(one, b, same), expected)


def test_boxes_that_touch_exactly_overlap(rng):
    """However their width is rounded: near 0 it has more digits than their ends."""
    for _ in range(50):
        low = -rng.uniform(0.0, 1e-3, size=3)
        high = low + rng.uniform(0.0, 1.0, size=3)
        one, next_to_it = np.hstack([low, high]), np.hstack([high, high + 1.0])
        assert len(overlaps(next_to_it[None], one[None], False)) == 1


def test_an_empty_set_of_boxes_meets_nothing():
    none, one = np.empty((0, 6)), np.zeros((1, 6))
    assert len(overlaps(none, one, False)) == 0
    assert len(overlaps(one, none, False)) == 0


def test_every_pair_within_reach_is_found(rng):
    x, triangle = scattered_triangles(rng, 80, 0.3)
    edge = edges_of(triangle)
    surface = surface_of(triangle, x, reach=0.05, edge=edge)
    pairs = find_pairs(surface, x, 0.05)
    faces = {tuple(row) for row in pairs.row[: pairs.faces].tolist()}
    edges = {tuple(row) for row in pairs.row[pairs.faces :].tolist()}
    close = 0
    for p in range(len(x)):
        for t, corners in enumerate(triangle):
            y = np.vstack([x[p], x[corners]])
            if p not in corners and point_triangle_distance(y) < 0.05:
                close += 1
                assert (p, t) in faces
    for i, a in enumerate(edge):
        for j, b in enumerate(edge[:i]):
            y = np.vstack([x[b], x[a]])
            if not set(a) & set(b) and edge_edge_distance(y) < 0.05:
                close += 1
                assert (j, i) in edges
    assert close > 50
