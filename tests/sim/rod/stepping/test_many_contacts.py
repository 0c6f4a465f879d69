"""Hundreds of nodes on the ground at once."""

import time

import numpy as np
import pytest

from sim.rod.contact.ground import GroundPlane
from sim.rod.gravity import GRAVITY
from sim.rod.rod.rod import moved
from sim.rod.stepping.options import StepOptions
from sim.rod.stepping.simulate import simulate
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.world import World
from tests.sim.rod.known import SOFT, straight


def _sliding(n: int, angle: float, mu: float, v: float = 0.0) -> tuple[World, RodStep]:
    """A rod of n nodes that lies on a slope, after 0.2 s."""
    rod = moved(straight(0.1, n, SOFT), by=np.zeros(2), angle=np.radians(angle))
    along = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    world = World(rod, GroundPlane(angle), mu, velocity=np.tile(v * along, (n, 1)))
    *_, end = simulate(world, StepOptions(h=5e-3), 0.2, every=10**9)
    return world, end


@pytest.mark.parametrize(
    ("angle", "mu", "v"), [(20.0, 0.8, 0.0), (30.0, 0.4, 0.0), (0.0, 0.4, 1.0)]
)
def test_600_nodes_stick_or_slide_on_a_slope_as_a_block(
    angle: float, mu: float, v: float
) -> None:
    """Closed form: at rest, sliding down, and braked on the level (not to rest)."""
    world, end = _sliding(600, angle, mu, v)
    theta = np.radians(angle)
    pull = GRAVITY * np.sin(theta)
    most = mu * GRAVITY * np.cos(theta)
    way = 0.0
    if v > 0.0:
        way = v * 0.2 - 0.5 * most * 0.2**2
    elif pull > most:
        way = 0.5 * (pull - most) * 0.2**2
    travelled = np.linalg.norm(end.x - world.rod.nodes, axis=1)
    assert travelled == pytest.approx(way, rel=1e-4, abs=1e-8)
    assert np.count_nonzero(end.contact) == 600
    push = end.reaction.sum(axis=0) @ [-np.sin(theta), np.cos(theta)]
    weight = world.rod.mass.sum() * GRAVITY * np.cos(theta)
    assert push == pytest.approx(weight, rel=1e-6)


def test_many_contacts_agree_with_few() -> None:
    """A rod that falls flat and slides: 64 contacts by columns, 66 by rows."""
    ends = []
    for n in (64, 66):
        rod = moved(straight(0.1, n, SOFT), by=np.array([0.0, 2e-3]))
        v = np.tile([0.3, 0.0], (n, 1))
        world = World(rod, GroundPlane(), 0.4, velocity=v)
        *_, end = simulate(world, StepOptions(h=2.5e-3), 0.1, every=10**9)
        ends.append((end.x[:, 0].mean() - rod.nodes[:, 0].mean(), end.friction))
        assert np.count_nonzero(end.contact) == n
    assert ends[0] == pytest.approx(ends[1], rel=1e-6)


@pytest.mark.long
def test_the_cost_of_contacts_is_linear_in_them() -> None:
    taken = []
    for n in (1000, 4000):
        _sliding(n, 20.0, 0.8)
        start = time.process_time()
        _sliding(n, 20.0, 0.8)
        taken.append(time.process_time() - start)
    assert taken[1] < 8.0 * taken[0]
