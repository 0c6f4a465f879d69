"""A rod that is stepped from outside: the same motion, and one that can be undone."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sim.convergence import NotConvergedError
from sim.rod.actuation.actuation import Pulses
from sim.rod.contact.ground import GroundPlane
from sim.rod.rod.rod import RodMaterial, moved
from sim.rod.rod.star import StarShape, star
from sim.rod.stepping.options import StepOptions
from sim.rod.stepping.simulate import simulate
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.stepping import RodWorld
from sim.rod.stepping.world import World

OPTIONS = StepOptions(h=2.5e-3)


def robot() -> World:
    rod = star(StarShape(arc_edges=5, tail_edges=2), RodMaterial())
    low = float(rod.nodes[:, 1].min())
    return World(moved(rod, by=np.array([0.0, 1e-9 - low])), GroundPlane())


def same(one: RodStep, other: RodStep) -> None:
    for name in ("x", "v", "reaction", "contact"):
        assert_array_equal(getattr(one, name), getattr(other, name))
    assert (one.time, one.step) == (other.time, other.step)


def test_stepped_world_moves_as_the_run_does_to_the_last_bit() -> None:
    world = RodWorld(robot(), OPTIONS)
    seen = world.step(0.05)
    first = seen.time
    world.act(switch_on=[3])
    seen = world.step(0.1)
    second = seen.time
    world.act(switch_on=[2])
    for _ in range(5):
        seen = world.step(0.01)
    pulsed = replace(robot(), schedule=Pulses([first, second], [3, 2]))
    *_, last = simulate(pulsed, OPTIONS, 0.2, every=80)
    same(seen, last)
    *_, passive = simulate(robot(), OPTIONS, 0.2, every=80)
    assert np.abs(last.x - passive.x).max() > 1e-4


def test_world_goes_back_and_its_copy_goes_its_own_way() -> None:
    world = RodWorld(robot(), OPTIONS)
    world.step(0.05)
    saved, other = world.save(), world.copy()
    world.act(switch_on=[1], curvatures={4: 0.5})
    there = world.step(0.05)
    world.restore(saved)
    same(world.step(0.05), other.step(0.05))
    assert np.abs(there.x - world.observe().x).max() > 1e-4
    world.restore(saved)
    world.act(switch_on=[1], curvatures={4: 0.5})
    same(world.step(0.05), there)


def test_curvature_told_is_the_one_a_limb_takes() -> None:
    world = RodWorld(replace(robot(), ground=None, gravity=(0.0, 0.0)), OPTIONS)
    world.act(curvatures=dict.fromkeys(range(7), 0.8))
    assert world.observe().bending > 0.0  # bent to the old curvature
    for _ in range(4):
        seen = world.step(0.5)
    rod = world.world.rod
    bent = rod.curvature * np.where(rod.bend_limb >= 0, 0.8, 1.0)
    of_arcs = rod.joints.turn.sum(axis=1)  # those of the tails are 0
    bent[-len(of_arcs) :] -= 0.2 * of_arcs / rod.voronoi[-len(of_arcs) :]
    other = RodWorld(replace(world.world, rod=replace(rod, curvature=bent)), OPTIONS)
    for _ in range(4):
        settled = other.step(0.5)
    assert_allclose(seen.bending, settled.bending, rtol=1e-6, atol=1e-12)


def test_step_that_fails_leaves_the_world_as_it_was() -> None:
    world = RodWorld(robot(), replace(OPTIONS, max_newton=1, tolerance=1e-14))
    before = world.observe()
    with pytest.raises(NotConvergedError, match="no step from"):
        world.step(0.05)
    same(world.observe(), before)


def test_what_cannot_be_done_is_refused() -> None:
    world = RodWorld(robot(), OPTIONS)
    with pytest.raises(ValueError, match="no limb 7: choose 0 to 6"):
        world.act(switch_on=[7])
    with pytest.raises(ValueError, match=r"steps are 0\.0025 s: give a multiple"):
        world.step(0.004)
    with pytest.raises(ValueError, match="give a positive time"):
        world.step(0.0)
