"""Objects made of a composed configuration."""

import copy

import pytest

from pipeline.config.build_objects import build
from pipeline.terminal import InputError
from sim.origami.fold_and_load_phases import Fold

FOLD = {"_target_": "sim.origami.fold_and_load_phases.Fold", "increments": 4}


def test_what_is_described_within_is_made_first_and_lists_stay_lists():
    config = {"phases": [FOLD, FOLD | {"fraction": 0.5}], "nodes": [[0, 1.5], [2, 3]]}
    before = copy.deepcopy(config)
    made = build(config, "case")
    assert [type(phase) for phase in made["phases"]] == [Fold, Fold]
    assert made["phases"][1].fraction == 0.5
    assert made["nodes"] == [[0, 1.5], [2, 3]]
    made["nodes"][0][0] = 9
    assert config == before


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"increments": 0}, r"case\.phases\[1\]: .*increments.*0"),
        ({"incremets": 4}, r"case\.phases\[1\] has no key 'incremets'.*increments\?"),
        ({"together": "maybe"}, r"phases\[1\]\.together is 'maybe': write true or"),
    ],
)
def test_an_object_that_cannot_be_made_is_named_by_its_place(values, said):
    with pytest.raises(InputError, match=said):
        build({"phases": [FOLD, FOLD | values]}, "case")


SQUARE = {"_target_": "sim.mechanism.targets.analytic_surfaces.Cylinder", "radius": 1.0}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (True, "target: radius must be positive, not True"),
        (1e300, r"case\.target\.radius is 1e\+300: give a number up to 1e\+150"),
        (-1e300, "up to 1e\\+150"),
    ],
)
def test_a_number_that_is_a_truth_or_has_no_square_is_refused(value, said):
    with pytest.raises(InputError, match=said):
        build({"target": SQUARE | {"radius": value}}, "case")
