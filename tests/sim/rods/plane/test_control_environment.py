"""A stepped world, limbs by eq. (7), and the markers that fits compare."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sim.core.options import NotConvergedError
from sim.rods.plane.actuation import Actuator, Pulses, actuate, relative
from sim.rods.plane.builders import StarShape, star
from sim.rods.plane.control_environment import RodWorld
from sim.rods.plane.elastic_energy import Actuated
from sim.rods.plane.ground import GroundPlane
from sim.rods.plane.markers import Parameter, marker, observed
from sim.rods.plane.options import StepOptions
from sim.rods.plane.rod import RodMaterial, chain, moved
from sim.rods.plane.simulate import simulate
from sim.rods.plane.state import RodStep
from sim.rods.plane.world import World

OPTIONS = StepOptions(h=2.5e-3)


def robot() -> World:
    rod = star(StarShape(arc_edges=5, tail_edges=2), RodMaterial())
    low = float(rod.nodes[:, 1].min())
    return World(moved(rod, by=np.array([0.0, 1e-9 - low])), GroundPlane())


def same(one: RodStep, other: RodStep) -> None:
    for name in ("x", "v", "reaction", "contact"):
        assert_array_equal(getattr(one, name), getattr(other, name))
    assert (one.time, one.step) == (other.time, other.step)


def test_stepped_world_moves_as_the_run_does_to_the_last_bit():
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


def test_world_goes_back_and_its_copy_goes_its_own_way():
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


def test_curvature_told_is_the_one_a_limb_takes():
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


def test_step_that_fails_leaves_the_world_as_it_was():
    world = RodWorld(robot(), replace(OPTIONS, max_newton=1, tolerance=1e-14))
    before = world.observe()
    with pytest.raises(NotConvergedError, match="no time step from"):
        world.step(0.05)
    same(world.observe(), before)


def test_what_cannot_be_done_is_refused():
    world = RodWorld(robot(), OPTIONS)
    with pytest.raises(ValueError, match="limb 7 does not exist: choose 0 to 6"):
        world.act(switch_on=[7])
    with pytest.raises(ValueError, match=r"give a multiple of the time step 0\.0025 s"):
        world.step(0.004)
    with pytest.raises(ValueError, match="give a positive time"):
        world.step(0.0)


LAW = Actuator().law


def test_a_limb_ramps_to_its_extreme_and_decays_back():
    assert relative(0.0, 0.21, LAW) == 1.0
    assert relative(0.025, 0.21, LAW) == pytest.approx(0.605)
    assert relative(1.4, 0.21, LAW) == pytest.approx(0.5 * (1.0 + 0.21))
    assert relative(10.0, 0.21, LAW) == pytest.approx(1.0)
    assert relative(10.0, 2.68, LAW) == pytest.approx(1.0)


def test_the_later_branch_holds_at_a_seam():
    before, at = relative(0.05 - 1e-10, 0.21, LAW), relative(0.05, 0.21, LAW)
    assert relative(0.05 - 1e-12, 0.21, LAW) == pytest.approx(at, rel=1e-9)
    assert before == pytest.approx(0.21)
    decay = (1.0 - 0.21) / (1.0 + np.exp(-3.4 * (0.05 - 1.4))) + 0.21
    assert at == pytest.approx(decay)
    assert at - before == pytest.approx(0.008, abs=1e-3)


def test_only_a_limb_that_was_switched_on_changes():
    actuated = Actuated(np.full(3, 9.0), np.full(3, 9.0))
    actuate(1.0, np.array([np.inf, 0.98]), LAW, actuated)
    assert actuated.modulus[0] == actuated.curvature[0] == 1.0
    assert actuated.modulus[1] == pytest.approx(1.0 + 1.68 * 0.4)
    assert actuated.curvature[1] == pytest.approx(1.0 - 0.79 * 0.4)
    assert actuated.modulus[2] == 9.0  # passive parts are not touched


def test_markers_between_steps_follow_the_motion():
    """A fall of a chain: y = -g t^2 / 2, whose cubic is exact."""
    world = World(chain(np.array([[0.0, 0], [0.01, 0], [0.02, 0]]), RodMaterial()))
    motion = simulate(world, StepOptions(tolerance=1e-14), 0.05)
    at = np.array([0.0, 0.0111, 0.05])
    names = ["y_c", "x_tip", "y_1"]
    markers = [marker(name, world.rod.nodes, world.rod.mass) for name in names]
    values = observed(motion, markers, np.array([0, 0, 2]), at)
    assert values == pytest.approx(-0.5 * 9.81 * at**2, abs=1e-12)


@pytest.mark.parametrize("name", ["z_c", "x_3", "x_", "tip"])
def test_quantities_that_a_rod_has_not_are_refused(name):
    rod = chain(np.array([[0.0, 0], [0.01, 0], [0.02, 0]]), RodMaterial())
    with pytest.raises(ValueError, match=f"quantity is '{name}': a rod has x_c"):
        marker(name, rod.nodes, rod.mass)


def test_a_bad_actuator_and_a_parameter_that_is_none_are_refused():
    with pytest.raises(ValueError, match=r"ramp must be positive, not 0\.0"):
        Actuator(ramp=0.0)
    assert Parameter("beta") is Parameter.BETA
    with pytest.raises(ValueError, match="parameter is 'ramp': choose one of modulus"):
        Parameter("ramp")
