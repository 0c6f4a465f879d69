"""Edges feel the ground, rods feel rods and themselves: moving, at rest, on arcs."""

import itertools
import time
from itertools import pairwise

import numpy as np
import pytest

from sim.core.arrays import Floats
from sim.rods.plane.builders import Ribbon
from sim.rods.plane.contact_geometry import (
    EdgeContact,
    arc_gap,
    crossings,
    edge_contacts,
    edge_gap,
    node_to_edge,
)
from sim.rods.plane.contact_impulses import ContactRule
from sim.rods.plane.ground import GroundPlane, Terrain, Wave, set_on_ground
from sim.rods.plane.many_contact_impulses import MANY
from sim.rods.plane.markers import centroid
from sim.rods.plane.options import Integrator, StepOptions, step_method
from sim.rods.plane.rod import GRAVITY, Rod, RodMaterial, cantilever, chain, hold, moved
from sim.rods.plane.simulate import RodSimulator, simulate
from sim.rods.plane.state import RodStep
from sim.rods.plane.statics import _turning, solve_static
from sim.rods.plane.world import Damping, DistributedLoad, NodeLoad, World
from tests.sim.rods.known import SOFT, THIN, ribbon, rolled, straight
from tests.sim.rods.several import several

THICKNESS = 1e-3
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


def _on_peak(h: float, edge_contact: EdgeContact | None) -> tuple[World, list[RodStep]]:
    rod = moved(straight(0.2, 6, SOFT), by=np.array([-0.11, 0.03]))
    world = World(rod, PEAK, edge_contact=edge_contact)
    return world, list(simulate(world, StepOptions(h=h), 0.4, every=4))


@pytest.mark.parametrize("h", [5e-3, 1e-3])
def test_a_rod_comes_to_lie_over_a_peak_between_two_of_its_nodes(h):
    world, steps = _on_peak(h, EdgeContact())
    _bounded(world, steps)
    low = min(edge_gap(world.rod.edges, step.x, PEAK) for step in steps)
    assert low > -1e-4 * world.rod.rest_length.min()
    assert steps[-1].x[:, 1].max() > 0.01


def test_without_touch_nodes_alone_feel_the_ground():
    world, steps = _on_peak(2.5e-3, None)
    assert edge_gap(world.rod.edges, steps[-1].x, PEAK) < -5e-3
    assert steps[-1].x[:, 1].max() < 1e-3


def _hairpin(gap: float = 0.04, friction: float = 0.4) -> World:
    """Open above; its upper arm is too heavy to stay up."""
    turn = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 9)
    arc = 0.5 * gap * np.column_stack([np.cos(turn), np.sin(turn) + 1.0])
    lower = np.column_stack([np.linspace(-0.1, -0.01, 11), np.zeros(11)])
    upper = np.column_stack([np.linspace(-0.01, -0.093, 10), np.full(10, gap)])
    rod = chain(np.vstack([lower, arc, upper]), RodMaterial(2e4, 1000.0, 1e-3, 1e-2))
    edge_contact = EdgeContact(thickness=THICKNESS)
    return World(rod, GroundPlane(), friction=friction, edge_contact=edge_contact)


def test_a_hairpin_that_falls_on_itself_lies_on_itself():
    world = _hairpin()
    steps = list(simulate(world, StepOptions(), 0.4, every=8))
    _bounded(world, steps)
    tip = steps[-1].x[-1, 1]
    assert tip == pytest.approx(THICKNESS, abs=2e-5)


def test_rods_that_meet_keep_their_momentum():
    """Free of gravity and damping: every impulse has its counterpart."""
    one = straight(0.1, 9, SOFT)
    other = moved(straight(0.08, 12, SOFT), by=np.array([0.05, 0.01]), angle=0.3)
    rod = several(one, other)
    v = np.zeros_like(rod.nodes)
    v[9:, 1] = -0.5
    world = World(
        rod, friction=0.3, gravity=(0.0, 0.0), damping=Damping(beta=0.0),
        edge_contact=EdgeContact(thickness=1e-3), velocity=v,
    )  # fmt: skip
    options = StepOptions(h=5e-4, integrator=Integrator.ENERGY_MOMENTUM, residual=1e-8)
    steps = list(simulate(world, options, 0.1, every=10))
    _bounded(world, steps)
    before, after = rod.mass @ v, rod.mass @ steps[-1].v
    assert after == pytest.approx(before, abs=1e-10 * np.abs(before).max())
    assert np.linalg.norm(steps[-1].v[:9]) > 0.1
    energies = [step.energy for step in steps]
    assert all(b <= a * (1.0 + 1e-9) for a, b in itertools.pairwise(energies))


