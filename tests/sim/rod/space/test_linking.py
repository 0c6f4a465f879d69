"""Linking number of closed rods: twist that is lost is writhe that is gained."""

from dataclasses import replace

import numpy as np
import pytest

from sim.arrays import Floats
from sim.rod.moving.motion import moves
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.space.space_rod import through
from sim.rod.stepping.options import Integrator, StepOptions
from tests.sim.rod.space.linking import linking_number, writhe
from tests.sim.rod.space.made import ROUND, WIRE, B, C


def _trefoil(n: int) -> Floats:
    t = 2.0 * np.pi * np.arange(n) / n
    wide = 2.0 + np.cos(3 * t)
    return np.column_stack([wide * np.cos(2 * t), wide * np.sin(2 * t), np.sin(3 * t)])


def _gauss(x: Floats) -> float:
    """Gauss's double integral of a smooth closed curve, by the midpoint rule."""
    v = 0.5 * (np.roll(x, -1, axis=0) - np.roll(x, 1, axis=0))
    far = x[:, None] - x[None]
    size = np.linalg.norm(far, axis=2) + np.diag(np.full(len(x), np.inf))
    across = np.cross(v[:, None], v[None])
    return float(np.sum(np.sum(across * far, axis=2) / size**3) / (4.0 * np.pi))


def test_writhe_is_gausss_integral_and_none_of_what_is_flat() -> None:
    x = _trefoil(300)
    assert writhe(x) == pytest.approx(_gauss(x), rel=2e-3)
    assert writhe(x * [1.0, 1.0, -1.0]) == pytest.approx(-writhe(x), rel=1e-12)
    t = np.linspace(0.0, 2.0 * np.pi, 40, endpoint=False)
    flat = np.column_stack([3.0 * np.cos(t), np.sin(t), 0.5 * np.cos(t)])
    assert writhe(flat) == pytest.approx(0.0, abs=1e-12)


def _ring(edges: int, twist: float) -> SpaceWorld:
    """Free, and thrown across its plane in two waves."""
    angle = 2.0 * np.pi * np.arange(edges) / edges
    x = 0.1 * np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle])
    rod = through(x, WIRE, ROUND, first=(0.0, 0.0, 1.0), closed=True)
    natural = np.zeros_like(rod.curvature)
    natural[:, 2] = -twist / rod.length
    velocity = 0.05 * np.outer(np.cos(2.0 * angle), [0.0, 0.0, 1.0])
    rod = replace(rod, curvature=natural)
    return SpaceWorld(rod, (0.0, 0.0, 0.0), velocity=velocity)


def test_a_ring_that_coils_turns_twist_into_writhe() -> None:
    """Their sum is kept, until the ring passes through itself: then it is 2 less."""
    world = _ring(24, 1.5 * 2.0 * np.pi * np.sqrt(3.0) * B / C)
    options = StepOptions(4e-3, Integrator.ENERGY_MOMENTUM)
    steps = list(moves(world, options, 0.6, every=5))
    numbers = [linking_number(step.moving.state) for step in steps]
    assert numbers == pytest.approx(np.round(numbers), abs=1e-9)
    before = [step for step, now in zip(steps, numbers, strict=True) if round(now) == 0]
    gained = writhe(before[-1].x)
    lost = -float(before[-1].moving.state.twist.sum()) / (2.0 * np.pi)
    assert gained > 0.3
    assert lost == pytest.approx(gained, abs=1e-9)
    assert round(numbers[-1]) == -2
