"""A lattice beside its model; the tracks are synthetic, made by moving the model."""

import numpy as np
from numpy.testing import assert_allclose

from analysis.measured.quantities import (
    in_own_frame,
    label_frames,
    node_series,
    nodes_of,
    place_on_model,
    size_series,
)
from sim.core.arrays import Floats
from sim.mechanism.named_structures import triangle_lattice

LATTICE = triangle_lattice(9, 5, 3.0)
MADE, LINKS = LATTICE.r[:, :2], LATTICE.links
AT = np.arange(8.0)


def sheared() -> Floats:
    """(f, n, 2) a body that shrinks and shears: two placements fit, two do not."""
    parts = np.linspace(0.0, 0.25, len(AT))
    return np.array([MADE @ [[1.0 - k, 0.0], [0.8 * k, 1.0 - 0.5 * k]] for k in parts])


def tracked(rng: np.random.Generator, hand: float) -> list[Floats]:
    """Frames of it in any order, turned, of either hand, 0.02 mm of noise."""
    frames = []
    for x in sheared():
        seen = x + rng.normal(scale=0.02, size=x.shape)
        order = rng.permutation(len(x))
        frames.append((seen * [hand, 1.0] @ [[0.0, 1.0], [-1.0, 0.0]] + 3.0)[order])
    return frames


def test_labels_and_the_right_placement_leave_noise_alone(rng):
    model = np.array([in_own_frame(x, MADE) for x in sheared()])
    for hand in (1.0, -1.0):
        tracks, orders = label_frames(tracked(rng, hand), MADE, LINKS, AT)
        assert len(orders) == 4
        placed = place_on_model(tracks, orders, model)
        assert placed.rms[placed.placement] < 0.035
        # half a turn is a symmetry of the sheared body too, a mirror is none
        assert np.sort(placed.rms)[1] < 0.035
        assert np.sort(placed.rms)[2] > 0.2
        assert_allclose(placed.aligned, model, atol=0.1)


def test_the_frame_of_a_shape_does_not_depend_on_where_it_lies():
    x = sheared()[-1]
    moved = x @ [[0.6, 0.8], [-0.8, 0.6]] + [5.0, -7.0]
    assert_allclose(in_own_frame(moved, MADE), in_own_frame(x, MADE), atol=1e-12)
    assert_allclose(in_own_frame(x, MADE).mean(axis=0), 0.0, atol=1e-12)


def test_series_give_the_nodes_back():
    nodes = sheared()
    series = node_series(AT, nodes, 0.02)
    assert len(series) == 82
    assert_allclose(series["node_07_x"].value, nodes[:, 7, 0])
    assert_allclose(nodes_of(series, 41), nodes)


def test_length_and_waist_are_those_of_a_lattice_as_made():
    named = {"first": 0, "middle": 4, "last": -1}
    rows = {name: LATTICE.nodes_of(row) for name, row in named.items()}
    sizes = size_series(np.zeros(1), MADE[None], rows, 0.02)
    assert_allclose(sizes["length"].value, 8 * 3.0 * np.sqrt(3.0) / 2.0)
    assert_allclose(sizes["waist"].value, 12.0)
    assert_allclose(sizes["waist"].u, 0.02 * np.sqrt(2.0))
