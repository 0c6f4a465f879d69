"""Runs come to MLflow while they work and when they end, each once."""

import csv
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli.app import called
from pipeline.runs.atomic_files import StepWriter
from pipeline.runs.run_attempts import run_once
from pipeline.runs.run_keys import TRACKED, edits
from pipeline.terminal import InputError
from pipeline.tracking import unlogged_runs as logger_module
from pipeline.tracking.logged_contents import milliseconds
from pipeline.tracking.unlogged_runs import Logger
from tests.helpers.mlflow_runs import client_of, runs_in
from tests.pipeline.tracking.toys import STEPS, failed_run, toy_job, toy_run

RESULTS = Path("results")


def points(project: Path, run_id: str) -> list[tuple[int, float]]:
    """Step and value of each E that a run has."""
    found = client_of(project).get_metric_history(run_id, "E")
    return sorted((point.step, point.value) for point in found)


def files(project: Path, run_id: str) -> set[str]:
    """The artifacts of a run."""
    return {file.path for file in client_of(project).list_artifacts(run_id)}


def test_runs_come_with_all_they_hold_and_a_second_pass_adds_nothing(tracked):
    """Numbers are metrics, words are tags, settings are parameters."""
    directory = toy_run(1)
    failed_run(2)
    for _ in range(2):
        assert called(["track"]) == 0
    statuses = Counter(found.info.status for found in runs_in(tracked))
    assert statuses == Counter(FINISHED=1, FAILED=1)
    runs = {found.info.status: found for found in runs_in(tracked, "simulate")}
    found, failed = runs["FINISHED"], runs["FAILED"]
    record = json.loads((directory / "run.json").read_text())
    assert found.data.params == {"case.n": "1", "case.margin": "0.5"}
    costs = {"wall_s": record["wall_s"], "cpu_s": record["cpu_s"]}
    assert found.data.metrics == {"E": 1.4} | costs  # the margin is a setting
    steps = [(s, 1 + 0.1 * s) for s in range(STEPS)]
    assert points(tracked, found.info.run_id) == steps
    assert found.data.tags["stop"] == "change"
    assert found.data.tags["reached"] == "true"
    assert found.data.tags["key"] == directory.name
    times = found.info.start_time, found.info.end_time
    assert times == (milliseconds(record["started"]), milliseconds(record["ended"]))
    assert failed.data.tags["reason"] == "RuntimeError: as asked"
    assert failed.data.metrics["E"] == 2.4  # of the steps that it made


def test_a_comparison_comes_with_its_verdict_its_inputs_and_its_files(tracked):
    """Pictures and tables are artifacts, and pages are not; inputs are datasets."""

    def body(out: Path) -> dict[str, Any]:
        for name in ("labels.png", "comparison.csv", "labels.html", "points.npy"):
            (out / name).write_bytes(b"content")
        return {"verdict": "differs", "why": "S is off by 0.05", "S_scanned": 0.86}

    needs = {"simulated": "0123456789abcdef"}
    directory = run_once(replace(toy_job(1, "compare"), needs=needs), body)
    assert called(["track"]) == 0
    (found,) = runs_in(tracked, "compare")
    expected = {"labels.png", "comparison.csv", "run.json"}
    assert files(tracked, found.info.run_id) == expected
    assert found.data.tags["verdict"] == "differs"
    assert found.data.tags["mlflow.note.content"].split("\n\n") == [
        "differs: S is off by 0.05",
        f"Files: `{directory}`",
    ]
    (given,) = found.inputs.dataset_inputs
    assert {given.dataset.name: given.dataset.digest} == needs


def test_a_picture_that_is_drawn_later_and_a_run_made_again_come_in_a_session(tracked):
    logger = Logger(RESULTS)
    directory = toy_run(1)
    logger.follow()
    (directory / "picture.png").write_bytes(b"drawn later")
    logger.conclude()
    (found,) = runs_in(tracked)
    assert "picture.png" in files(tracked, found.info.run_id)
    (directory / "steps.csv").write_text("edited")
    toy_run(1)
    logger.conclude()
    assert logger.unreadable == []
    assert len(runs_in(tracked)) == 2


