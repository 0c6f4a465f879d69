"""Clamps in space that turn and move by tables, against the plane and a stiff rod."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sim.rod.moving.from_plane import in_space
from sim.rod.moving.motion import SpaceMotionStep, moves
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.moving.touching import LevelGround, Touching
from sim.rod.moving.turning_clamps import TurningClamp, TurningClamps
from sim.rod.space.clamping import clamped_end
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.simulate import simulate
from sim.rod.stepping.turning import TurningEnd
from sim.rod.stepping.world import Damping, World
from tests.sim.rod.known import SOFT
from tests.sim.rod.space.made import along_x
from tests.sim.rod.stepping.test_turning import _clamped

KEEPING = StepOptions(h=5e-3, integrator=Integrator.ENERGY_MOMENTUM, tolerance=1e-12)


@pytest.mark.parametrize("integrator", list(Integrator))
def test_an_end_of_the_plane_that_turns_and_moves_does_so_in_space(
    integrator: Integrator,
) -> None:
    rod, ways = _clamped(10), [[0.0, 0.0, 0.0], [0.1, 0.01, -0.02]]
    turn = TurningEnd(len(rod.nodes) - 1, 0, [0.0, 0.1], [0.0, 1.0], ways)
    world = World(
        rod, gravity=(0.0, -9.81), damping=Damping(alpha=1.0, beta=0.01),
        turning=(turn,),
    )  # fmt: skip
    options = StepOptions(h=1e-3, integrator=integrator, tolerance=1e-12)
    *_, planar = simulate(world, options, 0.15, every=10**6)
    *_, raised = moves(in_space(world, SOFT), options, 0.15, every=10**6)
    assert np.ptp(planar.x, axis=0).min() > 0.03
    exact = integrator is Integrator.NEWMARK
    assert np.abs(raised.x[:, :2] - planar.x).max() < (1e-9 if exact else 2e-5)
    assert np.abs(raised.x[:, 2]).max() < 1e-12


def _driven(*clamps: TurningClamp) -> SpaceWorld:
    rod = clamped_end(along_x(0.1, 8, first=0.0), 0)
    drive = TurningClamps(rod, clamps)
    return SpaceWorld(rod, (0, 0, 0), Damping(alpha=20.0, beta=0.01), drive=drive)


def _last(world: SpaceWorld, duration: float, h: float = 5e-3) -> SpaceMotionStep:
    *_, last = moves(world, replace(KEEPING, h=h), duration, every=10**6)
    return last


def test_a_rod_comes_to_rest_where_its_clamp_was_turned_and_moved_to() -> None:
    """As one body, however far about: its frames by the rotation, its places too."""
    axis, way = np.array([1.0, -2.0, 0.5]), [0.02, -0.01, 0.03]
    clamp = TurningClamp(
        8, 0, axis, [0.0, 0.3, 0.6], [0.0, 2.5, 4.0], [[0.1, 0, 0, 0], [0.5, *way]]
    )
    world = _driven(clamp)
    rod, last = world.rod, _last(world, 3.0)
    turn = Rotation.from_rotvec(4.0 * axis / np.linalg.norm(axis)).as_matrix()
    assert np.abs(last.x - rod.nodes @ turn.T - way).max() < 1e-6
    assert np.abs(last.moving.state.d - rod.directors @ turn.T).max() < 1e-5
    held = rod.edges[8]
    assert np.abs((last.x - rod.nodes @ turn.T - way)[held]).max() < 1e-13
    ledger = last.moving.ledger
    stored = last.energy
    assert ledger.given - ledger.damped == pytest.approx(stored, abs=1e-9)
    assert ledger.given > 0.0


def test_a_clamp_that_turns_about_its_rod_twists_it() -> None:
    """By all of its turn, beyond half a turn too, where the other end is held."""
    clamp = TurningClamp(8, 0, [-1.0, 0.0, 0.0], [0.0, 1.0], [0.0, 5.0])
    world = _driven(clamp)
    rod = clamped_end(world.rod, 8)
    drive = TurningClamps(rod, [clamp])
    last = _last(replace(world, rod=rod, drive=drive), 1.5)
    assert last.moving.state.twist.sum() == pytest.approx(5.0, abs=1e-9)
    twisting = 0.5 * rod.twisting[0] * 25.0 / 0.1
    assert last.twisting == pytest.approx(twisting, rel=1e-3)


def test_tables_that_no_clamp_follows_are_refused() -> None:
    with pytest.raises(ValueError, match="let times rise"):
        TurningClamp(8, 0, [0, 0, 1], [0.0, 0.0], [0.0, 1.0])
    with pytest.raises(ValueError, match="moves: they begin at 0 s with 1 m"):
        TurningClamp(8, 0, [0, 0, 1], moves=[[0, 1, 0, 0]])
    with pytest.raises(ValueError, match="edge 3 is not held: clamp it"):
        _driven(TurningClamp(3, 3, [0, 0, 1]))
    fast = _driven(TurningClamp(8, 0, [0, 0, 1], [0.0, 0.01], [0.0, 4.0]))
    with pytest.raises(ValueError, match=r"turns by 114\.592 degrees in a step"):
        _last(fast, 1.0)


def test_a_clamp_that_goes_into_the_ground_is_refused_with_its_time() -> None:
    down = TurningClamp(8, 0, [0, 0, 1], moves=[[0, 0, 0, 0], [1, 0, 0, -0.05]])
    world = _driven(down)
    touching = Touching(np.full(9, 1e-3), 0.0, LevelGround(height=-0.03))
    words = "ground: a clamp that moves or turns, or the held edge behind it, is 0.021"
    with pytest.raises(ValueError, match=words):
        replace(world, touching=touching)
    replace(world, touching=replace(touching, ground=LevelGround(height=-0.06)))
