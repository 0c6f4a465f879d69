"""Files to start from, and the schema that editors complete them with."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.cases.user_rods import RodFileCase
from pipeline.cli import new
from pipeline.cli.app import called
from pipeline.config.workflow_file import read_workflow
from pipeline.io.fold_file import fold_file
from pipeline.io.structure_file import structure_file
from pipeline.runs.study_members import read_study
from sim.mechanism.mobility import mobility
from tests.pipeline.conftest import ROOT


def begun(kind: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert called(["new", kind, "mine"]) == 0
    return capsys.readouterr().out


def test_a_new_mechanism_is_one_that_moves(project, capsys):
    assert "morphtrack simulate mine.yaml" in begun("mechanism", capsys)
    made = structure_file(str(project / "mine.yaml"))
    assert mobility(made).mobility == 1


def test_a_new_pattern_folds(project, capsys):
    assert "morphtrack simulate mine.svg" in begun("pattern", capsys)
    pattern = fold_file(str(project / "mine.svg"))
    assert (len(pattern.panels), len(pattern.creases)) == (6, 6)


def test_a_new_robot_is_drawn(project, capsys):
    assert "morphtrack simulate mine.yaml" in begun("robot", capsys)
    case = RodFileCase(str(project / "mine.yaml"))
    assert case.world.rod.last_limb == 0
    assert case.world.ground is not None


def test_a_new_study_and_a_new_comparison_are_read(project, capsys):
    begun("study", capsys)
    assert read_study("mine", []).case == "triangles_cylinder"
    assert "results/compare/mine/comparison.csv" in begun("comparison", capsys)
    text = (project / "mine.comparison.yaml").read_text()
    workflow = project / "conf/workflow.yaml"
    inner = "".join(f"  {line}\n" for line in text.splitlines())
    whole = workflow.read_text().replace("comparisons:\n", f"comparisons:\n{inner}", 1)
    workflow.write_text(whole)
    assert read_workflow().comparisons["mine"].scale_mm == 40


def test_a_study_is_written_only_where_conf_is(project, monkeypatch, refused):
    below = project / "robots"
    below.mkdir()
    monkeypatch.chdir(below)
    assert "has no folder conf: run" in refused("new", "study", "mine")
    assert not (below / "conf").exists()


@pytest.mark.parametrize("kind", new.PLACES)
def test_nothing_is_overwritten(kind, project, capsys, refused):
    del project
    begun(kind, capsys)
    assert "exists: give another name" in refused("new", kind, "mine")
    assert "is not a name" in refused("new", kind, "../mine")


def test_the_schema_knows_what_a_file_may_hold(capsys):
    assert called(["new", "mechanism", "--schema"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["required"] == ["nodes"]
    assert found["additionalProperties"] is False
    link = found["properties"]["links"]["items"]
    assert (link["minItems"], link["maxItems"]) == (2, 3)
    joints = set(found["$defs"]["JointEntry"]["properties"])
    assert {"hinge", "prismatic", "limited", "planar"} <= joints
    assert len(joints) == 12
    angle = found["$defs"]["RangesFile"]["properties"]["angle"]["description"]
    assert "between the vectors a to b and c to d" in angle
    assert {"springs", "hinges", "loads", "supports"} <= set(found["properties"])


def test_the_project_of_a_paper_makes_its_figures_and_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert called(["new", "project", "gripper"]) == 0
    folder = tmp_path / "gripper"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT)}
    subprocess.run(["make"], cwd=folder, env=environment, check=True)
    numbers = (folder / "numbers.tex").read_text(encoding="utf-8")
    assert "\\newcommand{\\linkageE}{0.0247}" in numbers
    for figure in ("figure-1.pdf", "figure-2.pdf"):
        assert (folder / figure).stat().st_size > 5000
    made = [p.name for p in folder.rglob("*") if "results" not in p.parts]
    assert not any("NAME" in name for name in made)
