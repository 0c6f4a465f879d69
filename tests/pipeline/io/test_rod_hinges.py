"""Rods of a file in space that turn about an axis where they are joined."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from pipeline.cases.user_rods import RodFileCase
from pipeline.terminal import InputError
from sim.core.arrays import Floats
from sim.rods.plane.options import Integrator, StepOptions
from sim.rods.plane.world import Damping
from sim.rods.space.elastic_energy import strains_of_hinges
from sim.rods.space.frames import edge_tangents
from sim.rods.space.simulate import simulate_in_space
from sim.rods.space.system import SpaceSystem
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
    *_, last = simulate_in_space(world, _options(0.05), 5.0, every=10**9)
    assert angular_momentum(rod, last)[0] == pytest.approx(rod.inertia @ spin, rel=1e-8)
    assert np.abs(last.moving.state.twist).max() < 1e-9
    assert last.moving.v[rod.nodes.size :] == pytest.approx(spin, abs=1e-7)


def _options(h: float) -> StepOptions:
    return StepOptions(h=h, integrator=Integrator.ENERGY_MOMENTUM, tolerance=1e-10)


def _pendulum(mass: list[Floats], arm: list[Floats], g: float, t: Floats) -> Floats:
    """(k, 2) angles from below of two rigid arms on parallel axes, let go level.

    Parameters
    ----------
    mass, arm : of points of either arm, and how far from its axis
    """
    M1, M2 = (float(m.sum()) for m in mass)
    s1, s2 = (float(m @ r) for m, r in zip(mass, arm, strict=True))
    I1, I2 = (float(m @ r**2) for m, r in zip(mass, arm, strict=True))
    L = float(arm[0].max())
    assert M1 > 0.0

    def slope(_t: float, y: Floats) -> Floats:
        a, b, u, w = y
        c, s = L * s2 * np.cos(a - b), L * s2 * np.sin(a - b)
        inertia = np.array([[I1 + M2 * L * L, c], [c, I2]])
        force = [
            -s * w * w - g * (s1 + M2 * L) * np.sin(a), s * u * u - g * s2 * np.sin(b)
        ]  # fmt: skip
        return np.array([u, w, *np.linalg.solve(inertia, force)])

    start = [0.5 * np.pi, 0.5 * np.pi, 0.0, 0.0]
    found = solve_ivp(slope, (0.0, t[-1]), start, t_eval=t, rtol=1e-10, atol=1e-12)
    return np.asarray(found.y[:2].T)


@pytest.mark.parametrize(
    ("integrator", "lasts", "turned"),
    [(Integrator.ENERGY_MOMENTUM, 0.4, np.pi), (Integrator.NEWMARK, 0.12, 0.4)],
)
def test_stiff_rods_on_parallel_axes_are_a_double_pendulum_though_pulled_aside(
    integrator, lasts, turned, tmp_path
):
    """Weight has a third of itself along the axes; balls would leave the plane."""
    ends = [-20, 0, 60, 140]
    lines = [[[a, 0, 0], [b, 0, 0]] for a, b in pairwise(ends)]
    case = made(
        tmp_path, rods=[{"line": line} for line in lines], spacing=10,
        clamps=[{"at": [-20, 0, 0]}], gravity=[0, 3.27, -9.81],
        section={"round": {"diameter": 4}},
        material={"modulus": 2e11, "density": 1000, "poisson": 0.3},
        hinges=[hinge([x, 0, 0], [0, 1, 0]) for x in ends[1:3]],
    )  # fmt: skip
    world = case.space_world
    x, m = world.rod.nodes[:, 0], world.rod.mass
    k = int(np.argmin(np.abs(x - 0.06) + np.abs(world.rod.nodes[:, 1])))
    first, second = (x > 1e-9) & (x < 0.06 - 1e-9), x > 0.06 + 1e-9
    # of the node at the joint either arm has the half edge of its own stub
    half = 0.5 * m[k]
    mass = [np.append(m[first], half), np.append(m[second], half)]
    arm = [np.append(x[first], 0.06), np.append(x[second] - 0.06, 0.0)]
    options = StepOptions(h=1e-3, integrator=integrator)
    steps = list(simulate_in_space(world, options, lasts, every=20))
    t = np.array([step.time for step in steps])
    angles = _pendulum(mass, arm, 9.81, t)
    tip = int(np.argmax(x))
    for step, (a, b) in zip(steps, angles, strict=True):
        elbow = 0.06 * np.array([np.sin(a), 0.0, -np.cos(a)])
        assert np.abs(step.x[k] - elbow).max() < 1e-4
        end = elbow + 0.08 * np.array([np.sin(b), 0.0, -np.cos(b)])
        assert np.abs(step.x[tip] - end).max() < 4e-4
    assert np.ptp(angles, axis=0).min() > turned


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


def _joint_angles(x: Floats, corners: list[int]) -> Floats:
    """(4,) between the rods at each corner, rad."""
    at = x[corners]
    out, back = np.roll(at, -1, axis=0) - at, np.roll(at, 1, axis=0) - at
    size = np.linalg.norm(out, axis=1) * np.linalg.norm(back, axis=1)
    return np.asarray(np.arccos(np.sum(out * back, axis=1) / size))


def _rigid(x: Floats, t: Floats) -> Floats:
    """(3 n + m, 6) motions of all nodes and edges as one body."""
    found = [np.concatenate([np.tile(w, len(x)), np.zeros(len(t))]) for w in np.eye(3)]
    found += [np.concatenate([np.cross(w, x).ravel(), t @ w]) for w in np.eye(3)]
    return np.array(found).T


def test_a_bennett_loop_turns_as_its_closed_form_says(tmp_path):
    """tan(A / 2) tan(B / 2) = cos((a - b) / 2) / cos((a + b) / 2) of angles A, B
    between neighbouring sides, axes along which are turned by a and b."""
    case, at = _bennett(tmp_path)
    world = case.space_world
    rod = world.rod
    corners = [int(np.argmin(np.linalg.norm(rod.nodes - a, axis=1))) for a in at]
    H = dense(SpaceSystem(rod, world.loads), rod.state)[1]
    root = np.sqrt(world.inertia)
    modes = np.linalg.eigh(H / root[:, None] / root)[1][:, :7]
    rigid = root[:, None] * _rigid(rod.nodes, edge_tangents(rod.nodes, rod.edges))
    own = np.linalg.svd(modes.T @ np.linalg.qr(rigid)[0])[0][:, -1]
    v = modes @ own / root
    n = rod.nodes.size
    v *= 0.3 / np.abs(v[:n]).max()
    world = SpaceWorld(rod, (0.0, 0.0, 0.0), velocity=v[:n].reshape(-1, 3), spin=v[n:])
    first, *later = simulate_in_space(world, _options(2e-3), 0.14, every=7)
    sides = np.roll(at, -1, axis=0) - at
    axes = np.cross(np.roll(sides, 1, axis=0), sides)
    along = sides / np.linalg.norm(sides, axis=1, keepdims=True)
    sines = [np.cross(axes[k], axes[k + 1]) @ along[k] for k in (0, 1)]
    a, b = np.arctan2(sines, [axes[k] @ axes[k + 1] for k in (0, 1)])
    ratio = np.cos(0.5 * (a - b)) / np.cos(0.5 * (a + b))
    angles = np.array([_joint_angles(step.x, corners) for step in [first, *later]])
    assert np.ptp(angles, axis=0).min() > 1.0
    tangents = np.tan(0.5 * angles)
    for k in range(4):
        both = tangents[:, k] * tangents[:, (k + 1) % 4]
        assert both == pytest.approx(ratio, rel=3e-4)
    for step in later:
        assert step.energy - step.kinetic < 1e-5 * step.kinetic


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
        ([{"at": [0, 0, 0], "axis": [0, 0, 1]}], "so nothing rotates against it"),
        ([{"axis": [0, 0, 1]}], "at"),
    ],
)
def test_hinges_that_are_none_are_refused_in_one_line(hinges, words, tmp_path):
    with refused_in_one_line("hinges", words):
        made(tmp_path, **SPAN, hinges=hinges)


def test_an_axis_in_the_plane_is_refused(tmp_path):
    flat = {
        "dimension": 2, "rods": [{"line": [[0, 0], [9, 0]]}], "gravity": [0, -9.81],
        "hinges": [{"at": [5, 0], "axis": [0, 0, 1]}],
    }  # fmt: skip
    with pytest.raises(InputError, match=r"hinges\[0\]\.axis works in 3D only"):
        made(tmp_path, **flat)
