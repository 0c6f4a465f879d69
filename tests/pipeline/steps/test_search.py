"""Adaptive studies: what is asked, replayed, pruned and tracked."""

import multiprocessing
import subprocess
import sys
import time
from concurrent.futures import as_completed
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from pipeline.commands.study import main
from pipeline.config.hydra import Composer
from pipeline.steps.search import work
from pipeline.store.keys import code_digest, decisive, named_modules
from pipeline.store.runs import failed_attempts, finished, run_record
from pipeline.studies.file import read_study
from pipeline.studies.members import read_members
from pipeline.studies.search_plan import planned_search
from pipeline.studies.table import study_rows
from pipeline.terminal.errors import FAILED, InputError
from pipeline.workflow.run import perform_name
from pipeline.workflow.study import written_plan

SEARCH: dict[str, Any] = {
    "case": "triangles_cylinder",
    "design": "adaptive",
    "vary": {
        "case.target.radius": {"low": 1.8, "high": 4.0},
        "case.structure.rows": {"low": 2, "high": 3, "integer": True},
    },
    "samples": 5,
    "objective": "S",
}


def write(project: Path, **changes: Any) -> None:
    text = yaml.safe_dump({**SEARCH, **changes})
    (project / "conf" / "study" / "mine.yaml").write_text(text)


def searched() -> dict[str, Any]:
    """Do the job of the study; return the record of the search."""
    with Composer() as composer:
        job = planned_search(read_study("mine"), composer)
    study = read_study("mine")
    plan = written_plan(study, [job], retry=False)
    assert plan["names"]["search/mine"]["threads"] == study.workers
    assert perform_name("search/mine") == 0
    directory = finished(job.key)
    assert directory is not None
    return run_record(directory)


def test_a_search_finds_the_best_of_its_trials_and_goes_on_from_them(
    project: Path,
) -> None:
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
    assert searched()["result"]["finished"] == 7
    new = set((project / "results" / "runs").iterdir()) - before
    steps = [run_record(directory)["step"] for directory in new]
    assert sorted(steps) == ["search", "simulate", "simulate"]  # the rest was replayed
    more, _ = study_rows(read_members("mine"))
    assert list(more["key"][:5]) == list(table["key"])


@pytest.mark.slow
def test_the_key_of_a_search_covers_its_module_and_the_version_of_optuna(
    project: Path,
) -> None:
    write(project)
    with Composer() as composer:
        job = planned_search(read_study("mine"), composer)
    assert job.identity["versions"]["optuna"] == metadata.version("optuna")
    modules = decisive(named_modules("search", job.config))[0]
    assert "pipeline.steps.search" in modules
    assert job.identity["code"] == code_digest(modules)


def test_trials_that_do_worse_than_the_others_are_ended_early(project: Path) -> None:
    write(project, samples=12, prune_by="E", workers=2)
    result = searched()["result"]
    assert result["pruned"] >= 1
    assert result["pruned"] + result["finished"] == 12
    kept = list((project / "results" / "failed").iterdir())
    assert {run_record(path)["status"] for path in kept} == {"pruned"}
    table, _ = study_rows(read_members("mine"))
    assert (table["status"] == "pruned").sum() == result["pruned"]
    assert main(["mine"]) == 0  # nothing is left to do but table and tracking
    statuses = pd.read_csv(project / "results" / "study" / "mine" / "table.csv")
    assert sorted(statuses["status"]) == sorted(table["status"])
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{project}/results/mlflow/mlflow.db")
    experiment = client.get_experiment_by_name("morphtrack")
    runs = client.search_runs([experiment.experiment_id])  # type: ignore[union-attr]
    assert {run.info.status for run in runs} == {"FINISHED"}
    pruned = [run for run in runs if run.data.tags.get("pruned") == "true"]
    assert len(pruned) == result["pruned"]


def test_a_trial_that_fails_is_no_reason_to_stop(project: Path) -> None:
    values = {"case.target.radius": {"low": -1.0, "high": 3.0}}
    write(project, vary=values, samples=6, seed=2)
    result = searched()["result"]
    assert result["failed"] >= 1
    assert result["finished"] >= 1
    assert result["failed"] + result["finished"] == 6


@pytest.mark.slow
def test_a_search_whose_worker_was_killed_goes_on(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(futures: Any) -> Any:
        while not (project / "results" / "study" / "mine" / "members.json").is_file():
            time.sleep(0.05)
        multiprocessing.active_children()[0].kill()
        return as_completed(futures)

    write(project)
    with monkeypatch.context() as patch:
        patch.setattr("pipeline.steps.search.as_completed", killed)
        search_fails()
    failed = map(run_record, (project / "results" / "failed").iterdir())
    (search,) = (record for record in failed if record["step"] == "search")
    assert search["status"] == "killed"
    assert searched()["result"]["finished"] == 5


@pytest.mark.slow
def test_workers_end_with_a_search_that_was_killed(project: Path) -> None:
    write(project, samples=1000)
    with Composer() as composer:
        job = planned_search(read_study("mine"), composer)
    written_plan(read_study("mine"), [job], retry=False)
    asked = (
        "from pipeline.workflow.run import perform_name; perform_name('search/mine')"
    )
    search = subprocess.Popen([sys.executable, "-c", asked])
    runs = project / "results" / "runs"
    while not (runs.is_dir() and any(runs.iterdir())):
        time.sleep(0.05)
    search.kill()
    search.wait()
    time.sleep(5)
    done = len(list(runs.iterdir()))
    time.sleep(5)
    assert len(list(runs.iterdir())) == done


def search_fails() -> None:
    """Plan the study's search, and see it fail."""
    with Composer() as composer:
        job = planned_search(read_study("mine"), composer)
    written_plan(read_study("mine"), [job], retry=False)
    assert perform_name("search/mine") == FAILED


def test_a_trial_that_lacks_memory_ends_its_worker_and_is_no_failed_trial(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(*_: Any) -> None:
        raise MemoryError("cannot allocate 9 GiB")

    write(project)
    monkeypatch.setattr("pipeline.steps.search.record_steps", lacking)
    with pytest.raises(ChildProcessError, match="lacked memory or disk"):
        work(read_study("mine"), project / "journal", seed=0)
    (member,) = read_members("mine")["members"]
    assert finished(member["key"]) is None
    assert not failed_attempts(member["key"])  # that failed by themselves


@pytest.mark.slow
def test_a_search_without_a_finished_trial_says_so_each_time(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(project, vary={"case.target.radius": {"low": -2.0, "high": -1.0}}, samples=2)
    for _ in range(2):
        assert main(["mine"]) == FAILED
        said = capfd.readouterr().err
        assert "none of the 2 trials of mine came to its end" in said
        assert "morphtrack study mine --retry-failed tries it again" in said


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
def test_a_search_that_is_not_sound_is_refused(
    project: Path, changes: dict[str, Any], said: str
) -> None:
    write(project, **changes)
    with pytest.raises(InputError, match=said):
        read_study("mine")


def test_an_objective_that_no_run_has_names_those_there_are(
    project: Path,
) -> None:
    write(project, objective="beauty")
    with pytest.raises(InputError, match=r"no number 'beauty'.*choose one of .*S"):
        searched()
