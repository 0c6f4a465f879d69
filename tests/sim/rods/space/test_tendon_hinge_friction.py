"""Friction of tendons in their channels and of hinges, in rods that move."""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from sim.rods.plane.options import Integrator, StepOptions
from sim.rods.plane.records_and_checkpoints import state_arrays, state_from
from sim.rods.plane.world import Damping
from sim.rods.prescribed_motion import UP, PrescribedMotion, TurningEdge
from sim.rods.space.joints import HingeAxis, joined
from sim.rods.space.rod import (
    SpaceMaterial,
    clamped,
    rectangle,
    space_elements,
    through,
)
from sim.rods.space.simulate import SpaceMotionStep, simulate_in_space
from sim.rods.space.state import SpaceMoving
from sim.rods.space.tendon_hinge_friction import DryLaw, dry_forces
from sim.rods.space.tendons import Tendon, routed, segments, tendon_lengths, turned
from sim.rods.space.world import SpaceWorld, TurningClamps
from tests.sim.rods.space.made import B, along_x

LENGTH, EDGES, OFF, MU = 0.1, 10, 5e-4, 0.3
PULL = 1.2 * B / (LENGTH * OFF)  # N, bends the arm by 1.2 rad without friction
SLOW = 4.0  # s
STILL = (0.0, 0.0, 0.0)
BOTH = pytest.mark.parametrize("integrator", list(Integrator))


def _tendon(mu: float, end: tuple[float, float] = (OFF, 0.0)) -> Tendon:
    return routed(
        along_x(LENGTH, EDGES), np.full(EDGES, 1e-3), LENGTH,
        [(0.0, OFF, 0.0), (LENGTH, *end)], tension=PULL, friction=mu,
    )  # fmt: skip


def _share(time: float) -> Floats:
    """Of the tension: up, and down to 0.4 of it."""
    return np.array([time / SLOW if time < SLOW else 1.0 - 0.6 * (time / SLOW - 1.0)])


def _arm(tendon: Tendon) -> SpaceWorld:
    rod = clamped(along_x(LENGTH, EDGES), 0)
    damping = Damping(alpha=20.0, beta=0.01)
    return SpaceWorld(rod, STILL, damping, tendons=(tendon,), pulling=_share)


def _options(h: float, integrator: Integrator) -> StepOptions:
    return StepOptions(h, integrator, tolerance=1e-12)


def _tied(world: SpaceWorld, step: SpaceMotionStep) -> float:
    """Tension where a tendon is tied over that at which it is pulled."""
    assert world.dry is not None
    pulled = np.ones(len(world.tendons[0].edges) - 1)
    whole = PULL * float(_share(step.time - 0.5 * step.moving.last)[0])
    return float(world.dry.tension(pulled, step.moving.inner_friction / whole)[-1])


def _turn(world: SpaceWorld, steps: Sequence[SpaceMotionStep]) -> float:
    """Of the tendon in the middle of a step, rad."""
    (tendon,) = world.tendons
    both = [turned(world.rod, tendon, step.moving.state).sum() for step in steps]
    return float(np.mean(both))


@pytest.mark.parametrize(
    ("end", "integrator"),
    [((OFF, 0.0), Integrator.NEWMARK), ((0.0, OFF), Integrator.ENERGY_MOMENTUM)],
)
def test_a_tendon_loses_tension_as_the_capstan_says_and_the_other_way_back(
    end, integrator
):
    """Straight and helical; friction takes energy in every step."""
    world = _arm(_tendon(MU, end))
    steps = list(simulate_in_space(world, _options(0.05, integrator), 2.0 * SLOW))
    up = int(SLOW / 0.05)
    turn = _turn(world, steps[up - 1 : up + 1])
    assert _tied(world, steps[up]) == pytest.approx(np.exp(-MU * turn), rel=2e-4)
    turn = _turn(world, steps[-2:])
    assert _tied(world, steps[-1]) == pytest.approx(np.exp(MU * turn), rel=2e-4)
    bent = [np.linalg.norm(steps[k].x[-1, 1:]) for k in (round(0.4 * up), -1)]
    assert bent[1] > 1.1 * bent[0]  # at one tension
    taken = np.array([step.moving.ledger.friction for step in steps])
    assert np.diff(taken).min() >= -1e-12 * taken[-1]
    ledger = steps[-1].moving.ledger
    assert taken[-1] > 0.05 * ledger.given
    kept = 1e-9 if integrator is Integrator.ENERGY_MOMENTUM else 0.02
    assert abs(ledger.left) <= kept * taken[-1]
    assert 0.0 < ledger.complementarity <= 1e-12


