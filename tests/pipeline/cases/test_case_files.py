"""Files of conf/case say what they show, and only what differs from their defaults."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from pipeline.config.hydra import Composer
from tests.pipeline.conftest import ROOT
from tests.pipeline.shipped_cases import CONF, NAMES, config_of, first_line


def own(name: str) -> dict[str, Any]:
    """What the file itself holds, numbers as Hydra reads them."""
    loaded = OmegaConf.to_container(OmegaConf.load(CONF / f"case/{name}.yaml"))
    assert isinstance(loaded, dict)
    return {str(key): value for key, value in loaded.items()}


BUILT_ON = [name for name in NAMES if "defaults" in own(name)]


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """Each case as its defaults alone make it."""
    conf = tmp_path_factory.mktemp("bare") / "conf"
    shutil.copytree(CONF, conf)
    found = {}
    for name in BUILT_ON:
        path = conf / f"case/{name}.yaml"
        kept, defaults = path.read_text(), own(name)["defaults"]
        path.write_text(yaml.safe_dump({"defaults": defaults}))
        with initialize_config_dir(str(conf), version_base="1.3"):
            case = compose("simulate", [f"case={name}"]).case
        found[name] = OmegaConf.to_container(case)
        path.write_text(kept)
    return found


def repeated(here: Any, base: Any, at: str = "") -> Iterator[str]:
    """The keys of `here` that have the same value in `base`."""
    for key, value in here.items():
        if key in base and isinstance(value, dict) and isinstance(base[key], dict):
            yield from repeated(value, base[key], f"{at}{key}.")
        elif key in base and base[key] == value:
            yield f"{at}{key}"


@pytest.mark.parametrize("name", BUILT_ON)
def test_a_case_repeats_nothing_of_its_defaults(name, bare):
    assert not list(repeated(own(name), bare[name]))


@pytest.mark.parametrize("name", NAMES)
def test_a_case_says_first_what_it_shows(name):
    assert len(first_line(name)) > 20
    assert first_line(name).startswith("# ")
    assert "defaults" not in config_of(name)
    kind = config_of(name)["_target_"]
    if kind == "pipeline.cases.morph.MorphCase" and name != "structure_file":
        assert first_line(name).startswith("# [dJ23] Fig")


def test_values_behind_defaults_are_set_as_others(monkeypatch):
    monkeypatch.chdir(ROOT)
    words = {
        "star_robot_up_3": ("ground.angle", 4.0),
        "star_robot_trough": ("actuator.rate", 3.0),
        "snap_pyramid": ("of.material.crease_width", 0.003),
        "triangles_solid": ("structure.structure.rows", 2),
    }
    composer = Composer()
    for name, (key, value) in words.items():
        asked = [f"case={name}", f"case.{key}={value}", "record_every=2"]
        place = composer.compose("simulate", asked)["case"]
        for part in key.split("."):
            place = place[part]
        assert place == value
    asked = ["case=miura", "case.phases.0.fraction=0.8"]
    phases = composer.compose("simulate", asked)["case"]["phases"]
    assert phases[0]["fraction"] == 0.8
