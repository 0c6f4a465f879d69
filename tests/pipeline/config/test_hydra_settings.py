"""`simulate` is a Hydra application; files of conf choose nothing else that runs."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.pipeline.conftest import Capture, Command, refused

CASE = "case=pentapod"


@pytest.mark.parametrize("key", ["callbacks", "launcher", "sweeper"])
@pytest.mark.parametrize("words", [["case=other"], ["-m", f"case=other,{CASE}"]])
def test_a_case_chooses_no_launcher_sweeper_or_callback(
    project: Path, key: str, words: list[str], capsys: Capture
) -> None:
    settings = {key: {"_target_": "shutil.copyfile", "src": "a", "dst": "b"}}
    whole: dict[str, Any] = {"defaults": ["pentapod@case"], "hydra": settings}
    path = project / "conf" / "case" / "other.yaml"
    path.write_text("# @package _global_\n" + yaml.safe_dump(whole))
    said = refused(words, capsys)
    assert f"conf/case/other.yaml sets hydra.{key}: type such settings" in said
    assert not (project / "results").exists()


def test_a_pickle_is_not_run_again(project: Path, capsys: Capture) -> None:
    (project / "steps.pkl").write_text("no pickle")
    words = [CASE, "--experimental-rerun", "steps.pkl"]
    assert "--experimental-rerun" in refused(words, capsys)


def test_another_launcher_runs_a_sweep(command: Command, project: Path) -> None:
    few = ["--multirun", CASE, "hydra/launcher=joblib", "hydra.launcher.n_jobs=2"]
    done = command("simulate", *few, "record_every=100,200")
    assert done.returncode == 0, done.stderr
    records = (project / "results" / "runs").glob("*/run.json")
    kept = [json.loads(path.read_text()) for path in records]
    assert [one["status"] for one in kept] == ["finished", "finished"]
    refusals = command("simulate", *few, "record_every=0,-1")
    assert refusals.returncode == 2, refusals.stderr
    assert "record_every must be 1 or more" in refusals.stderr
