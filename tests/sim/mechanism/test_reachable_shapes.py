"""Samples of reachable shapes, against ranges in closed form."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.core.options import NotConvergedError
from sim.mechanism.constraints import dist, fix
from sim.mechanism.named_structures import triangle_sheet
from sim.mechanism.reachable_shapes import (
    EnvelopeOptions,
    EnvelopeSearch,
    EnvelopeStop,
    Reached,
)
from sim.mechanism.shape_measures import characteristic_length
from sim.mechanism.structure import Structure
from tests.sim.mechanism.mechanisms import of_loops, structure


def reached(made: Structure, **options: float) -> list[Reached]:
    return list(EnvelopeSearch(made, EnvelopeOptions(**options)).steps())  # type: ignore[arg-type]


def test_an_arm_of_two_links_reaches_what_triangles_allow():
    """Its ends come as near as the difference, as far as the sum of the lengths."""
    a, b = 1.0, 0.7
    r = np.array([[0.0, 0, 0], [a, 0, 0], [a, b, 0]])
    made, L = structure(r, [dist(r, 0, 1), dist(r, 1, 2)]), characteristic_length(r)
    ends = np.array([a - b, a + b])
    S = np.sqrt((a**2 + b**2 + ends**2) / 9.0) / L
    size = np.maximum(ends, a) / L
    found = np.array([(s.S, s.size) for s in reached(made, samples=400)])
    for k, limits in enumerate((S, size)):
        assert limits[0] - 1e-10 <= found[:, k].min() < limits[0] * 1.005
        assert limits[1] * 0.998 < found[:, k].max() <= limits[1] + 1e-10


def test_more_samples_are_the_same_ones_and_others():
    few, many = (reached(triangle_sheet(1, 1), samples=n) for n in (25, 60))
    assert [s.stop for s in few[-2:]] == [None, EnvelopeStop.SAMPLES]
    for a, b in zip(few, many, strict=False):
        assert np.array_equal(a.r, b.r)
    assert many[-1].cells > few[-1].cells
    other = reached(triangle_sheet(1, 1), samples=25, seed=1)
    assert not np.array_equal(other[-1].r, few[-1].r)


@pytest.mark.parametrize("made_before", [1, 2, 9, 10, 23])
def test_a_search_goes_on_from_a_checkpoint_to_the_same_bits(made_before):
    made, options = triangle_sheet(1, 1), EnvelopeOptions(samples=40)
    whole = list(EnvelopeSearch(made, options).steps())
    first, second = EnvelopeSearch(made, options), EnvelopeSearch(made, options)
    steps = first.steps()
    before = [next(steps) for _ in range(made_before)]
    second.resume(before[-1].checkpoint())
    for a, b in zip([*before, *second.steps()], whole, strict=True):
        assert np.array_equal(a.r, b.r)
        assert (a.sample, a.cells, a.new, a.stop) == (b.sample, b.cells, b.new, b.stop)
        assert_allclose([a.least, a.most], [b.least, b.most], rtol=0.0)


def test_a_rigid_structure_has_one_shape():
    r = np.array([[0.0, 0, 0], [1, 0, 0], [0.3, 0.8, 0], [0.4, 0.3, 0.7]])
    rows = [dist(r, i, j) for i in range(4) for j in range(i)]
    for extra in ([], fix(r, 0)):
        (only,) = reached(structure(r, rows + extra))
        assert only.stop is EnvelopeStop.RIGID
        assert pytest.approx(1.0, abs=1e-12) == only.S


def test_a_held_mechanism_moves_though_the_whole_does_not():
    made = of_loops()["4-bar planar grounded (1 redundant)"]
    steps = reached(made, samples=300)
    assert len(steps) == 300
    S = [s.S for s in steps]
    assert max(S) - min(S) > 0.08
    assert min(s.sigma for s in steps) > 1e-6  # of the rows that count


def test_obstacles_are_not_passed():
    made = triangle_sheet(1, 1)
    balls = replace(made, solids=made.solids.with_spheres(len(made.r0), 0.3))
    links = {frozenset(p) for p in made.constraints.nodes[:, :2].tolist()}
    free, solid = reached(made, samples=300), reached(balls, samples=300)
    i, j = np.triu_indices(len(made.r0), 1)
    pairs = np.column_stack([i, j]).tolist()
    apart = np.array([frozenset(pair) not in links for pair in pairs])
    nearest = [
        min(np.linalg.norm(s.r[i] - s.r[j], axis=1)[apart].min() for s in steps)
        for steps in (free, solid)
    ]
    assert nearest[0] < 0.5
    assert nearest[1] > 0.6


def test_what_moves_to_first_order_alone_is_said():
    """Nodes in line between held ends: the middle one moves nowhere."""
    r = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])
    rows = [dist(r, 0, 1), dist(r, 1, 2), *fix(r, 0), *fix(r, 2)]
    steps = EnvelopeSearch(structure(r, rows), EnvelopeOptions(samples=50)).steps()
    with pytest.raises(NotConvergedError, match="may exist to first order only"):
        list(steps)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"samples": 0}, "samples must be"),
        ({"stride": 0.0}, "stride must be positive"),
        ({"walk": 0}, "walk must be"),
        ({"cell": -1.0}, "cell must be positive"),
        ({"seed": -1}, "seed must be a whole number from 0"),
    ],
)
def test_impossible_options_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        EnvelopeOptions(**options)  # type: ignore[arg-type]


def test_large_structures_and_points_are_refused():
    with pytest.raises(ValueError, match="at most 1200 are supported"):
        EnvelopeSearch(triangle_sheet(12, 12), EnvelopeOptions())
    with pytest.raises(ValueError, match="all nodes coincide"):
        EnvelopeSearch(structure(np.zeros((1, 3)), []), EnvelopeOptions())
