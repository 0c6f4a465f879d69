"""A smooth rod rolls on the arcs between its nodes, and loses nothing by it."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from sim.arrays import Floats
from sim.rod.contact.ground import Ground, GroundPlane, Wave
from sim.rod.contact.standing import standing
from sim.rod.contact.touching import PlaneTouching, arc_gap, touch_of
from sim.rod.gravity import GRAVITY
from sim.rod.rod.ribbon import Ribbon
from sim.rod.rod.rod import Rod, RodMaterial, chain, moved
from sim.rod.stepping.equilibrium import settle
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.simulate import simulate
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.world import Damping, World
from tests.sim.rod.known import SOFT, straight

ARCS = PlaneTouching(rods=False, arcs=True)
SPEED = 0.5  # m/s
RADIUS = Ribbon().radius


def _spinning(rod: Rod) -> Floats:
    """(n, 2) velocities that turn a hoop once forward in 2 pi s."""
    arm = rod.nodes - rod.nodes.mean(axis=0)
    return np.column_stack([arm[:, 1], -arm[:, 0]])


def _run(
    world: World, duration: float, h: float, rule: Integrator = Integrator.NEWMARK
) -> tuple[RodStep, RodStep]:
    options = StepOptions(h=h, tolerance=1e-12, integrator=rule)
    first, *_, last = simulate(world, options, duration, every=10**9)
    return first, last


def rolled(
    n: int, h: float | None = None, touching: PlaneTouching | None = ARCS
) -> tuple[float, float]:
    """Turns of a stiff hoop that rolls for a second, and what it keeps of its spin.

    h : s, without it a 24th of the time in which it rolls over an edge
    """
    rod = Ribbon(20.0, n).rod
    v = SPEED * (np.array([1.0, 0.0]) + _spinning(rod) / RADIUS)
    damping = Damping(beta=1e-4)
    world = World(rod, GroundPlane(), velocity=v, damping=damping, touching=touching)
    end = _run(world, 1.0, h or 0.025 / n, Integrator.ENERGY_MOMENTUM)[1]
    turning = _spinning(replace(rod, nodes=end.x))
    spin = np.sum(turning * end.v) / np.sum(turning**2)
    turns = (end.x - rod.nodes)[:, 0].mean() / Ribbon().perimeter
    return float(turns), float(spin * RADIUS / SPEED)


def test_a_hoop_of_100_nodes_keeps_its_spin_with_order_two_in_nodes() -> None:
    """As a polygon that lands on its nodes it would lose 15 %."""
    lost = []
    for n in (25, 50, 100):
        turns, kept = rolled(n)
        assert turns == pytest.approx(SPEED / Ribbon().perimeter, rel=5.0 / n**2)
        lost.append(1.0 - kept)
    assert 0.0 < lost[-1] < 2e-4
    for more, less in pairwise(lost):
        assert 3.0 < more / less < 6.0


@pytest.mark.parametrize("mu", [0.8, 0.05])
def test_a_hoop_rolls_or_slips_down_a_slope_as_a_rigid_ring(mu: float) -> None:
    """It rolls without slipping, at half of g sin, where 2 mu > tan."""
    theta = np.radians(10.0)
    rod = moved(Ribbon(20.0, 60).rod, by=np.zeros(2), angle=-float(theta))
    damping = Damping(beta=1e-4)
    world = World(rod, GroundPlane(-10.0), mu, damping=damping, touching=ARCS)
    end = _run(world, 0.5, 1e-3)[1]
    pull = GRAVITY * max(0.5 * np.sin(theta), np.sin(theta) - mu * np.cos(theta))
    way = (end.x - rod.nodes).mean(axis=0) @ [np.cos(theta), -np.sin(theta)]
    assert way == pytest.approx(0.5 * pull * 0.5**2, rel=2e-3)


def test_a_hoop_rolls_for_ever_in_the_trough_of_a_wave() -> None:
    wave = Wave(start=0.15, amplitude=4e-3)
    rod = standing(Ribbon(20.0, 100).rod, wave, 0.03)
    world = World(rod, wave, damping=Damping(beta=0.0), touching=ARCS)
    first, last = _run(world, 2.0, 1e-3, Integrator.ENERGY_MOMENTUM)
    depth = rod.mass.sum() * GRAVITY * wave.amplitude
    assert (last.energy - first.energy) / depth == pytest.approx(0.0, abs=5e-3)


@pytest.mark.parametrize("ground", [GroundPlane(-20.0), GroundPlane(0.0)])
def test_a_straight_rod_touches_with_its_nodes(ground: GroundPlane) -> None:
    angle = float(np.radians(ground.angle))
    rod = moved(straight(0.1, 11, SOFT), by=np.zeros(2), angle=angle)
    along = np.array([np.cos(angle), np.sin(angle)])
    v = np.tile(SPEED * along, (11, 1))
    ends = [
        _run(World(rod, ground, 0.3, velocity=v, touching=touching), 0.3, 2.5e-3)[1]
        for touching in (None, ARCS)
    ]
    assert ends[1].x == pytest.approx(ends[0].x, abs=1e-9)


def test_a_bow_lands_on_the_last_half_of_its_last_edge() -> None:
    """Where its end has no arc, and the next one's reaches to the end."""
    angle = np.radians(12.0) * (np.arange(7) - 0.25)  # lowest between 0 and 1
    nodes = 0.05 * np.column_stack([np.sin(angle), 1.0 - np.cos(angle)])
    stiff = RodMaterial(4.0e9, 1000.0, 2.0e-3, 2.0e-3)
    bow = moved(chain(nodes, stiff), by=np.array([0.0, 1e-3]))
    world = World(bow, GroundPlane(), touching=ARCS)
    touch = touch_of(ARCS, bow, GroundPlane())
    steps = list(simulate(world, StepOptions(h=1e-3), 0.03))
    depth = -min(arc_gap(touch, step.x, 1, GroundPlane()) for step in steps)
    assert any(step.contact.any() for step in steps)
    assert depth < 1.1e-4 * bow.rest_length.min()


def test_a_run_stopped_while_an_arc_touches_continues_to_the_same_bits() -> None:
    rod = moved(Ribbon(20.0, 40).rod, by=np.zeros(2), angle=-float(np.radians(10.0)))
    world = World(rod, GroundPlane(-10.0), touching=ARCS)
    options = StepOptions(h=1e-3)
    whole = list(simulate(world, options, 0.1, every=50))
    *_, last = simulate(world, options, 0.1, every=50, start=whole[1].state)
    assert np.array_equal(last.x, whole[-1].x)


def _refused(ground: Ground, rod: Rod) -> None:
    World(rod, ground, touching=ARCS)


def test_what_arcs_cannot_do_is_refused() -> None:
    turned = Ribbon(2.0, 40).rod
    turned = moved(turned, by=np.zeros(2), angle=np.pi / 40)
    turned = moved(turned, by=np.array([0.0, -turned.nodes[:, 1].min()]))
    with pytest.raises(ValueError, match=r"the arc of node \d+ starts .* below the gr"):
        _refused(GroundPlane(), turned)
    world = World(Ribbon(2.0, 40).rod, GroundPlane(), touching=ARCS)
    with pytest.raises(ValueError, match="arcs are of motions: settle without them"):
        settle(world)
