"""Rods in space and grounds from rod files: closed forms, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import block_diag

from pipeline.cases.user_rods import RodFileCase
from pipeline.report.moving_shape import MovingShape, read_moving_shape
from pipeline.terminal import InputError
from sim.core.arrays import Floats
from sim.rods.fluid_drag import Fluid
from sim.rods.plane.ground import surface
from sim.rods.plane.rod import GRAVITY
from sim.rods.space.statics import rest
from tests.helpers.refusals import refused_in_one_line

BEAM: dict[str, Any] = {
    "unit": "mm",
    "dimension": 3,
    "section": {"rectangular": {"thickness": 2, "width": 10}},
    "material": {"modulus": 3e8, "density": 1000},
    "spacing": 5,
    "rods": [{"line": [[0, 0, 0], [0, 50, 0]]}],
    "clamps": [{"at": [0, 0, 0]}],
}
FLAT = [[0] * 4] * 4
LENGTH, SIDES = 0.05, (2e-3, 10e-3)


def made(folder: Path, content: dict[str, Any], **case: Any) -> RodFileCase:
    path = folder / "rod.json"
    path.write_text(json.dumps(content))
    return RodFileCase(str(path), **case)


def sunk(case: RodFileCase) -> Floats:
    """(3,) how far the node that was farthest along y is from where it was, m."""
    world = case.space_world
    tip = int(np.argmax(world.rod.nodes[:, 1]))
    return np.asarray(rest(world.rod, world.loads).state.x[tip] - world.rod.nodes[tip])


@pytest.mark.parametrize("upright", [False, True])
@pytest.mark.parametrize("far", [False, True])
def test_a_cantilever_sinks_by_its_weight_as_beams_do(upright, far, tmp_path):
    """q L^4 / (8 EI), whichever end is clamped and side is up, of second order."""
    along, across = SIDES if upright else SIDES[::-1]
    EI = 3e8 * along * across**3 / 12.0
    expected = -1000.0 * SIDES[0] * SIDES[1] * GRAVITY * LENGTH**4 / (8.0 * EI)
    line = [[0, 50, 0], [0, 0, 0]] if far else [[0, 0, 0], [0, 50, 0]]
    rod = {"line": line, "across": [1, 0, 0] if upright else [0, 0, 1]}
    off = []
    for spacing in (5, 2.5):
        content = {**BEAM, "rods": [rod], "spacing": spacing}
        down = sunk(made(tmp_path, content))
        assert abs(down[0]) < 1e-12
        off.append(down[2] / expected - 1.0)
    assert abs(off[1]) < 3e-3
    assert off[0] / off[1] == pytest.approx(4.0, rel=0.05)


def test_a_clamp_gives_by_its_stiffness(tmp_path):
    """A tip load F: F L^3 / (3 EI) + F L^2 / k."""
    load = {"at": [[0, 50, 0]], "force": [0, 0, -0.01]}
    clamps = [{"at": [0, 0, 0], "stiffness": 0.2}]
    content = {**BEAM, "clamps": clamps, "load": load, "gravity": [0, 0, 0]}
    EI = 3e8 * SIDES[1] * SIDES[0] ** 3 / 12.0
    expected = -0.01 * (LENGTH**3 / (3.0 * EI) + LENGTH**2 / 0.2)
    assert sunk(made(tmp_path, content))[2] == pytest.approx(expected, rel=5e-3)


def test_a_section_that_is_built_twisted_turns_evenly_and_is_at_rest(tmp_path):
    """A right-handed quarter about y takes z to x; bent down, it moves aside too."""
    rod = {"line": [[0, 0, 0], [0, 50, 0]], "twist": 90}
    case = made(tmp_path, {**BEAM, "rods": [rod], "gravity": [0, 0, 0]})
    world = case.space_world
    assert_allclose(world.rod.directors[0], [0, 0, 1], atol=1e-12)
    assert_allclose(world.rod.directors[9], [1, 0, 0], atol=1e-12)
    assert_allclose(rest(world.rod, world.loads).state.x, world.rod.nodes, atol=1e-12)
    down = sunk(made(tmp_path, {**BEAM, "rods": [rod]}))
    plain = sunk(made(tmp_path, BEAM))
    assert plain[2] < down[2] < 0.5 * plain[2]  # stiffer where it stands on edge
    assert down[0] < -0.1 * abs(down[2])


EI = 3e8 * np.pi * 1e-12 / 4.0  # of a round rod of 2 mm
GJ = 3e8 / 3.0 * np.pi * 1e-12 / 2.0


def lifted_across(
    folder: Path, spacing: float, lines: list[Any], feet: list[Any], tip: list[float],
    **more: Any,
) -> float:  # fmt: skip
    """How far a planar frame gives at its tip across its plane, m/N."""
    content = {
        **BEAM, "dimension": 2, "section": {"round": {"diameter": 2}},
        "spacing": spacing, "rods": [{"line": line} for line in lines],
        "gravity": [0, 0], "clamps": [{"at": foot} for foot in feet], **more,
    }  # fmt: skip
    world = made(folder, content, dimension=3).space_world
    rod, force = world.rod, np.zeros_like(world.rod.nodes)
    at = np.linalg.norm(rod.nodes[:, :2] - 1e-3 * np.array(tip), axis=1).argmin()
    force[at, 2] = 1e-4
    moved = rest(rod, replace(world.loads, force=force)).state.x - rod.nodes
    return float(moved[at, 2] / 1e-4)


FLAT_SECTION = {"rectangular": {"thickness": 1, "width": 4}}
ACROSS_FLAT = 3e8 * 1e-3 * 4e-3**3 / 12.0
ABOUT_FLAT = 1e8 * 4e-3 * 1e-3**3 * (1.0 / 3.0 - 0.21 / 4.0 * (1.0 - 4.0**-4 / 12.0))


@pytest.mark.parametrize("feet", [(90.0, -90.0), (120.0, 240.0), (150.0, 220.0)])
@pytest.mark.parametrize(
    ("section", "bent", "twisted"),
    [(None, EI, GJ), (FLAT_SECTION, ACROSS_FLAT, ABOUT_FLAT)],
)
def test_a_planar_joint_of_three_gives_across_its_plane_as_a_frame_of_beams(
    section, bent, twisted,
    feet, tmp_path
):  # fmt: skip
    """A stem on two clamped arms: their stiffness against sinking and turning."""
    a, matrix = 0.06, np.zeros((3, 3))
    for angle in np.radians(feet):
        c, s = np.cos(angle), np.sin(angle)
        way = np.array([[1.0, 0.0, 0.0], [0.0, s, -c], [0.0, c, s]])  # slope, twist
        beam = bent * np.array([[12.0, 6.0 * a], [6.0 * a, 4.0 * a * a]]) / a**3
        matrix += way.T @ block_diag(beam, twisted / a) @ way
    arm = np.array([1.0, 0.0, -a])
    expected = arm @ np.linalg.solve(matrix, arm) + a**3 / (3.0 * bent)
    ends = [[60.0 * np.cos(t), 60.0 * np.sin(t)] for t in np.radians([0.0, *feet])]
    lines = [[[0, 0], end] for end in ends]
    own = {"section": section} if section else {}
    off = [
        lifted_across(tmp_path, h, lines, ends[1:], ends[0], **own) / expected - 1.0
        for h in (10, 5, 2.5)
    ]
    assert np.all(np.abs(off) < [5e-3, 5e-4, 2e-4])


SLAB = {
    "unit": "mm",
    "section": {"round": {"diameter": 2}},
    "material": {"modulus": 3e6, "density": 1000},
    "spacing": 5,
    "duration": 0.05,
}


def test_a_slope_and_its_friction_are_those_of_the_file_in_plane_and_space(tmp_path):
    """15 degrees up towards +x, 2 mm high above the origin."""
    flat = {**SLAB, "rods": [{"line": [[0, 40], [40, 40]]}]}
    flat["ground"] = {"angle": 15, "height": 2}
    plane = made(tmp_path, flat, friction=0.3).world
    assert plane.friction == 0.3
    assert plane.ground is not None
    rise = np.tan(np.radians(15.0))
    for x in (0.0, 0.05):
        assert surface(plane.ground.relief, x)[0] == pytest.approx(2e-3 + rise * x)
    rod = {"rods": [{"line": [[0, 0, 40], [40, 0, 40]]}], "dimension": 3}
    contact = made(tmp_path, flat | rod, friction=0.3).space_world.contact
    assert contact is not None
    assert contact.ground is not None
    assert contact.friction == 0.3
    for x in (0.0, 0.05):
        on = contact.ground.normal @ np.array([x, 0.0, 2e-3 + rise * x])
        assert on == pytest.approx(contact.ground.height)


def drawn(case: RodFileCase, last: Any, folder: Path) -> MovingShape:
    """What a page shows of a case at a step."""
    recorder = case.recorder()
    fixed, r = recorder.fixed_arrays(), recorder.arrays(last)["r"]
    np.savez(folder / "steps.npz", r=r[None], **fixed)
    shape = read_moving_shape(folder)
    assert shape is not None
    return shape


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_ground_of_a_rod_in_space_is_drawn_below_it(dimension, tmp_path):
    """A slope of 30 degrees; its lines lie on it, upright, whichever axis was up."""
    rod = [[0, 0, 40], [40, 0, 40]] if dimension == 3 else [[0, 40], [40, 40]]
    content = {**SLAB, "rods": [{"line": rod}], "ground": {"angle": 30}}
    content |= {"dimension": 3} if dimension == 3 else {}
    case = made(tmp_path, content, dimension=3)
    shape = drawn(case, next(iter(case.steps())), tmp_path)
    x, _, z = shape.fixed.reshape(-1, 3).T
    assert_allclose(z - z[0], np.tan(np.radians(30.0)) * (x - x[0]), atol=1e-12)
    assert abs(shape.axes[2 if dimension == 3 else 1] @ [0, 0, 1]) == 1.0


def test_a_table_of_heights_is_the_field_it_was_read_from(tmp_path):
    """Distances from a wave, each way along the grid, at order 4 of its spacing."""
    rod = [{"line": [[30, 30, 60], [60, 30, 60]]}]
    wave = {"amplitude": 6, "wavelength": 200, "start": 40}
    content = {**BEAM, "clamps": [], "rods": rod}
    grounds = [{"wave": wave}]
    for spacing in (10, 5):
        at = np.arange(-100, 201, spacing)
        z = 6.0 * np.sin(2.0 * np.pi * (at[:, None] + 40) / 200) + 0.0 * at
        table = {"x": at.tolist(), "y": at.tolist(), "z": z.tolist()}
        grounds.append({"heights": table})
    turned = {"x": at.tolist(), "y": at.tolist(), "z": z.T.tolist()}
    grounds.append({"heights": turned})
    x = np.array([[0.01 * k, 0.02, 0.013 + 0.001 * k] for k in range(9)])
    found = []
    for ground in grounds:
        model = made(tmp_path, {**content, "ground": ground}).space_world.contact
        assert model is not None
        across = x[:, [1, 0, 2]] if ground is grounds[-1] else x
        far, out = model.bodies[0].distance(across)
        found.append((far, out[:, [1, 0, 2]] if ground is grounds[-1] else out))
    off = [np.abs(far - found[0][0]).max() for far, _ in found]
    assert off[2] < 1e-8
    assert 10.0 < off[1] / off[2] < 25.0
    assert off[3] == pytest.approx(off[2])
    assert_allclose(found[3][1], found[0][1], atol=1e-5)
    flat = {"rods": [{"line": [[0, 40], [40, 40]]}], "ground": grounds[-1]}
    with pytest.raises(InputError, match="heights works in 3D only"):
        made(tmp_path, {**SLAB, **flat})


def test_waves_and_steps_are_grounds_in_the_unit_of_the_file(tmp_path):
    content = {**SLAB, "rods": [{"line": [[0, 40], [40, 40]]}], "duration": 0.02}
    steps = [[-50, 0], [9, 0], [10, 15], [50, 15]]
    case = made(tmp_path, {**content, "ground": {"points": steps}})
    assert case.world.ground is not None
    relief = case.world.ground.relief
    for x, y in [*steps, [-99, 0], [99, 15]]:  # level beyond its ends
        assert surface(relief, 1e-3 * x)[0] == pytest.approx(1e-3 * y, abs=1e-12)
    wave = {"wave": {"amplitude": 6, "wavelength": 200, "start": 50}}
    case = made(tmp_path, {**content, "ground": wave})
    assert case.world.ground is not None
    for x, y in ((0.0, 6.0), (50.0, 0.0), (100.0, -6.0)):
        assert surface(case.world.ground.relief, 1e-3 * x)[0] == pytest.approx(
            1e-3 * y, abs=1e-12
        )


def test_a_rod_of_a_file_comes_to_lie_on_a_bar_and_a_ball(tmp_path):
    """Over their tops, half its thickness higher; both are drawn."""
    ball = {"sphere": {"centre": [60, 0, 0], "radius": 5}}
    bar = {"bar": {"begin": [20, -30, 0], "end": [20, 30, 0], "radius": 5}}
    rod = {"line": [[0, 0, 6.3], [80, 0, 6.3]]}
    content = {
        **SLAB, "dimension": 3, "rods": [rod], "bodies": [bar, ball], "duration": 0.03,
    }  # fmt: skip
    case = made(tmp_path, content, every=1000, friction=1.0)
    *_, last = case.steps()
    over = np.interp([20e-3, 60e-3], last.x[:, 0], last.x[:, 2])
    assert_allclose(over, 6e-3, atol=2e-5)
    shape = drawn(case, last, tmp_path)
    assert_allclose(shape.fixed[..., 2].max(), 5e-3, rtol=1e-3)
    flat = {**SLAB, "rods": [{"line": [[0, 9], [80, 9]]}], "bodies": [bar]}
    with pytest.raises(InputError, match="set `dimension: 3`"):
        made(tmp_path, flat)


def test_a_plate_of_a_file_lifts_a_rod_and_another_tips_it_off(tmp_path):
    """By 5 mm, with its weight; about its middle by more than friction holds."""
    rod = {"line": [[0, 0, 1.0], [80, 0, 1.0]]}
    plate = {"centre": [40, 0, -2], "size": [200, 90, 4]}
    up = {"plate": plate, "moves": [[0, 0, 0, 0], [0.1, 0, 0, 5]]}
    content = {**SLAB, "dimension": 3, "rods": [rod], "bodies": [up], "duration": 0.12}
    case = made(tmp_path, content, every=1000, friction=0.3)
    *_, last = case.steps()
    assert_allclose(last.x[:, 2], 6e-3, atol=1e-6)
    ledger, weight = last.moving.ledger, float(case.space_world.rod.mass.sum()) * 9.81
    assert_allclose(ledger.given - ledger.impact, weight * 5e-3, rtol=1e-3)
    shape = drawn(case, last, tmp_path)
    with np.load(tmp_path / "steps.npz") as kept:
        edges, of_plate = kept["edges"], kept["r"][0][kept["body_edges"]]
    assert_allclose(of_plate[..., 2].max(), 5e-3, atol=1e-12)
    assert len(shape.links) > len(edges)
    tip = {"plate": plate, "turns": [[0, 0], [0.1, 25]], "axis": [0, 1, 0]}
    tipped = {**content, "bodies": [tip], "duration": 0.2}
    *_, last = made(tmp_path, tipped, every=1000, friction=0.3).steps()
    assert last.v[:, 0].mean() > 0.0
    assert last.v[:, 2].mean() < 0.0


PLATE = {"plate": {"centre": [40, 0, -20], "size": [200, 90, 4]}}

BALL = {"sphere": {"centre": [0, 90, 0], "radius": 5}, "about": [0, 0]}
BAD: list[tuple[dict[str, Any], str]] = [
    (
        {"rods": [{"line": [[0, 0], [50, 0]]}]},
        "line[0] is [0, 0]: give x, y",
    ),
    ({"dimension": 4}, "choose one of 2, 3"),
    (
        {"rods": [{"line": [[0, 0, 0], [0, 0, 0]]}]},
        "consecutive points of a line coincide",
    ),
    (
        {"rods": [{"curve": [[0, 0, 0], [0, 20, 0], [0, 0, 0]]}]},
        ", 0) mm, turns back by 180 degrees",
    ),
    (
        {"dimension": 2},
        "[0, 0, 0]: give x and y in the plane, or set `dimension: 3`",
    ),
    ({"hinges": [[0, 0, 0]]}, "only one rod ends at (0, 0, 0) mm, but a hinge"),
    ({"hinges": [[9, 0, 0]]}, "hinges: no rod has a node at (9, 0, 0) mm"),
    (
        {
            "rods": [{**BEAM["rods"][0], "limb": 0}],
            "pulses": [{"limb": 1, "time": 1}],
        },
        "limb 1 does not exist: choose 0 to 0",
    ),
    (
        {"bodies": [{"sphere": {"centre": [0, 25, 0], "radius": 1}}]},
        "penetrates bodies[0] by",
    ),
    ({"bodies": [{}]}, "bodies[0] names none: give one of sphere, bar and plate"),
    (
        {"bodies": [{"plate": {"centre": [0, 0, -9], "size": [9, 9, 0]}}]},
        "bodies[0].plate.size[2] must be a positive number",
    ),
    (
        {"bodies": [{**PLATE, "about": [0, 0, 0]}]},
        "has `about` but no `turns`",
    ),
    (
        {"bodies": [{**PLATE, "turns": [[0, 0], [1, 9]]}]},
        "bodies[0]: turns need an axis",
    ),
    ({"bodies": [{**PLATE, "moves": [[0, 0, 0]]}]}, "bodies[0].moves[0] is [0, 0, 0]"),
    (
        {"ground": {"heights": {"x": [0, 1, 2, 3], "y": [0, 1], "z": [[0, 0]] * 4}}},
        "heights z has 4 rows for 4 x and 2 y: give one row per x",
    ),
    (
        {"ground": {"heights": {"x": [0, 1, 1, 3], "y": [0, 1, 2, 3], "z": FLAT}}},
        "heights: x must increase",
    ),
    ({"ground": {"angle": 85}}, "angle is 85: choose -80 to 80"),
    ({"ground": {"angle": 5, "points": [[0, 0], [1, 1]]}}, "has two grounds"),
    ({"clamps": [{"at": [0, 25, 0]}]}, "(0, 25, 0) mm is not at the end"),
    ({"pins": [[9, 9, 9]]}, "no node lies at (9, 9, 9) mm: the nearest"),
    (
        {"load": {"at": [[0, 50, 0]], "force": [0, 1], "duration": 1}},
        "is [0, 1]: give x, y and z in space",
    ),
    (
        {"load": {"at": [[0, 50, 0]], "force": [0, 0, 1], "duration": -1}},
        "load.duration must be 0 or more, not -1",
    ),
    (
        {"follower_forces": [{"at": [0, 0, 0], "along": 1}]},
        "at (0, 0, 0) mm needs a free end, but 2 edges meet there",
    ),
    ({"follower_forces": [{"at": [0, 50], "along": 1}]}, "]: give x, y and z"),
    (
        {"bodies": [{**BALL, "turns": [[0, 0], [1, 9]], "axis": [0, 0, 1]}]},
        "bodies[0].about is [0, 0]: give x, y and z",
    ),
    ({"gravity": [0, 1]}, "gravity is [0, 1]: give x"),
    (
        {"distributed_loads": [{"rod": 1, "along": 1}]},
        "rod 1 does not exist: choose 0 to 0",
    ),
    (
        {"distributed_loads": [{"rod": 0, "force": [0, 1]}]},
        "is [0, 1]: give x, y and z in space",
    ),
    ({"rods": BEAM["rods"] * 2}, "rods[1] lies on rods[0] from (0, 0, 0) mm to"),
    (
        {"rods": [{**BEAM["rods"][0], "across": [0, 1, 0]}]},
        "rods[0]: rod: the first director",
    ),
    ({"material": {"modulus": 1e6, "density": 99, "poisson": 0.7}}, "poisson must be"),
    (
        {"section": {"round": {"diameter": 1, "bore": 2}}},
        "is not smaller than the outer radius",
    ),
    ({"spacing": 50}, "a chain needs 3 nodes or more, not 2"),
]


@pytest.mark.parametrize(("values", "words"), BAD)
def test_what_rods_in_space_cannot_say_is_refused_in_one_line(values, words, tmp_path):
    with refused_in_one_line("rod.json", words):
        made(tmp_path, {**BEAM, **values})


def test_a_section_that_turns_far_from_edge_to_edge_is_refused(tmp_path):
    """Half a turn an edge left no stiffness in bending, a whole one was lost."""
    for twist, told in ((720, "102.9"), (1260, "180"), (2520, "360")):
        rods = [{"line": [[0, 0, 0], [0, 40, 0]], "twist": twist}]
        with pytest.raises(ValueError, match=rf"rods\[0\]: twist turns .* by {told} "):
            made(tmp_path, {**BEAM, "rods": rods})


def test_twist_and_across_are_refused_in_the_plane(tmp_path):
    rod = {"line": [[0, 0], [50, 0]], "twist": 5}
    with pytest.raises(InputError, match=r"rods\[0\]\.twist works in 3D only"):
        made(tmp_path, {**SLAB, "rods": [rod]})


def test_a_fluid_resists_rods_in_space_and_those_that_leave_their_plane(tmp_path):
    fluid = {"fluid": {"along": 1.0, "across": 2.0}}
    assert made(tmp_path, BEAM | fluid).space_world.fluid == Fluid(1.0, 2.0)
    flat = BEAM | {"dimension": 2, "rods": [{"line": [[0, 0], [0, 50]]}], "clamps": []}
    case = made(tmp_path, flat | fluid, dimension=3)
    assert case.space_world.fluid == Fluid(1.0, 2.0)
