"""A case of patterns of two materials, run and refused."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hydra.errors import InstantiationException

from pipeline.cases.loaded import loaded_file
from pipeline.cases.pattern import PatternCase
from pipeline.steps.recording import record_steps
from sim.morph.statics.growth import GrowingStructure
from tests.helpers.cases import changed
from tests.helpers.tables import rows_of

ROOT = Path(__file__).parents[3]
build = partial(changed, PatternCase, "pattern_strip")
LAW, OTHER = [[0, 0, 0], [1, 0, 0]], [[0, 0, 0], [1, 0.1, 0]]
RODS: dict[str, Any] = {  # two in a line, whose end shall be where the second grows
    "nodes": [[0, 0, 0], [1, 0, 0], [3, 0, 0]],
    "springs": [[0, 1, 7.0], [1, 2, 5.0]],
    "fixed": [0, [1, "yz"], [2, "yz"]],
    "growth": [{"springs": [i], "strain": LAW, "other": OTHER} for i in (0, 1)],
    "target": {"nodes": [[1, 1, 0, 0], [2, 3.2, 0, 0]]},
}


def loaded(name: str) -> dict[str, str]:
    """The entry of a case for a file."""
    path = f"conf/structure/elastic/{name}.yaml"
    return {"_target_": "pipeline.cases.loaded.loaded_file", "path": path}


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_the_part_that_grew_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rods.json"
    path.write_text(json.dumps(RODS))
    case = PatternCase(loaded_file(str(path)), [1.0])
    result = record_steps(case, "pattern_strip", tmp_path)
    rows = rows_of(tmp_path / "pattern.csv")
    assert [row["parts"] for row in rows] == ["springs 0", "springs 1"]
    assert [row["material"] for row in rows] == ["first", "second"]
    assert result["F"] == result["F_rounded"] < 1e-12
    assert result["stop"] == "reached"  # no single change is tried
    assert (result["of_second"], result["growths"]) == (1, 2)
    with np.load(tmp_path / "steps.npz") as arrays:
        assert arrays["share"][-1].tolist() == [0.0, 1.0]


def test_the_shipped_strip_may_be_of_two_materials_at_its_value() -> None:
    case = build()
    assert len(case.chosen) == 16
    assert len(case.aims) == 1
    first = next(case.steps())
    assert first.share.tolist() == [0.5] * 16


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"values": []}, "list values of the field"),
        ({"values": [70.0]}, "the field is 70, and the table goes from 20 to 60"),
        ({"values": [30.0, 60.0]}, "values are 2 and targets 1: give a value of"),
        ({"seed": -1}, "seed is -1: give a whole number from 0"),
        ({"sharpness": 0.5}, "sharpness must be 1 or more"),
        ({"max_steps": 0}, "max_steps must be"),
        (
            {"body": loaded("growing_strip")},
            "no growth of the body names an `other` material",
        ),
        (
            {"body": loaded("opening_flap")},
            "values are 1 and targets 0",
        ),
    ],
)
def test_what_is_no_search_for_a_pattern_is_refused(
    values: dict[str, Any], words: str
) -> None:
    with pytest.raises(InstantiationException, match=words):
        build(**values)


def test_the_first_material_is_that_of_the_file() -> None:
    body = loaded_file("conf/structure/elastic/patterned_strip.yaml")
    assert isinstance(body, GrowingStructure)
    assert np.ptp(body.strains(60.0)[0]) == 0.0
