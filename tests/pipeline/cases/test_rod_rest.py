"""Rod files at rest, with moments, springs of hinges, and velocities at the start."""

from dataclasses import replace

import numpy as np
import pytest

from pipeline.cases.user_rods import RodFileCase
from pipeline.terminal import InputError
from sim.rods.plane.options import CONSERVING
from sim.rods.plane.world import Damping
from tests.recorded import recorded

LENGTH, SOFT, HARD = 0.1, 1.0e7, 1.0e10
EI = SOFT * 10.0e-3 * 1.0e-3**3 / 12.0
BEAM = """\
unit: mm
section: {{rectangular: {{thickness: 1, width: 10}}}}
material: {{modulus: {modulus}, density: 1000}}
spacing: 2
dimension: {dimension}
rods: [{{line: [[0, 0{z}], [100, 0{z}]]}}]
clamps: [{{at: [0, 0{z}]}}]
markers: {{tip: [100, 0{z}]}}
"""
STILL = "gravity: [0, 0]\n"


def beam(tmp_path, more, *, dimension=2, modulus=SOFT, **values):
    """A clamped rod of 100 mm along x, and more lines of its file."""
    path = tmp_path / "beam.yaml"
    z = ", 0" if dimension == 3 else ""
    own = BEAM.format(modulus=modulus, dimension=dimension, z=z)
    if more.startswith("rods"):
        own = "".join(line for line in own.splitlines(True) if "rods:" not in line)
    path.write_text(own + more)
    return RodFileCase(str(path), **values)


def tip(case):
    """Where the marker ends, m."""
    *_, last = case.steps()
    x = last.rest.x if case.in_space else last.x
    return np.array(list(case._content.markers.columns(x).values())) / 1000.0


def test_a_moment_bends_a_rod_into_half_a_circle(tmp_path):
    moment = np.pi * EI / LENGTH
    load = f"follower_forces: [{{at: [100, 0], moment: {moment}}}]\n"
    case = beam(tmp_path, STILL + load, rest=True)
    fine = tip(RodFileCase(case.path, rest=True, refinement=2.0))
    exact = np.array([0.0, 2.0 * LENGTH / np.pi])
    assert (4.0 * fine - tip(case)) / 3.0 == pytest.approx(exact, abs=3e-5 * LENGTH)
    *_, last = case.steps()
    ends = case.ends(last)
    assert ends["at_rest"]
    assert "largest_speed" not in ends


@pytest.mark.slow
def test_a_moment_turns_a_moving_rod_in_the_plane_as_in_space(tmp_path):
    load = STILL + "follower_forces: [{at: [100, 0], moment: 1.0e-5}]\n"
    values = {"duration": 0.05, "damping": Damping(beta=0.0)}
    flat = beam(tmp_path, load, **values)
    lifted = RodFileCase(flat.path, dimension=3, **values)
    plane, space = (list(case.steps())[-1].x for case in (flat, lifted))
    assert plane[-2, 1] > 1e-3
    assert space[:, :2] == pytest.approx(plane, abs=2e-3 * plane[-2, 1])
    assert np.abs(space[:, 2]).max() < 1e-9


def test_a_spring_at_a_hinge_gives_by_moment_over_stiffness(tmp_path):
    """F l / k radians of the outer half, and the bending of a beam of both."""
    path = tmp_path / "two.yaml"
    path.write_text(
        BEAM.format(modulus=HARD, dimension=2, z="")
        .replace("thickness: 1,", "thickness: 5,")
        .replace("rods: [{line: [[0, 0], [100, 0]]}]",
                 "rods: [{line: [[0, 0], [50, 0]]}, {line: [[50, 0], [100, 0]]}]")
        + STILL + "hinges: [{at: [50, 0], spring: 0.1}]\n"
        "load: {at: [[100, 0]], force: [0, -0.001]}\n"
    )  # fmt: skip
    case = RodFileCase(str(path), rest=True)
    stiff = HARD * 10e-3 * 5e-3**3 / 12.0
    expected = 1e-3 * (0.05**2 / 0.1 + LENGTH**3 / (3.0 * stiff))
    assert -tip(case)[1] == pytest.approx(expected, rel=2e-3)
    with pytest.raises(ValueError, match="springs of planar files work in 2D only"):
        RodFileCase(str(path), dimension=3)


