"""What people see of a run in MLflow: names that tell runs apart, filled columns."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pipeline.commands.track import main
from pipeline.config.hydra import Composer
from pipeline.store.attempts import code_state, run_once
from pipeline.store.case_job import planned
from pipeline.store.files import StepWriter
from pipeline.store.variations import said
from pipeline.terminal.errors import InputError
from pipeline.tracking.labels import LONGEST_NAME, run_name
from pipeline.tracking.options import read_options
from pipeline.tracking.store import Store
from pipeline.tracking.track import Tracker
from tests.pipeline.tracking.test_track import client, held, run


def simulated(case: str, *overrides: str) -> Path:
    """A run of a shipped case, its solver left out."""
    with Composer() as composer:
        config = composer.compose("simulate", [f"case={case}", *overrides])
    return run_once(planned(case, config), lambda _: {"E": 0.123456, "stop": "change"})


def study_of(project: Path, values: Sequence[int]) -> None:
    """The study sheet_size as if its runs were toys, each with its point."""
    members = [
        {"key": path.name, "point": {"case.n": n}}
        for n in values
        if (path := run(n, study="sheet_size")) is not None
    ]
    path = project / "results" / "study" / "sheet_size" / "members.json"
    path.parent.mkdir(parents=True)
    value = {"study": "sheet_size", "case": "toy", "members": members}
    path.write_text(json.dumps(value))


def names(project: Path) -> list[str]:
    return sorted(found.info.run_name for found in held(project))


def test_runs_of_one_case_are_named_by_what_is_their_own(project: Path) -> None:
    simulated("triangles_circle")
    simulated("triangles_circle", "case.tolerance=1e-7")
    (project / "mine.fold").write_text("{}")
    simulated("fold_file", "case.pattern.path=mine.fold")
    assert main([]) == 0
    assert names(project) == [
        "simulate fold_file path=mine.fold",
        "simulate triangles_circle",
        "simulate triangles_circle tolerance=1e-07",
    ]
    differs = {f.data.tags.get("differs", "") for f in held(project)}
    assert differs == {"", "case.tolerance=1e-07", "case.pattern.path=mine.fold"}


def test_runs_of_a_study_are_named_by_their_points(project: Path) -> None:
    study_of(project, [1, 2])
    assert main([]) == 0
    assert names(project) == [
        "simulate toy n=1",
        "simulate toy n=2",
        "study sheet_size",
    ]


def test_values_of_one_last_name_are_told_apart_by_the_whole_name() -> None:
    values = {"case.targets.0.radius": 1.0, "case.targets.1.radius": 2.0, "case.n": 3}
    assert said(values, short=True) == (
        "case.targets.0.radius=1.0 case.targets.1.radius=2.0 n=3"
    )


def test_a_name_stays_readable_whatever_differs() -> None:
    many = {f"case.value_{i}": "x" * 100 for i in range(20)}
    text = said(many, short=True)
    assert text.startswith(f"value_0={'x' * 29}… value_1=")
    assert text.endswith(" and 12 more")
    name = run_name({"step": "simulate", "name": "triangles_circle"}, text)
    assert len(name) == LONGEST_NAME
    assert name.endswith("…")


def test_mlflow_s_columns_and_description_are_filled(project: Path) -> None:
    directory = simulated("triangles_circle", "case.tolerance=1e-7")
    assert main([]) == 0
    (found,) = held(project)
    tags = found.data.tags
    assert tags["mlflow.user"] == found.info.user_id == directory.owner()
    assert tags["mlflow.source.name"] == "morphtrack simulate"
    assert tags["mlflow.source.type"] == "LOCAL"
    assert tags.get("mlflow.source.git.commit", "") == code_state()["git_commit"]
    first = (project / "conf/case/triangles_circle.yaml").read_text().splitlines()[0]
    assert tags["mlflow.note.content"].split("\n\n") == [
        first.removeprefix("# "),
        "Here with `case.tolerance=1e-07`.",
        "Finished: E 0.1235, stop change.",
        f"Files: `{directory}`",
    ]


def test_a_failed_run_s_description_says_why_and_a_study_s_what_it_is(
    project: Path,
) -> None:
    run(3, fail=True)
    study_of(project, [1])
    assert main([]) == 0
    notes = {f.info.run_name: f.data.tags["mlflow.note.content"] for f in held(project)}
    assert "RuntimeError: as asked" in notes["simulate toy"]
    first = (project / "conf/study/sheet_size.yaml").read_text().splitlines()[0]
    assert notes["study sheet_size"] == first.removeprefix("# ")


@pytest.mark.parametrize(("asked", "rows"), [(False, 0), (True, 5)])
def test_the_steps_of_a_study_s_runs_are_rows_only_where_asked(
    project: Path, asked: bool, rows: int
) -> None:
    study_of(project, [1, 2])
    run(3)
    settings = project / "conf" / "tracking.yaml"
    text = settings.read_text()
    settings.write_text(text.replace("study_steps: false", f"study_steps: {asked}"))
    assert main([]) == 0
    asking = client(project)
    found = {
        f.info.run_name: len(asking.get_metric_history(f.info.run_id, "E"))
        for f in held(project)
    }
    assert found.pop("study sheet_size") == 0
    assert found == {"simulate toy n=1": rows, "simulate toy n=2": rows} | {
        "simulate toy": 5
    }
    finals = {f.data.metrics.get("final.E") for f in held(project)}
    assert finals == {1.4, 2.4, 3.4, None}


def test_a_live_run_of_a_study_is_seen_running_without_its_steps(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.tracking.live.OLD_ENOUGH_SECONDS", 0.0)
    tracker = Tracker(Store(read_options(), project / "results" / "mlflow"))
    seen: list[Any] = []

    def body(out: Path) -> dict[str, Any]:
        with StepWriter(out) as writer:
            writer.append({"step": 0, "E": 1.0}, {})
            tracker.follow()
            asking = client(project)
            home = asking.get_experiment_by_name("morphtrack").experiment_id
            for found in asking.search_runs([home], "tags.step = 'simulate'"):
                seen.append((found.info.status, found.data.metrics))
        return {"E": 1.0}

    with Composer() as composer:
        config = composer.compose("simulate", ["case=triangles_circle"])
    run_once(planned("triangles_circle", config, {"study": "mine"}), body)
    tracker.conclude()
    assert seen == [("RUNNING", {})]
    kept = next(f for f in held(project) if f.data.tags["step"] == "simulate")
    assert kept.info.status == "FINISHED"
    assert client(project).get_metric_history(kept.info.run_id, "E") == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("study_steps: false", "study_steps: 1", "study_steps must be true or false"),
        ("most_steps: 2000", "most_steps: 1", "most_steps must be 2 or more, not 1"),
        ("uri:", "url:", "has no key 'url'.*did you mean uri"),
    ],
)
def test_a_wrong_option_of_tracking_is_refused(
    project: Path, old: str, new: str, said: str
) -> None:
    settings = project / "conf" / "tracking.yaml"
    settings.write_text(settings.read_text().replace(old, new))
    with pytest.raises(InputError, match=said):
        read_options()