def _lengths(world: SpaceWorld, step: SpaceMotionStep) -> Floats:
    found = np.empty(len(world.tendons[0].edges) - 1)
    way = segments(world.rod, world.tendons)
    tendon_lengths(step.moving.state, space_elements(world.rod), way, found)
    return found


@pytest.mark.parametrize("h", [0.05, 0.025])
def test_a_tendon_that_sticks_keeps_the_length_of_each_piece(h):
    """Pulled, let go a little and pushed at its tip; without friction it slides."""
    options, force = _options(h, Integrator.ENERGY_MOMENTUM), np.zeros((EDGES + 1, 3))
    world = replace(
        _arm(_tendon(MU)),
        pulling=lambda time: np.array(
            [min(time, 1.0) - 0.03 * np.clip(time - 1, 0, 1)]
        ),
    )
    *_, before = simulate_in_space(world, options, 2.5)
    force[-1, 1] = 0.03 * B / LENGTH**2
    slid = []
    for mu in (MU, 0.0):
        pushed = replace(world, force=force, tendons=(_tendon(mu),))
        start = before.moving
        start = start if mu else start._replace(inner_friction=np.empty(0))
        *_, after = simulate_in_space(pushed, options, 3.5, start=start)
        slid.append(_lengths(world, after) - _lengths(world, before))
        if mu:
            left = after.moving.ledger.friction - before.moving.ledger.friction
            assert abs(left) < 1e-8 * before.moving.ledger.friction
    assert np.abs(slid[1]).max() > 1e-6
    assert np.abs(slid[0]).max() < 1e-4 * np.abs(slid[1]).max()


@BOTH
def test_a_pendulum_in_a_dry_hinge_loses_as_much_each_half_swing_and_stops(integrator):
    """m g l (cos b - cos a) = M (a + b), and 2 M / m g l of small ones."""
    s, start, share = np.linspace(0.0, 1.0, 3)[:, None], 0.5, 0.06
    stiff, section = SpaceMaterial(1e9, 1000.0, 0.3), rectangle(0.01, 0.02)
    base = through(0.05 * s * [1.0, 0, 0] - [0.05, 0, 0], stiff, section)
    way = np.array([np.sin(start), 0.0, -np.cos(start)])
    arm = through(0.2 * s * way, stiff, section)
    weight = 9.81 * float(arm.mass @ np.linalg.norm(arm.nodes, axis=1))
    rod, _ = joined(
        [clamped(base, 0, 1), arm], [[(0, 2), (1, 0)]], [False], 30.0,
        [HingeAxis([0.0, 1.0, 0.0], friction=share * weight)],
    )  # fmt: skip
    world = SpaceWorld(rod, damping=Damping(beta=1e-4))
    steps = list(
        simulate_in_space(world, StepOptions(5e-3, integrator, tolerance=1e-11), 2.4)
    )
    angle = np.array([np.arctan2(step.x[-1, 0], -step.x[-1, 2]) for step in steps])
    back = np.flatnonzero(np.diff(angle)[:-1] * np.diff(angle)[1:] < 0.0) + 1
    swing = np.abs(angle[np.append(0, back)])[:4]
    for a, b in pairwise(swing):
        assert (np.cos(b) - np.cos(a)) / (a + b) == pytest.approx(share, rel=5e-3)
    assert -np.diff(swing)[-1] == pytest.approx(2.0 * share, rel=1e-2)
    later = angle[int(1.9 / 5e-3) :]
    assert np.ptp(later) < 1e-4
    assert 1e-3 < abs(later[-1]) < share
    moment = steps[-1].moving.inner_friction[0]
    assert abs(moment) == pytest.approx(weight * abs(np.sin(later[-1])), rel=1e-2)
    taken = np.array([step.moving.ledger.friction for step in steps])
    assert np.diff(taken).min() >= -1e-12 * taken[-1]
    fallen = weight * (np.cos(later[-1]) - np.cos(start))
    ledger = steps[-1].moving.ledger
    assert taken[-1] + ledger.damped == pytest.approx(fallen, rel=1e-2)