def test_a_rod_in_space_rests_where_it_does_in_the_plane(tmp_path):
    flat = tip(beam(tmp_path, "", rest=True))
    deep = tip(beam(tmp_path, "", dimension=3, rest=True))
    assert flat[1] < -0.3 * LENGTH
    assert deep[[0, 2]] == pytest.approx(flat, abs=1e-3 * LENGTH)
    assert abs(deep[1]) < 1e-6 * LENGTH
    case = beam(tmp_path, "", dimension=3, rest=True)
    recorder = case.recorder()
    for step in case.steps():
        recorder.see(step)
    row, summary = recorder.row(step), recorder.summary()
    assert [row[f"tip_{axis}_mm"] / 1e3 for axis in "xyz"] == pytest.approx(deep)
    assert (summary["stop"], summary["at_rest"]) == ("equilibrium", True)


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_rod_flies_on_at_its_first_velocity(tmp_path, dimension):
    z = ", 0" if dimension == 3 else ""
    more = f"gravity: [0, 0{z}]\nvelocities: [{{rod: 0, velocity: [0.2, -0.1{z}]}}]\n"
    case = beam(tmp_path, more, dimension=dimension, duration=0.1)
    path = tmp_path / "beam.yaml"
    path.write_text(path.read_text().replace(f"clamps: [{{at: [0, 0{z}]}}]\n", ""))
    case = RodFileCase(str(path), duration=0.1)
    first, *_, last = case.steps()
    moved = (last.x - first.x)[:, :2]
    assert moved == pytest.approx(np.tile([0.02, -0.01], (len(moved), 1)), abs=1e-9)


@pytest.mark.parametrize(
    ("dimension", "more", "said"),
    [
        (
            2,
            "rods: [{line: [[0, 0], [100, 0]], limb: 0}]\n"
            "pulses: [{limb: 0, time: 0}]\n",
            "pulses work in motions only",
        ),
        (
            2,
            "load: {at: [[100, 0]], force: [0, 1], duration: 1}\n",
            "at rest loads act all the time",
        ),
        (
            3,
            "ground: {height: -50}\n",
            "an equilibrium in 3D does not support a ground or bodies: remove",
        ),
        (
            3,
            "follower_forces: [{at: [100, 0, 0], moment: 1}]\n",
            "an equilibrium in 3D does not support follower forces: remove",
        ),
    ],
)
def test_what_works_in_motions_only_is_refused_at_rest(tmp_path, dimension, more, said):
    with pytest.raises(ValueError, match=said):
        beam(tmp_path, more, dimension=dimension, rest=True)


ARM = """\
unit: mm
section: {rectangular: {thickness: 5, width: 10}}
material: {modulus: 1.0e10, density: 1000}
spacing: 10
rods: [{line: [[0, 0], [-50, 0]]}, {line: [[0, 0], [50, 0]]}]
clamps: [{at: [-50, 0]}]
gravity: [0, 0]
markers: {tip: [50, 0]}
"""
SPRING, RATE = 0.01, 2.0  # N m/rad, rad/s


def arm(tmp_path, turns, more="", **values):
    """Half a rod on a clamp, the other half on a hinge whose spring turns."""
    path = tmp_path / "arm.yaml"
    hinge = f"hinges: [{{at: [0, 0], spring: {SPRING}, turns: {turns}}}]\n"
    path.write_text(ARM + hinge + more)
    return RodFileCase(str(path), **values)


