"""Users' case files hold names of objects that have moved since."""

import pydoc
from pathlib import Path

import pytest

from pipeline.config.building import build
from pipeline.config.hydra import Composer
from pipeline.config.old_names import (
    FILE_OF_CASE,
    NEW_MODULES,
    NEW_OBJECTS,
    present_name,
    with_own_file,
    with_present_names,
)
from pipeline.store.keys import identity

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("old", NEW_MODULES)
def test_every_old_module_has_a_place_today(old: str) -> None:
    assert pydoc.locate(NEW_MODULES[old]) is not None


@pytest.mark.parametrize("old", NEW_OBJECTS)
def test_every_old_object_has_one_place_today(old: str) -> None:
    assert present_name(old) == NEW_OBJECTS[old] != old
    today = pydoc.locate(NEW_OBJECTS[old])
    assert today is not None
    assert pydoc.locate(old) in (None, today)


def test_a_name_of_today_stays() -> None:
    today = "sim.morph.library.sheets.triangle_sheet"
    assert present_name(today) == today
    assert present_name("sim.morph.sheets.triangle_sheet") == today


def test_an_old_case_is_the_same_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    words = ["case=triangles_circle"]
    old = "case.structure._target_=sim.morph.sheets.triangle_sheet"
    with Composer() as composer:
        today = composer.compose("simulate", words)
        then = composer.compose("simulate", [*words, old])
    assert identity("simulate", then) == identity("simulate", today)
    assert len(build(then["case"], "case").structure.r0) > 0


def test_names_in_lists_are_brought_up_to_date() -> None:
    old = {"a": [{"_target_": "sim.rod.ground.Plane", "angle": 3}]}
    new = {"a": [{"_target_": "sim.rod.contact.ground.GroundPlane", "angle": 3}]}
    assert with_present_names(old) == new


@pytest.mark.parametrize("case", FILE_OF_CASE)
def test_a_file_of_one_s_own_has_one_name_and_its_old_ones(case: str) -> None:
    file = "pyproject.toml"
    with Composer() as composer:
        both = [
            composer.compose("simulate", [f"case={case}", f"{key}={file}"])
            for key in ("case.path", FILE_OF_CASE[case])
        ]
    assert both[0] == both[1]
    assert with_own_file(["case=rod_file", "case.path=a"])[1] == "case.path=a"
