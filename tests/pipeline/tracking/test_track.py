"""Tracking: what MLflow holds after passes that are whole, killed, early or late."""

import csv
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.commands.track import main
from pipeline.store.attempts import run_once
from pipeline.store.files import StepWriter, replace_columns
from pipeline.store.keys import identity
from pipeline.store.runs import Job
from pipeline.terminal.errors import RunFailedError
from pipeline.tracking.labels import TAG
from pipeline.tracking.live import LiveRuns
from pipeline.tracking.options import read_options
from pipeline.tracking.record import step_metrics
from pipeline.tracking.store import Store, only_writer
from pipeline.tracking.track import Tracker, attempted
from tests.pipeline.conftest import Command, refusal


def run(n: int, *, study: str = "", fail: bool = False) -> Path | None:
    """A run with five steps, made without a solver."""
    config = {"case": {"n": n}}
    tags = {"study": study} if study else {}
    job = Job("simulate", "toy", identity("simulate", config), config, tags=tags)

    def body(out: Path) -> dict[str, Any]:
        with StepWriter(out) as writer:
            for s in range(5):
                writer.append({"step": s, "E": n + 0.1 * s}, {})
        if fail:
            raise RuntimeError("as asked")
        return {"E": n + 0.4, "stop": "change"}

    if not fail:
        return run_once(job, body)
    with pytest.raises(RunFailedError, match="as asked"):
        run_once(job, body)
    return None


@pytest.fixture
def tracker(project: Path) -> Tracker:
    return Tracker(Store(read_options(), project / "results" / "mlflow"))


def fresh(project: Path) -> Tracker:
    return Tracker(Store(read_options(), project / "results" / "mlflow"))


def held(project: Path) -> list[Any]:
    return list(Store(read_options(), project / "elsewhere").runs())


def test_a_run_arrives_with_its_numbers_and_words(
    project: Path, tracker: Tracker
) -> None:
    directory = run(1)
    assert directory is not None
    tracker.conclude()
    (found,) = held(project)
    assert found.info.status == "FINISHED"
    assert found.data.metrics["E"] == 1.4
    assert found.data.metrics["final.E"] == 1.4
    assert found.data.params == {"case.n": "1", "result.stop": "change"}
    assert found.data.tags["key"] == directory.name
    record = json.loads((directory / "run.json").read_text())
    assert found.info.end_time - found.info.start_time < 1000 * record["wall_s"] + 1000


def test_a_second_pass_adds_nothing_with_and_without_its_index(project: Path) -> None:
    run(1)
    run(2, fail=True)
    for _ in range(2):
        fresh(project).conclude()
        (project / "results" / "mlflow" / "index.json").unlink()
    fresh(project).conclude()
    assert Counter(r.info.status for r in held(project)) == Counter(
        FINISHED=1, FAILED=1
    )


