"""Ends that move and turn in time, against beams and the elastica."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from sim.rod.contact.ground import GroundPlane
from sim.rod.rod.draft import RodDraft
from sim.rod.rod.rod import Rod
from sim.rod.stepping.equilibrium import settle
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.simulate import simulate
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.turning import TurningEnd
from sim.rod.stepping.world import Damping, NodeLoad, World
from tests.sim.rod.known import SOFT

LENGTH, FREE = 0.1, (0.0, 0.0)
EI = SOFT.bending
EXACT = StepOptions(integrator=Integrator.ENERGY_MOMENTUM, tolerance=1e-12, h=5e-3)


def _clamped(edges: int, *, pinned: bool = False) -> Rod:
    draft = RodDraft()
    draft.curve(np.linspace([0.0, 0.0], [LENGTH, 0.0], edges + 1), SOFT)
    draft.clamps.append((0, np.inf))
    if pinned:
        draft.pins.append(edges)
    return draft.rod()


def _turned(world: World, degrees: float, options: StepOptions = EXACT) -> RodStep:
    """Turned in 2 s, and left alone for as long."""
    last = len(world.rod.nodes) - 1
    turn = TurningEnd(last, 0, [0.0, 2.0], [0.0, float(np.radians(degrees))])
    *_, end = simulate(replace(world, turning=(turn,)), options, 4.0, every=10**6)
    return end


def _tip_angle(load: float, clamp: float) -> float:
    """Of the elastica with a weight at its tip, which is clamped at an angle, rad.

    EI/2 (phi')^2 = P (sin phi - sin tip) with phi falling from the clamp to the tip;
    phi = tip + u^2 takes the square root out of the length.
    """

    def length(tip: float) -> float:
        def slope(u: float) -> float:
            fall = 2.0 * np.cos(tip + 0.5 * u * u) * np.sin(0.5 * u * u)  # of sin phi
            return float(2.0 * u / np.sqrt(2.0 * load / EI * fall))

        return quad(slope, 1e-9, np.sqrt(clamp - tip))[0] - LENGTH

    return float(brentq(length, -0.5 * np.pi + 1e-3, clamp - 1e-6))


def _tip_error(edges: int) -> float:
    load = 1.5 * EI / LENGTH**2
    world = World(
        _clamped(edges),
        gravity=FREE,
        damping=Damping(alpha=20.0, beta=0.02),
        load=NodeLoad([edges], (0.0, -load)),
    )
    x = _turned(world, 60.0).x
    e, f = x[edges] - x[edges - 1], x[edges - 1] - x[edges - 2]
    last, before = (np.arctan2(d[1], d[0]) for d in (e, f))
    tip = last + (last - before) / 8.0  # phi' vanishes at the tip: (h/2)^2 over 2 h^2
    return float(tip - _tip_angle(load, np.radians(60.0)))


def test_a_loaded_elastica_follows_its_clamp() -> None:
    """A fifth of what is allowed, 1e-4 rad, is stretch, which no elastica has."""
    assert abs(_tip_error(10)) < 1e-4
    assert abs(_tip_error(20)) < 1e-4


def test_turning_a_beam_on_a_pin_takes_the_work_of_its_spring() -> None:
    """3 EI / L turns the near end of a beam pinned at the far one."""
    world = World(_clamped(20, pinned=True), gravity=FREE, damping=Damping(alpha=20.0))
    degrees = 0.05
    end = _turned(world, degrees)
    work = 1.5 * EI / LENGTH * np.radians(degrees) ** 2
    assert end.stretching + end.bending == pytest.approx(work, rel=5e-3)
    balance = end.given - end.damped + end.out_of_balance - end.energy
    assert abs(balance) < 1e-9 * end.given


def test_moving_a_clamp_across_a_beam_on_a_pin_takes_the_work_of_its_spring() -> None:
    """3 EI / L^3 across; along, it moves whatever is not held at no cost."""
    world = World(_clamped(20, pinned=True), gravity=FREE, damping=Damping(alpha=20.0))
    for across, moved in ((True, world), (False, replace(world, rod=_clamped(20)))):
        way = 1e-4
        moves = [[0.0, 0.0, 0.0], [2.0, 0.0 if across else way, way]]
        turn = TurningEnd(21, 0, [0.0], [0.0], moves)
        *_, end = simulate(replace(moved, turning=(turn,)), EXACT, 4.0, every=10**6)
        work = 1.5 * EI / LENGTH**3 * way**2
        found = end.stretching + end.bending
        assert found == pytest.approx(
            work if across else 0.0, rel=5e-3, abs=1e-5 * work
        )
        balance = end.given - end.damped + end.out_of_balance - end.energy
        assert abs(balance) < 1e-9 * end.given


@pytest.mark.parametrize("integrator", list(Integrator))
def test_the_end_is_where_the_table_has_it_after_every_step(
    integrator: Integrator,
) -> None:
    rod = _clamped(10)
    moves = [[0.02, 0.0, 0.0], [0.03, 0.002, -0.001]]
    turn = TurningEnd(11, 0, [0.01, 0.033, 0.05], [0.0, 0.3, -0.1], moves)
    world = World(rod, gravity=FREE, turning=(turn,))
    options = replace(EXACT, integrator=integrator, h=4e-3)
    for step in simulate(world, options, 0.07):
        angle = np.interp(step.time, [0.01, 0.033, 0.05], [0.0, 0.3, -0.1])
        way = np.interp(step.time, [0.02, 0.03], [0.0, 1.0]) * np.array([2e-3, -1e-3])
        place = way - 0.01 * np.array([np.cos(angle), np.sin(angle)])
        assert step.x[11] == pytest.approx(place, abs=1e-15)
        assert step.x[0] == pytest.approx(way, abs=1e-15)
        balance = step.given - step.damped + step.out_of_balance - step.energy
        assert abs(balance) < 1e-9 * max(step.kinetic, 1e-9)


def test_what_cannot_turn_is_refused() -> None:
    rod = _clamped(10)
    world = World(rod, turning=(TurningEnd(11, 0, [0.0], [0.0]),))
    with pytest.raises(ValueError, match="node 5 is not held: hold it"):
        replace(world, turning=(TurningEnd(5, 0, [0.0], [0.0]),))
    with pytest.raises(ValueError, match="1 s comes after 2 s: let times rise"):
        TurningEnd(11, 0, [0.0, 2.0, 1.0], [0.0, 0.1, 0.2])
    with pytest.raises(ValueError, match="begin at 0 s or later with 0"):
        TurningEnd(11, 0, [0.0, 1.0], [0.1, 0.2])
    with pytest.raises(ValueError, match="moves: they begin at 0 s with 0 m and 1 m"):
        TurningEnd(11, 0, [0.0], [0.0], [[0.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match="moves: give rows of time, x and y"):
        TurningEnd(11, 0, [0.0], [0.0], [[0.0, 0.0]])
    for down in (
        TurningEnd(11, 0, [0.0], [0.0], [[0.0, 0.0, 0.0], [1.0, 0.0, -0.01]]),
        TurningEnd(11, 0, [0.0, 1.0], [0.0, 2.5]),
    ):
        with pytest.raises(ValueError, match=r"ground: a clamp that moves .* below it"):
            World(rod, GroundPlane(height=-5e-3), turning=(down,))
    with pytest.raises(ValueError, match="ends that turn are of motions"):
        settle(world)
    for last, told in ((2.0 * np.pi, "360"), (-0.6 * np.pi, "108")):
        round_a_step = TurningEnd(11, 0, [0.0, 0.3, 0.3 + EXACT.h], [0.0, 0.0, last])
        fast = replace(world, turning=(round_a_step,))
        with pytest.raises(ValueError, match=f"turns by {told} degrees in a step of 0"):
            next(simulate(fast, EXACT, 0.1))
    with pytest.raises(ValueError, match="set it to 0"):
        next(simulate(world, replace(EXACT, accuracy=1e-6), 0.1))