@pytest.mark.parametrize("by", ["turn", "way"])
def test_a_clamp_that_moves_an_arm_with_friction_gives_what_it_takes(by):
    """The energy stays in balance where what sticks stops against the clamp."""
    world = _arm(_tendon(MU))
    angle, way = (0.3, 0.0) if by == "turn" else (0.0, 0.2 * LENGTH)
    times = [0.0, 0.2, 0.4, 1.0]
    share = np.array([0.0, 1.0, -0.3, -0.3])
    rows = np.column_stack([times, 0.0 * share, way * share, 0.0 * share])
    angles, about = (angle * share).tolist(), world.rod.nodes[0]
    motion = PrescribedMotion(about, UP, times, angles, rows.tolist())
    clamp = TurningEdge(0, motion)
    driven = replace(
        world, damping=Damping(beta=0.01), drive=TurningClamps(world.rod, [clamp]),
        pulling=lambda time: np.array([min(1.0, 10.0 * time)]),
    )  # fmt: skip
    *_, last = simulate_in_space(
        driven, _options(5e-3, Integrator.ENERGY_MOMENTUM), 0.5
    )
    ledger = last.moving.ledger
    assert ledger.friction > 0.01 * ledger.given
    assert abs(ledger.left) < 1e-9 * ledger.at_work


def test_friction_that_no_tendon_has_moves_or_does_not_converge():
    """exp(mu beta) beyond all numbers, pulled at once: no failure of linear algebra."""
    world = replace(_arm(_tendon(1e5)), pulling=lambda time: np.array([time >= 0.1]))
    with contextlib.suppress(NotConvergedError):
        *_, last = simulate_in_space(
            world, _options(0.05, Integrator.ENERGY_MOMENTUM), 0.3
        )
        assert np.isfinite(last.x).all()


def test_a_run_with_friction_goes_on_to_the_same_bits():
    world = _arm(_tendon(MU))
    options = _options(0.05, Integrator.ENERGY_MOMENTUM)
    *_, half = simulate_in_space(world, options, 1.0)
    kept = state_from(SpaceMoving, state_arrays(half.moving))
    *_, again = simulate_in_space(world, options, 2.0, start=kept)
    *_, whole = simulate_in_space(world, options, 2.0)
    assert np.array_equal(again.x, whole.x)
    assert np.array_equal(again.moving.inner_friction, whole.moving.inner_friction)


def test_forces_of_friction_obey_their_law(rng):
    """Random compliances of chains of up to 30 places, slipping both ways."""
    for r in (1, 2, 5, 12, 30):
        J = rng.normal(size=(r, 2 * r))
        turn = 0.4 * rng.random(r)
        law = DryLaw(
            -np.expm1(-turn), np.expm1(turn), np.ones(r), np.tril(np.ones((r, r)), -1)
        )
        W, slip = J @ J.T, 5.0 * rng.normal(size=r)
        force = dry_forces(W, slip, np.zeros(r), law)
        s, (least, most) = slip - W @ force, law.bounds(force)
        small = 1e-9 * np.abs(slip).max()
        assert (least - 1e-12 <= force).all()
        assert (force <= most + 1e-12).all()
        assert np.abs((force - most)[s > small]).max(initial=0.0) < 1e-12
        assert np.abs((force - least)[s < -small]).max(initial=0.0) < 1e-12
        assert (np.abs(s) > small).any()
