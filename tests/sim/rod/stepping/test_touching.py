"""Edges feel the ground, rods feel rods and themselves."""

import itertools

import numpy as np
import pytest

from sim.rod.contact.coulomb import ContactRule
from sim.rod.contact.ground import GroundPlane, Terrain
from sim.rod.contact.nearest import node_to_edge
from sim.rod.contact.touching import PlaneTouching, crossings, edge_gap
from sim.rod.gravity import GRAVITY
from sim.rod.rod.paths import centroid
from sim.rod.rod.rod import RodMaterial, chain, hold, moved
from sim.rod.stepping.inputs import scheme_of
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.simulate import simulate
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.world import Damping, World
from tests.sim.rod.known import SOFT, straight
from tests.sim.rod.several import several

PEAK = Terrain([[-1.0, 0.0], [-0.012, 0.0], [0.0, 0.01], [0.012, 0.0], [1.0, 0.0]])


def _bounded(world: World, steps: list[RodStep]) -> None:
    """Gaps are those allowed, the law is met, no energy is made, nothing crosses."""
    last, rod = steps[-1], world.rod
    assert 0.0 < last.contact_gap <= 1e-4 * rod.rest_length.min()
    assert last.worst_complementarity < 1e-9
    assert last.worst_balance < 0.01
    assert last.friction >= 0.0
    assert last.impact > 0.0
    assert not any(crossings(rod.edges, step.x) for step in steps)


def _on_peak(h: float, touching: PlaneTouching | None) -> tuple[World, list[RodStep]]:
    rod = moved(straight(0.2, 6, SOFT), by=np.array([-0.11, 0.03]))
    world = World(rod, PEAK, touching=touching)
    return world, list(simulate(world, StepOptions(h=h), 0.4, every=4))


@pytest.mark.parametrize("h", [5e-3, 1e-3])
def test_a_rod_comes_to_lie_over_a_peak_between_two_of_its_nodes(h: float) -> None:
    world, steps = _on_peak(h, PlaneTouching())
    _bounded(world, steps)
    low = min(edge_gap(world.rod.edges, step.x, PEAK) for step in steps)
    assert low > -1e-4 * world.rod.rest_length.min()
    assert steps[-1].x[:, 1].max() > 0.01


def test_without_touch_nodes_alone_feel_the_ground() -> None:
    world, steps = _on_peak(2.5e-3, None)
    assert edge_gap(world.rod.edges, steps[-1].x, PEAK) < -5e-3
    assert steps[-1].x[:, 1].max() < 1e-3


HAIRPIN_THICKNESS = 1e-3


def _hairpin() -> World:
    """Open above; its upper arm is too heavy to stay up."""
    turn, R = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 9), 0.02
    arc = R * np.column_stack([np.cos(turn), np.sin(turn) + 1.0])
    lower = np.column_stack([np.linspace(-0.1, -0.01, 11), np.zeros(11)])
    upper = np.column_stack([np.linspace(-0.01, -0.093, 10), np.full(10, 2.0 * R)])
    rod = chain(np.vstack([lower, arc, upper]), RodMaterial(2e4, 1000.0, 1e-3, 1e-2))
    touching = PlaneTouching(thickness=HAIRPIN_THICKNESS)
    return World(rod, GroundPlane(), friction=0.4, touching=touching)


def test_a_hairpin_that_falls_on_itself_lies_on_itself() -> None:
    world = _hairpin()
    steps = list(simulate(world, StepOptions(), 0.4, every=8))
    _bounded(world, steps)
    tip = steps[-1].x[-1, 1]
    assert tip == pytest.approx(HAIRPIN_THICKNESS, abs=2e-5)


def test_rods_that_meet_keep_their_momentum() -> None:
    """Free of gravity and damping: every impulse has its counterpart."""
    one = straight(0.1, 9, SOFT)
    other = moved(straight(0.08, 12, SOFT), by=np.array([0.05, 0.01]), angle=0.3)
    rod = several(one, other)
    v = np.zeros_like(rod.nodes)
    v[9:, 1] = -0.5
    world = World(
        rod, friction=0.3, gravity=(0.0, 0.0), damping=Damping(beta=0.0),
        touching=PlaneTouching(thickness=1e-3), velocity=v,
    )  # fmt: skip
    options = StepOptions(h=5e-4, integrator=Integrator.ENERGY_MOMENTUM)
    steps = list(simulate(world, options, 0.1, every=10))
    _bounded(world, steps)
    before, after = rod.mass @ v, rod.mass @ steps[-1].v
    assert after == pytest.approx(before, abs=1e-10 * np.abs(before).max())
    assert np.linalg.norm(steps[-1].v[:9]) > 0.1
    energies = [step.energy for step in steps]
    assert all(b <= a * (1.0 + 1e-9) for a, b in itertools.pairwise(energies))


