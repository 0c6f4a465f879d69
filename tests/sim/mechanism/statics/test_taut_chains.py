"""Chains of rigid links whose constraints are nearly, or quite, dependent at rest."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.mechanism.statics.equilibrium import EquilibriumOptions, at_rest
from tests.bench.taut_chains import hanging, zigzag

MOST = 60  # steps


@pytest.mark.parametrize("links", [10, 40, 400])
@pytest.mark.parametrize("span", [0.975, 0.999, 0.9999])
def test_a_taut_chain_comes_to_rest_on_the_funicular_curve(links, span):
    """Its horizontal force is constant, and the vertical one falls by a load a node."""
    found = at_rest(hanging(zigzag(links, span)), EquilibriumOptions())
    force = found.tension[:, None] * np.diff(found.r(), axis=0)
    assert found.steps <= MOST
    assert found.negative == found.neutral == 0
    assert_allclose(force[:, 0], force[0, 0], rtol=1e-8)
    vertical = np.arange(links) - 0.5 * (links - 1)
    assert_allclose(force[:, 2], vertical, atol=1e-7 * links)


@pytest.mark.parametrize("links", [4, 40, 400])
def test_a_chain_with_both_ends_at_one_place_hangs_straight_down(links):
    """Its strands share the load, though their rows depend on each other."""
    turn = 2.0 * np.pi * np.arange(links + 1) / links
    ring = np.column_stack([np.sin(turn), 0.0 * turn, np.cos(turn) - 1.0])
    ring *= 0.5 / np.sin(np.pi / links)
    ring[-1] = ring[0]
    found = at_rest(hanging(ring), EquilibriumOptions())
    assert found.steps <= MOST
    assert found.negative == 0
    assert_allclose(found.r()[links // 2], [0.0, 0.0, -links / 2], atol=1e-6)
    assert_allclose(found.tension, found.tension[::-1], rtol=1e-2)
