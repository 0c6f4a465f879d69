"""The runs of one --multirun are a study."""

import json
from pathlib import Path

import pandas as pd
import pytest

from pipeline.steps.study_table import begin
from pipeline.terminal import InputError
from tests.pipeline.workflow.conftest import started

CASE = "case=triangles_cylinder"


def members(folder: Path) -> list[dict]:
    (path,) = folder.glob("results/study/*/members.json")
    found: list[dict] = json.loads(path.read_text())["members"]
    return found


JOBLIB = ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"]


@pytest.mark.parametrize("launcher", [[], pytest.param(JOBLIB, marks=pytest.mark.slow)])
def test_a_multirun_lists_its_runs_and_leaves_a_table_and_a_plot(
    launcher, command, process, project
):
    run = process if launcher else command  # joblib's needs a process of its own
    words = [CASE, "case.target.radius=2.0,2.2", "case.max_steps=400", *launcher]
    done = run("simulate", "--multirun", *words)
    assert done.returncode == 0, done.stderr
    (study,) = (project / "results/study").iterdir()
    assert f"study    results/study/{study.name}/table.csv: 2 finished" in done.stdout
    listed = {
        row["point"]["case.target.radius"]: row["key"] for row in members(project)
    }
    assert set(listed) == {2.0, 2.2}
    for radius, key in listed.items():
        record = json.loads((project / f"results/runs/{key}/run.json").read_text())
        assert record["tags"] == {"case": "triangles_cylinder", "study": study.name}
        assert record["config"]["case"]["target"]["radius"] == radius
    table = pd.read_csv(study / "table.csv")
    assert sorted(table["case.target.radius"]) == [2.0, 2.2]
    assert "case.max_steps" not in table
    assert (study / "effects.png").is_file()
    if not launcher:  # the same sweep is the same study, and computes nothing
        before = started(project)
        assert run("simulate", "--multirun", *words).returncode == 0
        assert started(project) == before
        assert len(members(project)) == 2


def test_a_run_that_fails_is_a_row_and_one_that_is_refused_is_none(command, project):
    named = "hydra.sweep.dir=results/study/few steps"
    done = command("simulate", "--multirun", CASE, "case.max_steps=0,1,400", named)
    assert done.returncode == 1
    refused, failed = done.stderr.splitlines()
    assert refused.startswith(
        f"error: {CASE} case.max_steps=0: case: max_steps must be"
    )
    assert failed.startswith(f"error: {CASE} case.max_steps=1: ")
    table = pd.read_csv(project / "results/study/few steps/table.csv")
    found = dict(zip(table["case.max_steps"], table["status"], strict=True))
    assert found == {1: "failed", 400: "finished"}


def test_a_study_is_named_after_its_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["case=pentapod", "case.target.radius=0.9,1", "record_every=2"]
    name = "pentapod_target.radius_0.9_1_record_every_2"
    assert begin(words) == (name, [f"hydra.sweep.dir=results/study/{name}"])
    assert begin([*words, "hydra.sweep.dir=results/study/mine"]) == ("mine", [])
    falls, rises = (begin(["case=a", f"case.g=[0,{g}],[1]"])[0] for g in ("-9", "9"))
    assert falls != rises


@pytest.mark.parametrize("folder", ["results/study/sheet_size", "elsewhere/mine"])
def test_a_study_takes_no_folder_but_one_of_its_own(folder, tmp_path, monkeypatch):
    (tmp_path / "conf" / "study").mkdir(parents=True)
    (tmp_path / "conf" / "study" / "sheet_size.yaml").write_text("case: pentapod\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="give results/study/NAME"):
        begin(["case=pentapod", f"hydra.sweep.dir={folder}"])
