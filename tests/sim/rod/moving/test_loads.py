"""Loads on rods that move in space: impulse, work, and the same in the plane."""

from dataclasses import replace

import numpy as np
import pytest

from sim.rod.moving.motion import moves
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.rod.rod import straight
from sim.rod.space.sections import SpaceMaterial, disc
from sim.rod.space.space_rod import SpaceRod, through
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.world import NodeLoad, World
from tests.sim.rod.known import SOFT

FREE = (0.0, 0.0, 0.0)
SECTION, OF = disc(2.0e-3), SpaceMaterial(1.0e7, 1000.0, 0.3)
EXACT = StepOptions(2e-3, Integrator.ENERGY_MOMENTUM, tolerance=1e-13)


def slanting(edges: int = 8) -> SpaceRod:
    way = np.array([0.3, -0.5, 0.8]) / np.linalg.norm([0.3, -0.5, 0.8])
    return through(np.outer(np.linspace(0.0, 0.1, edges + 1), way), OF, SECTION)


@pytest.mark.parametrize("integrator", list(Integrator))
def test_a_load_for_a_time_gives_its_impulse_and_its_work(
    integrator: Integrator,
) -> None:
    """Force times duration, whichever steps it begins and ends in; then it is gone."""
    force = np.array([2e-3, 1e-3, -3e-3])
    load = NodeLoad([8], tuple(force.tolist()), start=0.0111, duration=0.0333)
    world = SpaceWorld(slanting(), FREE, load=load)
    options = replace(EXACT, integrator=integrator)
    last = list(moves(world, options, 0.06))[-1]
    assert last.momentum == pytest.approx(0.0333 * force, rel=1e-9)
    near = 1e-6 if integrator is Integrator.ENERGY_MOMENTUM else 1e-2
    assert last.moving.ledger.given == pytest.approx(last.energy, rel=near)
    assert last.energy > 1e-6


def test_loads_that_do_not_fit_are_refused() -> None:
    rod = slanting()
    with pytest.raises(ValueError, match=r"nodes \[9\]: choose from 0 to 8"):
        SpaceWorld(rod, load=NodeLoad([9], (0.0, 0.0, 1.0)))
    with pytest.raises(ValueError, match="give two numbers in the plane"):
        World(straight(0.1, 5, SOFT), load=NodeLoad([0], (0.0, 0.0, 1.0)))
