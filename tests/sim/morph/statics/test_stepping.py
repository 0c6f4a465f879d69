"""An elastic structure that is stepped from outside."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sim.convergence import NotConvergedError
from sim.morph.statics.equilibrium import EquilibriumOptions, at_rest
from sim.morph.statics.loaded import two_bars
from sim.morph.statics.stepping import MorphWorld


def test_steps_are_the_chain_of_equilibria_to_the_last_bit() -> None:
    world, found = MorphWorld(two_bars()), None
    for load in (0.0, 0.3, 0.6):
        body = two_bars(load=load)
        found = at_rest(body, EquilibriumOptions(), found)
        world.act(force=body.force)
        assert_array_equal(world.step().z, found.z)


def test_longer_bars_lift_the_apex_and_the_world_goes_back() -> None:
    world = MorphWorld(two_bars(height=0.3))
    saved = world.save()
    world.act(rest_lengths={0: 1.2, 1: 1.2})
    assert_allclose(world.step().r()[2, 2], np.sqrt(1.2**2 - 1.0), atol=1e-9)
    world.restore(saved)
    assert_allclose(world.step().r()[2, 2], 0.3, atol=1e-12)


def test_step_that_fails_leaves_the_world_as_it_was() -> None:
    world = MorphWorld(two_bars(), EquilibriumOptions(max_steps=2))
    before = world.observe()
    world.act(force=two_bars(load=20.0).force)
    with pytest.raises(NotConvergedError):
        world.step()
    assert world.observe() is before


def test_what_is_not_there_is_refused() -> None:
    world = MorphWorld(two_bars())
    with pytest.raises(ValueError, match="no elastic link 2: there are 2"):
        world.act(rest_lengths={2: 1.0})
    with pytest.raises(ValueError, match="for each of 3 nodes"):
        world.act(force=np.zeros((2, 3)))
