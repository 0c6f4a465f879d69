"""Rod files: the shipped ones, and what is wrong with others in one line."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.cases.user_rods import RodFileCase
from pipeline.io.rod_file import read_rod
from sim.rods.plane.rod import PASSIVE
from sim.rods.plane.world import Damping, Fluid
from tests.helpers.refusals import refused_in_one_line

SHIPPED = sorted((Path(__file__).parents[3] / "conf" / "robot").glob("*.yaml"))
BEAM = """\
unit: mm
section: {rectangular: {thickness: 2, width: 10}}
material: {modulus: 3.0e6, density: 1000}
spacing: 5
rods:
  - line: [[0, 0], [50, 0]]
clamps: [{at: [0, 0]}]
"""
CLAMP = "at: [0, 0]"


def drawn(path: Path) -> Any:
    """The rods of a file in the plane."""
    return read_rod(str(path)).world["rod"]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_shipped_robots_are_drawn(path):
    case = RodFileCase(str(path))
    rod = case.space_world.rod if case.in_space else case.world.rod
    assert 20 < len(rod.nodes) < 100
    assert rod.rest_length.max() < 6e-3
    assert next(iter(case.steps())).time == 0.0


def test_lengths_are_in_the_unit_and_limbs_are_those_of_the_pulses(tmp_path):
    """And a finer robot has nodes twice as close."""
    path = tmp_path / "beam.yaml"
    path.write_text(BEAM)
    mm = drawn(path)
    coarse, fine = (RodFileCase(str(path), refinement=f).world.rod for f in (1.0, 2.0))
    assert fine.rest_length[0] == pytest.approx(coarse.rest_length[0] / 2)
    with pytest.raises(ValueError, match="refinement must be positive"):
        RodFileCase(str(path), refinement=0.0)
    path.write_text(BEAM.replace("unit: mm", "unit: inch"))
    inch = drawn(path)
    assert inch.nodes == pytest.approx(25.4 * mm.nodes, abs=1e-15)
    assert inch.bending == pytest.approx(25.4**4 * mm.bending, rel=1e-12)
    path = next(p for p in SHIPPED if p.stem == "gripper")
    assert set(drawn(path).edge_limb.tolist()) == {PASSIVE, 0, 1}
    assert read_rod(str(path)).world["schedule"].limbs == [0, 1]


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        (
            "thikness: 2",
            "thickness: 2",
            "'thikness': did you mean thickness? it has thickness, width",
        ),
        ("  - {}", "  - line: [[0, 0], [50, 0]]", "give one of line, arc and curve"),
        ("spacing: 0", "spacing: 5", "spacing must be a positive number, not 0"),
        ("spacing: 0.001", "spacing: 5", "more than 5000 nodes: increase the spacing"),
        ("[[0, 0], [1.0e+60, 0]]", "[[0, 0], [50, 0]]", "is 1e+60: give a number up"),
        (
            "thickness: 1.0e-90",
            "thickness: 2",
            "thickness is 1e-90: give 1e-50 or more",
        ),
        ("section: {}", "section: {rectangular: {thickness: 2, width: 10}}", "round"),
        (
            "at: [9, 9]",
            CLAMP,
            "no node lies at (9, 9) mm: the nearest is 9.06 mm away, at (10, 0) mm",
        ),
        ("line: [[0, 0], [0, 0]]", "line: [[0, 0], [50, 0]]", "coincide: remove one"),
        ("ground: {height: 1}", "", "node 0 at (0, 0) mm starts 1 mm below"),
        ("markers: {tip: [9, 9]}", "", "markers: tip is 9 mm from the"),
        ("markers: {a b: [9, 0]}", "", "'a b': begin with a letter"),
        ("unit: foot", "unit: mm", "choose one of mm, cm, m, inch"),
        ("fluid: {along: 1, across: -1}", "", "across"),
        ("distributed_loads: [{rod: 1, across: 2}]", "", "rod 1 does not exist: choo"),
        ("distributed_loads: [{rod: 0}]", "", "give force, along or acr"),
        ("follower_forces: [{at: [0, 0], along: 1}]", "", "needs a free end"),
        ("at: [0, 0], moves: [[0, 5, 0]]", CLAMP, "the first row is 5 mm and 0"),
        (
            "arc: {centre: [0, 0], radius: 9, start: 5, end: 5}",
            "line: [[0, 0], [50, 0]]",
            "turn by more than 0",
        ),
        (f"- limb: {10**20}\n    line", "- line", "rods[0].limb must be below 1000"),
    ],
)
def test_what_is_wrong_is_told_with_the_file_and_the_place(
    wrong, right, said, tmp_path
):
    path = tmp_path / "beam.yaml"
    path.write_text(BEAM.replace(right, wrong) if right else f"{BEAM}{wrong}\n")
    with refused_in_one_line(str(path), said):
        RodFileCase(str(path))


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (
            "[5.000024, 0]",
            "the end of rods[1] is 2.4e-05 cm from that of rods[0]: to join",
        ),
        (
            "[2.5, 0.25]",
            "the end of rods[1] is 0.25 cm from a node of rods[0]: to join",
        ),
    ],
)
def test_rods_that_miss_each_other_are_named_with_the_gap(start, said, tmp_path):
    path = tmp_path / "two.yaml"
    path.write_text(
        "unit: cm\nsection: {round: {diameter: 0.2}}\nspacing: 0.5\n"
        "material: {modulus: 1.0e6, density: 1000}\n"
        f"rods: [{{line: [[0, 0], [5, 0]]}}, {{line: [{start}, [5, 5]]}}]\n"
    )
    with pytest.raises(ValueError, match=re.escape(said)):
        read_rod(str(path))
    path.write_text(path.read_text().replace(start, "[5, 0]"))
    assert drawn(path).pieces == 1


@pytest.mark.parametrize(
    "rods",
    [
        "line: [[50, 0], [20, 0.001]]",
        "line: [[50, 0], [22, 0]]",
        "line: [[50, 0], [90, 20]]\n  - line: [[50, 0], [22, 0]]",
        "line: [[50, 0], [90, 20]]\n  - line: [[50, 0], [72, 11]]",
    ],
)
def test_rods_that_lie_on_each_other_are_refused_by_the_place(rods, tmp_path):
    path = tmp_path / "back.yaml"
    path.write_text(BEAM.replace("[50, 0]]\n", f"[50, 0]]\n  - {rods}\n"))
    words = r"rods\[\d\] and rods\[\d\] start in the same direction at \(50, 0\) mm: "
    with pytest.raises(ValueError, match=words) as caught:
        read_rod(str(path))
    assert "\n" not in str(caught.value)
    path.write_text(f"{path.read_text()}hinges: [[50, 0]]\n")
    assert drawn(path).pieces == 1


@pytest.mark.parametrize("degrees", [0.1, 1.0, 3.0, 10.0])
def test_a_hairpin_however_narrow_swings_with_all_its_energy(degrees, tmp_path):
    high = 40.0 * np.tan(np.radians(degrees))
    path = tmp_path / "back.yaml"
    path.write_text(
        BEAM.replace("[50, 0]]\n", f"[50, 0]]\n  - line: [[50, 0], [10, {high}]]\n")
    )
    case = RodFileCase(str(path), damping=Damping(beta=0.0), duration=0.5)
    steps = list(case.steps())
    moved = max(step.kinetic for step in steps)
    assert moved > 1e-6
    assert np.ptp([step.energy for step in steps]) < 1e-4 * moved


def test_a_point_of_a_curve_that_another_rod_has_joins_them(tmp_path):
    """A mast on an arch, at a point through which it is drawn and no division falls."""
    rods = (
        "rods:\n  - curve: [[0, 0], [20, 31], [50, 40], [79, 31], [100, 0]]\n"
        "  - line: [[20, 31], [20, 60]]\n"
    )
    path = tmp_path / "mast.yaml"
    path.write_text(BEAM.replace("rods:\n  - line: [[0, 0], [50, 0]]\n", rods))
    rod = drawn(path)
    away = np.linalg.norm(rod.nodes - [0.020, 0.031], axis=1)
    node = int(away.argmin())
    assert away[node] < 1e-12
    assert np.count_nonzero(rod.edges == node) == 3
    path.write_text(path.read_text().replace("[[20, 31], [20", "[[21, 32], [20"))
    with pytest.raises(
        ValueError, match="to join them, give both the same point in line"
    ):
        read_rod(str(path))


def test_loads_that_are_spread_or_turn_and_ends_that_turn_are_read(tmp_path):
    path = tmp_path / "beam.yaml"
    way = "turns: [[0, 0], [2, 90]], moves: [[1, 0, 0], [2, 5, -1]]"
    path.write_text(
        f"{BEAM.replace(CLAMP, f'{CLAMP}, {way}')}distributed_loads:\n"
        "  - {rod: 0, force: [0, -2], along: 3, across: 4, duration: 0.5}\n"
        "follower_forces: [{at: [50, 0], along: -0.1, across: 0.2, start: 0.1}]\n"
        "fluid: {along: 1, across: 2}\n"
    )
    world = RodFileCase(str(path)).world
    (turn,) = world.turning
    ends, way = world.rod.nodes[world.rod.edges[turn.edge]], turn.motion
    assert ends == pytest.approx(np.array([[-0.005, 0.0], [0.0, 0.0]]))
    assert way.about == pytest.approx((0.0, 0.0, 0.0))
    moves = np.array([[1.0, 0.0, 0.0, 0.0], [2.0, 5e-3, -1e-3, 0.0]])
    assert np.array(way.moves) == pytest.approx(moves)
    assert (way.times, way.angles) == ([0.0, 2.0], [0.0, pytest.approx(0.5 * np.pi)])
    (load,), (follower,) = world.distributed_loads, world.follower_forces
    assert load.edges == list(range(10))  # not that behind the clamp
    assert (load.force, load.start, load.duration) == ((0.0, -2.0), 0.0, 0.5)
    assert (load.along, load.across) == (3.0, 4.0)
    assert world.rod.nodes[follower.node] == pytest.approx([0.05, 0.0])
    assert (follower.along, follower.across, follower.start) == (-0.1, 0.2, 0.1)
    assert world.fluid == Fluid(1.0, 2.0)


def test_a_short_rod_that_is_clamped_holds_another_in_its_middle(tmp_path):
    """Half of such a rod sinks as one that is clamped there does, to 1 %."""
    ends = []
    for rods, clamp in (
        ("[[0, 0], [50, 0]]", "[0, 0]"),
        ("[[-50, 0], [50, 0]]\n  - line: [[0, 0], [0, 5]]", "[0, 5]"),
    ):
        path = tmp_path / f"{len(ends)}.yaml"
        text = BEAM.replace("[[0, 0], [50, 0]]", rods)
        path.write_text(
            text.replace("clamps: [{at: [0, 0]}]", f"clamps: [{{at: {clamp}}}]")
        )
        *_, last = RodFileCase(str(path), duration=0.2).steps()
        ends.append(last.x[np.argmax(last.x[:, 0])])
    assert ends[0][1] < -5e-3
    assert ends[1] == pytest.approx(ends[0], rel=0.01)


@pytest.mark.parametrize("more", ["", "dimension: 3"])
def test_a_marker_is_a_point_of_an_axis_between_nodes_too(more, tmp_path):
    path, given = tmp_path / "beam.yaml", ("[50, 0]", "[0, 0]", "tip: [47, 1]")
    if more:
        given = ("[50, 0, 0]", "[0, 0, 0]", "tip: [47, 1, 0]")
    text = BEAM.replace("[50, 0]", given[0]).replace("[0, 0]", given[1])
    path.write_text(f"{text}markers: {{{given[2]}}}\n{more}\n")
    case = RodFileCase(str(path))
    recorder = case.recorder()
    first = next(iter(case.steps()))
    recorder.see(first)
    row = recorder.row(first)
    assert row["tip_x_mm"] == pytest.approx(47.0)
    assert row["tip_y_mm"] == pytest.approx(0.0, abs=1e-12)
    assert ("tip_z_mm" in row) == bool(more)
