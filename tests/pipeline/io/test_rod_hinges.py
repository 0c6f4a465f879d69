"""Rods of a file in space that turn about an axis where they are joined."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.cases.user_rods import RodFileCase
from pipeline.terminal import InputError
from sim.core.arrays import Floats
from sim.rods.plane.options import Integrator, StepOptions
from sim.rods.plane.world import Damping
from sim.rods.space.assembled_system import SpaceSystem
from sim.rods.space.elastic_energy import strains_of_hinges
from sim.rods.space.simulate import simulate_in_space
from sim.rods.space.world import SpaceWorld
from tests.helpers.refusals import refused_in_one_line
from tests.pipeline.io.test_rod_joints import LENGTH, SOFT, SPAN, TIP, made, moved
from tests.sim.rods.space.made import angular_momentum, dense

CORNERS = 1e-3 * np.array([[30, 10, 12], [-8, 42, -12], [-30, -10, 12], [8, -42, -12]])


def hinge(at: Any, axis: Any, spring: float = 0.0) -> dict[str, Any]:
    return {"at": list(at), "axis": list(axis), "spring": spring}


@pytest.mark.parametrize(
    ("axis", "carried"), [([0, 0, 2], True), ([0, 1, 0], False), ([1, 0, 0], True)]
)
def test_a_hinge_carries_bending_across_its_axis_and_none_about_it(
    axis, carried, tmp_path
):
    """A beam clamped at both ends, and two cantilevers of half its load each."""
    found = moved(made(tmp_path, **SPAN, hinges=[hinge([50, 0, 0], axis)]), [50, 0, 0])
    share = 1.0 / 24.0 if carried else 0.5 / 3.0
    expected = -share * TIP * LENGTH**3 / SOFT
    assert found[2] == pytest.approx(expected, rel=2e-2 if carried else 6e-3)
    assert np.abs(found[:2]).max() < 1e-3 * abs(found[2])


def test_a_spring_about_the_axis_adds_its_turn(tmp_path):
    """A cantilever that hangs on a spring: P (2L)^3 / 3 B + P L^2 / k."""
    k, load = 0.2, {"at": [[100, 0, 0]], "force": [0, 0, -0.1 * TIP]}
    free = {**SPAN, "clamps": SPAN["clamps"][:1], "load": load}
    found = moved(
        made(tmp_path, **free, hinges=[hinge([50, 0, 0], [0, 1, 0], k)]), [100, 0, 0]
    )
    bent = (2.0 * LENGTH) ** 3 / (3.0 * SOFT)
    assert found[2] == pytest.approx(-0.1 * TIP * (bent + LENGTH**2 / k), rel=5e-3)


def test_a_dry_hinge_holds_up_to_its_moment(tmp_path):
    """A stub on a hinge, clamped at one end, carries as one below it, else it turns."""
    load = {"at": [[100, 0, 0]], "force": [0, 0, -0.1 * TIP]}
    free = {**SPAN, "clamps": SPAN["clamps"][:1], "load": load}
    turns = []
    for share in (0.9, 1.1):
        moment = share * 0.1 * TIP * LENGTH
        at = {**hinge([50, 0, 0], [0, 1, 0]), "friction": moment}
        case = made(tmp_path, **free, hinges=[at])
        world = replace(case.space_world, damping=Damping(alpha=100.0, beta=0.01))
        options = StepOptions(0.01, Integrator.ENERGY_MOMENTUM)
        *_, last = simulate_in_space(world, options, 0.6, every=100)
        turned = strains_of_hinges(last.moving.state, world.system.part)[0, 2]
        turns.append(abs(float(turned)))
    assert turns[0] > 5e-3
    assert turns[1] < 1e-9


def test_a_hinge_along_rods_lets_them_spin_and_bends_them_together(tmp_path):
    """The spin of one is kept, and the other, which is clamped, feels no twist."""
    case = made(
        tmp_path, rods=SPAN["rods"], clamps=SPAN["clamps"][:1],
        hinges=[hinge([50, 0, 0], [1, 0, 0])],
    )  # fmt: skip
    rod = case.space_world.rod
    middle = rod.nodes[rod.edges].mean(axis=1)[:, 0]
    spin = np.where(middle > 0.05, 2.0, 0.0)
    world = SpaceWorld(rod, (0.0, 0.0, 0.0), spin=spin)
    options = StepOptions(0.05, Integrator.ENERGY_MOMENTUM, tolerance=1e-10)
    *_, last = simulate_in_space(world, options, 5.0, every=10**9)
    assert angular_momentum(rod, last)[0] == pytest.approx(rod.inertia @ spin, rel=1e-8)
    assert np.abs(last.moving.state.twist).max() < 1e-9
    assert last.moving.v[rod.nodes.size :] == pytest.approx(spin, abs=1e-7)


def _bennett(tmp_path: Path, off: float = 0.0) -> tuple[RodFileCase, Floats]:
    """Four stiff rods between opposite sides of equal length (Bennett 1914).

    Its axes stand across both rods at each corner; `off` turns one of them, rad.
    """
    at = np.round(1e3 * CORNERS).astype(int)
    sides = np.roll(at, -1, axis=0) - at
    axes = np.cross(np.roll(sides, 1, axis=0), sides).astype(float)
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    axes[0] = np.cos(off) * axes[0] + np.sin(off) * sides[0] / np.linalg.norm(sides[0])
    rods = [
        {"line": [a, b]}
        for a, b in zip(at.tolist(), np.roll(at, -1, axis=0).tolist(), strict=True)
    ]
    hinges = [hinge(a, n) for a, n in zip(at.tolist(), axes.tolist(), strict=True)]
    case = made(
        tmp_path, rods=rods, hinges=hinges, spacing=15,
        section={"round": {"diameter": 3}},
    )  # fmt: skip
    return case, 1e-3 * at


@pytest.mark.parametrize(("off", "motions"), [(0.0, 7), (0.3, 6)])
def test_a_bennett_loop_has_one_motion_and_none_with_an_axis_turned(
    off, motions, tmp_path
):
    """Beside six of a rigid body."""
    world = _bennett(tmp_path, off)[0].space_world
    system = SpaceSystem(world.rod, world.loads)
    H = dense(system, world.rod.state)[1]
    scale = 1.0 / np.sqrt(world.inertia)
    values = np.linalg.eigvalsh(scale[:, None] * H * scale)
    assert np.abs(values[:motions]).max() < 1e-6 * values[motions]


@pytest.mark.parametrize(
    ("hinges", "words"),
    [
        (
            [{"at": [50, 0, 0], "axis": [0, 0, 0]}],
            "hinges[0].axis is [0.0, 0.0, 0.0], which has length 0",
        ),
        ([{"at": [50, 0, 0], "spring": 1}], "a spring but no `axis`: give both"),
        ([{"at": [50, 0, 0], "axis": [0, 1]}], "it needs 3 numbers"),
        ([{"at": [50, 0, 0], "axis": [0, 0, 1], "spring": -1}], "spring"),
        ([[50, 0, 0], {"at": [50, 0, 0], "axis": [0, 0, 1]}], "two hinges are at (50"),
        ([{"at": [0, 0, 0], "axis": [0, 0, 1]}], "but a hinge joins two"),
        ([{"axis": [0, 0, 1]}], "at"),
    ],
)
def test_hinges_that_are_none_are_refused_in_one_line(hinges, words, tmp_path):
    with refused_in_one_line("hinges", words):
        made(tmp_path, **SPAN, hinges=hinges)


def test_an_axis_in_the_plane_is_refused(tmp_path):
    hinges = [{"at": [5, 0], "axis": [0, 0, 1]}]
    with pytest.raises(InputError, match=r"hinges\[0\]\.axis works in 3D only"):
        made(tmp_path, dimension=2, rods=[{"line": [[0, 0], [9, 0]]}], hinges=hinges)
