"""Which case reads a file is found by what the file holds."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.io.yaml_and_json import case_of
from pipeline.terminal import InputError
from tests.helpers.refusals import refused_in_one_line
from tests.pipeline.conftest import ROOT

LINE = {"nodes": [[0, 0, 0], [1, 0, 0]], "links": [[0, 1]]}
PENDULUM = LINE | {"fixed": [0], "masses": [{"nodes": [1], "mass": 1.0}]}
AIM = {"target": {"nodes": [[1, 0, 1, 0]]}}
SPRING = {"springs": [[0, 1, 2.0]]}
PULL = SPRING | {"loads": [[1, 1, 0, 0]]}
SHEET = {"vertices_coords": [[0, 0], [1, 0], [0, 1]]}
ROBOT = {"unit": "mm", "rods": [{"line": [[0, 0], [9, 0]]}]}


def written(folder: Path, content: Any, name: str = "mine.yaml") -> str:
    path = folder / name
    text = json.dumps(content) if name.endswith("json") else yaml.safe_dump(content)
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", ["mine.yaml", "mine.yml", "mine.json"])
@pytest.mark.parametrize(
    ("content", "case"),
    [
        (LINE, "structure_file"),
        (LINE | AIM, "structure_file"),
        (LINE | SPRING, "loaded_file"),
        (LINE | PULL | AIM, "loaded_file"),
        (PENDULUM, "mechanism_motion"),
        (ROBOT, "rod_file"),
        (SHEET, "fold_file"),
    ],
)
def test_a_file_is_known_by_its_keys(content, case, name, tmp_path):
    assert case_of(written(tmp_path, content, name)) == case


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (PENDULUM | AIM, "has target and masses: write case=structure_file (brings"),
        (PENDULUM | PULL, "has springs and masses: write case=loaded_file (finds its"),
        (LINE | ROBOT, "has several of `nodes`, `rods`, `vertices_coords`: a struct"),
        ({"points": []}, "has none of `nodes`, `rods`, `vertices_coords`: a struct"),
        ([1, 2], "is not a file of a case: give an object with `nodes` or `rods` or"),
        ({"_target_": "x"}, "is a configuration file: give case=mine, or the case"),
    ],
)
def test_what_is_not_sure_is_refused_with_the_choices(content, words, tmp_path):
    with refused_in_one_line(words, str(tmp_path / "mine.yaml")):
        case_of(written(tmp_path, content))


def test_drawings_and_robots_are_known_by_their_format(tmp_path):
    found = {}
    for name in ("a.svg", "a.fold", "a.CP", "a.urdf"):
        (tmp_path / name).write_text("")
        found[name] = case_of(str(tmp_path / name))
    assert found == dict.fromkeys(found, "fold_file") | {"a.urdf": "structure_file"}


@pytest.mark.parametrize(
    ("red", "point", "case"),
    [
        (True, False, "fold_file"),
        (False, True, "structure_file"),
        (True, True, "has both creases (red, blue) and held points: write"),
        (False, False, "has neither creases (red, blue) and held points: write"),
    ],
)
def test_a_dxf_drawing_is_a_pattern_or_a_mechanism(red, point, case, tmp_path):
    ezdxf = pytest.importorskip("ezdxf")
    document = ezdxf.new()
    space, path = document.modelspace(), tmp_path / "mine.dxf"
    corners = [(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)]
    for a, b in pairwise(corners):
        space.add_line(a, b)
    space.add_line((0, 0), (1, 1), dxfattribs={"color": 1 if red else 7})
    if point:
        space.add_point((0, 0))
    document.saveas(path)
    if case in ("fold_file", "structure_file"):
        assert case_of(str(path)) == case
        return
    with pytest.raises(InputError) as refused:
        case_of(str(path))
    choices = "case=fold_file (folds it) or case=structure_file (brings it to its"
    assert f"{case} {choices}" in str(refused.value)


def test_a_missing_file_is_refused_with_the_nearest_name_and_so_is_a_scan(tmp_path):
    near = written(tmp_path, LINE, "gripper.yaml")
    with pytest.raises(
        InputError, match=r"the file .*griper\.yml does not exist: did you"
    ):
        case_of(str(tmp_path / "griper.yml"))
    assert case_of(near) == "structure_file"
    with pytest.raises(InputError, match=r"looked in .*elsewhere"):
        case_of(str(tmp_path / "elsewhere" / "zzz.yaml"))
    (tmp_path / "scan.ply").write_text("ply")
    with pytest.raises(InputError, match=r"\.ply files are not supported: give one of"):
        case_of(str(tmp_path / "scan.ply"))


def test_every_shipped_file_is_recognised_or_refused_with_its_choices():
    structures = sorted((ROOT / "conf/structure").rglob("*.*"))
    found = {}
    for path in structures:
        if "masses:" in path.read_text():
            with pytest.raises(InputError, match=r" or case=mechanism_motion \(moves"):
                case_of(str(path))
            continue
        found[path.name] = case_of(str(path))
    assert len(structures) - len(found) == 3
    assert found["four_bar.yaml"] == "structure_file"
    assert found["growing_strip.yaml"] == "loaded_file"
    robots = {case_of(str(path)) for path in (ROOT / "conf/robot").glob("*.yaml")}
    assert robots == {"rod_file"}
