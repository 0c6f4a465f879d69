"""Files of conf/measured: each is whole; what is wrong in one is said on one line."""

import re
from pathlib import Path

import numpy as np
import pytest

from pipeline.config.build_objects import build
from pipeline.config.config_files import checked
from pipeline.io.record_files import find_records
from pipeline.measured.set_file import MeasuredSet, PlaceRange, read_set, set_names
from pipeline.terminal import InputError

WHOLE = {
    "name": "a",
    "title": "t",
    "source": "s",
    "licence": "MIT",
    "records": {"folder": "data/a", "filename_patterns": [{"files": "a.csv"}]},
    "model": {"_target_": "pipeline.measured.laser_sphere.SphereScans"},
    "quantities": {"force": {"unit": "N", "aim": 0.1}},
}


@pytest.mark.parametrize("name", set_names())
def test_a_shipped_set_is_whole(name):
    of = read_set(name)
    experiment = build(of.model, "model")
    for method in ("inputs", "predict", "measured", "refined"):
        assert callable(getattr(experiment, method))
    found, odd = find_records(Path(of.records.folder), of.records.filename_patterns)
    names = [record.name for record in found]
    assert not odd
    if of.records.fitted:
        assert any(re.fullmatch(of.records.fitted, n) for n in names)
    assert not set(of.records.held_out) & set(names), (
        "a record that is there is not kept"
    )


def test_places_of_a_range_print_as_written():
    places = PlaceRange(start=-1.4, stop=10.8, step=0.2).places
    assert len(places) == 62
    assert [str(v) for v in places[[0, 1, 7, -1]]] == ["-1.4", "-1.2", "0.0", "10.8"]
    fine = PlaceRange(start=0.02, stop=1.0, step=0.02).places
    np.testing.assert_array_equal(fine, [float(f"{k / 50:.2f}") for k in range(1, 51)])


def test_a_quantity_belongs_to_the_entry_whose_pattern_it_matches():
    quantities = {"marker": {"unit": "mm", "aim": 8.0, "rows": r"marker_\d_[xyz]"}}
    of = checked(MeasuredSet, {**WHOLE, "quantities": quantities}, "f")
    assert of.family("marker_3_z", {})[0] == "marker"
    with pytest.raises(InputError, match="no quantity 'marker_3'"):
        of.family("marker_3", {})


def test_a_quantity_of_one_specimen_has_an_entry_of_its_own():
    soft = {"unit": "N", "aim": 0.1, "rows": "force", "where": {"specimen": "soft"}}
    stiff = {**soft, "aim": 3.0, "where": {}, "model_error_from": "soft"}
    quantities = {"soft": soft, "stiff": stiff}
    of = checked(MeasuredSet, {**WHOLE, "quantities": quantities}, "f")
    assert of.family("force", {"specimen": "soft", "clamps": "a"})[0] == "soft"
    assert of.family("force", {"specimen": "other"})[0] == "stiff"
    assert of.family("force", {})[0] == "stiff"
    wrong = {"stiff": {**stiff, "model_error_from": "hard"}}
    with pytest.raises(InputError, match="unknown quantity 'hard'"):
        checked(MeasuredSet, {**WHOLE, "quantities": wrong}, "f")


HELD = {"value": 1.0, "unit": "Pa", "origin": "stated", "source": "x"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": {}}, "model has no _target_"),
        ({"quantities": {}}, "quantities is empty"),
        ({"inputs": {"E": HELD}}, "E has no u: give u"),
        ({"inputs": {"E": {**HELD, "u": 0.0, "fitted": True}}}, "its u is 0"),
        ({"inputs": {"E": {**HELD, "fitted": True}}}, "records.fitted is empty"),
        ({"inputs": {"E": {**HELD, "u": 0.1, "origin": "guessed"}}}, "choose one of"),
        (
            {"quantities": {"force": {"unit": "N", "aim": 0.0}}},
            "aim must be a positive",
        ),
        (
            {"quantities": {"f": {"unit": "N", "aim": 1.0, "u": 1.0}}},
            "give its source in u_source",
        ),
        (
            {"records": {"folder": "a", "filename_patterns": [{"files": "("}]}},
            "not a regular expression",
        ),
        (
            {"records": {"folder": "a", "filename_patterns": [{"files": 3}]}},
            "not a regular expression",
        ),
        (
            {"quantities": {"f": {"unit": "N", "aim": 1.0, "rows": "a{99999999999}"}}},
            "not a regular expression",
        ),
        ({"records": {"folder": "a", "filename_patterns": []}}, "filename_patterns"),
        ({"quantity": {}}, "has no key 'quantity'"),
        (
            {"unfitted": {"m": {"of": "length", "aim": 1.0, "inputs": {}}}},
            "unknown quantity 'length'",
        ),
        (
            {"unfitted": {"m": {"of": "force", "aim": 1.0, "inputs": {"d": 0}}}},
            "unknown input 'd'",
        ),
    ],
)
def test_what_is_wrong_in_a_set_is_said(change, words):
    with pytest.raises(InputError, match=words):
        checked(MeasuredSet, {**WHOLE, **change}, "f")
