"""Loose panels on a slope stick and slide as Coulomb's law has it, to rounding."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from sim.arrays import Floats
from sim.contact.cones import contact_tangents
from sim.contact.crossing import crossings
from sim.origami.mechanics.motion import MotionSettings, motion
from sim.origami.mechanics.moving_state import MovingState
from tests.sim.origami.mechanics.loose import leaves, lowered, pleats, resting_gaps

SLOPE, G, TIME = np.radians(20.0), 9.81, 0.05  # tan 20 degrees = 0.36397
WEIGHT = G * TIME * np.sin(SLOPE)  # its part along the slope, N s/kg
ALONG = np.array([np.cos(SLOPE), 0.0, -np.sin(SLOPE)])
ACROSS = np.array([np.sin(SLOPE), 0.0, np.cos(SLOPE)])


def slid(
    count: int, mu: float, *, steps: int = 50, push: Floats | None = None
) -> tuple[list[MovingState], Floats]:
    """All states of leaves that lie on a slope, and (count, n) shares of their nodes.

    push : (3,) m/s at the start
    """
    settings = MotionSettings(1200.0, 1200.0, TIME, steps, gravity=G, friction=mu)
    sheet = leaves(count, SLOPE, settings)
    share = np.zeros((count, len(sheet.mass)))
    for panel in range(1, count + 1):
        own = np.unique(sheet.mesh.triangle[sheet.mesh.triangle_panel == panel])
        share[panel - 1, own] = sheet.mass[own] / sheet.mass[own].sum()
    x = lowered(sheet, resting_gaps(sheet, SLOPE), SLOPE)
    v = np.outer(share.sum(axis=0) > 0.0, 0.0 * ALONG if push is None else push)
    states = list(motion(sheet, sheet.at_rest(x, v)))
    for state in states:
        assert state.residual <= 1.01 * settings.complementarity
    return states, share


def known(mu: float, v: Floats) -> float:
    """m/s, of what has slid since it was let go; v (3,) says how its push differed."""
    pushed = G * TIME * np.cos(SLOPE) + v @ ACROSS
    return float(WEIGHT - mu * pushed)


def imbalance(states: list[MovingState]) -> float:
    """Of the largest kinetic energy."""
    away = max(abs(state.total - states[0].total) for state in states)
    return away / max(state.kinetic for state in states)


@pytest.mark.parametrize(("mu", "steps"), [(0.0, 50), (0.3, 50), (0.3, 7), (0.36, 50)])
def test_a_panel_slides_down_another_below_its_cone(mu: float, steps: int) -> None:
    """By g (sin - mu cos)."""
    states, share = slid(1, mu, steps=steps)
    v = share[0] @ states[-1].v
    assert v @ ALONG == pytest.approx(known(mu, v), abs=1e-5 * WEIGHT)
    way = (share[0] @ (states[-1].x - states[0].x)) @ ALONG
    assert way == pytest.approx(0.5 * v @ ALONG * TIME, rel=1e-3)
    weight = states[0].height / (share[0] @ states[0].x)[2]
    taken = mu * weight * np.cos(SLOPE) * way
    assert states[-1].rubbed == pytest.approx(taken, rel=1e-3)
    assert imbalance(states) < 1e-6


@pytest.mark.parametrize("mu", [0.365, 0.5, 10.0])
def test_a_panel_sticks_to_another_within_its_cone(mu: float) -> None:
    """Elastic panels creep while they settle; without friction it were 4.2 mm."""
    states, share = slid(1, mu)
    way = (share[0] @ (states[-1].x - states[0].x)) @ ALONG
    assert abs(way) < (1e-6 if mu < 0.37 else 1e-9)


def test_a_pushed_panel_stops_where_friction_has_taken_its_energy() -> None:
    """Deceleration a = g (mu cos - sin): after v / a, and v^2 / 2 a."""
    mu, push = 1.0, 0.2
    slow = G * (mu * np.cos(SLOPE) - np.sin(SLOPE))
    states, share = slid(1, mu, steps=60, push=push * ALONG)
    assert 0.5 * TIME < push / slow < 0.9 * TIME
    way = [(share[0] @ (state.x - states[0].x)) @ ALONG for state in states]
    assert way[-1] == pytest.approx(0.5 * push**2 / slow, rel=2e-3)
    assert states[-1].kinetic < 1e-6 * states[0].kinetic
    assert imbalance(states) < 1e-4


def test_friction_turns_a_panel_pushed_across_the_slope_to_first_order() -> None:
    """dv/dt = g sin e - mu g cos v / |v|, whose direction turns with v."""
    mu, fast, off = 0.3, 0.1, []
    drag = mu * G * np.cos(SLOPE)

    def speeding(_: float, v: Floats) -> Floats:
        return np.array([G * np.sin(SLOPE), 0.0]) - drag * v / np.hypot(*v)

    known = solve_ivp(speeding, (0.0, TIME), [0.0, fast], rtol=1e-10, atol=1e-12)
    for steps in (25, 50):
        states, share = slid(1, mu, steps=steps, push=fast * np.array([0.0, 1.0, 0.0]))
        v = share[0] @ states[-1].v
        off.append(np.hypot(v @ ALONG - known.y[0, -1], v[1] - known.y[1, -1]))
        assert imbalance(states) < 1e-9
    assert off[1] < 0.01 * fast
    assert 1.8 < off[0] / off[1] < 2.2


@pytest.mark.parametrize("mu", [0.2, 0.5])
def test_a_stack_of_leaves_slides_or_sticks_as_one(mu: float) -> None:
    """Sliding, each leaf needs all friction that the one below can give."""
    states, share = slid(3, mu, steps=20)
    move = states[-1].x - states[0].x
    ways = share @ move @ ALONG
    if mu > np.tan(SLOPE):
        assert np.abs(ways).max() < 1e-8
        return
    v = share.mean(axis=0) @ states[-1].v
    assert v @ ALONG == pytest.approx(known(mu, v), abs=1e-5 * WEIGHT)
    assert np.ptp(ways) < 0.02 * ways.mean()
    assert imbalance(states) < 1e-4


def test_pleats_slide_down_a_slope_as_their_weight_and_push_say() -> None:
    """Whatever leaves do among themselves, their common momentum does not feel it."""
    mu, time, fast = 0.25, 0.02, 0.2
    settings = MotionSettings(
        1200.0, 1200.0, time, 20, gravity=G, friction=mu, slope=20.0, balance=1e-3
    )
    sheet = pleats(settings)
    free = sheet.problem.model.unknown[:, 0] >= 0
    x = sheet.mesh.rest - np.outer(free, [0.0, 0.0, 1.5e-3])
    start = sheet.at_rest(x, np.outer(free, [fast, 0.0, 0.0]))
    states = list(motion(sheet, start))
    v = sheet.mass[free] / sheet.mass[free].sum() @ states[-1].v[free]
    pushed = G * time * np.cos(SLOPE) + v[2]
    gained = G * time * np.sin(SLOPE) - mu * pushed
    assert v[0] - fast == pytest.approx(gained, rel=1e-5)
    assert imbalance(states) < 0.01
    surface = sheet.problem.surface
    for state in states[::5]:
        cross = crossings(surface.edge, surface.triangle, surface.tag, state.x)
        assert len(cross) == 0


def test_tangents_are_across_their_normal(rng: np.random.Generator) -> None:
    normal = rng.normal(size=(20, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    frame = np.concatenate([normal[:, None], contact_tangents(normal)], axis=1)
    assert frame @ frame.transpose(0, 2, 1) == pytest.approx(
        np.broadcast_to(np.eye(3), (20, 3, 3)), abs=1e-12
    )


def test_what_does_not_rub_is_refused() -> None:
    settings = MotionSettings(1200.0, 1200.0, 1.0, 1)
    with pytest.raises(ValueError, match="friction must be 0 or more"):
        replace(settings, friction=-0.1)
    with pytest.raises(ValueError, match="complementarity must be positive"):
        replace(settings, complementarity=0.0)
