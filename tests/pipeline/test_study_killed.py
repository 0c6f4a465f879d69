"""A study that is killed goes on by the same command; nothing is lost or doubled."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from pipeline.studies.members import read_members
from pipeline.study_table import study_rows
from tests.pipeline.conftest import ROOT, Command

STUDY = {
    "case": "triangles_cylinder",
    "design": "grid",
    "vary": {
        "case.structure.rows": [2, 3, 4, 5, 6],
        "case.target.radius": {"low": 2.0, "high": 5.0, "count": 8},
    },
}
RUNS = 40


def start(folder: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "pipeline.study", "mine"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def kill_when(folder: Path, number: int) -> None:
    """Start the study and kill all its processes once `number` runs have finished."""
    study = start(folder)
    end = time.monotonic() + 120
    while len(list((folder / "results" / "runs").glob("*/run.json"))) < number:
        assert study.poll() is None, "the study ended before it could be killed"
        assert time.monotonic() < end, "the study made no progress"
        time.sleep(0.01)
    os.killpg(study.pid, signal.SIGKILL)
    study.wait()


def tracked(folder: Path) -> list[Any]:
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{folder}/results/mlflow/mlflow.db")
    experiment = client.get_experiment_by_name("morphtrack")
    assert experiment is not None
    runs = client.search_runs([experiment.experiment_id], max_results=1000)
    return [run for run in runs if run.data.tags["step"] != "study"]


def test_a_study_killed_twice_loses_and_doubles_nothing(
    project: Path, command: Command
) -> None:
    (project / "conf" / "study" / "mine.yaml").write_text(yaml.safe_dump(STUDY))
    kill_when(project, 3)
    kill_when(project, 15)
    done = command("pipeline.study", "mine")
    assert done.returncode == 0, done.stdout + done.stderr
    table, _ = study_rows(read_members("mine"))
    assert len(table) == table["key"].nunique() == RUNS
    assert set(table["status"]) == {"finished"}
    assert not list((project / "results" / "running").iterdir())
    runs = tracked(project)
    assert {run.info.status for run in runs} <= {"FINISHED", "KILLED"}
    finished = Counter(
        run.data.tags["key"] for run in runs if run.info.status == "FINISHED"
    )
    assert finished == Counter(table["key"])