def test_a_driven_hinge_turns_a_rod_as_a_spring_turns_an_inertia(tmp_path):
    """From I q'' = k (w t - q): q = w t - w / W sin W t, with W^2 = k / I."""
    still = Damping(beta=0.0)
    turns = [[0.0, 0.0], [1.0, float(np.degrees(RATE))]]
    options = replace(CONSERVING, h=5e-4)
    case = arm(tmp_path, turns, duration=0.2, damping=still, options=options, every=7)
    rod = case.world.rod
    outer = rod.nodes[:, 0] > 0.0
    inertia = float(rod.mass[outer] @ rod.nodes[outer, 0] ** 2)
    fast, worst = np.sqrt(SPRING / inertia), 0.0
    for step in case.steps():
        x, y = case._content.markers.columns(step.x).values()
        exact = RATE * (step.time - np.sin(fast * step.time) / fast)
        worst = max(worst, abs(np.arctan2(y, x) - exact))
    assert fast * step.time > 4.0 * np.pi
    assert worst < 0.02 * RATE / fast
    assert step.given == pytest.approx(step.energy, rel=1e-3)
    assert step.energy > 1e-6


def test_a_driven_hinge_gives_by_moment_over_stiffness_wherever_it_is(tmp_path):
    load = "load: {at: [[50, 0]], force: [-0.002, 0]}\n"
    case = arm(tmp_path, [[0, 0], [0.5, 90]], load, duration=3.0,
               damping=Damping(alpha=20.0))  # fmt: skip
    *_, last = case.steps()
    x, y = np.array(list(case._content.markers.columns(last.x).values())) / 1000.0
    turned = 0.5 * np.pi + 0.002 * y / SPRING
    assert np.arctan2(y, x) == pytest.approx(turned, abs=2e-4)
    assert case.ends(last)["at_rest"]


def test_a_driven_hinge_goes_on_from_a_recorded_step_as_if_it_never_stopped(tmp_path):
    case = arm(tmp_path, [[0, 0], [0.1, 60]], duration=0.2, every=40)
    recorder = case.recorder()
    steps = list(case.steps())
    *_, again = case.steps(recorder.state(steps[1]))
    assert np.array_equal(again.x, steps[-1].x)
    assert again.given == steps[-1].given


@pytest.mark.parametrize(
    ("hinge", "said"),
    [
        ("{at: [0, 0], turns: [[0, 0], [1, 9]]}", "has `turns`, which need a `spring`"),
        ("{at: [0, 0], spring: 1, turns: [[0, 5]]}", "begin with the value 0"),
        ("{at: [0, 0], spring: 1, turns: [[0, 0], [9, 151]]}", "by 151 degrees, above"),
    ],
)
def test_drives_that_are_none_are_refused(tmp_path, hinge, said):
    path = tmp_path / "arm.yaml"
    path.write_text(ARM + f"hinges: [{hinge}]\n")
    with pytest.raises((ValueError, InputError), match=said):
        RodFileCase(str(path))


def test_a_driven_hinge_has_no_rest(tmp_path):
    with pytest.raises(ValueError, match="`turns` and `moves` work in motions only"):
        arm(tmp_path, [[0, 0], [1, 9]], rest=True)


def test_a_rest_says_at_which_share_of_the_loads_the_rod_snapped(tmp_path):
    """Two bars on pins, pressed flat: the closed form is in tests/sim/rods/plane."""
    path = tmp_path / "truss.yaml"
    path.write_text(
        BEAM.format(modulus=SOFT, dimension=2, z="")
        .replace("thickness: 1,", "thickness: 2,").replace("spacing: 2", "spacing: 200")
        .replace("rods: [{line: [[0, 0], [100, 0]]}]",
                 "rods: [{line: [[0, 0], [100, 20]]}, {line: [[100, 20], [200, 0]]}]")
        .replace("clamps: [{at: [0, 0]}]", "pins: [[0, 0], [200, 0]]")
        .replace("tip: [100, 0]", "tip: [100, 20]")
        + STILL + "hinges: [[100, 20]]\nload: {at: [[100, 20]], force: [0, -1]}\n"
    )  # fmt: skip
    case = RodFileCase(str(path), rest=True, load_steps=4)
    steps, recorder = recorded(case)
    assert [recorder.row(step)["share"] for step in steps] == [0.25, 0.5, 0.75, 1.0]
    assert [recorder.row(step)["tip_y_mm"] > 0.0 for step in steps] == [1, 1, 0, 0]
    assert recorder.summary()["snaps"] == "at 0.5921 of the loads"
    assert "snaps" not in case.ends(steps[0])
