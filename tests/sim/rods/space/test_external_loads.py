"""Loads on rods that move in space: impulse, work, and the same in the plane."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sim.core.arrays import Floats
from sim.rods.plane.options import Integrator, StepOptions
from sim.rods.plane.rod import RodMaterial, cantilever
from sim.rods.plane.simulate import simulate
from sim.rods.plane.world import (
    Damping,
    DistributedLoad,
    FollowerForce,
    NodeLoad,
    World,
)
from sim.rods.space.frames import SpaceState, moved_on
from sim.rods.space.from_plane import in_space
from sim.rods.space.rod import SpaceMaterial, SpaceRod, disc, through
from sim.rods.space.simulate import simulate_in_space
from sim.rods.space.step_equation import of_edges, slopes_of_edges
from sim.rods.space.world import SpaceWorld
from tests.sim.rods.known import SOFT, straight, turned_tip
from tests.sim.rods.space.made import momentum

FREE = (0.0, 0.0, 0.0)
SECTION, OF = disc(2.0e-3), SpaceMaterial(1.0e7, 1000.0, 0.3)
EXACT = StepOptions(2e-3, Integrator.ENERGY_MOMENTUM, tolerance=1e-13)


def slanting(edges: int = 8) -> SpaceRod:
    way = np.array([0.3, -0.5, 0.8]) / np.linalg.norm([0.3, -0.5, 0.8])
    return through(np.outer(np.linspace(0.0, 0.1, edges + 1), way), OF, SECTION)


@pytest.mark.parametrize("integrator", list(Integrator))
def test_a_load_for_a_time_gives_its_impulse_and_its_work(integrator):
    """Force times duration, whichever steps it begins and ends in; then it is gone."""
    force = np.array([2e-3, 1e-3, -3e-3])
    load = NodeLoad([8], tuple(force.tolist()), start=0.0111, duration=0.0333)
    world = SpaceWorld(slanting(), FREE, load=load)
    options = replace(EXACT, integrator=integrator)
    last = list(simulate_in_space(world, options, 0.06))[-1]
    assert momentum(world.rod, last) == pytest.approx(0.0333 * force, rel=1e-9)
    near = 1e-6 if integrator is Integrator.ENERGY_MOMENTUM else 1e-2
    assert last.moving.ledger.given == pytest.approx(last.energy, rel=near)
    assert last.energy > 1e-6


def both_ends(rod: SpaceRod, change: Floats) -> tuple[SpaceState, SpaceState]:
    """A bent state, and the same after a change of all unknowns."""
    n = rod.nodes.size
    bent = 0.02 * np.sin(np.arange(n + len(rod.edges)))
    start = _moved(rod, rod.state, bent * np.where(np.arange(len(bent)) < n, 0.1, 1.0))
    return start, _moved(rod, start, change)


def _moved(rod: SpaceRod, state: SpaceState, change: Floats) -> SpaceState:
    n = rod.nodes.size
    move = change[:n].reshape(-1, 3)
    return moved_on(state, rod.edges, rod.bends, move, change[n:])


SPREAD = (
    DistributedLoad([0, 1, 2, 5], (0.3, -0.2, 0.1), 0.4, -0.7),
    DistributedLoad([5, 7], along=-0.2, across=0.5, start=5e-4),
)


def test_the_matrix_has_how_loads_turn():
    """The mean of slope and transpose, half of it by places at the end of a step."""
    rod = slanting()
    ends = FollowerForce(0, 0.06, -0.02, 2e-4), FollowerForce(8, -0.05, 0.03)
    world = SpaceWorld(rod, FREE, distributed_loads=SPREAD, follower_forces=ends)
    n, count, by = rod.nodes.size, rod.nodes.size + len(rod.edges), 1e-7
    slope = np.zeros((n, n))
    for k in range(n):
        there, back = (
            of_edges(world, both_ends(rod, way * by * np.eye(count)[k]), 0.0, 1e-3)
            for way in (1.0, -1.0)
        )
        slope[:, k] = (there - back)[:n] / (2.0 * by)
    found = np.zeros((n, n))
    r, c = np.tril_indices(6)
    both = both_ends(rod, np.zeros(count))
    values = slopes_of_edges(world, both, 0.0, 1e-3).reshape(-1, len(r))
    for ends, own in zip(rod.edges, values, strict=True):
        at = (3 * ends[:, None] + np.arange(3)).ravel()
        found[at[r], at[c]] += own
        found[at[c[r != c]], at[r[r != c]]] += own[r != c]
    assert np.abs(slope).max() > 0.1
    assert 0.5 * found == pytest.approx(-0.5 * (slope + slope.T), abs=1e-7)


BENT = RodMaterial(4.0e7, 1000.0, 4.0e-3, 2.0e-3)
ACTS = StepOptions(5e-4, tolerance=1e-13, residual=1e-11)


EDGE_LOADS = (
    DistributedLoad([0, 1, 2], (0.02, -0.05), 0.03, 0.1, 0.0021, 0.02),
    DistributedLoad([4, 5, 6, 7], along=-0.05, across=-0.15),
)
END_FORCES = FollowerForce(0, -2e-3, 6e-3), FollowerForce(8, 1e-3, 3e-3, 0.0021, 0.02)


@pytest.mark.parametrize("integrator", list(Integrator))
@pytest.mark.parametrize(
    "loads", [{"distributed_loads": EDGE_LOADS}, {"follower_forces": END_FORCES}]
)
def test_spread_loads_and_ends_move_a_rod_in_space_as_in_its_plane(loads, integrator):
    """Places, what is given, and energy; turned in space too."""
    world = World(
        straight(0.1, 9, BENT), gravity=(0.0, 0.0), damping=Damping(beta=0.0), **loads
    )
    options = replace(ACTS, integrator=integrator)
    *_, plane = simulate(world, options, 0.03, every=1000)
    lifted = in_space(world, BENT)
    *_, space = simulate_in_space(lifted, options, 0.03, every=1000)
    way = np.abs(plane.x - world.rod.nodes).max()
    near = 1e-10 if integrator is Integrator.NEWMARK else 1e-4 * way
    assert way > 2e-3
    assert np.abs(space.x[:, :2] - plane.x).max() <= near
    assert np.abs(space.x[:, 2]).max() <= 1e-12
    ledger = space.moving.ledger
    assert ledger.given == pytest.approx(plane.given, rel=1e-3)
    if integrator is Integrator.ENERGY_MOMENTUM:
        assert ledger.given == pytest.approx(space.energy, rel=1e-6)
    turn = Rotation.from_rotvec([0.7, -1.1, 0.4]).as_matrix()
    rod = lifted.rod
    turned = replace(
        lifted,
        rod=replace(rod, nodes=rod.nodes @ turn.T, directors=rod.directors @ turn.T),
        distributed_loads=tuple(
            replace(one, force=tuple((turn[:, :2] @ one.force[:2]).tolist()))
            for one in lifted.distributed_loads
        ),
    )
    *_, other = simulate_in_space(turned, options, 0.03, every=1000)
    assert other.x @ turn == pytest.approx(space.x, abs=1e-9)


def test_loads_that_do_not_fit_are_refused():
    rod = slanting()
    with pytest.raises(ValueError, match="load: node 9 does not exist: choose 0 to 8"):
        SpaceWorld(rod, load=NodeLoad([9], (0.0, 0.0, 1.0)))
    with pytest.raises(ValueError, match=r"at \(.*, .*, .*\) m .* but 2 edges meet"):
        SpaceWorld(rod, follower_forces=(FollowerForce(5, 1.0),))
    with pytest.raises(ValueError, match="edge 8 does not exist: choose 0 to 7"):
        SpaceWorld(rod, distributed_loads=(DistributedLoad([8]),))
    with pytest.raises(ValueError, match="give two numbers in the plane"):
        World(straight(0.1, 9, SOFT), distributed_loads=(SPREAD[0],))
    with pytest.raises(ValueError, match="give two numbers in the plane"):
        World(straight(0.1, 5, SOFT), load=NodeLoad([0], (0.0, 0.0, 1.0)))


FIRST = 1.8751040687 / 0.1  # 1/m, wave number of a clamped beam
RATE = FIRST**2 * np.sqrt(SOFT.bending / SOFT.line_density)


def _settled_tip(load: float, edges: int) -> Floats:
    """Where the tip rests under a force across it that turns with it, over L."""
    flat = cantilever(0.1, edges + 1, SOFT)
    push = FollowerForce(flat.nodes.shape[0] - 1, 0.0, load * SOFT.bending / 0.01)
    world = in_space(
        World(
            flat,
            gravity=(0.0, 0.0),
            damping=Damping(2.0 * RATE, 0.0),
            follower_forces=(push,),
        ),
        SOFT,
    )
    *_, last = simulate_in_space(
        world, StepOptions(0.2 / RATE), 20.0 / RATE, every=1000
    )
    return np.asarray(last.x[-1, :2] / 0.1)


def test_a_rod_comes_to_rest_under_a_force_that_turns_as_its_elastica_does():
    tip = turned_tip(2.0)
    coarse, fine = (np.abs(_settled_tip(2.0, n) - tip).max() for n in (7, 14))
    assert fine < 4e-3
    assert coarse / fine == pytest.approx(4.0, abs=0.5)
