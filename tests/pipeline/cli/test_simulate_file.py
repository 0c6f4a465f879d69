"""`morphtrack simulate FILE` runs the case that the file is for."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from pipeline.cli.app import called
from pipeline.cli.simulate import with_case
from pipeline.terminal import InputError
from tests.helpers.tables import rows_of

BAR = {
    "nodes": [[0, 0, 0], [1, 0, 0]],
    "links": [[0, 1]],
    "fixed": [0],
    "planar": "z",
    "target": {"nodes": [[1, 0.6, 0.8, 0]]},
}


@pytest.fixture(autouse=True)
def file(project):
    path = project / "my bar (1).yaml"
    path.write_text(yaml.safe_dump(BAR))
    return path


def keys(project: Path) -> list[str]:
    return sorted(path.name for path in (project / "results/runs").iterdir())


def test_a_file_runs_as_its_case_would(project, file, capsys):
    assert called(["simulate", file.name, "case.max_steps=200"]) == 0
    assert "target reached: node 1" in capsys.readouterr().out
    (key,) = keys(project)
    record = json.loads((project / f"results/runs/{key}/run.json").read_text())
    assert record["tags"]["case"] == "structure_file"
    words = ["case=structure_file", f"case.path='{file.name}'", "case.max_steps=200"]
    assert called(["simulate", *words]) == 0
    assert keys(project) == [key]


def test_a_mechanism_without_a_target_stays_as_drawn_and_says_what_to_add(
    project, file, capsys
):
    file.write_text(yaml.safe_dump({k: v for k, v in BAR.items() if k != "target"}))
    assert called(["simulate", file.name]) == 0
    said = capsys.readouterr().out
    assert "no target: nothing moves: add a shape or `target: {nodes: [[" in said
    assert "target reached" not in said
    (run,) = (project / "results/runs").iterdir()
    record = json.loads((run / "run.json").read_text())
    assert (record["result"]["E"], record["result"]["steps"]) == (0.0, 0)
    with np.load(run / "steps.npz") as arrays:
        assert arrays["r"].tolist() == [BAR["nodes"]]


def test_a_file_is_named_where_a_case_was_offered(project, file, capsys, refused):
    file.rename(project / "gripper.yaml")
    assert called(["simulate", "gripper.yaml", "--cfg", "job"]) == 0
    assert "path: gripper.yaml" in capsys.readouterr().out
    said = refused("simulate", "griper.yaml")
    assert said == (
        "error: the file griper.yaml does not exist: did you mean gripper.yaml?"
    )


def test_a_file_runs_into_a_folder_of_its_own(project, file):
    assert called(["simulate", file.name, "--out", "results/simulate/bar"]) == 0
    record = json.loads((project / "results/simulate/bar/run.json").read_text())
    assert (record["name"], keys(project)) == ("bar", [record["key"]])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.yaml", "b.svg"], "a.yaml and b.svg are several files: give one"),
        (["a.yaml", "case=miura"], "a.yaml and case=miura both choose a case: leave"),
    ],
)
def test_what_names_no_one_case_is_refused(words, said):
    with pytest.raises(InputError) as error:
        with_case(words)
    assert said in str(error.value)


def test_words_without_a_file_stay_as_they_are():
    words = ["case=miura", "case.path=a.yaml", "pentapod"]
    assert with_case(words) == words


def test_any_name_of_a_file_is_one_value(project, file, capsys):
    name = "fälle [2] (x) a=b, c.yaml"
    file.rename(project / name)
    for words in ([name], ["case=structure_file", f"case.path={name}"]):
        assert called(["simulate", *words, "--cfg", "job"]) == 0
        assert f"path: {name}" in capsys.readouterr().out


NAMED = (
    "nodes: {A: [0, 0], B: [0, 30], C: [80, 40], D: [80, 0], F: [120, 60]}\n"
    "unit: mm\nlinks: [[A, B, LENGTH], [C, D]]\nbodies: [[B, C, F]]\n"
    "fixed: [A, D]\ntarget: {nodes: [[F, 121, 57, 0]]}\n"
)


def test_nodes_have_the_names_of_their_file_in_all_messages(project, capsys, refused):
    (project / "foot.yaml").write_text(NAMED.replace("LENGTH", "30"))
    assert called(["simulate", "foot.yaml", "--out", "foot"]) == 0
    said = capsys.readouterr().out
    assert "\nforces   foot/reactions.csv\n" in said
    for words in (["simulate", "foot.yaml"], ["show", "foot", "--no-open"]):
        capsys.readouterr()
        assert called(words) == 0
        assert "target missed: node 4 (F) by" in capsys.readouterr().out
    assert "overlap on the sphere of node 2 (C):" in refused(
        "parts", "foot", "--out", "parts"
    )
    rows = rows_of(project / "foot" / "reactions.csv")
    said = [row["constraint"] for row in rows]
    assert {"link A-B: dist(A, B)", "body 0: dist(B, F)", "fix(A, x)"} <= set(said)
    places = rows_of(project / "foot" / "nodes.csv")
    assert [row["node"] for row in places] == list("ABCDF")
    assert float(places[3]["x"]) == pytest.approx(80.0)
    (project / "foot.yaml").write_text(NAMED.replace("LENGTH", "50"))
    for command in ("simulate", "mobility"):
        assert "link 0-1 (A-B): dist(0, 1)" in refused(command, "foot.yaml")
