"""Bodies and ranges in structure files."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pipeline.cases.morph import MorphCase
from pipeline.io.structure_file import document, structure_file
from pipeline.terminal import InputError
from tests.recorded import recorded, summary

ELBOW: dict[str, Any] = {
    "nodes": [[0, 0, 0], [1, 0, 0], [1.6, 0.8, 0], [1.0, 1.6, 0]],
    "dist": [[0, 1, 1.0], [1, 2, 1.0]],
    "fix": [[0, 0, 0.0], [0, 1, 0.0], [0, 2, 0.0], [1, 1, 0.0], [1, 2, 0.0]],
    "leading": [3],
    "goals": [[0.2, 0.05, 0.0]],
    "radii": [[0, 0.1], [3, 0.2]],
    "capsules": [[0, 1, 0.1], [1, 2, 0.05]],
    "triangles": [[1, 2, 3, 0.02]],
    "ranges": {"length": [[2, 3, 0.8, 1.2]], "angle": [[0, 1, 1, 2, 20.0, 100.0]]},
}


def written(path: Path, **values: Any) -> str:
    path.write_text(json.dumps({**ELBOW, **values}))
    return str(path)


def test_bodies_and_ranges_are_read_and_written_alike(tmp_path):
    made = structure_file(written(tmp_path / "elbow.json"))
    assert made.solids.sphere[:, 0].tolist() == [0, 3]
    assert made.solids.capsule_radius.tolist() == [0.1, 0.05]
    assert made.solids.panel_thickness.tolist() == [0.02]
    assert_allclose(made.ranges.least, [0.64, np.cos(np.deg2rad(100.0))])
    assert_allclose(made.ranges.most, [1.44, np.cos(np.deg2rad(20.0))])
    path = tmp_path / "again.json"
    path.write_text(json.dumps(document(made)))
    again = structure_file(str(path))
    for one, other in zip(made.solids.kinds, again.solids.kinds, strict=True):
        assert_allclose(one[1], other[1])
        assert_allclose(one[3], other[3], rtol=0)
    assert_allclose(again.ranges.least, made.ranges.least, rtol=1e-15)
    assert_allclose(again.ranges.most, made.ranges.most, rtol=1e-15)
    assert np.array_equal(again.ranges.table.nodes, made.ranges.table.nodes)


def test_a_limited_structure_ends_within_its_limits(tmp_path):
    case = MorphCase(structure_file(written(tmp_path / "e.json")), method="newton")
    (*_, last), recorder = recorded(case)
    result = recorder.summary()
    assert result["stop"] == "gradient"
    assert result["overlaps"] == 0
    assert int(result["contacts"]) >= 1
    rows = [dict(row) for row in recorder.tables()["contacts.csv"]]
    assert min(float(row["room"]) for row in rows) >= 0.0
    assert min(float(row["force"]) for row in rows) >= 0.0
    d, u = last.r[1] - last.r[0], last.r[2] - last.r[1]
    assert 20.0 - 1e-6 <= np.rad2deg(np.arccos(d @ u)) <= 100.0 + 1e-6
    assert 0.8 - 1e-9 <= np.linalg.norm(last.r[3] - last.r[2]) <= 1.2 + 1e-9


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"radii": [[0, 0.1, 3]]}, "radii[0] is [0, 0.1, 3]: it needs 2 numbers"),
        ({"radii": 3}, "radii must be a list, not 3"),
        ({"capsules": [[0, 1, 0.0]]}, "has the radius 0: it must be positive"),
        ({"ranges": []}, "must be a mapping, not []: its keys are length, angle"),
        ({"ranges": {"width": []}}, "ranges has no key 'width': it has length"),
        (
            {"ranges": {"length": [[2, 3, 1.3, 0.7]]}},
            "ranges.length[0] is empty: least 1.3 is not below most 0.7",
        ),
        (
            {"ranges": {"angle": [[0, 1, 1, 2, 100.0, 20.0]]}},
            "ranges.angle[0] is empty: least 100 is not below most 20",
        ),
        (
            {"ranges": {"length": [[2, 3, -1, 2]]}},
            "ranges.length[0][2] must be 0 or more, not -1",
        ),
        (
            {"ranges": {"length": [[2, 3, 1, 1e300]]}},
            "must be 1e+100 or less, not 1e+300",
        ),
        (
            {"ranges": {"angle": [[0, 1, 1, 2, 0, 200]]}},
            "ranges.angle[0][5] must be 180 or less, not 200",
        ),
        (
            {"ranges": {"angle": [[1, 2, 2, 3, 0, 90]]}},
            "the edge 2-3, which is not a link",
        ),
        (
            {"ranges": {"angle": [[0, 1, 1, 9, 0, 90]]}},
            "ranges.angle[0][3] is 9: the structure has nodes 0 to",
        ),
        (
            {"ranges": {"length": [[0, -1, 1, 2]]}},
            "ranges.length[0][1] is -1: the structure has nodes 0 to 3",
        ),
    ],
)
def test_impossible_bodies_and_ranges_are_refused(values, said, tmp_path):
    path = written(tmp_path / "bad.json", **values)
    with pytest.raises((ValueError, InputError), match=r"bad\.json") as caught:
        structure_file(path)
    assert said in str(caught.value)


def test_a_start_that_is_not_allowed_is_refused(tmp_path):
    radii = [[0, 0.1], [3, 1.6]]
    structure = structure_file(written(tmp_path / "elbow.json", radii=radii))
    said = (
        "the sphere of node 3 and the capsule of nodes 1 and 2 overlap at the start"
        ": they are 1 apart and need 1.65: take smaller radii"
    )
    with pytest.raises(ValueError, match=re.escape(said)):
        MorphCase(structure, method="newton")


PLATES: dict[str, Any] = {
    "nodes": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.5, -0.7, 0.7], [1, -0.7, 0.7]],
    "bodies": [[0, 1, 2], [0, 1, 3, 4]],
    "fixed": [0, 1, 2],
    "unit": "mm",
    "leading": [3],
    "goals": [[0.5, 0.7, 0.7]],
}


def limits_at_end(folder: Path, content: dict[str, Any]) -> str:
    path = folder / "limits.json"
    path.write_text(json.dumps(content))
    ends = summary(MorphCase(structure_file(str(path)), method="newton"))
    return str(ends.get("limits", ""))


def test_a_limit_that_is_reached_names_its_joint(tmp_path):
    """A hinge between 80 and 150 degrees, drawn to 45, and what it is without."""
    hinge = {"hinge": {"bodies": [0, 1], "axis": [0, 1]}}
    angle = [0, 2, 1, 4, 80.0, 150.0]
    content = {**PLATES, "joints": [hinge], "ranges": {"angle": [angle]}}
    told = "hinge 0 angle(0, 2, 1, 4) at its lower limit of 80 degrees"
    assert limits_at_end(tmp_path, content) == told
    length = {"length": [[2, 3, 1.0, None]]}
    told = "hinge 0 length(2, 3) at its lower limit of 1 mm"
    assert limits_at_end(tmp_path, {**content, "ranges": length}) == told
    told = "length(2, 3) at its lower limit of 1 mm"
    assert limits_at_end(tmp_path, {**PLATES, "ranges": length}) == told


@pytest.mark.parametrize(
    ("goal", "word"), [(0.7, "lower limit of 1.2 mm"), (-1.4, "upper limit of 2 mm")]
)
def test_a_joint_that_keeps_a_distance_is_named_at_its_limit(goal, word, tmp_path):
    joints = [
        {"hinge": {"bodies": [0, 1], "axis": [0, 1]}},
        {"limited": {"nodes": [2, 3], "least": 1.2, "most": 2.0}},
    ]
    goals = [[0.5, goal, abs(goal) if goal > 0 else -0.2]]
    content = {**PLATES, "joints": joints, "goals": goals}
    told = limits_at_end(tmp_path, content)
    assert told == f"limited 1 (nodes 2 and 3) at its {word}"
