"""Linkages of the literature drawn with few decimals, and frames that stay rigid."""

import numpy as np
import pytest

from sim.mechanism.mobility import mobility
from sim.mechanism.rounded_drawing import close_loops, drawing_precision
from sim.mechanism.structure_builder import Draft
from tests.sim.mechanism.overconstrained_linkages import linkages, random_frames

LINKAGES = linkages()
FEWER = [pytest.param(n, marks=pytest.mark.long) for n in (6, 4, 3)]


def closed(linkage, decimals):
    nodes, precision = linkage.drawn(decimals)
    structure = linkage.build(Draft(nodes, precision)).structure()
    found = close_loops(structure, precision)
    return found, mobility(found.structure if found else structure).mobility


@pytest.mark.parametrize("decimals", [2, *FEWER])
@pytest.mark.parametrize("linkage", LINKAGES, ids=[one.name for one in LINKAGES])
def test_a_linkage_drawn_to_few_decimals_moves_as_the_exact_one(linkage, decimals):
    found, motions = closed(linkage, decimals)
    assert motions == linkage.mobility == closed(linkage, None)[1]
    if found:
        assert found.moved < 10.0**-decimals


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.long)
                                       for k in range(1, 20))])  # fmt: skip
def test_frames_at_random_with_as_many_constraints_stay_rigid(seed):
    for frame in random_frames(seed):
        for decimals in (4, 2):
            assert closed(frame, decimals) == (None, frame.mobility), frame.name


def test_nodes_of_a_closed_linkage_satisfy_its_constraints_along_the_motion():
    bennett = LINKAGES[0]
    found, _ = closed(bennett, 2)
    exact, rounded = bennett.nodes, bennett.drawn(2)[0]
    assert np.abs(found.structure.r0 - rounded).max() == pytest.approx(found.moved)
    assert np.abs(found.structure.r0 - exact).max() < 0.02
    assert found.motions == 1


@pytest.mark.parametrize(
    ("x", "digit"),
    [(12.345, 1e-3), (12.3456789, 1e-7), (12.0, 0.0), (0.1 + 0.2, 0.0), (12.5, 0.0)],
)
def test_the_last_digit_is_that_of_the_node_with_most_decimals(x, digit):
    nodes = np.array([[0.0, 0.0, 0.0], [40.0, 0.0, 0.0], [x, 30.0, 0.0]])
    assert drawing_precision(nodes) == pytest.approx(digit)