@pytest.mark.parametrize(
    ("friction", "n", "duration"),
    [(0.2, 4, 0.1), (0.6, 4, 0.1), (0.2, 2 * MANY, 0.02)],
)
def test_a_rod_slides_down_a_rod_by_the_law_of_coulomb(friction, n, duration):
    """On a held rod at 20 degrees: g (sin - mu cos), or not at all; n of its nodes."""
    theta = np.radians(20.0)
    slope = hold(straight(0.4, 5, SOFT), list(range(5)))
    stiff = RodMaterial(1e8, 1000.0, 2e-3, 1e-2)
    rider = moved(straight(0.05, n, stiff), by=np.array([0.23, 1e-3 + 1e-9]))
    rod = moved(several(slope, rider), by=np.zeros(2), angle=float(theta))
    edge_contact = EdgeContact(thickness=THICKNESS)
    world = World(rod, friction=friction, edge_contact=edge_contact)
    *_, last = simulate(world, StepOptions(h=1e-3), duration, every=10**9)
    assert last.contact_gap <= 1e-4 * rod.rest_length.min()
    assert last.worst_complementarity < 1e-9
    assert n < MANY or _contacts(last) > MANY
    way = centroid(last.x[5:], rod.mass[5:]) - centroid(rod.nodes[5:], rod.mass[5:])
    down = -way @ np.array([np.cos(theta), np.sin(theta)])
    pull = max(0.0, np.sin(theta) - friction * np.cos(theta))
    expected = 0.5 * GRAVITY * pull * duration**2
    assert down == pytest.approx(expected, rel=2e-3, abs=1e-6)


def test_a_run_stopped_while_rods_touch_continues_to_the_same_bits():
    world = _on_peak(2.5e-3, EdgeContact())[0]
    *_, whole = simulate(world, StepOptions(), 0.2)
    *_, half = simulate(world, StepOptions(), 0.1)
    assert (half.state.pair[:, 2] > 0).any()
    *_, rest = simulate(world, StepOptions(), 0.2, start=half.state)
    assert np.array_equal(rest.x, whole.x)


def test_a_node_that_crossed_is_below_the_edge_it_was_above():
    edge = np.array([[0.0, 0.0], [2.0, 0.0]])
    above, below = (np.vstack([edge, [[0.5, y]]]) for y in (0.3, -0.2))
    gap, s, *normal = node_to_edge(above, below, 2, 0, 1, 0.1)
    assert (gap, s) == pytest.approx((-0.3, 0.25))
    assert normal == pytest.approx([0.0, 1.0])
    around = np.vstack([edge, [[2.3, 0.4]]])
    gap, s, *normal = node_to_edge(above, around, 2, 0, 1, 0.1)
    assert (gap, s) == pytest.approx((0.4, 1.0))
    assert normal == pytest.approx([0.6, 0.8])


def test_a_rod_does_not_start_inside_another_or_in_the_ground():
    rod = straight(0.1, 5, SOFT)
    rods = several(rod, moved(rod, by=np.array([0.0, 5e-4])))
    with pytest.raises(ValueError, match=r"node 0 starts 0\.0005 m from edge 4,"):
        World(rods, edge_contact=EdgeContact(thickness=1e-3))
    rod = moved(straight(0.2, 6, SOFT), by=np.array([-0.11, 1e-3]))
    with pytest.raises(ValueError, match=r"edge 2 starts .* m below the ground: lift"):
        World(rod, PEAK, edge_contact=EdgeContact())


def test_edges_that_feel_touch_ask_for_their_own_gaps_and_exact_contact():
    world = World(straight(0.1, 5, SOFT), edge_contact=EdgeContact(gap=1e-3))
    method = step_method(StepOptions(), world)
    assert method.contact_gap == pytest.approx(1e-3 * 0.025)
    with pytest.raises(ValueError, match=r"edge_contact needs contact exact"):
        step_method(StepOptions(contact=ContactRule.MODIFIED_MASS), world)


