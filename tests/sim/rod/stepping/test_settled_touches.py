"""Rods that come to rest on rods: minima, with the contacts that hold them."""

import numpy as np
import pytest

from sim.arrays import Floats
from sim.rod.contact.ground import GroundPlane
from sim.rod.contact.nearest import node_to_edge
from sim.rod.contact.touching import PlaneTouching, crossings
from sim.rod.gravity import GRAVITY
from sim.rod.rod.rod import RodMaterial, cantilever, chain, hold, moved
from sim.rod.stepping.equilibrium import settle
from sim.rod.stepping.minima import _turning
from sim.rod.stepping.options import StepOptions
from sim.rod.stepping.simulate import Loop
from sim.rod.stepping.surroundings import DistributedLoad
from sim.rod.stepping.world import NodeLoad, World
from tests.sim.rod.known import THIN, straight
from tests.sim.rod.several import several

L, THICK = 0.1, 1e-3
UPRIGHT = {"by": np.zeros(2), "angle": 0.5 * np.pi}


@pytest.mark.parametrize(("place", "beyond"), [(0.3, 0.0), (1.0, 0.5)])
def test_the_second_derivatives_of_a_gap_are_those_of_its_differences(
    place: float, beyond: float
) -> None:
    """Of a node 1 mm from the inside of an edge, or from its end, along any motion."""
    away = THICK * np.array([np.sin(beyond), np.cos(beyond)])
    top = moved(straight(0.02, 3, THIN), by=np.array([0.01 + 0.01 * place, 0.0]) + away)
    rod = several(straight(0.02, 3, THIN), top)
    world = World(rod, touching=PlaneTouching(thickness=THICK))
    loop = Loop(world, StepOptions(), None)
    x = loop.state.x.copy()
    _, s, nx, ny = node_to_edge(x, x, 3, 1, 2, THICK)
    assert s == pytest.approx(place)
    loop.work.arms[0], loop.work.arm[0] = 3, (3, 1, 2)
    loop.work.lever[0] = 1.0, s - 1.0, -s
    loop.work.frame[0] = ny, -nx
    u = np.zeros_like(x)
    for a in range(3):
        u[loop.work.arm[0, a]] = loop.work.lever[0, a] * np.array([ny, -nx])
    whole = _turning(loop, 0, u.ravel())
    for seed in range(3):
        d = np.random.default_rng(seed).standard_normal(x.shape)
        size = 1e-6
        gaps = [
            node_to_edge(x, x + k * size * d, 3, 1, 2, THICK)[0] for k in (-1, 0, 1)
        ]
        second = (gaps[0] - 2.0 * gaps[1] + gaps[2]) / size**2
        assert -d.ravel() @ whole @ d.ravel() == pytest.approx(second, rel=1e-3)


@pytest.mark.parametrize("load", [0.3, 1.0, 3.0, 10.0])
def test_two_rods_pressed_on_each_other_rest_as_one_on_a_plane_halfway(
    load: float,
) -> None:
    """Symmetry: 1 to 17 contacts; the ground's are nodes on a plane."""
    one, force = cantilever(L, 41, THIN), load * THIN.bending / L**3
    upper = moved(one, by=np.array([0.0, 3e-3]))
    m, thick = len(one.edges), PlaneTouching(thickness=THICK)
    down = DistributedLoad(list(range(m)), (0.0, -force))
    up = DistributedLoad(list(range(m, 2 * m)), (0.0, force))
    rod = several(upper, moved(one, by=np.array([0.0, -3e-3])))
    pressed = World(
        rod, friction=0.0, gravity=(0.0, 0.0), distributed_loads=(down, up),
        touching=thick,
    )  # fmt: skip
    plane = GroundPlane(offset=0.5 * THICK)
    alone = World(
        upper, plane, friction=0.0, gravity=(0.0, 0.0), distributed_loads=(down,)
    )
    found, known = settle(pressed).x, settle(alone).x
    assert found[:41] == pytest.approx(known, abs=5e-7)
    assert found[41:] * [1.0, -1.0] == pytest.approx(known, abs=5e-7)


def _beside_a_wall(load: float) -> Floats:
    """The column, pressed to a held rod by 0.02 of its load; load over Euler's."""
    column = moved(cantilever(L, 42, THIN), **UPRIGHT)
    wall = moved(straight(0.08, 9, THIN), **UPRIGHT)
    wall = moved(wall, by=np.array([THICK * (1.0 + 1e-6), 0.05]))
    force = load * np.pi**2 * THIN.bending / (4.0 * L**2)
    world = World(
        several(column, hold(wall, list(range(9)))), friction=0.0, gravity=(0.0, 0.0),
        load=NodeLoad([41], (0.02 * force, -force)),
        touching=PlaneTouching(thickness=THICK),
    )  # fmt: skip
    return settle(world, max_steps=4000).x[:42]


@pytest.mark.parametrize("load", [2.0, 5.0, 8.0])
def test_a_column_that_a_rod_beside_it_holds_stays_straight(load: float) -> None:
    """Up to 8.18 times the load that buckles it alone: clamped, and pinned above."""
    assert np.abs(_beside_a_wall(load)[:, 0]).max() < 1e-6 * L


def test_above_that_load_it_buckles_between_clamp_and_rod() -> None:
    """As one whose end is held across; a step too long took it to the free side."""
    column = moved(cantilever(L, 42, THIN), **UPRIGHT)
    column.held[41, 0] = True
    force = 9.0 * np.pi**2 * THIN.bending / (4.0 * L**2)
    load = NodeLoad([41], (0.0, -force))
    known = settle(World(column, gravity=(0.0, 0.0), load=load)).x
    found = _beside_a_wall(9.0)
    assert known[:, 0].min() < -0.2 * L
    assert found == pytest.approx(known, abs=1e-5 * L)


@pytest.mark.parametrize("friction", [0.0, 0.4])
@pytest.mark.parametrize("gap", [0.002, 0.005, 0.02])
def test_a_hairpin_of_any_gap_comes_to_rest_on_itself(
    gap: float, friction: float
) -> None:
    """It never did with friction: what sticks gives way by a little in each step."""
    turn = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 9)
    arc = 0.5 * gap * np.column_stack([np.cos(turn), np.sin(turn) + 1.0])
    lower = np.column_stack([np.linspace(-0.1, -0.01, 11), np.zeros(11)])
    upper = np.column_stack([np.linspace(-0.01, -0.093, 10), np.full(10, gap)])
    rod = chain(np.vstack([lower, arc, upper]), RodMaterial(2e4, 1000.0, 1e-3, 1e-2))
    touching = PlaneTouching(thickness=THICK)
    end = settle(World(rod, GroundPlane(), friction=friction, touching=touching))
    assert (end.state.pair[:, 2] > 0).sum() > 15
    assert crossings(rod.edges, end.x) == 0
    assert end.x[-1, 1] == pytest.approx(THICK, abs=2e-5)
    weight = rod.mass.sum() * GRAVITY
    assert end.reaction[:, 1].sum() == pytest.approx(weight, rel=1e-6)
