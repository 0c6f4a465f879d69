"""Worlds in space with other values of what may be fitted."""

from dataclasses import replace

import numpy as np
import pytest

from sim.core.arrays import Floats
from sim.rods.plane.options import Integrator, StepOptions
from sim.rods.plane.world import Damping
from sim.rods.space.contact_detection import ContactModel, LevelGround
from sim.rods.space.rod import SpaceMaterial, clamped, disc, rectangle, through
from sim.rods.space.simulate import simulate_in_space
from sim.rods.space.tendons import routed
from sim.rods.space.world import SpaceParameter, SpaceWorld, scaled
from tests.sim.rods.space.made import MovingSupports

H, STEPS = 2e-3, 12
OPTIONS = StepOptions(H, Integrator.NEWMARK, tolerance=1e-13, residual=1e-12)
RUBBED = replace(OPTIONS, tolerance=1e-11, residual=1e-10)  # above rounding of contacts
ALL = tuple(one for one in SpaceParameter if one is not SpaceParameter.FRICTION)


def _world(times: dict[SpaceParameter, float]) -> SpaceWorld:
    """A curved tape, a tendon beside its axis, its clamp turning, its tip spinning."""
    at = {one.value: times.get(one, 1.0) for one in ALL}
    s = np.linspace(0.0, 1.2, 7)
    x = 0.08 * np.column_stack([np.sin(s), 1.0 - np.cos(s), 0.3 * s**2])
    material = SpaceMaterial(2e6 * at["modulus"], 1100.0 * at["density"], 0.3)
    section = rectangle(3e-3, 5e-3)
    rod = clamped(through(x, material, [section] * 6, first=(0.0, 0.0, 1.0)), 0)
    rod = replace(rod, inertia=100.0 * rod.inertia)  # discs, whose spin turns axes
    route = [(0.0, 1e-3, 0.0), (0.12, 0.0, 1e-3)]
    tendon = routed(rod, np.full(6, 1.5e-3), 0.08, route, tension=0.3 * at["tension"])
    turn = np.where(np.arange(6) == 0, 6.0, 0.0)
    pull = 9.81 * at["gravity"]
    return SpaceWorld(
        rod, (0.2 * pull, 0.0, -pull), Damping(2.0 * at["alpha"], 1e-3 * at["beta"]),
        spin=np.array([0.0, 0.0, 0.0, 20.0, 40.0, 60.0]),
        drive=MovingSupports(np.zeros_like(x), turn), tendons=(tendon,),
    )  # fmt: skip


def _rubbing(times: dict[SpaceParameter, float], mu: float) -> SpaceWorld:
    """A wire bent in its plane, that slides on level ground and straightens."""
    at = {one.value: times.get(one, 1.0) for one in SpaceParameter}
    s = np.linspace(0.0, 1.0, 7)
    x = 0.08 * np.column_stack([np.sin(s), 1.0 - np.cos(s), 0.0 * s])
    material = SpaceMaterial(2e7 * at["modulus"], 1100.0 * at["density"], 0.3)
    rod = through(x, material, [disc(2e-3)] * 6, first=(0.0, 0.0, 1.0))
    rod = replace(rod, curvature=0.3 * rod.curvature)
    ground = LevelGround(height=-2e-3)
    v = np.tile([0.3, 0.1, 0.0], (7, 1)) + 4.0 * np.cross([0.0, 0.0, 1.0], x)
    return SpaceWorld(
        rod, (0.0, 0.0, -9.81 * at["gravity"]),
        Damping(2.0 * at["alpha"], 1e-3 * at["beta"]), velocity=v,
        contact=ContactModel(np.full(6, 2e-3), mu * at["friction"], ground),
    )  # fmt: skip


def _end(world: SpaceWorld) -> Floats:
    options = OPTIONS if world.contact is None else RUBBED
    *_, last = simulate_in_space(world, options, H * STEPS, every=10**9)
    return last.x


@pytest.mark.parametrize("parameter", list(SpaceParameter))
def test_a_world_that_is_scaled_is_one_that_is_made_so(parameter):
    rubs = parameter is SpaceParameter.FRICTION
    worlds = [_rubbing({}, 0.3) if rubs else _world({})]
    worlds.append(_rubbing({parameter: 1.2}, 0.3) if rubs else _world({parameter: 1.2}))
    own = scaled(worlds[0], {parameter: 1.2})
    assert _end(own) == pytest.approx(_end(worlds[1]), abs=1e-11)
    assert np.abs(_end(own) - _end(worlds[0])).max() > 1e-6
