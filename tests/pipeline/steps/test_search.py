"""Adaptive studies: what is asked, replayed, pruned and tracked."""

import multiprocessing
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from pipeline.cli.app import called
from pipeline.config.hydra import Composer
from pipeline.runs.run_directory import failed_attempts, finished, run_record
from pipeline.runs.run_keys import decisive, json_digest, named_modules
from pipeline.runs.study_members import read_members, read_study
from pipeline.steps.search import work
from pipeline.steps.study_table import study_rows
from pipeline.terminal import FAILED, InputError
from pipeline.workflow.study_batches import StudyPlan

SEARCH: dict[str, Any] = {
    "case": "triangles_cylinder",
    "design": "adaptive",
    "vary": {
        "case.target.radius": {"low": 1.8, "high": 4.0},
        "case.structure.rows": {"low": 1, "high": 2, "integer": True},
    },
    "fixed": {"case.structure.columns": 1},
    "samples": 5,
    "objective": "S",
}


def write(project: Path, **changes: Any) -> None:
    text = yaml.safe_dump({**SEARCH, **changes})
    (project / "conf" / "study" / "mine.yaml").write_text(text)


def search() -> int:
    """Do the job of the study."""
    return called(["study", "mine", "--search"])


def searched() -> dict[str, Any]:
    """Do the job of the study; return the record of the search."""
    assert search() == 0
    return run_record(Path("results/study/mine"))


@pytest.fixture
def here(monkeypatch):
    """A search works in this process, which has imported all."""
    monkeypatch.setattr(
        "pipeline.steps.search.ProcessPoolExecutor",
        lambda *_, **__: ThreadPoolExecutor(1),
    )


def test_a_search_finds_the_best_of_its_trials_and_goes_on_from_them(project, request):
    write(project)
    result = searched()["result"]
    table, _ = study_rows(read_members("mine"))
    assert result["finished"] == 5
    assert set(table["status"]) == {"finished"}
    assert result["best.S"] == table["S"].min()
    best = table.loc[table["S"].idxmin()]
    assert best["case.target.radius"] == result["best.case.target.radius"]
    assert best["case.structure.rows"] == result["best.case.structure.rows"]
    before = set((project / "results" / "runs").iterdir())
    write(project, samples=7)
    request.getfixturevalue("here")  # another worker would import all again
    assert searched()["result"]["finished"] == 7
    new = set((project / "results" / "runs").iterdir()) - before
    steps = [run_record(directory)["step"] for directory in new]
    assert sorted(steps) == ["search", "simulate", "simulate"]  # the rest was replayed
    more, _ = study_rows(read_members("mine"))
    assert list(more["key"][:5]) == list(table["key"])


@pytest.mark.slow
def test_the_key_of_a_search_covers_its_module_and_the_version_of_optuna(project):
    write(project)
    composer = Composer()
    plan = StudyPlan.read("mine", composer)
    known = plan.identity()
    assert known["versions"]["optuna"] == metadata.version("optuna")
    modules = decisive(named_modules("search", plan.config()))[0]
    assert "pipeline.steps.search" in modules
    assert known["code"] == json_digest(modules)


@pytest.mark.usefixtures("here")
@pytest.mark.slow
def test_trials_that_do_worse_than_the_others_are_ended_early(project):
    write(project, samples=12, prune_by="E", workers=2)
    result = searched()["result"]
    assert result["pruned"] >= 1
    assert result["pruned"] + result["finished"] == 12
    kept = list((project / "results" / "failed").iterdir())
    assert {run_record(path)["status"] for path in kept} == {"pruned"}
    table, _ = study_rows(read_members("mine"))
    assert (table["status"] == "pruned").sum() == result["pruned"]
    assert called(["study", "mine"]) == 0  # nothing is left to do but the table
    statuses = pd.read_csv(project / "results" / "study" / "mine" / "table.csv")
    assert sorted(statuses["status"]) == sorted(table["status"])


@pytest.mark.usefixtures("here")
def test_a_trial_that_fails_is_no_reason_to_stop(project):
    values = {"case.target.radius": {"low": -1.0, "high": 3.0}}
    write(project, vary=values, samples=6, seed=2)
    result = searched()["result"]
    assert result["failed"] >= 1
    assert result["finished"] >= 1
    assert result["failed"] + result["finished"] == 6


@pytest.mark.slow
def test_a_search_whose_worker_was_killed_goes_on(project, monkeypatch):
    def killed(futures: Any) -> Any:
        while not (project / "results" / "study" / "mine" / "members.json").is_file():
            time.sleep(0.05)
        multiprocessing.active_children()[0].kill()
        return as_completed(futures)

    write(project)
    with monkeypatch.context() as patch:
        patch.setattr("pipeline.steps.search.as_completed", killed)
        assert search() == FAILED
    failed = map(run_record, (project / "results" / "failed").iterdir())
    (record,) = (record for record in failed if record["step"] == "search")
    assert record["status"] == "killed"
    assert searched()["result"]["finished"] == 5


@pytest.mark.slow
def test_workers_end_with_a_search_that_was_killed(project):
    write(project, samples=1000)
    words = ["study", "mine", "--search"]
    process = subprocess.Popen([sys.executable, "-m", "pipeline", *words])
    runs = project / "results" / "runs"
    while not (runs.is_dir() and any(runs.iterdir())):
        time.sleep(0.05)
    workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    process.kill()
    process.wait()
    while any(map(is_alive, workers.split())):
        time.sleep(0.05)
    assert len(list(runs.iterdir())) < 1000


def is_alive(number: str) -> bool:
    """Whether a process works; one that has ended may wait for its parent as Z."""
    try:
        return ") Z " not in Path(f"/proc/{number}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_trial_that_lacks_memory_ends_its_worker_and_is_no_failed_trial(
    project, monkeypatch
):
    def lacking(*_: Any) -> None:
        raise MemoryError("cannot allocate 9 GiB")

    write(project)
    monkeypatch.setattr("pipeline.steps.search.record_steps", lacking)
    with pytest.raises(ChildProcessError, match="lacked memory or disk"):
        work(read_study("mine"), project / "journal", seed=0)
    (member,) = read_members("mine")["members"]
    assert finished(member["key"]) is None
    assert not failed_attempts(member["key"])  # that failed by themselves


@pytest.mark.usefixtures("here")
def test_a_search_without_a_finished_trial_says_so_each_time(project, capsys):
    write(project, vary={"case.target.radius": {"low": -2.0, "high": -1.0}}, samples=2)
    for _ in range(2):
        assert search() == FAILED
        said = capsys.readouterr().err
        assert "none of the 2 runs of mine finished" in said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"objective": ""}, "needs an objective"),
        ({"goal": "best"}, "choose one of minimise, maximise"),
        ({"samples": 0}, "samples must be 1 or more"),
        ({"workers": 0}, "workers must be 1 or more, not 0"),
        ({"design": "random"}, "are for the design adaptive, not random"),
    ],
)
def test_a_search_that_is_not_sound_is_refused(project, changes, said):
    write(project, **changes)
    with pytest.raises(InputError, match=said):
        read_study("mine")


@pytest.mark.usefixtures("here")
def test_an_objective_that_no_run_has_names_those_there_are(project, capsys):
    write(project, objective="beauty")
    assert search() == 2
    said = capsys.readouterr().err
    assert re.search(r"no number 'beauty'.*choose one of .*S", said)
