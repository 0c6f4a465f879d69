"""Take-off, stick and slide, eq. (3) of [Hu20], of a few contacts and of hundreds."""

import numpy as np
import pytest

from sim.core.arrays import Floats, Ints
from sim.rods.plane.contact_impulses import (
    OPEN,
    SLIP_NEGATIVE,
    SLIP_POSITIVE,
    STICK,
    alone,
    coulomb,
    residual,
    scratch,
)
from sim.rods.plane.ground import GroundPlane
from sim.rods.plane.options import StepOptions
from sim.rods.plane.rod import GRAVITY, moved
from sim.rods.plane.world import World
from tests.sim.rods.known import SOFT, end_of, straight


def _solve(W: Floats, b: Floats, mu: float) -> tuple[Floats, Ints, float]:
    state = np.full(len(b) // 2, STICK)
    p = np.empty(len(b))
    left = coulomb(W, b, mu, state, p, scratch(len(state), len(state)))
    return p, state, left


@pytest.mark.parametrize(
    ("u", "mu", "state", "p"),
    [
        ([0.1, 3.0], 0.5, OPEN, [0.0, 0.0]),
        ([-1.0, 0.4], 0.5, STICK, [1.0, -0.4]),
        ([-1.0, 2.0], 0.5, SLIP_POSITIVE, [1.0, -0.5]),
        ([-1.0, -2.0], 0.5, SLIP_NEGATIVE, [1.0, 0.5]),
        ([-1.0, 2.0], 0.0, SLIP_POSITIVE, [1.0, 0.0]),
    ],
)
def test_one_contact_takes_off_sticks_in_the_cone_or_slides_on_it(u, mu, state, p):
    found, states, left = _solve(np.eye(2), np.array(u), mu)
    assert left < 1e-14
    assert states.tolist() == [state]
    assert found == pytest.approx(p, abs=0.0)


def test_the_residual_sees_each_broken_condition():
    W, mu = np.eye(2), 0.5

    def left(u: list[float], p: list[float]) -> float:
        return residual(np.diag(W), np.array(u), mu, np.array(p))

    assert left([0.0, 0.0], [1.0, 0.3]) == 0.0
    assert left([-0.2, 0.0], [0.0, 0.0]) == pytest.approx(0.2)  # penetrates
    assert left([0.3, 0.0], [1.0, 0.0]) == pytest.approx(0.3)  # pushed while leaving
    assert left([0.0, 0.0], [1.0, 0.9]) == pytest.approx(0.4)  # outside the cone
    assert left([0.0, 0.1], [1.0, 0.5]) == pytest.approx(0.1)  # friction drives
    assert left([0.0, 0.1], [1.0, -0.2]) == pytest.approx(0.1)  # slides inside


@pytest.mark.parametrize("c", [2, 5, 20])
@pytest.mark.parametrize("mu", [0.0, 0.3, 0.8])
def test_coupled_contacts_meet_every_condition(rng, c, mu):
    for _ in range(50):
        G = rng.standard_normal((2 * c, 3 * c))
        W = G @ G.T / c
        b = rng.standard_normal(2 * c)
        p, _, left = _solve(W, b, mu)
        assert left < 1e-9
        u = b + W @ p
        assert u[::2].min() > -1e-9
        assert p[::2].min() > -1e-9
        assert np.all(np.abs(p[1::2]) <= mu * p[::2] + 1e-9)
        assert np.all(u[1::2] * p[1::2] <= 1e-9)


def test_contacts_joined_by_a_stiff_edge_are_solved():
    """All tangential velocities are nearly one: slow for relaxation, exact here."""
    c = 30
    W = 1e-6 * np.eye(2 * c)
    W[1::2, 1::2] += 1.0 / c
    W[::2, ::2] += 1e-2 * np.eye(c)
    b = np.zeros(2 * c)
    b[::2] = -1e-3
    b[1::2] = 0.5
    p, state, left = _solve(W, b, 0.8)
    assert left < 1e-12
    assert np.all(state == SLIP_POSITIVE)
    assert p[1::2] == pytest.approx(-0.8 * p[::2])


def test_a_single_contact_agrees_with_the_coupled_solution(rng):
    for _ in range(200):
        G = rng.standard_normal((2, 4))
        W = G @ G.T
        b = rng.standard_normal(2)
        p = np.array(alone(W[0, 0], W[0, 1], W[1, 1], b[0], b[1], 0.6))
        assert residual(np.diag(W), b + W @ p, 0.6, p) < 1e-9


@pytest.mark.parametrize(
    ("angle", "mu", "v"), [(20.0, 0.8, 0.0), (30.0, 0.4, 0.0), (0.0, 0.4, 1.0)]
)
def test_600_nodes_stick_or_slide_on_a_slope_as_a_block(angle, mu, v):
    """Closed form: at rest, sliding down, and braked on the level (not to rest)."""
    theta = np.radians(angle)
    rod = moved(straight(0.1, 600, SOFT), by=np.zeros(2), angle=theta)
    velocity = np.tile([v * np.cos(theta), v * np.sin(theta)], (600, 1))
    world = World(rod, GroundPlane(angle), mu, velocity=velocity)
    end = end_of(world, StepOptions(h=5e-3), 0.2)
    pull = GRAVITY * np.sin(theta)
    most = mu * GRAVITY * np.cos(theta)
    way = 0.0
    if v > 0.0:
        way = v * 0.2 - 0.5 * most * 0.2**2
    elif pull > most:
        way = 0.5 * (pull - most) * 0.2**2
    travelled = np.linalg.norm(end.x - world.rod.nodes, axis=1)
    assert travelled == pytest.approx(way, rel=1e-4, abs=1e-8)
    assert np.count_nonzero(end.contact) == 600
    push = end.reaction.sum(axis=0) @ [-np.sin(theta), np.cos(theta)]
    weight = world.rod.mass.sum() * GRAVITY * np.cos(theta)
    assert push == pytest.approx(weight, rel=1e-6)


def test_many_contacts_agree_with_few():
    """A rod that falls flat and slides: 64 contacts by columns, 66 by rows."""
    ends = []
    for n in (64, 66):
        rod = moved(straight(0.1, n, SOFT), by=np.array([0.0, 2e-3]))
        v = np.tile([0.3, 0.0], (n, 1))
        world = World(rod, GroundPlane(), 0.4, velocity=v)
        end = end_of(world, StepOptions(h=2.5e-3), 0.1)
        ends.append((end.x[:, 0].mean() - rod.nodes[:, 0].mean(), end.friction))
        assert np.count_nonzero(end.contact) == n
    assert ends[0] == pytest.approx(ends[1], rel=1e-6)
