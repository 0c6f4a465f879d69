"""Equilibrium cases, run, written and drawn."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hydra.errors import InstantiationException
from hydra.utils import instantiate
from numpy.testing import assert_allclose

from pipeline.cases.equilibrium import EquilibriumCase
from pipeline.figures.read_runs import Row, draw
from pipeline.runs.summary import summary_lines
from pipeline.steps.simulate import record_steps
from pipeline.terminal import InputError
from tests.helpers.tables import rows_of
from tests.pipeline.shipped_cases import config_of

TRUSS: dict[str, Any] = {  # two bars, an apex that can only go up and down
    "nodes": [[-1, 0, 0], [1, 0, 0], [0, 0, 1]],
    "springs": [[0, 2, 100.0], [1, 2, 100.0]],
    "supports": [[0, 1, 1, 1], [1, 1, 1, 1], [2, 1, 1, 0]],
    "loads": [[2, 0, 0, -1e-3]],
}


def of_file(folder: Path, content: dict[str, Any], **values: Any) -> EquilibriumCase:
    path = folder / "structure.json"
    path.write_text(json.dumps(content))
    config = config_of("loaded_file")
    config["body"]["path"] = str(path)
    case = instantiate({**config, **values}, _convert_="object")
    assert isinstance(case, EquilibriumCase)
    return case


def test_stiffer_links_come_closer_to_rigid_ones_in_proportion(tmp_path):
    """Forces in the table balance, and the figure shows the orders."""
    case = instantiate(config_of("hinged_sheet"), _convert_="object")
    result = dict(record_steps(case, "hinged_sheet", tmp_path))
    rows = rows_of(tmp_path / "steps.csv")
    stiff = [row for row in rows if 0.0 < float(row["compliance"]) < 5e-4]
    assert len(stiff) == 4
    compliance = [float(row["compliance"]) for row in stiff]
    for column in ("away_from_rigid", "force_error"):
        error = [float(row[column]) for row in stiff]
        slope = np.polyfit(np.log(compliance), np.log(error), 1)[0]
        assert abs(slope - 1.0) < 0.1
    assert float(rows[-1]["compliance"]) == 0.0
    assert result["stop"] == "minimum"
    rows = rows_of(tmp_path / "reactions.csv")
    outer = [row for row in rows if row["kind"] in ("support", "spring", "load")]
    force = np.array([[float(row[f"force_{a}"]) for a in "xyz"] for row in outer])
    with np.load(tmp_path / "steps.npz") as arrays:
        r = arrays["r"][-1]
    at = r[[int(row["part"].split()[1]) for row in outer]]
    assert np.abs(force).max() > 0.1
    assert_allclose(force.sum(axis=0), 0.0, atol=1e-8)
    assert_allclose(np.cross(at, force).sum(axis=0), 0.0, atol=1e-8)
    drawn = draw("stiffness", [Row("hinged_sheet", tmp_path)])
    legend = drawn.figure.axes[-1].get_legend()
    assert legend is not None
    texts = [text.get_text() for text in legend.get_texts()]
    assert sum("order 0.9" in text or "order 1.0" in text for text in texts) == 2
    with pytest.raises(InputError, match="one run, not 2"):
        draw("stiffness", [Row("a", tmp_path), Row("b", tmp_path)])


def test_file_of_a_truss_gives_the_forces_of_statics(tmp_path):
    result = record_steps(of_file(tmp_path, TRUSS), "truss", tmp_path)
    rows = {row["part"]: row for row in rows_of(tmp_path / "reactions.csv")}
    # The bars stand at 45 degrees: each carries P / (2 sin 45), k w / 2 each way
    tension = -1e-3 / (2.0 * np.sin(np.pi / 4.0))
    for part in ("link(0, 2)", "link(1, 2)"):
        assert_allclose(float(rows[part]["tension"]), tension, rtol=1e-4)
    assert_allclose(float(rows["node 0"]["force_z"]), 0.5e-3, rtol=1e-6)
    with np.load(tmp_path / "steps.npz") as arrays:
        assert_allclose(arrays["r"][-1][2, 2] - 1.0, -1e-3 / 100.0, rtol=1e-4)
    assert result["negative"] == 0
    assert str(result["moved"]).startswith("node 2 farthest, by 1e-05 to (")
    assert str(result["bears"]).endswith(
        "2) carries the largest compression, 0.0007071"
    )
    drawn = draw(
        "stiffness", [Row("truss", tmp_path)]
    )  # without a target, without a limit
    assert "no convergence to show: give two or more compliances" in [
        text.get_text() for text in drawn.figure.axes[-1].texts
    ]


def test_a_free_motion_out_of_the_plane_is_named_with_its_nodes(tmp_path):
    """A four-bar whose spring holds it in its plane only, unless nodes keep their z."""
    four_bar = {
        "nodes": [[0, 0, 0], [0, 40, 0], [60, 60, 0], [80, 0, 0]],
        "links": [[0, 1], [1, 2], [2, 3]],
        "fixed": [0, 3],
        "springs": [[1, 3, 2.0]],
        "loads": [[2, 5, 0, 0]],
    }
    (free,) = of_file(tmp_path, four_bar).steps()
    assert (free.found.negative, free.found.neutral) == (0, 1)
    assert free.found.neutral_motion == "nodes 1, 2 along z"
    (step,) = of_file(tmp_path, four_bar | {"planar": "z"}).steps()
    assert (step.found.negative, step.found.neutral) == (0, 0)


BALANCED = {  # a spring without length at rest balances the weight at every angle
    "nodes": [[0, 0, 0], [0.8, 0.6, 0], [0, 0.5, 0]],
    "links": [[0, 1]],
    "planar": "z",
    "fixed": [0, 2],
    "springs": [[2, 1, 20.0, 0]],
    "loads": [[1, 0, -10, 0]],
}


LEVEL = {"nodes": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "springs": [[2, 1, 10.0, 0]]}
LOOSE = {  # a spring with a free end, which turns about the other one
    "nodes": [[0, 0, 0], [0.8, 0.6, 0], [2, 0, 0], [3, 0, 0]],
    "springs": [[2, 3, 10.0, 1]],
    "loads": [],
}


@pytest.mark.parametrize(
    ("change", "neutral", "end"),
    [
        ({}, "node 1", [0.8, 0.6, 0]),
        (LEVEL, "node 1 along y", [1, 0, 0]),
        (LOOSE, "nodes 1, 3", [0.8, 0.6, 0]),
        ({"springs": [], "loads": []}, "node 1", [0.8, 0.6, 0]),
        ({"springs": [[2, 1, 20.02, 0]]}, "", [0, 1, 0]),
        ({"springs": [[2, 1, 19.98, 0]]}, "", [0, -1, 0]),
        ({"springs": [], "loads": [[1, 8, 6, 0]]}, "", [0.8, 0.6, 0]),
    ],
)
def test_only_a_rest_without_flat_directions_is_called_stable(
    tmp_path, change, neutral, end
):
    result = record_steps(of_file(tmp_path, BALANCED | change), "arm", tmp_path)
    said = "\n".join(summary_lines({"result": result, "wall_s": 1.0}))
    assert result["neutral"] == (2 if change is LOOSE else bool(neutral))
    if neutral:
        assert f"motions without a change of energy: {neutral}" in said.splitlines()
        assert "by: neutral, after 0 iterations, 1.0 s: a neutral equilibrium" in said
    else:
        assert "by: minimum" in said
        assert "a stable equilibrium is reached" in said
        assert "without a change" not in said
    with np.load(tmp_path / "steps.npz") as arrays:
        assert_allclose(arrays["r"][-1][1], end, atol=1e-6)


def test_contacts_are_listed_beside_the_reactions(tmp_path):
    stopped = {
        **TRUSS,
        "nodes": [*TRUSS["nodes"], [0, 0, 0.5]],
        "radii": [[2, 0.2], [3, 0.2]],
        "supports": [*TRUSS["supports"], [3, 1, 1, 1]],
        "loads": [[2, 0, 0, -30.0]],
    }
    record_steps(of_file(tmp_path, stopped), "stop", tmp_path)
    (contact,) = rows_of(tmp_path / "contacts.csv")
    low, rest = 0.9, np.sqrt(2.0)  # of the apex on the stop, and of a bar
    bar = np.hypot(1.0, low)
    carried = 30.0 - 2.0 * 100.0 * (rest - bar) * low / bar
    assert_allclose(float(contact["force"]), carried, rtol=1e-3)


def test_forces_of_bars_in_a_line_are_left_out_and_said(tmp_path):
    in_line = {
        "nodes": [[0, 0, 0], [1, 0, 0], [2, 0, 0]],
        "dist": [[0, 1, 1.0], [1, 2, 1.0]],
        "supports": [[0, 1, 1, 1], [2, 1, 1, 1]],
        "loads": [[1, 0, 0.3, 0]],
    }
    result = record_steps(of_file(tmp_path, in_line), "line", tmp_path)
    told = {row["part"]: row for row in rows_of(tmp_path / "reactions.csv")}
    assert "nearly redundant" in str(result["warning"])
    assert "largest_tension" not in result
    assert told["link(0, 1)"]["tension"] == told["node 0"]["force_x"] == ""
    assert float(told["node 1"]["force_y"]) == 0.3


def test_file_gives_rest_lengths_and_angles(tmp_path):
    content = {
        "nodes": [[-1, 0, 0], [0, -1, 0], [0, 1, 0], [1, 0, 0]],
        "dist": [[1, 3, 2.0], [2, 3, 2.0]],
        "springs": [[0, 1, 3.0, 1.5]],
        "hinges": [[0, 1, 2, 3, 0.5, 150.0]],
        "supports": [[0, 1, 1, 1], [1, 1, 1, 1], [2, 1, 1, 1]],
    }
    record_steps(of_file(tmp_path, content), "hinge", tmp_path)
    rows = {row["part"]: row for row in rows_of(tmp_path / "reactions.csv")}
    pulled = 3.0 * (np.sqrt(2.0) - 1.5)
    assert_allclose(float(rows["link(0, 1)"]["tension"]), pulled, rtol=1e-9)
    hinge = rows["hinge(0, 1, 2, 3)"]
    assert_allclose(float(hinge["angle_deg"]), 150.0, atol=1e-6)  # free to turn there
    assert abs(float(hinge["moment"])) < 1e-8


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"springs": [[0, 2, -1.0]]}, "stiffness -1.0 of elastic link 0"),
        (
            {"springs": [[0, 7, 1.0]]},
            r"springs\[0\]\[1\] is 7: the structure has nodes 0 to 2",
        ),
        ({"springs": [[0, 2]]}, r"springs\[0\] is \[0, 2\]: it needs 3 or 4 numbers"),
        ({"loads": [[2, 0, 0]]}, r"loads\[0\].*it needs 4 numbers"),
        ({"supports": []}, "along z: add a support"),
        (
            {"radii": [[0, 0.9], [2, 0.9]]},
            "sphere of node 0 and the sphere of node 2 over",
        ),
        ({"stiffness": 3}, "has no key 'stiffness'.*supports, springs, hinges"),
        ({"supports": [[0, 2, 1, 1]]}, "is 2: give 1 where it is held, 0 where it is"),
        ({"supports": [[0, float("nan"), 1, 1]]}, "1 where it is held"),
        ({"hinges": [[0, 1, 2, 0, 1.0, float("nan")]]}, "rest angle nan"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path, change, said):
    with pytest.raises((ValueError, InstantiationException)) as error:
        of_file(tmp_path, {**TRUSS, **change})
    assert re.search(said, str(error.value))


def test_empty_or_negative_compliances_are_refused(tmp_path):
    for wrong, said in (
        ([], r"compliances is \[\]: list finite factors"),
        ([-1.0], r"compliances is \[-1.0\]: list finite"),
        (3, "compliances is 3: list finite factors"),
    ):
        with pytest.raises(InstantiationException, match=said):
            of_file(tmp_path, TRUSS, compliances=wrong)
