"""Structure files that say links, bodies and joints, and starts that contradict."""

import json
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pipeline.cases.morph import MorphCase
from pipeline.cli.mobility_report import report
from pipeline.io.structure_file import (
    OwnStructure,
    document,
    structure_entries,
    structure_file,
)
from pipeline.runs.summary import summary_lines
from pipeline.steps.simulate import record_steps
from pipeline.terminal import InputError
from sim.mechanism.constraint_system import state
from sim.mechanism.mobility import mobility, nearby_mobility
from sim.mechanism.obstacles import Obstacles
from tests.helpers.cases import composed
from tests.helpers.refusals import refused_in_one_line
from tests.helpers.tables import rows_of
from tests.recorded import summary

# A Sarrus linkage: base and top, two chains of two plates, six hinges.
SARRUS: dict[str, Any] = {
    "nodes": [
        [0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0],
        [0, 0, 2], [2, 0, 2], [2, 2, 2], [0, 2, 2],
        [-0.7, 0, 1], [-0.7, 2, 1], [0, -0.6, 1], [2, -0.6, 1],
    ],
    "bodies": [
        [0, 1, 2, 3], [4, 5, 6, 7], [0, 3, 9, 8], [8, 9, 7, 4], [0, 1, 11, 10],
        [10, 11, 5, 4],
    ],
    "joints": [
        {"hinge": {"bodies": [0, 2], "axis": [0, 3]}},
        {"hinge": {"bodies": [2, 3], "axis": [8, 9]}},
        {"hinge": {"bodies": [3, 1], "axis": [7, 4]}},
        {"hinge": {"bodies": [0, 4], "axis": [0, 1]}},
        {"hinge": {"bodies": [4, 5], "axis": [10, 11]}},
        {"hinge": {"bodies": [5, 1], "axis": [4, 5]}},
    ],
    "fixed": [0, 1, 2, 3],
}  # fmt: skip
TRIANGLE = [[0, 0, 0], [1, 1, 0], [2, 0, 0.5]]


def test_a_sarrus_linkage_has_one_freedom_and_one_row_that_its_loop_repeats(tmp_path):
    """Its record keeps the names of its joints."""
    made = structure_entries(**SARRUS, unit="mm")
    found = mobility(made)
    assert (found.mobility, len(found.redundant)) == (1, 1)
    assert nearby_mobility(made) == 1
    named = report(found, made, 1)
    assert any("body" in line for line in named if line.startswith("redundant"))
    path = tmp_path / "structure.json"
    path.write_text(json.dumps(document(made)))
    again = structure_file(str(path))
    assert isinstance(again, OwnStructure)
    assert again.unit == "mm"
    assert again.constraints.owners == made.constraints.owners
    assert np.array_equal(again.constraints.nodes, made.constraints.nodes)
    assert_allclose(again.constraints.constant, made.constraints.constant, rtol=0)
    assert again.bodies == made.bodies


def test_a_hinge_adds_its_nodes_to_a_body_that_has_them_not():
    content = {**SARRUS, "bodies": [list(b) for b in SARRUS["bodies"]]}
    content["bodies"][3] = [7, 4, 8]  # node 9 comes by the hinge
    made = structure_entries(**content)
    assert mobility(made).mobility == 1
    table = made.constraints
    assert any(table.name(i).startswith("hinge 1: ") for i in range(len(table)))
    assert set(made.bodies[3]) == {7, 4, 8, 9}


def test_flat_bodies_of_distances_alone_are_named():
    r = np.array(SARRUS["nodes"], dtype=float)
    pairs = {(i, j) for b in SARRUS["bodies"] for i in b for j in b if i < j}
    rows = [[i, j, float(np.sum((r[i] - r[j]) ** 2))] for i, j in sorted(pairs)]
    fix = [[i, k, SARRUS["nodes"][i][k]] for i in range(4) for k in range(3)]
    made = structure_entries(nodes=SARRUS["nodes"], dist=rows, fix=fix)
    found = mobility(made)
    assert found.mobility > 1
    said = report(found, made, nearby_mobility(made))[-1]
    assert "lie in one plane and are connected by distances only" in said
    assert "`bodies`" in said


