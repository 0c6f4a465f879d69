"""Hundreds of contacts of edges at once."""

import time

import numpy as np
import pytest

from sim.rod.contact.ground import GroundPlane
from sim.rod.contact.touching import PlaneTouching, crossings
from sim.rod.gravity import GRAVITY
from sim.rod.rod.paths import centroid
from sim.rod.rod.rod import Rod, RodMaterial, hold, moved
from sim.rod.stepping.many_contacts import MANY
from sim.rod.stepping.options import StepOptions
from sim.rod.stepping.simulate import Loop, simulate
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.world import World
from tests.sim.rod.known import SOFT, straight
from tests.sim.rod.several import several

THICKNESS = 1e-3


def _contacts(step: RodStep) -> int:
    pairs = np.count_nonzero(step.state.pair[:, 2])
    return int(np.count_nonzero(step.contact) + pairs)


def _kept(world: World, last: RodStep) -> None:
    """The law is met to rounding and gaps are those allowed in every step."""
    assert last.worst_complementarity < 1e-9
    assert 0.0 < last.contact_gap <= 1e-4 * world.rod.rest_length.min()
    assert last.worst_balance < 0.01
    assert crossings(world.rod.edges, last.x) == 0


def two_rods(n: int, above: float) -> Rod:
    """Two rods of n nodes and edges of 1 mm, one above the other by so much."""
    rod = straight(1e-3 * (n - 1), n, SOFT)
    return several(rod, moved(rod, by=np.array([3e-4, above])))


def stack(n: int, angle: float = 0.0, mu: float = 0.4) -> World:
    """Two rods of n nodes that lie on each other, and on a slope."""
    rods = two_rods(n, THICKNESS + 1e-7)
    rod = moved(rods, by=np.zeros(2), angle=float(np.radians(angle)))
    touching = PlaneTouching(thickness=THICKNESS)
    return World(rod, GroundPlane(angle), mu, touching=touching)


@pytest.mark.parametrize("mu", [0.2, 0.5])
def test_a_stack_of_rods_slides_down_a_slope_as_a_block_or_stays(mu: float) -> None:
    """At 20 degrees, tan = 0.364: g (sin - mu cos) of both rods together, or none."""
    world = stack(40, 20.0, mu)
    *_, last = simulate(world, StepOptions(h=2.5e-3), 0.1, every=10**9)
    _kept(world, last)
    assert _contacts(last) > 1.5 * MANY
    theta = np.radians(20.0)
    pull = max(0.0, np.sin(theta) - mu * np.cos(theta))
    down = -np.array([np.cos(theta), np.sin(theta)])
    for part in (slice(0, 40), slice(40, 80)):
        mass = world.rod.mass[part]
        way = centroid(last.x[part], mass) - centroid(world.rod.nodes[part], mass)
        expected = 0.5 * GRAVITY * pull * 0.1**2
        assert way @ down == pytest.approx(expected, rel=2e-3, abs=2e-6)
    for first in (0, 40):  # the ground carries both, the lower rod the upper one
        weight = world.rod.mass[first:].sum() * GRAVITY * np.cos(theta)
        push = last.reaction[first:].sum(axis=0) @ [-np.sin(theta), np.cos(theta)]
        assert push == pytest.approx(weight, rel=1e-4)


def test_many_contacts_of_edges_slide_by_the_law_of_coulomb() -> None:
    """A rod of 40 nodes on a held one, both ends of its edges sliding."""
    theta, mu = np.radians(20.0), 0.2
    slope = hold(straight(0.4, 5, SOFT), list(range(5)))
    stiff = RodMaterial(1e8, 1000.0, 2e-3, 1e-2)
    rider = moved(straight(0.05, 2 * MANY, stiff), by=np.array([0.23, 1e-3 + 1e-9]))
    rod = moved(several(slope, rider), by=np.zeros(2), angle=float(theta))
    world = World(rod, friction=mu, touching=PlaneTouching(thickness=THICKNESS))
    *_, last = simulate(world, StepOptions(h=1e-3), 0.02, every=10**9)
    assert last.worst_complementarity < 1e-9
    assert _contacts(last) > MANY
    way = centroid(last.x[5:], rod.mass[5:]) - centroid(rod.nodes[5:], rod.mass[5:])
    down = -way @ np.array([np.cos(theta), np.sin(theta)])
    pull = np.sin(theta) - mu * np.cos(theta)
    assert down == pytest.approx(0.5 * GRAVITY * pull * 0.02**2, rel=2e-3)


def _seconds_of_a_step(n: int) -> float:
    """CPU time of a step of two rods of n nodes that lie on each other."""
    loop = Loop(stack(n), StepOptions(h=2.5e-3), None)
    loop.run_to(20, 1e9)
    start = time.process_time()
    loop.run_to(60, 1e9)
    return (time.process_time() - start) / 40


@pytest.mark.long
def test_the_cost_of_contacts_of_edges_is_linear_in_them() -> None:
    """358 and 1,438 contacts; 960 nodes touch, more than there are columns for."""
    _seconds_of_a_step(40)
    assert _seconds_of_a_step(480) < 7.0 * _seconds_of_a_step(120)
