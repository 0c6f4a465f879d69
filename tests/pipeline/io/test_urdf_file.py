"""Robots in URDF: where their joints are, how they move, what is refused."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pipeline.cases.morph import MorphCase
from pipeline.cli.app import called
from pipeline.io.structure_file import (
    OwnStructure,
    structure_entries,
    structure_file,
)
from pipeline.io.urdf_file import urdf_entries
from sim.core.arrays import Floats
from sim.mechanism.mobility import mobility

FREE = '<limit lower="-3" upper="3" effort="1" velocity="1"/>'


def joint(
    name: str,
    kind: str,
    parent: str,
    child: str,
    xyz: str = "1 0 0",
    axis: str = "0 0 1",
    more: str = FREE,
    rpy: str = "0 0 0",
) -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="{xyz}" rpy="{rpy}"/>'
        f'<axis xyz="{axis}"/>{more}</joint>'
    )


def robot(links: str, *joints: str) -> str:
    said = "".join(f'<link name="{name}"><inertial/></link>' for name in links)
    return f'<?xml version="1.0"?><robot name="r">{said}{"".join(joints)}</robot>'


def limits(lower: float, upper: float) -> str:
    return f'<limit lower="{lower}" upper="{upper}" effort="1" velocity="1"/>'


# Two arms of 1 m in the plane, with a tip.
ARM = robot(
    "abct",
    joint("shoulder", "revolute", "a", "b", "0 0 0"),
    joint("elbow", "revolute", "b", "c"),
    joint("tip", "fixed", "c", "t"),
)


def test_a_chain_has_as_many_motions_as_joints_and_no_row_too_many():
    whole = robot(
        "abcdef",
        joint("1", "revolute", "a", "b", "0 0 0.3", rpy="0.3 0.2 -0.5"),
        joint("2", "continuous", "b", "c", axis="0 0.6 0.8", more=""),
        joint("3", "prismatic", "c", "d", axis="0 2 0", more=limits(0.1, 0.4)),
        joint("4", "fixed", "d", "e", more=""),
        joint("5", "revolute", "e", "f", axis="1 0 0"),
    )
    made = structure_entries(**urdf_entries(whole))
    found = mobility(made)
    assert (found.mobility, len(found.redundant)) == (4, 0)
    assert len(made.bodies) == 5
    assert len(made.ranges) == 3


def test_frames_turn_about_fixed_x_then_y_then_z():
    """x, y, z of the link point along y, z, x, so (1, 2, 3) is at (3, 1, 2)."""
    right = str(np.pi / 2)
    turned = joint("1", "continuous", "a", "b", "5 0 0", rpy=f"{right} 0 {right}")
    entries = urdf_entries(robot("abt", turned, joint("2", "fixed", "b", "t", "1 2 3")))
    assert_allclose(entries["nodes"][-1], [8.0, 1.0, 2.0], atol=1e-12)
    p, q = entries["joints"][0]["hinge"]["axis"]
    along = np.subtract(entries["nodes"][q], entries["nodes"][p])
    assert_allclose(along / np.linalg.norm(along), [1.0, 0.0, 0.0], atol=1e-12)


def ended(text: str, goal: list[float]) -> tuple[OwnStructure, Floats]:
    """A structure whose last node was sent to a goal, and where its nodes ended."""
    entries = urdf_entries(text)
    tip = len(entries["nodes"]) - 1
    made = structure_entries(**entries, target={"nodes": [[tip, *goal]]})
    *_, last = islice(MorphCase(made, method="newton").steps(), 200)
    assert isinstance(made, OwnStructure)
    return made, last.r


@pytest.mark.parametrize(
    ("lower", "upper", "goal", "bend"),
    [
        (-1.0, 1.0, [0.9, 0.9, 0.0], 1.0),
        (-0.2, 1.0, [0.9, 0.9, 0.0], 1.0),
        (0.3, 1.0, [2.0, 0.0, 0.0], 0.3),
        (-1.0, -0.3, [2.0, 0.0, 0.0], -0.3),
    ],
)
def test_an_elbow_keeps_its_limits_on_either_side(lower, upper, goal, bend):
    """Bent by an angle, the tip is 2 cos(angle / 2) from the shoulder."""
    elbow = joint("elbow", "revolute", "b", "c", more=limits(lower, upper))
    text = ARM.replace(joint("elbow", "revolute", "b", "c"), elbow)
    made, r = ended(text, goal)
    first, second = sorted(min(nodes) for nodes in made.joints)
    upper_arm, forearm = r[second] - r[first], r[-1] - r[second]
    turn = np.arctan2(np.cross(upper_arm, forearm)[2], upper_arm @ forearm)
    assert lower < turn < upper
    assert turn == pytest.approx(bend, abs=0.02)


def test_a_slide_keeps_its_stroke_and_begins_within_it():
    slide = joint("s", "prismatic", "a", "b", "0 0 0", "1 0 0", limits(0.2, 0.5))
    tip = joint("tip", "fixed", "b", "t", "0 0 1")
    made, r = ended(robot("abt", slide, tip), [2.0, 0.0, 1.0])
    assert made.r0[-1, 0] == pytest.approx(0.203)  # a hundredth of the range inside
    assert 0.47 < r[-1, 0] < 0.5
    assert_allclose(r[-1, 1:], [0.0, 1.0], atol=1e-9)


def test_a_robot_is_written_out_as_a_mechanism_to_go_on_with(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("arm.urdf").write_text(ARM)
    assert called(["new", "mechanism", "mine", "--from", "arm.urdf"]) == 0
    text = Path("mine.yaml").read_text()
    assert "bodies: a; b; c and t. joints: shoulder; elbow." in text
    mine, arm = structure_file("mine.yaml"), structure_file("arm.urdf")
    assert_allclose(mine.r0, arm.r0, rtol=0)
    assert mine.bodies == arm.bodies
    assert mobility(mine).mobility == 2
    assert called(["new", "pattern", "other", "--from", "arm.urdf"]) == 2
    Path("bad.urdf").write_text("<sdf/>")
    assert called(["new", "mechanism", "worse", "--from", "bad.urdf"]) == 2
    assert not Path("worse.yaml").exists()


PLAIN = joint("1", "continuous", "a", "b", more="")
BAD = {
    "an SDF": ("<sdf/>", "the file begins with <sdf>: a URDF file begins with <robot>"),
    "no XML": ("robot", "the file is not URDF: syntax error"),
    "xacro": (PLAIN.replace("1 0 0", "${l} 0 0"), "the file is xacro: expand it"),
    "entities": ('<!DOCTYPE s [<!ENTITY a "b">]><robot/>', "defines entities"),
    "floating": (
        robot("ab", joint("f", "floating", "a", "b")),
        "joint 'f' is of type floating: give revolute, continuous, prismatic or fixed",
    ),
    "planar": (robot("ab", joint("f", "planar", "a", "b")), "is of type planar"),
    "mimic": (
        robot("ab", joint("f", "revolute", "a", "b", more='<mimic joint="g"/>')),
        "joint 'f' mimics another",
    ),
    "no limits": (
        robot("ab", joint("f", "revolute", "a", "b", more="")),
        "joint 'f' is revolute with limits 0 to 0: give lower below upper, or make it",
    ),
    "limits of a slide": (
        robot("ab", joint("f", "prismatic", "a", "b", more=limits(1, -1))),
        "joint 'f' is prismatic with limits 1 to -1: give lower below upper",
    ),
    "no axis": (robot("ab", joint("f", "continuous", "a", "b", axis="0 0 0")), "0 0 0"),
    "number": (
        robot("ab", joint("f", "continuous", "a", "b", xyz="1 2")),
        "joint 'f' has xyz='1 2': give three numbers",
    ),
    "not finite": (robot("ab", joint("f", "fixed", "a", "b", rpy="nan 0 0")), "three"),
    "nothing moves": (robot("ab", joint("f", "fixed", "a", "b")), "all joints of"),
    "no joint": (robot("a"), "all joints of the robot are fixed"),
    "unknown link": (robot("a", PLAIN), "names link 'b', which does not exist"),
    "two parents": (
        robot("abc", PLAIN, joint("2", "fixed", "c", "b")),
        "link 'b' has two parent joints, '1' and '2'",
    ),
    "two roots": (robot("abc", PLAIN), "several or no root links (a, c): connect its"),
    "a ring": (
        robot("abcd", PLAIN, *(joint(a + b, "fixed", a, b) for a, b in ("cd", "dc"))),
        "the robot form a closed loop",
    ),
    "two of a name": (robot("aab", PLAIN), "link 'a' appears twice"),
    "no name": (robot("ab", PLAIN.replace('name="1"', "")), "a joint of the URDF file"),
    "no child": (
        robot("ab", PLAIN.replace('<child link="b"/>', "")),
        "joint '1' has no child: name its link",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read_is_refused_in_one_line(name, tmp_path):
    text, words = BAD[name]
    path = tmp_path / "bad.urdf"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"^[^\n]*bad\.urdf: [^\n]*$") as caught:
        structure_file(str(path))
    assert words in str(caught.value)