def test_reactions_are_told_by_body_and_joint(tmp_path):
    """A bar on a hinge of two axes, held against its target."""
    nodes = [[0, 0, 0], [0, 0, 1], [1, 0, 0], [0, 0, 0], [0, 0, 1], [0, 2, 0]]
    made = structure_entries(
        nodes=nodes,
        bodies=[[0, 1, 2], [3, 4, 5]],
        joints=[{"hinge": {"axis": [0, 1], "other": [3, 4]}}],
        fixed=[0, 1, 2],
        target={"nodes": [[5, 1, 1, 0]]},
    )
    record_steps(MorphCase(made, method="newton", reactions=True), "bar", tmp_path)
    said = [row["constraint"] for row in rows_of(tmp_path / "reactions.csv")]
    assert {name.split(": ")[0] for name in said if ": " in name} == {
        "body 1", "hinge 0",
    }  # fmt: skip


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a length for its square": (
        {"dist": [[0, 1, 1.4142]]},
        "dist(0, 1) is 1.4142, but its nodes are 1.41421 apart (rows like this: 1): "
        "dist needs squared lengths, here 2; use `links`",
    ),
    "another length": (
        {"dist": [[0, 1, 1.0]]},
        "dist(0, 1) is 1, but its nodes are 1.414 apart: dist needs the square, 2; use "
        "`links`",
    ),
    "a link that is too short": (
        {"links": [[0, 1, 1.0]]},
        "link 0-1: dist(0, 1) has the length 1, but its nodes are 1.414 apart",
    ),
    "held elsewhere": (
        {"fix": [[0, 0, 3.0]]},
        "fix(0, x) should be 3 and is 0 at the start",
    ),
    "coincidence of nodes apart": (
        {"joints": [{"spherical": {"at": 0, "other": 1}}]},
        "spherical 0: coin(0, 1) should be 0 and is 1.414 at the start",
    ),
    "no other side": (
        {"joints": [{"hinge": {"axis": [0, 1]}}]},
        "joints[0].hinge: a joint needs `bodies` (the two that it connects) or `other`",
    ),
    "unknown joint": ({"joints": [{"hing": {}}]}, "did you mean hinge?"),
    "unknown key of a joint": (
        {"joints": [{"hinge": {"axs": [0, 1]}}]},
        "joints[0].hinge has no key 'axs': did you mean axis? it has axis, oth",
    ),
    "two joints in one": (
        {"joints": [{"line_point": {"line": [0, 1], "point": 2}, "fixed": {}}]},
        "names fixed, line_point: give one type of joint per entry",
    ),
    "places of nothing": ({"target": {"nodes": None}}, "target"),
    "no joint": ({"joints": [{}]}, "names none: give one type"),
    "axes": ({"fixed": [[0, "q"]]}, "fixed[0] is [0, 'q']: give a node, or [node"),
    "node of a link": ({"links": [[0, 7]]}, "links[0]: node 7 does not exist"),
    "two targets": (
        {"target": {"sphere": {"radius": 1}, "plane": {}}},
        "names plane, sphere: give one shape",
    ),
    "target and goals": (
        {"target": {"nodes": [[0, 0, 0, 0]]}, "leading": [1]},
        "leave out `leading` and `goals`",
    ),
    "an axis of one node": (
        {"joints": [{"hinge": {"bodies": [0, 1], "axis": [2, 2]}}]},
        "joints[0].hinge: the nodes of the axis [2, 2] coincide",
    ),
    "unit": ({"unit": "miles"}, "choose one of mm, cm, m, inch"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_in_one_line(name, tmp_path):
    values, words = BAD[name]
    path = tmp_path / "bad.json"
    path.write_text(json.dumps({"nodes": TRIANGLE, **values}))
    with refused_in_one_line("bad.json", words):
        structure_file(str(path))


def test_a_small_misfit_is_closed_and_said():
    made = structure_entries(
        nodes=TRIANGLE,
        links=[[0, 1, 1.4], [1, 2]],
        target={"nodes": [[2, 2, 0, 0.6]]},
        fixed=[0],
    )
    result = summary(MorphCase(made, method="newton"))
    assert 0.0 < float(result["start_moved"]) < 0.02
    assert "start: nodes moved by up to 0.0" in summary_lines({"result": result})[-1]


def test_a_file_in_yaml_says_the_same_and_keeps_its_comments(tmp_path):
    path = tmp_path / "four_bar.yaml"
    path.write_text(
        "# a four-bar\nnodes: [[0, 0, 0], [1, 2, 0], [4, 3, 0], [4, 0, 0]]\n"
        "links: [[0, 1], [1, 2], [2, 3]]\nfixed: [0, 3]\nplanar: z\nunit: mm\n"
        "target: {circle: {radius: 1.5e0}}\n"
    )
    made = structure_file(str(path))
    assert isinstance(made, OwnStructure)
    assert (mobility(made).mobility, made.unit) == (1, "mm")
    assert MorphCase(made, method="newton").shape is made.target
    path.write_text("nodes: [[0, 0, 0]\nlinks")
    with pytest.raises((ValueError, InputError), match=r"four_bar\.yaml is not YAML"):
        structure_file(str(path))


def test_a_case_may_hold_the_structure_itself(project):
    case = project / "conf/case/mine.yaml"
    case.write_text(
        "# Our own: a link.\ndefaults:\n  - /morph/newton@_here_\n  - _self_\n"
        "structure:\n"
        "  _target_: pipeline.io.structure_file.structure_entries\n"
        "  nodes: [[0, 0, 0], [1, 0, 0]]\n  links: [[0, 1]]\n  fixed: [0]\n"
        "  target: {nodes: [[1, 0, 2, 0]]}\n"
    )
    made = composed(MorphCase, "mine")
    *_, last = made.steps()
    assert_allclose(last.r[1], [0.0, 1.0, 0.0], atol=1e-8)


def test_an_angle_may_be_limited_between_edges_of_rigid_bodies():
    angle = [[0, 1, 4, 5, None, 40.0]]
    made = structure_entries(**{**SARRUS, "ranges": {"angle": angle}})
    assert_allclose(made.ranges.least, [4.0 * np.cos(np.radians(40.0))])


def test_an_angle_outside_its_range_is_told_in_degrees():
    right = [[2.0, 0, 0], [0, 0, 0], [0, 3.0, 0]]
    made = structure_entries(
        nodes=right,
        links=[[0, 1], [1, 2]],
        ranges={"angle": [[1, 0, 1, 2, 20, 80]]},
    )
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - its words are compared
        Obstacles.of(made).check(state(made))
    assert str(caught.value).startswith(
        "angle(1, 0, 1, 2) is 90 degrees at the start, outside its range of 20 to 80 "
        "degrees: widen"
    )
    assert made.ranges.scaled(10.0).shown(0, 0.0) == pytest.approx(90.0)
