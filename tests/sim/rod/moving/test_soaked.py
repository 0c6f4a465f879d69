"""Rods in a fluid in space, against what resistive-force theory says of rigid ones."""

from dataclasses import replace

import numpy as np
import pytest

from sim.rod.moving.from_plane import in_space
from sim.rod.moving.motion import moves
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.rod.rod import RodMaterial, chain
from sim.rod.space.sections import SpaceMaterial, disc
from sim.rod.space.space_rod import through
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.simulate import simulate
from sim.rod.stepping.surroundings import Fluid
from sim.rod.stepping.world import Damping, World

FLUID = Fluid(0.3, 0.7)
STIFF, ROUND = SpaceMaterial(1.0e10, 1000.0, 0.3), disc(1.0e-3)
PULL = 9.81 * 1000.0 * np.pi * 1e-6  # N/m


def test_a_slanting_rod_sinks_at_both_its_speeds() -> None:
    """Weight over c_t along it, over c_n across it."""
    way = np.array([0.3, -0.5, 0.8]) / np.linalg.norm([0.3, -0.5, 0.8])
    rod = through(np.outer(np.linspace(0.0, 0.1, 7), way), STIFF, ROUND)
    world = SpaceWorld(rod, (0.0, 0.0, -9.81), fluid=FLUID)
    options = StepOptions(2e-3, Integrator.ENERGY_MOMENTUM)
    first, last = moves(world, options, 0.3, every=1000)
    down = np.array([0.0, 0.0, -PULL])
    along = (down @ way) * way
    expected = along / FLUID.along + (down - along) / FLUID.across
    v = last.moving.v[: rod.nodes.size].reshape(-1, 3)
    assert v == pytest.approx(np.tile(expected, (7, 1)), rel=1e-6)
    ledger = last.moving.ledger
    assert ledger.damped == pytest.approx(first.energy - last.energy, rel=1e-9)


@pytest.mark.parametrize("integrator", list(Integrator))
def test_a_helix_that_sinks_turns_about_its_axis(integrator: Integrator) -> None:
    """Gray and Hancock: no torque about the axis of whole turns, weight along it.

    With k = c_t - c_n and the slope a, sinking at U it turns at W, where
    W r (c_n + k cos^2 a) = -k U sin a cos a.
    """
    r, a, turns, n = 0.02, 0.9, 4, 160
    length = 2.0 * np.pi * r * turns / np.cos(a)
    angle = 2.0 * np.pi * turns * np.arange(n + 1) / n
    x = np.column_stack([r * np.cos(angle), r * np.sin(angle), r * angle * np.tan(a)])
    rod = through(x, STIFF, ROUND, first=(1.0, 0.0, 0.0))
    world = SpaceWorld(rod, (0.0, 0.0, -9.81), Damping(beta=1e-3), fluid=FLUID)
    options = StepOptions(2e-3, integrator)
    before, last = list(moves(world, options, 0.2, every=99))[-2:]
    c, s, k = np.cos(a), np.sin(a), FLUID.along - FLUID.across
    round_over_down = -k * s * c / (FLUID.across + k * c * c)
    sinking = -PULL / (FLUID.across + k * s * (s + round_over_down * c))
    mean = (last.x - before.x).mean(axis=0) / (last.time - before.time)
    assert mean[2] == pytest.approx(sinking, rel=5e-3)
    v = last.moving.v[: rod.nodes.size].reshape(-1, 3)
    out = last.x - last.x.mean(axis=0)
    turned = np.cross(out, v - v.mean(axis=0))[:, 2].sum() / (out[:, :2] ** 2).sum()
    assert turned * r == pytest.approx(round_over_down * sinking, rel=2e-2)
    assert length == pytest.approx(rod.length, rel=1e-2)


@pytest.mark.parametrize("integrator", list(Integrator))
def test_a_planar_rod_sinks_in_space_as_in_its_plane(integrator: Integrator) -> None:
    angle = np.linspace(0.0, 2.0, 9)
    flat = chain(0.05 * np.column_stack([np.sin(angle), np.cos(angle)]), RodMaterial())
    world = World(flat, None, damping=Damping(beta=1e-3), fluid=Fluid(0.05, 0.1))
    options = StepOptions(2.5e-3, integrator, tolerance=1e-14, residual=1e-12)
    *_, plane = simulate(world, options, 0.2, every=100)
    *_, space = moves(in_space(world, RodMaterial()), options, 0.2, every=100)
    way = np.abs(plane.x - flat.nodes).max()
    near = 1e-9 if integrator is Integrator.NEWMARK else 1e-4
    assert np.abs(space.x[:, :2] - plane.x).max() <= near * way
    *_, free = simulate(replace(world, fluid=None), options, 0.2, every=100)
    assert np.abs(free.x - plane.x).max() > 0.05 * way