def test_crossing_edges_are_counted():
    x = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.0], [1.0, -1.0], [3.0, -1.0]])
    assert crossings(np.array([[0, 1], [1, 2], [2, 3], [3, 4]]), x) == 1


L = 0.1
UPRIGHT = {"by": np.zeros(2), "angle": 0.5 * np.pi}


@pytest.mark.parametrize(("place", "beyond"), [(0.3, 0.0), (1.0, 0.5)])
def test_the_second_derivatives_of_a_gap_are_those_of_its_differences(place, beyond):
    """Of a node 1 mm from the inside of an edge, or from its end, along any motion."""
    away = THICKNESS * np.array([np.sin(beyond), np.cos(beyond)])
    top = moved(straight(0.02, 3, THIN), by=np.array([0.01 + 0.01 * place, 0.0]) + away)
    rod = several(straight(0.02, 3, THIN), top)
    world = World(rod, edge_contact=EdgeContact(thickness=THICKNESS))
    loop = RodSimulator(world, StepOptions(), None)
    x = loop.state.x.copy()
    _, s, nx, ny = node_to_edge(x, x, 3, 1, 2, THICKNESS)
    assert s == pytest.approx(place)
    loop.work.node_count[0], loop.work.acts_on[0] = 3, (3, 1, 2)
    loop.work.weight[0] = 1.0, s - 1.0, -s
    loop.work.frame[0] = ny, -nx
    u = np.zeros_like(x)
    for a in range(3):
        u[loop.work.acts_on[0, a]] = loop.work.weight[0, a] * np.array([ny, -nx])
    whole = _turning(loop, 0, u.ravel())
    for seed in range(3):
        d = np.random.default_rng(seed).standard_normal(x.shape)
        size = 1e-6
        gaps = [
            node_to_edge(x, x + k * size * d, 3, 1, 2, THICKNESS)[0] for k in (-1, 0, 1)
        ]
        second = (gaps[0] - 2.0 * gaps[1] + gaps[2]) / size**2
        assert -d.ravel() @ whole @ d.ravel() == pytest.approx(second, rel=1e-3)


@pytest.mark.parametrize("load", [0.3, 1.0, 3.0, 10.0])
def test_two_rods_pressed_on_each_other_rest_as_one_on_a_plane_halfway(load):
    """Symmetry: 1 to 17 contacts; the ground's are nodes on a plane."""
    one, force = cantilever(L, 41, THIN), load * THIN.bending / L**3
    upper = moved(one, by=np.array([0.0, 3e-3]))
    m, thick = len(one.edges), EdgeContact(thickness=THICKNESS)
    down = DistributedLoad(list(range(m)), (0.0, -force))
    up = DistributedLoad(list(range(m, 2 * m)), (0.0, force))
    rod = several(upper, moved(one, by=np.array([0.0, -3e-3])))
    pressed = World(
        rod, friction=0.0, gravity=(0.0, 0.0), distributed_loads=(down, up),
        edge_contact=thick,
    )  # fmt: skip
    plane = GroundPlane(offset=0.5 * THICKNESS)
    alone = World(
        upper, plane, friction=0.0, gravity=(0.0, 0.0), distributed_loads=(down,)
    )
    found, known = solve_static(pressed).x, solve_static(alone).x
    assert found[:41] == pytest.approx(known, abs=5e-7)
    assert found[41:] * [1.0, -1.0] == pytest.approx(known, abs=5e-7)


def _beside_a_wall(load: float) -> Floats:
    """The column, pressed to a held rod by 0.02 of its load; load over Euler's."""
    column = moved(cantilever(L, 42, THIN), **UPRIGHT)
    wall = moved(straight(0.08, 9, THIN), **UPRIGHT)
    wall = moved(wall, by=np.array([THICKNESS * (1.0 + 1e-6), 0.05]))
    force = load * np.pi**2 * THIN.bending / (4.0 * L**2)
    world = World(
        several(column, hold(wall, list(range(9)))), friction=0.0, gravity=(0.0, 0.0),
        load=NodeLoad([41], (0.02 * force, -force)),
        edge_contact=EdgeContact(thickness=THICKNESS),
    )  # fmt: skip
    return solve_static(world, max_steps=4000).x[:42]


@pytest.mark.parametrize("load", [2.0, 5.0, 8.0])
def test_a_column_that_a_rod_beside_it_holds_stays_straight(load):
    """Up to 8.18 times the load that buckles it alone: clamped, and pinned above."""
    assert np.abs(_beside_a_wall(load)[:, 0]).max() < 1e-6 * L