def test_a_run_that_was_removed_and_made_again_is_another_run(tracked):
    shutil.rmtree(toy_run(1))
    toy_run(1)
    called(["track"])
    shutil.rmtree(toy_run(1))
    toy_run(1)
    called(["track"])
    assert len(runs_in(tracked)) == 2


def test_a_run_whose_process_was_killed_is_killed(tracked):
    code = (
        "import os, signal\n"
        "from tests.pipeline.tracking.toys import *\n"
        "def body(out):\n"
        "    toy_steps(out, 1)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "run_once(toy_job(1), body)\n"
    )
    killed = subprocess.run([sys.executable, "-c", code], check=False)
    assert killed.returncode == -9
    assert called(["track"]) == 0
    (found,) = runs_in(tracked)
    assert found.info.status == "KILLED"
    assert found.data.metrics["E"] == 1.4


@pytest.fixture
def quick(monkeypatch):
    """Every run that works is seen, however short."""
    monkeypatch.setattr(logger_module, "SHORT_SECONDS", -1.0)


@pytest.mark.usefixtures("quick")
def test_a_run_is_seen_while_it_works_and_ends_as_the_same_run(tracked):
    seen: list[tuple[str, int, str]] = []
    logger = Logger(RESULTS)

    def body(out: Path) -> dict[str, Any]:
        with closing(StepWriter(out)) as writer:
            for s in range(6):
                writer.append({"step": s, "E": 1.0 / (s + 1)}, {})
                if s % 2:
                    logger.follow()
                    (found,) = runs_in(tracked)
                    assert found.data.params["case.n"] == "1"
                    run_id = found.info.run_id
                    seen.append(
                        (found.info.status, len(points(tracked, run_id)), run_id)
                    )
        assert json.loads((out / TRACKED).read_text())["run_id"] == run_id
        return {"E": 1.0 / 6}

    directory = run_once(toy_job(1), body)
    logger.conclude()

    assert [status for status, _, _ in seen] == ["RUNNING"] * 3
    assert [steps for _, steps, _ in seen] == [2, 4, 6]
    (found,) = runs_in(tracked)
    assert found.info.status == "FINISHED"
    assert {run_id for _, _, run_id in seen} == {found.info.run_id}
    claim = json.loads((directory / TRACKED).read_text())
    assert (claim["run_id"], claim["status"]) == (found.info.run_id, "FINISHED")
    assert not edits(directory)  # the digests of a run leave the claim out


@pytest.mark.usefixtures("quick")
def test_a_run_goes_on_in_mlflow_after_its_logging_process(tracked):
    def body(out: Path) -> dict[str, Any]:
        with closing(StepWriter(out)) as writer:
            for s in range(6):
                writer.append({"step": s, "E": 1.0 + s}, {})
                if s % 2:
                    Logger(RESULTS).follow()  # the one before is gone
        return {"E": 6.0}

    run_once(toy_job(1), body)
    assert called(["track"]) == 0
    (found,) = runs_in(tracked)
    assert {step for step, _ in points(tracked, found.info.run_id)} == set(range(6))
    assert found.info.status == "FINISHED"


@pytest.mark.usefixtures("quick")
def test_steps_of_a_failed_attempt_are_not_those_of_the_next(tracked):
    logger = Logger(RESULTS)

    def fails(out: Path) -> dict[str, Any]:
        with closing(StepWriter(out)) as writer:
            writer.append({"step": 0, "E": 7.0}, {})
            logger.follow()
        raise RuntimeError("as asked")

    def succeeds(out: Path) -> dict[str, Any]:
        with closing(StepWriter(out)) as writer:
            writer.append({"step": 0, "E": 1.0}, {})
        return {"E": 1.0}

    with pytest.raises(Exception, match="as asked"):
        run_once(toy_job(1), fails)
    directory = run_once(toy_job(1), succeeds)
    logger.conclude()
    runs = {found.info.status: found.info.run_id for found in runs_in(tracked)}
    assert points(tracked, runs["FINISHED"]) == [(0, 1.0)]
    assert points(tracked, runs["FAILED"]) == [(0, 7.0)]
    assert json.loads((directory / TRACKED).read_text())["run_id"] == runs["FINISHED"]