def test_what_a_killed_tracker_left_half_written_is_written_anew(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(1)
    run(2)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("pipeline.tracking.track.end_run", killed)
        with pytest.raises(KeyboardInterrupt):
            fresh(project).conclude()
    fresh(project).conclude()
    runs = held(project)
    assert Counter(r.info.status for r in runs) == Counter(FINISHED=2)
    assert {r.data.tags["key"] for r in runs} == {
        p.name for p in (project / "results" / "runs").iterdir()
    }


def write_study(project: Path, keys: list[str]) -> None:
    study = project / "results" / "study" / "mine"
    study.mkdir(parents=True)
    members = [{"key": key, "point": {}} for key in keys]
    wanted = {"study": "mine", "members": members}
    (study / "members.json").write_text(json.dumps(wanted))
    (study / "table.csv").write_text("key\n")


def test_a_planned_study_has_a_parent_from_its_first_run_on(project: Path) -> None:
    write_study(project, ["0" * 16, "1" * 16])
    fresh(project).conclude()

    assert held(project) == []


def test_runs_of_a_study_hang_below_its_parent(project: Path) -> None:
    keys = [str(run(n, study="mine").name) for n in (1, 2)]  # type: ignore[union-attr]
    write_study(project, keys)
    tracker = fresh(project)
    tracker.conclude()
    (parent,) = [r for r in held(project) if r.data.tags["step"] == "study"]
    children = [r for r in held(project) if r.data.tags["step"] != "study"]
    assert {r.data.tags["mlflow.parentRunId"] for r in children} == {parent.info.run_id}
    counts = {"finished": 2.0, "pruned": 0.0, "failed": 0.0, "missing": 0.0}
    assert parent.data.metrics == counts
    assert parent.info.status == "FINISHED"


def test_a_live_run_is_seen_running_and_then_finishes_as_the_same_run(
    project: Path, tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.tracking.live.OLD_ENOUGH_SECONDS", 0.0)
    config = {"case": {"n": 3}}
    job = Job("simulate", "toy", identity("simulate", config), config)
    seen: list[Any] = []

    def body(out: Path) -> dict[str, Any]:
        with StepWriter(out) as writer:
            for s in range(6):
                writer.append({"step": s, "E": 1.0 / (s + 1)}, {})
                if s % 2:
                    tracker.follow()
                    seen.extend(held_now(project))
        return {"E": 1.0 / 6}

    directory = run_once(job, body)
    tracker.conclude()
    assert [status for status, _, _ in seen] == ["RUNNING"] * 3
    assert [steps for _, steps, _ in seen] == [2, 4, 6]
    (found,) = held(project)
    assert found.info.status == "FINISHED"
    assert {run_id for _, _, run_id in seen} == {found.info.run_id}
    with (directory / "steps.csv").open() as file:
        rows = [float(row["E"]) for row in csv.DictReader(file)]
    history = client(project).get_metric_history(found.info.run_id, "E")
    assert [m.value for m in history] == rows


def test_a_live_run_that_ends_before_its_steps_are_read_has_the_name_of_its_end(
    project: Path, tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.tracking.live.OLD_ENOUGH_SECONDS", 0.0)
    monkeypatch.setattr(LiveRuns, "_grow", lambda *_: None)  # it has moved away
    config = {"case": {"n": 3}}
    job = Job("simulate", "toy", identity("simulate", config), config)

    def body(out: Path) -> dict[str, Any]:
        with StepWriter(out) as writer:
            writer.append({"step": 0, "E": 1.0}, {})
            tracker.follow()
        return {"E": 1.0}

    directory = run_once(job, body)
    assert next(held_now(project))[0] == "RUNNING"
    tracker.conclude()
    (found,) = held(project)
    assert found.data.tags[TAG] == directory.name


def test_the_steps_of_a_killed_attempt_are_not_taken_for_those_of_the_next(
    project: Path, tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.tracking.live.OLD_ENOUGH_SECONDS", 0.0)
    config = {"case": {"n": 3}}
    job = Job("simulate", "toy", identity("simulate", config), config)

    def killed(out: Path) -> dict[str, Any]:
        with StepWriter(out) as writer:
            writer.append({"step": 0, "E": 7.0}, {})
            tracker.follow()
        raise RuntimeError("as asked")

    def whole(out: Path) -> dict[str, Any]:
        with StepWriter(out) as writer:
            writer.append({"step": 0, "E": 1.0}, {})
        return {"E": 1.0}

    with pytest.raises(RunFailedError):
        run_once(job, killed)
    shutil.rmtree(project / "results" / "failed")  # as if it had been killed
    directory = run_once(job, whole)
    tracker.catch_up()
    (found,) = held_named(project, directory.name)
    history = client(project).get_metric_history(found.info.run_id, "E")
    assert [m.value for m in history] == [1.0]


def held_named(project: Path, name: str) -> list[Any]:
    """Runs of that name, asked without mending anything."""
    asked = client(project)
    experiment = asked.get_experiment_by_name("morphtrack").experiment_id
    return [r for r in asked.search_runs([experiment]) if r.data.tags[TAG] == name]


def client(project: Path) -> Any:
    from mlflow import MlflowClient

    return MlflowClient(f"sqlite:///{project}/results/mlflow/mlflow.db")


def held_now(project: Path) -> Iterator[tuple[str, int, str]]:
    """Status, number of steps and id of every run, asked without mending anything."""
    asked = client(project)
    experiment = asked.get_experiment_by_name("morphtrack").experiment_id
    for found in asked.search_runs([experiment]):
        run_id = found.info.run_id
        steps = len(asked.get_metric_history(run_id, "E"))
        yield found.info.status, steps, run_id


def test_a_run_whose_process_is_gone_is_closed_as_killed(project: Path) -> None:
    code = (
        "import os, signal; from pathlib import Path\n"
        "from pipeline.store.files import StepWriter\n"
        "from pipeline.store.keys import identity\n"
        "from pipeline.store.attempts import run_once\n"
        "from pipeline.store.runs import Job\n"
        "def body(out):\n"
        "    w = StepWriter(out); w.append({'step': 0, 'E': 1.0}, {})\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "run_once(Job('simulate', 'toy', identity('simulate', {}), {}), body)\n"
    )
    killed = subprocess.run(
        [sys.executable, "-c", code], cwd=project, env=os.environ, check=False
    )
    assert killed.returncode == -9
    assert main([]) == 0
    (found,) = held(project)
    assert found.info.status == "KILLED"
    assert found.data.metrics["E"] == 1.0
    (kept,) = (project / "results" / "failed").iterdir()
    assert (kept / "steps.csv").read_text().splitlines() == ["step,E", "0,1.0"]


def test_a_store_that_does_not_answer_loses_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(1)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    assert main([]) == 1
    said = capsys.readouterr().err.strip().splitlines()
    assert "nothing is lost" in said[-1]
    monkeypatch.delenv("MLFLOW_TRACKING_URI")
    assert main([]) == 0
    assert len(held(project)) == 1


def test_a_run_that_the_store_refuses_does_not_hold_up_the_others(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    directories = [run(n) for n in range(3)]
    log_batch = MlflowClient.log_batch
    refusing = True

    def refuse_the_second(self: Any, run_id: str, *given: Any, **named: Any) -> None:
        if refusing and self.get_run(run_id).data.tags["key"] == directories[1].name:  # type: ignore[union-attr]
            raise MlflowException("HTTP 400")
        log_batch(self, run_id, *given, **named)

    monkeypatch.setattr(MlflowClient, "log_batch", refuse_the_second)
    assert main([]) == 1
    assert "HTTP 400 (nothing is lost" in capsys.readouterr().err
    ended = Counter(r.info.status for r in list(held_now_statuses(project)))
    assert ended == Counter(FINISHED=2, RUNNING=1)
    refusing = False
    assert main([]) == 0
    assert Counter(r.info.status for r in held(project)) == Counter(FINISHED=3)


def held_now_statuses(project: Path) -> list[Any]:
    asked = client(project)
    experiment = asked.get_experiment_by_name("morphtrack").experiment_id
    return list(asked.search_runs([experiment]))


def test_on_a_server_the_runs_of_others_are_left_alone(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(1)
    monkeypatch.setattr("pipeline.tracking.store.sqlite_file", lambda _: None)
    (project / "results" / "mlflow").mkdir(parents=True)
    theirs = Store(read_options(), project / "theirs")
    going = theirs.client.create_run(theirs.experiment, tags={TAG: "abc.1"})
    assert main([]) == 0
    assert theirs.client.get_run(going.info.run_id).info.lifecycle_stage == "active"
    ours = Store(read_options(), project / "results" / "mlflow")
    assert len(list(ours.runs())) == 1
    assert list(theirs.runs()) == []  # each sees its own


def test_a_defect_is_not_taken_for_trouble_with_the_store(tracker: Tracker) -> None:
    def defect() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        attempted(tracker, defect)


def test_two_trackers_at_once_are_refused(command: Command, project: Path) -> None:
    with only_writer(project / "results" / "mlflow"):
        done = command("track", "--patience", "0.5")
    assert "another process is writing" in refusal(done)


def test_a_tracker_that_is_about_to_end_is_waited_for(project: Path) -> None:
    holder = (
        "import time; from pathlib import Path\n"
        "from pipeline.tracking.store import only_writer\n"
        "with only_writer(Path('results/mlflow')):\n"
        "    print('held', flush=True); time.sleep(1.0)"
    )
    run(1)
    with subprocess.Popen(
        [sys.executable, "-c", holder], cwd=project, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        assert main([]) == 0
    assert len(held(project)) == 1


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("run.json", "{", "{half"),
        ("run.json", '"paths": []', '"paths": ["data/a.ply"]'),
        ("steps.csv", "\n1,1.1\n", "\n1\n"),
    ],
)
def test_an_unreadable_run_is_named_and_the_others_arrive(
    project: Path, capsys: pytest.CaptureFixture[str], name: str, old: str, new: str
) -> None:
    first = run(1)
    run(2)
    assert first is not None
    text = (first / name).read_text()
    assert old in text
    (first / name).write_text(text.replace(old, new))
    assert main([]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error: {first}: ")
    assert said.count("\n") == 1
    assert len(held(project)) == 1


def test_a_copied_project_fills_a_database_of_its_own(
    project: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run(1)
    assert main([]) == 0
    copied = tmp_path_factory.mktemp("copy") / "project"
    shutil.copytree(project, copied)
    monkeypatch.chdir(copied)
    run(2)
    assert main([]) == 0
    assert len(held(copied)) == 2
    for found in held(copied):
        assert str(copied) in found.info.artifact_uri
    artifacts = project / "results" / "mlflow" / "artifacts"
    assert len(list(artifacts.iterdir())) == 1


def test_steps_that_were_followed_are_left_out_though_the_end_wrote_them_over(
    tmp_path: Path,
) -> None:
    """What only the end of a run tells makes the rows before it longer."""
    with StepWriter(tmp_path) as writer:
        for s in range(5):
            writer.append({"step": s, "E": 0.1 * s, "condition": float("nan")}, {})
    table = tmp_path / "steps.csv"
    replace_columns(table, {"condition": [1.0 / 3.0 + s for s in range(5)]})
    rest = step_metrics(tmp_path, 0, 9, most=10, after=2)
    assert sorted({metric.step for metric in rest}) == [2, 3, 4]
    told = [metric.value for metric in rest if metric.key == "condition"]
    assert told == [1.0 / 3.0 + s for s in (2, 3, 4)]
