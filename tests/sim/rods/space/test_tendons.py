"""Tendons: slopes, arcs, friction along them, and what they give to moving rods."""

from dataclasses import replace

import numpy as np
import pytest

from sim.core.arrays import Floats
from sim.rods.plane.options import Integrator, StepOptions
from sim.rods.plane.world import Damping
from sim.rods.space.assembled_system import SpaceLoads, SpaceSystem, no_loads
from sim.rods.space.frames import moved_on
from sim.rods.space.rod import SpaceRod, StretchLaw, clamped, space_elements
from sim.rods.space.simulate import SpaceMotionStep, simulate_in_space
from sim.rods.space.statics import rest
from sim.rods.space.tendons import Tendon, routed, segments, tendon_lengths, tensions
from sim.rods.space.world import SpaceWorld
from tests.sim.rods.space.made import WIRE, B, along_x, crooked, dense

STEPS = 10.0 ** np.arange(-3.0, -4.1, -0.25)
OFF = 5e-4  # m, of a tendon from the axis of a wire of radius 1 mm


def _with(
    rod: SpaceRod, tension: float, friction: float = 0.0, off: float = OFF
) -> SpaceLoads:
    inside = np.full(len(rod.edges), 1e-3)
    end = rod.length * (1.0 - 0.5 / len(rod.edges))
    tendon = routed(
        rod, inside, end, [(0.0, off, 0.0)], tension=tension, friction=friction
    )
    return replace(no_loads(rod), tendons=(tendon,))


@pytest.mark.parametrize("law", list(StretchLaw))
def test_length_has_exact_first_and_second_derivatives(law, rng):
    rod, state = crooked(rng, law)
    table = [(0.0, 0.05, 0.02), (2.5, 0.03, -0.04)]
    tendon = routed(rod, np.full(5, 0.1), 0.77 * rod.length, table, tension=2.0)
    way, part = segments(rod, [tendon]), space_elements(rod)
    plain = SpaceSystem(rod, no_loads(rod))
    pulled = SpaceSystem(rod, replace(no_loads(rod), tendons=(tendon,)))
    (g, H), (g0, H0) = dense(pulled, state), dense(plain, state)
    g, H = g - g0, H - H0
    v = rng.normal(size=len(g))

    def energy(h: float) -> float:
        move, turn = v[: rod.nodes.size].reshape(-1, 3), v[rod.nodes.size :]
        there = moved_on(state, rod.edges, rod.bends, h * move, h * turn)
        length = np.empty(len(way.tendon))
        tendon_lengths(there, part, way, length)
        return float(2.0 * length.sum())

    first = [abs(energy(h) - energy(0) - h * g @ v) for h in STEPS]
    second = [
        abs(energy(h) - energy(0) - h * g @ v - 0.5 * h * h * v @ H @ v) for h in STEPS
    ]
    slopes = [np.polyfit(np.log(STEPS), np.log(r), 1)[0] for r in (first, second)]
    assert slopes == pytest.approx([2.0, 3.0], abs=0.1)


def test_a_tendon_off_the_axis_makes_an_arc():
    """Curvature T c / EI, shortening T / EA; from the middle of the first edge."""
    rod = clamped(along_x(0.1, 30), 0)
    T = 1.5 * B / (0.1 * OFF)
    found = rest(rod, _with(rod, T))
    e = np.diff(found.state.x, axis=0)
    angle = np.arctan2(e[:, 1], e[:, 0])
    assert np.diff(angle) == pytest.approx(1.5 / 29, rel=2e-3)
    length = np.linalg.norm(e, axis=1)[1:-1]
    assert 1.0 - length / rod.rest_length[1:-1] == pytest.approx(
        T / rod.stretching[1:-1], rel=2e-3
    )
    assert found.residual <= found.allowed
    assert found.negative == 0


def test_friction_takes_tension_as_the_capstan_does():
    """Off the axis by c the tendon bends the rod by T c / EI, and turns as much itself:
    dT/ds = -mu c T^2 / EI, so the whole turn is ln(1 + mu c T0 L / EI) / mu."""
    mu, turn, length = 0.4, 2.0, 0.1

    def error(edges: int) -> float:
        rod = clamped(along_x(length, edges), 0)
        found = rest(rod, _with(rod, turn * B / (length * OFF), mu))
        e = np.diff(found.state.x, axis=0)
        angle = np.unwrap(np.arctan2(e[:, 1], e[:, 0]))
        ratio = found.tension[0] / found.tension[-1]
        between = np.log(ratio) / mu
        assert between == pytest.approx(angle[-1] - angle[0], rel=3.0 / edges)
        return abs(float(angle[-1] - np.log1p(mu * turn) / mu))

    errors = [error(n) for n in (20, 40, 80)]
    assert errors[0] < 5e-4
    assert errors[2] < 0.6 * errors[1] < 0.36 * errors[0]


