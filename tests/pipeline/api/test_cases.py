"""A case made in Python has the configuration, and so the key, of its values."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import morphtrack as mt
from pipeline.api.cases import described
from pipeline.config.build_objects import build
from pipeline.runs.case_job import planned
from pipeline.terminal import InputError
from sim.mechanism.targets.analytic_surfaces import Circle
from tests.pipeline.shipped_cases import NAMES, config_of

STRUCTURE = {"nodes": [[0, 0, 0], [1, 0, 0], [2, 0, 0.5]], "links": [[0, 1], [1, 2]]}
WAITING = ("fold_file", "loaded_file", "mechanism_motion", "rod_file", "structure_file")


def key(case: Any) -> str:
    config = {"case": described(case, "case"), "record_every": 1}
    return planned("any", config).key


def sheet(**others: Any) -> Any:
    values = {"rows": 1, "columns": 1, "variation": 0.1, "seed": 1} | others
    return mt.mechanisms.triangle_sheet(**values)


def morph(structure: Any) -> Any:
    return mt.Morph(structure, target=mt.targets.Cylinder(radius=2.0))


def test_a_morph_has_the_key_of_the_same_morph_by_hydra():
    aim = mt.targets.Cylinder(2.0, [0.05, 0.03, -2.0], [1.0, 0.05, 0.0])
    case = mt.Morph(sheet(rows=2, columns=2), target=aim, tolerance=1e-6)
    config = {"case": config_of("triangles_cylinder"), "record_every": 1}
    assert key(case) == planned("any", config).key


@pytest.mark.parametrize("name", [n for n in NAMES if n not in WAITING])
def test_every_shipped_case_is_described_by_its_values(name, monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[3])
    config = config_of(name)
    assert key(build(config, "case")) == key(build(config, "case"))


def test_every_value_of_a_call_and_of_a_case_counts():
    keys = {
        key(morph(sheet())),
        key(morph(sheet(side=1.1))),
        key(morph(sheet(seed=2))),
        key(replace(morph(sheet()), max_steps=999)),
        key(mt.Morph(sheet(), target=mt.targets.Sphere(radius=2.0))),
        key(mt.Morph(sheet(), target=mt.targets.Cylinder(radius=2.1))),
    }
    assert len(keys) == 6


def test_how_a_call_is_written_does_not_count():
    make = mt.mechanisms.triangle_sheet
    assert key(morph(make(1, 2))) == key(morph(make(columns=2, rows=1, seed=0)))


def test_a_changed_part_is_described_by_its_arrays():
    one, two = sheet(), sheet()
    moved = replace(one, r0=one.r0 + 1e-9)
    two.r0[0, 0] += 1e-9  # in place, behind the call that made it
    keys = {key(morph(one)), key(morph(moved)), key(morph(two))}
    assert len(keys) == 3
    assert key(morph(replace(one, r0=one.r0 + 1e-9))) == key(morph(moved))


def test_values_that_a_list_has_later_are_none_of_the_call():
    nodes = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    made = mt.mechanisms.from_parts(nodes=nodes, links=[[0, 1]])
    before = key(morph(made))
    nodes[1][0] = 2.0
    assert key(morph(made)) == before


def test_arrays_of_the_same_numbers_and_another_shape_differ():
    flat, square = (
        described({"a": np.zeros(shape)}, "case") for shape in ((16,), (4, 4))
    )
    assert flat != square


def test_a_structure_of_a_file_follows_its_content(tmp_path):
    import json

    one, two = tmp_path / "one.json", tmp_path / "two.json"
    for path in (one, two):
        path.write_text(json.dumps(STRUCTURE))
    made = [morph(mt.mechanisms.from_file(str(path))) for path in (one, two)]
    assert key(made[0]) == key(made[1])
    two.write_text(json.dumps(STRUCTURE | {"leading": [2]}))
    assert key(morph(mt.mechanisms.from_file(str(two)))) != key(made[0])
    with pytest.raises(InputError, match="read from has changed"):
        key(made[1])


def test_code_from_elsewhere_is_refused():
    class Ridge(Circle):
        pass

    with pytest.raises(
        InputError, match=r"Ridge: changes to its code would not start a new run"
    ):
        key(mt.Morph(sheet(), target=Ridge(1.0)))
    with pytest.raises(InputError, match=r"case is a function: a run is identified"):
        described(lambda: 1, "case")


def test_a_configuration_with_arrays_is_not_built_again():
    changed = replace(sheet(), r0=sheet().r0 + 1e-9)
    config = described(morph(changed), "case")
    with pytest.raises(InputError, match=r"case\.structure\.r0 is an array made in"):
        build(config, "case")


def test_what_calls_describe_can_be_built_again():
    config = described(morph(sheet()), "case")
    again = build(config, "case")
    assert np.array_equal(again.structure.r0, sheet().r0)