def test_above_that_load_it_buckles_between_clamp_and_rod():
    """As one whose end is held across; a step too long took it to the free side."""
    column = moved(cantilever(L, 42, THIN), **UPRIGHT)
    column.held[41, 0] = True
    force = 9.0 * np.pi**2 * THIN.bending / (4.0 * L**2)
    load = NodeLoad([41], (0.0, -force))
    known = solve_static(World(column, gravity=(0.0, 0.0), load=load)).x
    found = _beside_a_wall(9.0)
    assert known[:, 0].min() < -0.2 * L
    assert found == pytest.approx(known, abs=1e-5 * L)


@pytest.mark.parametrize("friction", [0.0, 0.4])
@pytest.mark.parametrize("gap", [0.002, 0.005, 0.02])
def test_a_hairpin_of_any_gap_comes_to_rest_on_itself(gap, friction):
    """It never did with friction: what sticks gives way by a little in each step."""
    world = _hairpin(gap, friction)
    rod, end = world.rod, solve_static(world)
    assert (end.state.pair[:, 2] > 0).sum() > 15
    assert crossings(rod.edges, end.x) == 0
    assert end.x[-1, 1] == pytest.approx(THICKNESS, abs=2e-5)
    weight = rod.mass.sum() * GRAVITY
    assert end.reaction[:, 1].sum() == pytest.approx(weight, rel=1e-6)


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
    edge_contact = EdgeContact(thickness=THICKNESS)
    return World(rod, GroundPlane(angle), mu, edge_contact=edge_contact)


@pytest.mark.parametrize("mu", [0.2, 0.5])
def test_a_stack_of_rods_slides_down_a_slope_as_a_block_or_stays(mu):
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


@pytest.mark.long
@pytest.mark.parametrize("n", [240, 480])
def test_a_soft_ring_of_many_nodes_falls_onto_itself(n):
    """Its sides meet in short parts of steps, in more contacts than have columns."""
    world = World(
        ribbon(0.5, 0.05, n),
        GroundPlane(),
        0.4,
        edge_contact=EdgeContact(thickness=0.0),
    )
    most = 0
    for step in simulate(world, StepOptions(h=1e-3), 0.16, every=10):
        most = max(most, _contacts(step))
    assert most > MANY
    assert step.worst_complementarity < 1e-9
    assert crossings(world.rod.edges, step.x) == 0
    assert step.worst_balance < 0.1


def _seconds_of_a_step(n: int) -> float:
    """CPU time of a step of two rods of n nodes that lie on each other."""
    loop = RodSimulator(stack(n), StepOptions(h=2.5e-3), None)
    loop.run_to(20, 1e9)
    start = time.process_time()
    loop.run_to(60, 1e9)
    return (time.process_time() - start) / 40


@pytest.mark.long
def test_the_cost_of_contacts_of_edges_is_linear_in_them():
    """358 and 1,438 contacts; 960 nodes touch, more than there are columns for."""
    _seconds_of_a_step(40)
    assert _seconds_of_a_step(480) < 7.0 * _seconds_of_a_step(120)


ARCS = EdgeContact(rods=False, arcs=True)
SPEED = 0.5  # m/s


def _run(
    world: World, duration: float, h: float, rule: Integrator = Integrator.NEWMARK
) -> tuple[RodStep, RodStep]:
    options = StepOptions(h=h, tolerance=1e-12, integrator=rule)
    first, *_, last = simulate(world, options, duration, every=10**9)
    return first, last


def test_a_hoop_of_100_nodes_keeps_its_spin_with_order_two_in_nodes():
    """As a polygon that lands on its nodes it would lose 15 %."""
    lost = []
    for n in (25, 50, 100):
        h = 0.025 / n  # a 24th of the time in which it rolls over an edge
        options = StepOptions(h, Integrator.ENERGY_MOMENTUM, tolerance=1e-12)
        turns, kept = rolled(n, options, beta=1e-4, edge_contact=ARCS)
        assert turns == pytest.approx(SPEED / Ribbon().perimeter, rel=5.0 / n**2)
        lost.append(1.0 - kept)
    assert 0.0 < lost[-1] < 2e-4
    for more, less in pairwise(lost):
        assert 3.0 < more / less < 6.0


