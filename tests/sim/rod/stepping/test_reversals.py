"""Sliding that reverses: exact where steps are cut there, of first order otherwise."""

from typing import Any

import numpy as np
import pytest

from sim.arrays import Floats
from sim.rod.contact.coulomb import ContactRule
from sim.rod.contact.ground import GroundPlane, Wave
from sim.rod.contact.standing import standing
from sim.rod.gravity import GRAVITY
from sim.rod.rod.rod import RodMaterial, moved
from sim.rod.stepping.options import StepOptions
from sim.rod.stepping.simulate import simulate
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.world import Damping, World
from tests.sim.rod.known import SOFT, straight

STEEP = np.radians(20.0)
UP: Floats = np.array([np.cos(STEEP), np.sin(STEEP)])


def _last(world: World, duration: float, **options: Any) -> RodStep:
    *_, last = simulate(world, StepOptions(**options), duration, every=10**9)
    return last


def thrown_up(
    mu: float, speed: float, duration: float, n: int = 11, **options: Any
) -> Floats:
    """How far up a slope of 20 degrees each of the n nodes of a block is."""
    rod = moved(straight(0.1, n, SOFT), by=np.zeros(2), angle=STEEP)
    v = np.tile(speed * UP, (n, 1))
    world = World(rod, GroundPlane(20.0), friction=mu, velocity=v)
    return np.asarray((_last(world, duration, **options).x - rod.nodes) @ UP)


def slid(mu: float, speed: float, duration: float) -> float:
    """The same in closed form."""
    up = GRAVITY * (np.sin(STEEP) + mu * np.cos(STEEP))
    down = max(GRAVITY * (np.sin(STEEP) - mu * np.cos(STEEP)), 0.0)
    return speed**2 / (2.0 * up) - 0.5 * down * (duration - speed / up) ** 2


@pytest.mark.parametrize("mu", [0.2, 0.5])
@pytest.mark.parametrize(("h", "n"), [(5e-3, 11), (2.5e-3, 11), (5e-3, 80)])
def test_a_block_thrown_up_a_slope_slides_back_or_stays_there(
    mu: float, h: float, n: int
) -> None:
    way = thrown_up(mu, 0.5, 0.4, n, h=h, locate_reversals=True)
    assert way == pytest.approx(slid(mu, 0.5, 0.4), rel=1e-9)


def test_steps_of_full_length_err_at_a_reversal_as_is_said() -> None:
    way = thrown_up(0.2, 0.5, 0.4, h=5e-3)
    assert way / slid(0.2, 0.5, 0.4) - 1.0 == pytest.approx(-0.029, abs=1e-3)


def in_the_trough(**options: Any) -> float:
    """Where a rod with friction is that was let go beside the trough of a wave, m."""
    wave = Wave(start=0.15)
    rod = moved(straight(0.01, 3, RodMaterial()), by=np.array([-0.005, 0.0]))
    rod = standing(rod, wave, 0.04)
    world = World(rod, wave, friction=0.02, damping=Damping(beta=0.0))
    end = _last(world, 1.7, tolerance=1e-12, **options)
    return float(rod.mass @ end.x[:, 0] / rod.mass.sum())


def test_a_swing_with_friction_comes_to_the_same_place_at_long_steps() -> None:
    limit = in_the_trough(h=6.25e-4, locate_reversals=True)
    located = in_the_trough(h=5e-3, locate_reversals=True)
    assert abs(located - limit) < 4e-6 < 2e-5 < abs(in_the_trough(h=5e-3) - limit)


def test_reversals_are_located_with_exact_contact_only() -> None:
    with pytest.raises(ValueError, match="locate_reversals is of contact exact, not"):
        StepOptions(contact=ContactRule.MODIFIED_MASS, locate_reversals=True)