def test_tendons_beyond_section_or_rod_are_refused():
    rod = along_x(1.0, 10)
    inside = np.full(10, 1e-3)
    with pytest.raises(ValueError, match=r"0\.002 m off the axis"):
        routed(rod, inside, 0.5, [(0.0, 2e-3, 0.0)])
    with pytest.raises(ValueError, match="not at 2 m"):
        routed(rod, inside, 2.0, [(0.0, 1e-4, 0.0)])
    with pytest.raises(ValueError, match="tension must be 0 or more"):
        routed(rod, inside, 0.5, [(0.0, 1e-4, 0.0)], tension=-1.0)
    with pytest.raises(ValueError, match="rows of arc length and two offsets"):
        routed(rod, inside, 0.5, [(0.0, np.nan, 0.0)])
    with pytest.raises(ValueError, match="they must increase"):
        routed(rod, inside, 0.5, [(0.1, 0.0, 0.0), (0.0, 0.0, 0.0)])


def test_stretch_that_sections_follow_moves_holes_with_them():
    """A pulled rubber rod is thinner: an arc of T c / EI only where sections stay."""
    turns = []
    for law in StretchLaw:
        rod = replace(clamped(along_x(0.1, 20), 0), law=law)
        T = 0.05 * WIRE.modulus * np.pi * 1e-6
        end = rest(rod, _with(rod, T, off=2e-5)).state.x
        e = end[-1] - end[-2]
        turns.append(float(np.arctan2(e[1], e[0])))
    lam = 1.0 - 0.05
    for _ in range(30):
        lam -= ((lam - lam**-2.0) / 3.0 + 0.05) * 0.9
    bent = lam**-0.5 / ((1.0 / lam + 2.0 * lam**-4.0) / 3.0)  # offset over stiffness
    assert turns[1] / turns[0] == pytest.approx(bent, rel=0.02)


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
    *_, last = simulate_in_space(world, options, duration, every=10**9)
    return last


@pytest.mark.parametrize("integrator", list(Integrator))
def test_an_arm_that_is_pulled_comes_to_rest_where_it_balances(integrator):
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


def test_a_tendon_gives_its_tension_times_what_it_shortens_by():
    """Pulled at once, without damping; to order 2 in h."""
    rod = _arm()
    tendon = _tendon(rod, B / (LENGTH * 5e-4), (0.0, 5e-4, 0.0))
    world = SpaceWorld(rod, STILL, Damping(beta=0.0), tendons=(tendon,))
    first = next(simulate_in_space(world, StepOptions(), 1.0))
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


def test_a_tendon_on_the_axis_or_a_slack_one_does_not_change_how_a_wire_swings():
    """Three times Euler's load: it is as long as the axis, however that bends.

    Without tendons a step is one compiled loop, with them it is made by parts.
    """
    euler = 0.25 * np.pi**2 * B / LENGTH**2
    pulled, slack = (
        _swung((_tendon(_arm(), tension, (0.0, 0.0, 0.0)),))
        for tension in (3.0 * euler, 0.0)
    )
    alone = _swung(())
    assert np.abs(alone).max() > 1e-3
    assert np.abs(pulled - alone).max() < 0.01 * np.abs(alone).max()
    assert np.abs(slack - alone).max() < 1e-12


def test_a_helical_route_loses_by_its_own_turning():
    """T2 / T1 = exp(-mu beta), beta the curvature of a helix times its length."""
    rod = along_x(1.0, 400)
    c, turns, mu = 5e-3, 6.0, 0.3
    s = np.linspace(0.0, 1.0, 2001)
    angle = 2.0 * np.pi * turns * s
    table = np.column_stack([s, c * np.cos(angle), c * np.sin(angle)])
    tendon = routed(
        rod, np.full(400, 0.01), 0.999, [tuple(row) for row in table.tolist()],
        tension=1.0, friction=mu,
    )  # fmt: skip
    found = tensions(rod, [tendon], rod.state)
    slope = 2.0 * np.pi * turns * c
    beta = 2.0 * np.pi * turns * slope / np.sqrt(1.0 + slope**2)  # curvature x length
    assert -np.log(found[-1]) / mu == pytest.approx(beta, rel=0.01)