@pytest.mark.usefixtures("quick")
def test_input_that_is_refused_late_leaves_no_run(tracked):
    logger = Logger(RESULTS)

    def refuses(_: Path) -> dict[str, Any]:
        logger.follow()
        assert len(runs_in(tracked)) == 1
        raise InputError("no such thing")

    with pytest.raises(InputError):
        run_once(toy_job(1), refuses)
    logger.conclude()
    assert runs_in(tracked) == []


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("run.json", "{", "{half"),
        ("run.json", '"paths": []', '"paths": ["data/a.ply"]'),
        ("steps.csv", "\n1,1.1\n", "\n1\n"),
    ],
)
def test_an_unreadable_run_is_named_and_the_others_arrive(
    tracked, capsys, name, old, new
):
    first = toy_run(1)
    toy_run(2)
    text = (first / name).read_text()
    assert old in text
    (first / name).write_text(text.replace(old, new))
    assert called(["track"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {first}: ")
    statuses = Counter(found.info.status for found in runs_in(tracked))
    assert statuses["FINISHED"] == 1


def test_a_run_that_the_store_refuses_does_not_hold_up_the_others(
    tracked, monkeypatch, capsys
):
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    keys = [toy_run(n).name for n in range(3)]
    set_terminated = MlflowClient.set_terminated

    def refuse(self: Any, run_id: str, *given: Any, **named: Any) -> None:
        if self.get_run(run_id).data.tags["key"] == keys[1]:
            raise MlflowException("HTTP 400")
        set_terminated(self, run_id, *given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(MlflowClient, "set_terminated", refuse)
        assert called(["track"]) == 1
    assert "HTTP 400 (no result is lost" in capsys.readouterr().err
    statuses = Counter(found.info.status for found in runs_in(tracked))
    assert statuses == Counter(FINISHED=2, RUNNING=1)
    assert called(["track"]) == 0
    statuses = Counter(found.info.status for found in runs_in(tracked))
    assert statuses == Counter(FINISHED=3)


@pytest.mark.parametrize(
    ("call", "when"),
    [
        ("create_run", "before"),
        ("log_batch", "before"),
        ("log_artifact", "before"),
        ("set_terminated", "before"),
        ("set_terminated", "after"),
    ],
)
def test_after_a_kill_of_the_logging_process_each_run_is_there_once(
    tracked, call, when
):
    from mlflow import MlflowClient

    keys = sorted(toy_run(n).name for n in range(2))
    child = os.fork()
    if not child:  # it is killed at the first call for the second run
        made = getattr(MlflowClient, call)
        done: set[str] = set()

        def killed(self: Any, *given: Any, **named: Any) -> Any:
            second = len(done) > 1 or (call == "create_run" and done)
            if second and when == "before":
                os._exit(9)
            result = made(self, *given, **named)
            done.add(result.info.run_id if call == "create_run" else given[0])
            if len(done) > 1:
                os._exit(9)
            return result

        setattr(MlflowClient, call, killed)
        called(["track"])
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert called(["track"]) == 0
    runs = runs_in(tracked)
    assert sorted(found.data.tags["key"] for found in runs) == keys
    assert {found.info.status for found in runs} == {"FINISHED"}
    for found in runs:
        steps = [step for step, _ in points(tracked, found.info.run_id)]
        assert steps == list(range(STEPS))


def test_only_one_process_writes(tracked, monkeypatch, refused):
    monkeypatch.setattr("pipeline.tracking.unlogged_runs.WAIT_SECONDS", 0.0)
    toy_run(1)
    lock = logger_module.try_lock(RESULTS)
    assert lock is not None
    with lock:
        assert "another process is writing" in refused("track")
        assert runs_in(tracked) == []
    assert called(["track"]) == 0


def test_long_tables_are_thinned_evenly(tracked):
    options = tracked / "conf" / "tracking.yaml"
    options.write_text(options.read_text().replace("most_steps: 2000", "most_steps: 4"))

    def body(out: Path) -> dict[str, Any]:
        with closing(StepWriter(out)) as writer:
            for s in range(10):
                writer.append({"step": s, "E": float(s)}, {})
        return {"E": 9.0}

    directory = run_once(toy_job(1), body)
    called(["track"])
    (found,) = runs_in(tracked)
    assert [step for step, _ in points(tracked, found.info.run_id)] == [0, 3, 6, 9]
    with (directory / "steps.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 10
