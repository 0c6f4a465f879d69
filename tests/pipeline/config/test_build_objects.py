"""Objects made of a composed configuration."""

import copy
import pydoc

import pytest

from pipeline.config.build_objects import build
from pipeline.terminal import InputError
from sim.origami.fold_and_load_phases import Fold

FOLD = {"_target_": "sim.origami.fold_and_load_phases.Fold", "increments": 4}
ROLL = {"_target_": "sim.mechanism.targets.analytic_surfaces.Cylinder"}


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
    ("made", "values", "said"),
    [
        (FOLD, {"increments": 0}, r"case\.of\[1\]: .*increments.*0"),
        (FOLD, {"incremets": 4}, r"case\.of\[1\] has no key 'incremets'.*increments\?"),
        (FOLD, {"together": "maybe"}, r"of\[1\]\.together is 'maybe': write true or"),
        (ROLL, {"radius": True}, r"of\[1\]: .*radius must be positive, not True"),
        (ROLL, {"radius": 1e300}, r"of\[1\]\.radius is 1e\+300: give .* up to 1e\+150"),
        (ROLL, {"radius": -1e300}, r"up to 1e\+150"),
    ],
)
def test_an_object_that_cannot_be_made_is_named_by_its_place(made, values, said):
    with pytest.raises(InputError, match=said):
        build({"of": [FOLD, made | values]}, "case")


def test_ctrl_c_during_an_import_stays_ctrl_c(monkeypatch):
    def interrupted(_: str) -> None:
        found = KeyboardInterrupt, KeyboardInterrupt(), None
        raise pydoc.ErrorDuringImport("rods.py", found)

    monkeypatch.setattr(pydoc, "locate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build({"_target_": "sim.origami.fold_and_load_phases.Fold"}, "case")