@pytest.mark.parametrize("friction", [0.2, 0.6])
def test_a_rod_slides_down_a_rod_by_the_law_of_coulomb(friction: float) -> None:
    """On a held rod at 20 degrees: g (sin - mu cos), or not at all."""
    theta = np.radians(20.0)
    slope = hold(straight(0.4, 5, SOFT), list(range(5)))
    stiff = RodMaterial(1e8, 1000.0, 2e-3, 1e-2)
    rider = moved(straight(0.05, 4, stiff), by=np.array([0.23, 1e-3 + 1e-9]))
    rod = moved(several(slope, rider), by=np.zeros(2), angle=float(theta))
    world = World(rod, friction=friction, touching=PlaneTouching(thickness=1e-3))
    *_, last = simulate(world, StepOptions(h=1e-3), 0.1)
    assert last.contact_gap <= 1e-4 * rod.rest_length.min()
    way = centroid(last.x[5:], rod.mass[5:]) - centroid(rod.nodes[5:], rod.mass[5:])
    down = -way @ np.array([np.cos(theta), np.sin(theta)])
    pull = max(0.0, np.sin(theta) - friction * np.cos(theta))
    assert down == pytest.approx(0.5 * GRAVITY * pull * 0.1**2, rel=2e-3, abs=1e-6)


def test_a_run_stopped_while_rods_touch_continues_to_the_same_bits() -> None:
    world = _on_peak(2.5e-3, PlaneTouching())[0]
    *_, whole = simulate(world, StepOptions(), 0.2)
    *_, half = simulate(world, StepOptions(), 0.1)
    assert (half.state.pair[:, 2] > 0).any()
    *_, rest = simulate(world, StepOptions(), 0.2, start=half.state)
    assert np.array_equal(rest.x, whole.x)


def test_a_node_that_crossed_is_below_the_edge_it_was_above() -> None:
    edge = np.array([[0.0, 0.0], [2.0, 0.0]])
    above, below = (np.vstack([edge, [[0.5, y]]]) for y in (0.3, -0.2))
    gap, s, *normal = node_to_edge(above, below, 2, 0, 1, 0.1)
    assert (gap, s) == pytest.approx((-0.3, 0.25))
    assert normal == pytest.approx([0.0, 1.0])
    around = np.vstack([edge, [[2.3, 0.4]]])
    gap, s, *normal = node_to_edge(above, around, 2, 0, 1, 0.1)
    assert (gap, s) == pytest.approx((0.4, 1.0))
    assert normal == pytest.approx([0.6, 0.8])


def test_a_rod_does_not_start_inside_another_or_in_the_ground() -> None:
    rod = straight(0.1, 5, SOFT)
    rods = several(rod, moved(rod, by=np.array([0.0, 5e-4])))
    with pytest.raises(ValueError, match=r"node 0 starts 0\.0005 m from edge 4,"):
        World(rods, touching=PlaneTouching(thickness=1e-3))
    rod = moved(straight(0.2, 6, SOFT), by=np.array([-0.11, 1e-3]))
    with pytest.raises(ValueError, match=r"edge 2 starts .* m below the ground: lift"):
        World(rod, PEAK, touching=PlaneTouching())


def test_edges_that_feel_touch_ask_for_their_own_gaps() -> None:
    rod = straight(0.1, 5, SOFT)
    scheme = scheme_of(StepOptions(), World(rod, touching=PlaneTouching(gap=1e-3)))
    assert scheme.contact_gap == pytest.approx(1e-3 * 0.025)


def test_crossing_edges_are_counted() -> None:
    x = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.0], [1.0, -1.0], [3.0, -1.0]])
    assert crossings(np.array([[0, 1], [1, 2], [2, 3], [3, 4]]), x) == 1


def test_touch_is_that_of_exact_contact() -> None:
    world = World(straight(0.1, 5, SOFT), touching=PlaneTouching())
    with pytest.raises(ValueError, match=r"touching: .* contact exact"):
        scheme_of(StepOptions(contact=ContactRule.MODIFIED_MASS), world)
