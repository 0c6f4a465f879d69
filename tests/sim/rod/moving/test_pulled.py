"""Tendons of rods that move: where they come to rest, what they give and leave."""

from dataclasses import replace

import numpy as np
import pytest

from sim.arrays import Floats
from sim.rod.moving.motion import SpaceMotionStep, moves
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.space.balance import rest
from sim.rod.space.elements import space_elements
from sim.rod.space.loads import no_loads
from sim.rod.space.space_rod import SpaceRod, clamped
from sim.rod.space.tendon_length import segments, tendon_lengths
from sim.rod.space.tendons import Tendon, routed
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.world import Damping
from tests.sim.rod.space.made import B, along_x

LENGTH, EDGES = 0.1, 10
STILL = (0.0, 0.0, 0.0)


def _arm() -> SpaceRod:
    return clamped(along_x(LENGTH, EDGES), 0)


def _tendon(rod: SpaceRod, tension: float, *offset: tuple[float, ...]) -> Tendon:
    inside, end = np.full(EDGES, 1e-3), rod.length * (1.0 - 0.5 / EDGES)
    return routed(rod, inside, end, list(offset), tension=tension)  # type: ignore[arg-type]


def _last(
    world: SpaceWorld, h: float, duration: float,
    integrator: Integrator = Integrator.ENERGY_MOMENTUM,
) -> SpaceMotionStep:  # fmt: skip
    options = StepOptions(h, integrator, tolerance=1e-12)
    *_, last = moves(world, options, duration, every=10**9)
    return last


@pytest.mark.parametrize("integrator", list(Integrator))
def test_an_arm_that_is_pulled_comes_to_rest_where_it_balances(
    integrator: Integrator,
) -> None:
    """A helical route, so that it leaves its plane; tension in half a second."""
    rod = _arm()
    tension = 1.2 * B / (LENGTH * 5e-4)
    tendon = _tendon(rod, tension, (0.0, 5e-4, 0.0), (LENGTH, 0.0, 5e-4))
    world = SpaceWorld(
        rod, STILL, Damping(alpha=20.0, beta=0.01), tendons=(tendon,),
        pulling=lambda time: np.array([min(time / 0.5, 1.0)]),
    )  # fmt: skip
    last = _last(world, 0.02, 1.6, integrator)
    found = rest(rod, replace(no_loads(rod), tendons=(tendon,)))
    assert np.abs(found.state.x[-1, 1:]).min() > 0.05 * LENGTH
    assert np.abs(last.x - found.state.x).max() <= 1e-5 * LENGTH
    ledger = last.moving.ledger
    told = last.energy + ledger.damped
    assert ledger.given + ledger.left == pytest.approx(told, rel=1e-8)
    kept = 1e-8 if integrator is Integrator.ENERGY_MOMENTUM else 0.05
    assert abs(ledger.left) <= kept * ledger.given


def _length(rod: SpaceRod, tendon: Tendon, step: SpaceMotionStep) -> float:
    found = np.empty(len(tendon.edges) - 1)
    way = segments(rod, [tendon])
    tendon_lengths(step.moving.state, space_elements(rod), way, found)
    return float(found.sum())


def test_a_tendon_gives_its_tension_times_what_it_shortens_by() -> None:
    """Pulled at once, without damping; to order 2 in h."""
    rod = _arm()
    tendon = _tendon(rod, B / (LENGTH * 5e-4), (0.0, 5e-4, 0.0))
    world = SpaceWorld(rod, STILL, Damping(beta=0.0), tendons=(tendon,))
    first = next(moves(world, StepOptions(), 1.0))
    errors = []
    for h in (2e-4, 1e-4):
        last = _last(world, h, 0.02)
        given = tendon.tension * (
            _length(rod, tendon, first) - _length(rod, tendon, last)
        )
        assert last.energy == pytest.approx(last.moving.ledger.given, rel=1e-9)
        errors.append(abs(last.moving.ledger.given / given - 1.0))
    assert errors[0] < 0.01
    assert errors[0] / errors[1] > 3.0


def _swung(tendons: tuple[Tendon, ...]) -> Floats:
    rod = _arm()
    v = np.zeros_like(rod.nodes)
    v[2:, 1] = 0.05 * (rod.nodes[2:, 0] / LENGTH) ** 2
    world = SpaceWorld(rod, STILL, Damping(beta=0.0), velocity=v, tendons=tendons)
    return _last(world, 2e-3, 0.1).x[:, 1]


def test_a_tendon_on_the_axis_does_not_change_how_a_wire_swings() -> None:
    """Three times Euler's load: it is as long as the axis, however that bends."""
    euler = 0.25 * np.pi**2 * B / LENGTH**2
    pulled = _swung((_tendon(_arm(), 3.0 * euler, (0.0, 0.0, 0.0)),))
    alone = _swung(())
    assert np.abs(alone).max() > 1e-3
    assert np.abs(pulled - alone).max() < 0.01 * np.abs(alone).max()


def test_a_slack_tendon_changes_no_motion() -> None:
    """Without tendons a step is one compiled loop, with them it is made by parts."""
    slack = _swung((_tendon(_arm(), 0.0, (0.0, 0.0, 0.0)),))
    assert np.abs(slack - _swung(())).max() < 1e-12
