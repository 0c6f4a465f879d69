"""Clamps that move, limbs, natural shapes in time and loads, of rod files.

The same file in the plane and in space, and closed forms.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pipeline.cases.user_rods import RodFileCase
from sim.rods.plane.actuation import Actuator
from sim.rods.plane.options import Integrator, StepOptions
from sim.rods.plane.world import Damping
from sim.rods.space.simulate import SpaceMotionStep, simulate_in_space
from sim.rods.space.world import TurningClamps
from tests.helpers.refusals import refused_in_one_line
from tests.sim.rods.space.made import momentum

OPTIONS = StepOptions(h=5e-3, integrator=Integrator.ENERGY_MOMENTUM, tolerance=1e-11)
WIRE: dict[str, Any] = {
    "unit": "mm",
    "dimension": 3,
    "section": {"round": {"diameter": 4}},
    "material": {"modulus": 3e6, "density": 1000, "poisson": 0.5},
    "spacing": 10,
    "rods": [{"line": [[0, 0, 0], [80, 0, 0]], "across": [0, 0, 1]}],
    "clamps": [{"at": [0, 0, 0]}],
    "gravity": [0, 0, 0],
}


def made(folder: Path, **content: Any) -> RodFileCase:
    path = folder / "rods.json"
    path.write_text(json.dumps({**WIRE, **content}))
    return RodFileCase(str(path), damping=Damping(alpha=20.0, beta=0.02))


def last(case: RodFileCase, duration: float) -> SpaceMotionStep:
    *_, end = simulate_in_space(case.space_world, OPTIONS, duration, every=10**6)
    return end


WAY = {
    "turns": [[0, 0], [0.4, 150]],
    "axis": [1, 2, 0],
    "moves": [[0, 0, 0, 0], [0.3, 5, -9, 20]],
}


@pytest.mark.parametrize(
    ("joined", "stiffness"),
    [(False, None), (False, 1.0), pytest.param(True, None, marks=pytest.mark.slow)],
)
def test_a_clamp_of_a_file_takes_its_rods_where_its_tables_say(
    joined, stiffness, tmp_path
):
    """A free rod, or three at a joint that is clamped, as one body."""
    clamp = {"at": [0, 0, 0], **WAY}
    rods = [*WIRE["rods"]]
    if joined:
        rods += [{"line": [[0, 0, 0], [0, 50, 0]]}, {"line": [[0, 0, 40], [0, 0, 0]]}]
    elif stiffness:
        clamp["stiffness"] = stiffness
    case = made(tmp_path, rods=rods, clamps=[clamp])
    assert isinstance(case.space_world.drive, TurningClamps)
    end, rod = last(case, 2.5), case.space_world.rod
    axis = np.array([1.0, 2.0, 0.0]) / np.sqrt(5.0)
    turn = Rotation.from_rotvec(np.radians(150.0) * axis).as_matrix()
    apart = end.x - (rod.nodes @ turn.T + [5e-3, -9e-3, 20e-3])
    assert np.abs(apart).max() < 2e-5
    assert np.abs(apart[rod.held]).max() < 1e-14


@pytest.mark.parametrize(("towards", "beside"), [(120, 0), (0, 120), (60, -90)])
def test_a_natural_bend_curls_a_rod_to_an_arc_of_that_turn(towards, beside, tmp_path):
    """Towards `across`, z, and beside it, -y: its tip at L (sin f, 1 - cos f) / f."""
    natural = [{"rod": 0, "bend": [[0, 0, 0], [0.5, towards, beside]]}]
    case = made(tmp_path, natural=natural, spacing=2.5)
    world = case.space_world
    end = last(case, 3.0)
    f = np.radians(np.hypot(towards, beside))
    way = np.array([0.0, -beside, towards]) / np.hypot(towards, beside)
    expected = 0.08 / f * (np.sin(f) * np.array([1.0, 0, 0]) + (1.0 - np.cos(f)) * way)
    tip = int(np.argmax(world.rod.nodes[:, 0]))
    assert np.abs(end.x[tip] - expected).max() < 1e-4
    assert end.stretching + end.bending + end.twisting < 1e-6 * end.moving.ledger.given
    assert world.natural is not None
    assert np.abs(world.natural(0.25) - 0.5 * world.natural(9.0)).max() < 1e-12


def test_a_natural_twist_turns_the_free_end_by_itself(tmp_path):
    """And twists a rod that is held at both ends not at all, but by its energy."""
    twist = [{"rod": 0, "twist": [[0, 0], [0.5, 200]]}]
    end = last(made(tmp_path, natural=twist), 2.0)
    # from the held edge to the middle of the last, half an edge before the end
    turned = np.radians(200.0) * (80.0 - 5.0) / 80.0
    assert end.moving.state.twist.sum() == pytest.approx(turned, abs=1e-5)
    both = [{"at": [0, 0, 0]}, {"at": [80, 0, 0]}]
    case = made(tmp_path, natural=twist, clamps=both)
    end, rod = last(case, 1.0), case.space_world.rod
    assert end.moving.state.twist.sum() == pytest.approx(0.0, abs=1e-9)
    energy = 0.5 * rod.twisting[3] * np.radians(200.0) ** 2 / 0.08
    assert end.twisting == pytest.approx(energy, rel=1e-6)


def test_a_natural_bend_of_a_closed_rod_is_that_of_its_whole_way_round(tmp_path):
    """What closes it is as much of it as any other edge."""
    turn = np.linspace(0.0, 2.0 * np.pi, 9)
    ring = 20.0 * np.column_stack([np.cos(turn), np.sin(turn), 0.0 * turn])
    rods = [{"curve": ring.tolist(), "closed": True}]
    natural = [{"rod": 0, "bend": [[0, 0, 0], [1, 90, 30]], "twist": [[0, 0], [1, 60]]}]
    world = made(tmp_path, rods=rods, clamps=[], natural=natural).space_world
    assert world.natural is not None
    more = (world.natural(1.0) - world.rod.curvature) * world.rod.voronoi[:, None]
    assert np.degrees(more.sum(axis=0)) == pytest.approx([-30.0, 90.0, 60.0])


CURVE = [[0, 0, 0], [20, 8, 2], [40, 12, 10], [60, 6, 22], [80, 0, 30]]


def test_a_limb_unbends_and_stiffens_by_eq_7_while_its_pulse_lasts(tmp_path):
    """At the extremes of eq. (7), which later times come from: 0.21 and 2.68."""
    rods = [{"curve": CURVE, "limb": 0}, {"line": [[80, 0, 30], [90, 0, 60]]}]
    case = made(tmp_path, rods=rods, pulses=[{"limb": 0, "time": 0.1}])
    world, off = case.space_world, np.array([np.inf])
    on = world.part(0.1 + Actuator().ramp - 1e-9, np.array([0.1]))
    still = world.part(0.0, off)
    mine = np.arange(len(still.curvature)) < len(case.space_world.rod.bends) - 4
    factor = on.curvature[:, :2] / np.where(
        still.curvature[:, :2], still.curvature[:, :2], 1
    )
    bent = np.abs(still.curvature[:, 0]) > 1e-6
    assert factor[bent & mine][:5] == pytest.approx(0.21, rel=1e-6)
    assert on.twisting[:5] / still.twisting[:5] == pytest.approx(2.68, rel=1e-6)
    assert on.twisting[-3:] == pytest.approx(still.twisting[-3:])
    assert on.curvature[-1] == pytest.approx(still.curvature[-1])


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_spring_of_a_clamp_is_as_soft_as_told_while_a_limb_is_on(
    dimension, tmp_path
):
    """It was 2.6 times as stiff as told."""
    line, k = [[0, 0, 0][:dimension], [80, 0, 0][:dimension]], 1e-4
    case = made(
        tmp_path, dimension=dimension, rods=[{"line": line, "limb": 0}],
        clamps=[{"at": line[0], "stiffness": k}], gravity=[0] * dimension,
        pulses=[{"limb": 0, "time": 0.1}],
    )  # fmt: skip
    world = RodFileCase(case.path, dimension=3).space_world
    on = world.part(0.1 + Actuator().ramp - 1e-9, np.array([0.1]))
    turned = (on.bending / on.voronoi[:, None])[:, 1]
    assert turned.min() == pytest.approx(k, rel=0.02)
    assert np.sort(turned)[1] > 10.0 * k


def clamp(**more: Any) -> dict[str, Any]:
    return {"clamps": [{"at": [0, 0, 0], **more}]}


BAD: list[tuple[dict[str, Any], str]] = [
    (clamp(turns=[[0, 0], [1, 9]]), "clamps[0]: turns need"),
    (clamp(axis=[0, 0, 1]), "give both or neither"),
    (
        clamp(moves=[[0, 0, 0]]),
        "clamps[0].moves[0] is [0, 0, 0]: give time, x, y and z",
    ),
    (
        clamp(turns=[[0, 0], [1, 9]], axis=[0, 0, 1e-300]),
        "clamps[0].axis is [0.0, 0.0, 1e-300], which has length 0",
    ),
    (
        clamp(moves=[[0, 1, 0, 0]]),
        "clamps[0].moves: the first row is 1 mm and 0 mm and 0 mm at 0 s: begin",
    ),
    (clamp(turns=[[1, 0], [1, 9]], axis=[1, 0, 0]), "clamps[0].turns: 1 s follows 1 s"),
    (
        clamp(moves=[[0, 0, 0, 0], [1, 0, 0, -30]]) | {"ground": {"height": -25}},
        "ground: a moving clamp or its edge penetrates it by 7 mm",
    ),
    (
        {"natural": [{"rod": 1, "twist": [[0, 0], [1, 9]]}]},
        "rods[1] does not exist: rods are counted",
    ),
    ({"natural": [{"rod": 0}]}, "has no change: give bend or twist"),
    ({"natural": [{"rod": 0, "bend": [[0, 0], [1, 9]]}]}, "it needs 3 numbers"),
    ({"natural": [{"rod": 0, "twist": [[1, 0], [1, 9]]}]}, "times must increase"),
    ({"pulses": [{"limb": 0, "time": 1}]}, "no rod has a limb: set `limb` of"),
]


@pytest.mark.parametrize(("values", "words"), BAD)
def test_what_no_rod_does_is_refused_in_one_line(values, words, tmp_path):
    with refused_in_one_line("rods.json", words):
        made(tmp_path, **values)


RODS: dict[str, Any] = {
    "unit": "mm",
    "section": {"round": {"diameter": 2}},
    "material": {"modulus": 3e8, "density": 1000},
    "spacing": 5,
    "rods": [{"line": [[0, 0], [50, 0]]}],
    "gravity": [0, -1],
    "duration": 0.05,
}
LIFTED: dict[str, Any] = {
    "rods": [{"line": [[0, 0, 0], [50, 0, 0]], "across": [0, 1, 0]}],
    "gravity": [0, -1, 0],
    "dimension": 3,
}
DRAWN = np.column_stack([np.linspace(0.0, 0.05, 11), np.zeros(11)])
NEWMARK = StepOptions(5e-4, Integrator.NEWMARK, tolerance=1e-13, residual=1e-11)


def ended(folder: Path, content: dict[str, Any], **case: Any) -> Any:
    """The last step of a file."""
    options: dict[str, Any] = {"every": 1000, "options": NEWMARK} | case
    (folder / "rod.json").write_text(json.dumps(content))
    path = str(folder / "rod.json")
    *_, last = RodFileCase(path, damping=Damping(beta=0.0), **options).steps()
    return last


LOAD = {"at": [[50, 0]], "force": [1e-3, -4e-3], "start": 0.005, "duration": 0.021}
SPREAD = [
    {"rod": 0, "force": [0.01, -0.05], "start": 0.005, "duration": 0.02},
    {"rod": 0, "along": 0.02, "across": 0.06},
]
ENDS: list[dict[str, Any]] = [
    {"at": [0, 0], "along": 1e-3, "across": -2e-3},
    {"at": [50, 0], "along": 1e-3, "across": 1e-3, "start": 0.01, "duration": 0.02},
]


@pytest.mark.parametrize(
    ("key", "flat", "raised"),
    [
        ("load", LOAD, {**LOAD, "at": [[50, 0, 0]], "force": [1e-3, -4e-3, 0]}),
        (
            "distributed_loads",
            SPREAD,
            [SPREAD[0] | {"force": [0.01, -0.05, 0]}, SPREAD[1]],
        ),
        ("follower_forces", ENDS, [{**one, "at": [*one["at"], 0]} for one in ENDS]),
    ],
)
def test_loads_move_rods_in_space_as_in_their_plane(key, flat, raised, tmp_path):
    """Across is to the left in the plane, and the way of `across` in space.

    At an end, left of the way out is the way of `across`; at a start it is not.
    """
    content = {**RODS, key: flat}
    plane = ended(tmp_path, content).x
    lifted = ended(tmp_path, content, dimension=3).x
    space = ended(tmp_path, {**content, **LIFTED, key: raised}).x
    assert np.abs(plane - DRAWN).max() > 5e-3
    assert np.abs(lifted[:, :2] - plane).max() <= 1e-10
    assert np.abs(space[:, :2] - plane).max() <= 1e-10


def test_rods_that_are_joined_are_loaded_by_their_own_lengths(tmp_path):
    """Stubs at joints count once: a force per length times that of the rod it is on."""
    content = {
        **RODS, **LIFTED, "gravity": [0, 0, 0], "duration": 0.01,
        "rods": [
            {"line": [[0, 0, 0], [50, 0, 0]]},
            {"line": [[25, 0, 0], [25, 40, 30]]},
        ],
        "distributed_loads": [
            {"rod": 0, "force": [0, 0, 0.01]}, {"rod": 1, "force": [0, 0.02, 0]},
        ],
    }  # fmt: skip
    last = ended(tmp_path, content)
    told = 0.01 * np.array([0.0, 0.02 * 0.05, 0.01 * 0.05])
    rod = RodFileCase(str(tmp_path / "rod.json")).space_world.rod
    assert momentum(rod, last) == pytest.approx(told, abs=1e-11)
