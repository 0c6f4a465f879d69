"""A study that is killed goes on by the same command; nothing is lost or doubled."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.studies.members import read_members
from pipeline.studies.table import study_rows
from pipeline.workflow.processes import followed
from tests.helpers.mlflow_runs import runs_in
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
        [sys.executable, "-m", "pipeline", "study", "mine"],
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
    return [run for run in runs_in(folder) if run.data.tags["step"] != "study"]


@pytest.mark.slow
def test_a_study_killed_twice_loses_and_doubles_nothing(
    project: Path, command: Command
) -> None:
    (project / "conf" / "study" / "mine.yaml").write_text(yaml.safe_dump(STUDY))
    kill_when(project, 3)
    kill_when(project, 15)
    done = command("study", "mine")
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


def test_ctrl_c_leaves_the_tracker_to_end_its_work(project: Path) -> None:
    assert not (project / "results").exists()
    with followed() as tracker:
        for _ in range(20):  # amid whatever it begins with
            tracker.send_signal(signal.SIGINT)
            time.sleep(0.1)
            assert tracker.poll() is None
    assert tracker.returncode == 0
