"""Files to start from, and the schema that editors complete them with."""

import json
from pathlib import Path

import pytest

from pipeline.cases.rod_file import RodFileCase
from pipeline.commands import new
from pipeline.commands.new import KINDS, main
from pipeline.commands.schema import main as schema
from pipeline.config.workflow_file import read_workflow
from pipeline.formats.fold_file import fold_file
from pipeline.formats.structure_file import structure_file
from pipeline.studies.file import read_study
from sim.morph.mobility.mobility import mobility


def begun(kind: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main([kind, "mine"]) == 0
    return capsys.readouterr().out


def test_a_new_mechanism_is_one_that_moves(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "case.path=mine.yaml" in begun("mechanism", capsys)
    made = structure_file(str(project / "mine.yaml"))
    assert mobility(made).mobility == 1


def test_a_new_pattern_folds(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "case.path=mine.svg" in begun("pattern", capsys)
    pattern = fold_file(str(project / "mine.svg"))
    assert (len(pattern.panels), len(pattern.creases)) == (6, 6)


def test_a_new_robot_is_drawn(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "case=rod_file case.path=mine.yaml" in begun("robot", capsys)
    case = RodFileCase(str(project / "mine.yaml"))
    assert case.world.rod.last_limb == 0
    assert case.world.ground is not None


def test_a_new_study_and_a_new_comparison_are_read(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun("study", capsys)
    assert read_study("mine", []).case == "triangles_cylinder"
    assert "results/made/compare/mine" in begun("comparison", capsys)
    text = (project / "mine.comparison.yaml").read_text()
    workflow = project / "conf/workflow.yaml"
    inner = "".join(f"  {line}\n" for line in text.splitlines())
    whole = workflow.read_text().replace("comparisons:\n", f"comparisons:\n{inner}", 1)
    workflow.write_text(whole)
    assert read_workflow().comparisons["mine"].scale_mm == 40


def test_commands_for_a_file_in_a_subfolder_are_those_of_the_top_folder(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    below = project / "robots"
    below.mkdir()
    monkeypatch.chdir(below)
    monkeypatch.setattr(new, "ROOT", project)
    said = begun("robot", capsys)
    assert "next, in the repository's top folder:\n" in said
    assert "case.path=robots/mine.yaml" in said
    assert (below / "mine.yaml").is_file()
    assert main(["study", "mine"]) == 2
    assert "no folder conf in" in capsys.readouterr().err
    assert not (below / "conf").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_overwritten(
    kind: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del project
    begun(kind, capsys)
    assert main([kind, "mine"]) == 2
    assert "is there: give another name" in capsys.readouterr().err
    assert main([kind, "../mine"]) == 2
    assert "is no name" in capsys.readouterr().err


def test_the_schema_knows_what_a_file_may_hold(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert schema(["structure"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["required"] == ["nodes"]
    assert found["additionalProperties"] is False
    link = found["properties"]["links"]["items"]
    assert (link["minItems"], link["maxItems"]) == (2, 3)
    joints = set(found["$defs"]["JointEntry"]["properties"])
    assert {"hinge", "prismatic", "limited", "planar"} <= joints
    assert len(joints) == 12
    angle = found["$defs"]["RangesFile"]["properties"]["angle"]["description"]
    assert "between the directions a to b and c to d" in angle
    assert {"springs", "hinges", "loads", "supports"} <= set(found["properties"])