@pytest.mark.parametrize("mu", [0.8, 0.05])
def test_a_hoop_rolls_or_slips_down_a_slope_as_a_rigid_ring(mu):
    """It rolls without slipping, at half of g sin, where 2 mu > tan."""
    theta = np.radians(10.0)
    rod = moved(Ribbon(20.0, 60).rod, by=np.zeros(2), angle=-float(theta))
    damping = Damping(beta=1e-4)
    world = World(rod, GroundPlane(-10.0), mu, damping=damping, edge_contact=ARCS)
    end = _run(world, 0.5, 1e-3)[1]
    pull = GRAVITY * max(0.5 * np.sin(theta), np.sin(theta) - mu * np.cos(theta))
    way = (end.x - rod.nodes).mean(axis=0) @ [np.cos(theta), -np.sin(theta)]
    assert way == pytest.approx(0.5 * pull * 0.5**2, rel=2e-3)


def test_a_hoop_rolls_for_ever_in_the_trough_of_a_wave():
    wave = Wave(start=0.15, amplitude=4e-3)
    rod = set_on_ground(Ribbon(20.0, 100).rod, wave, 0.03)
    world = World(rod, wave, damping=Damping(beta=0.0), edge_contact=ARCS)
    first, last = _run(world, 2.0, 1e-3, Integrator.ENERGY_MOMENTUM)
    depth = rod.mass.sum() * GRAVITY * wave.amplitude
    assert (last.energy - first.energy) / depth == pytest.approx(0.0, abs=5e-3)


@pytest.mark.parametrize("ground", [GroundPlane(-20.0), GroundPlane(0.0)])
def test_a_straight_rod_touches_with_its_nodes(ground):
    angle = float(np.radians(ground.angle))
    rod = moved(straight(0.1, 11, SOFT), by=np.zeros(2), angle=angle)
    along = np.array([np.cos(angle), np.sin(angle)])
    v = np.tile(SPEED * along, (11, 1))
    ends = [
        _run(
            World(rod, ground, 0.3, velocity=v, edge_contact=edge_contact), 0.3, 2.5e-3
        )[1]
        for edge_contact in (None, ARCS)
    ]
    assert ends[1].x == pytest.approx(ends[0].x, abs=1e-9)


def test_a_bow_lands_on_the_last_half_of_its_last_edge():
    """Where its end has no arc, and the next one's reaches to the end."""
    angle = np.radians(12.0) * (np.arange(7) - 0.25)  # lowest between 0 and 1
    nodes = 0.05 * np.column_stack([np.sin(angle), 1.0 - np.cos(angle)])
    stiff = RodMaterial(4.0e9, 1000.0, 2.0e-3, 2.0e-3)
    bow = moved(chain(nodes, stiff), by=np.array([0.0, 1e-3]))
    world = World(bow, GroundPlane(), edge_contact=ARCS)
    touch = edge_contacts(ARCS, bow, GroundPlane())
    steps = list(simulate(world, StepOptions(h=1e-3), 0.03))
    depth = -min(arc_gap(touch, step.x, 1, GroundPlane()) for step in steps)
    assert any(step.contact.any() for step in steps)
    assert depth < 1.1e-4 * bow.rest_length.min()


def test_a_run_stopped_while_an_arc_touches_continues_to_the_same_bits():
    rod = moved(Ribbon(20.0, 40).rod, by=np.zeros(2), angle=-float(np.radians(10.0)))
    world = World(rod, GroundPlane(-10.0), edge_contact=ARCS)
    options = StepOptions(h=1e-3)
    whole = list(simulate(world, options, 0.1, every=50))
    *_, last = simulate(world, options, 0.1, every=50, start=whole[1].state)
    assert np.array_equal(last.x, whole[-1].x)


def test_what_arcs_cannot_do_is_refused():
    turned = Ribbon(2.0, 40).rod
    turned = moved(turned, by=np.zeros(2), angle=np.pi / 40)
    turned = moved(turned, by=np.array([0.0, -turned.nodes[:, 1].min()]))
    with pytest.raises(ValueError, match=r"the arc of node \d+ starts .* below the gr"):
        World(turned, GroundPlane(), edge_contact=ARCS)
    world = World(Ribbon(2.0, 40).rod, GroundPlane(), edge_contact=ARCS)
    with pytest.raises(ValueError, match="arcs=true works in motions only: set it"):
        solve_static(world)
