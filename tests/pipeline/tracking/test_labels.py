"""What people see of a run in MLflow: experiments, names, columns, descriptions."""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipeline.cli.app import called
from pipeline.config.hydra import Composer
from pipeline.runs.case_job import planned
from pipeline.runs.run_attempts import code_state, run_once
from pipeline.runs.run_differences import differences_text
from pipeline.terminal import InputError
from pipeline.tracking.logged_contents import LONGEST_NAME, run_name
from pipeline.tracking.mlflow_location import TrackingOptions, read_options
from tests.helpers.mlflow_runs import client_of, runs_at, runs_in
from tests.pipeline.tracking.toys import toy_run


def simulated(case: str, *overrides: str) -> Path:
    """A run of a shipped case without its solver."""
    composer = Composer()
    config = composer.compose("simulate", [f"case={case}", *overrides])
    return run_once(planned(case, config), lambda _: {"E": 0.123456, "stop": "change"})


def study_of(project: Path, values: Sequence[int], name: str = "sheet_size") -> Path:
    """A study as if its runs were toys, each with its point; its folder."""
    members = [
        {"key": toy_run(n, study=name).name, "point": {"case.n": n}} for n in values
    ]
    folder = project / "results" / "study" / name
    folder.mkdir(parents=True)
    value = {"study": name, "case": "toy", "members": members}
    (folder / "members.json").write_text(json.dumps(value))
    (folder / "table.csv").write_text("key\n")
    (folder / "effects.png").write_bytes(b"a plot")
    (folder / "effects.html").write_bytes(b"a page")
    return folder


def names(project: Path, *experiments: str) -> list[str]:
    return sorted(found.info.run_name for found in runs_in(project, *experiments))


STEPS = {
    "simulate": ["simulate"],
    "ingest": ["virtual_scan", "ingest"],
    "compare": [
        "deviation", "input_uncertainty", "compare", "compare_series", "calibrate",
    ],
    "measured": ["fit_measured", "predict", "measured"],
    "figures": ["figure", "parts"],
}  # fmt: skip


def test_each_kind_of_step_has_its_experiment(tracked):
    for n, step in enumerate(itertools.chain(*STEPS.values())):
        toy_run(n, step)
    study_of(tracked, [100])
    assert called(["track"]) == 0
    found = {
        experiment: {run.data.tags["step"] for run in runs_in(tracked, experiment)}
        for experiment in STEPS
    }
    assert found == {name: set(steps) for name, steps in STEPS.items()}
    assert names(tracked, "study sheet_size") == [
        "simulate toy n=100",
        "study sheet_size",
    ]


def test_an_experiment_that_the_environment_names_takes_all_runs(tracked, monkeypatch):
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "paper")
    toy_run(1)
    toy_run(2, "compare")
    study_of(tracked, [3])
    assert called(["track"]) == 0
    steps = sorted(run.data.tags["step"] for run in runs_in(tracked, "paper"))
    assert steps == ["compare", "simulate", "simulate", "study"]
    assert len(runs_in(tracked)) == 4


def test_another_name_of_the_experiment_logs_no_run_twice(tracked, monkeypatch):
    """Nor after another store, which gets all, had the runs meanwhile."""
    study_of(tracked, [1])
    other = f"sqlite:///{tracked}/other.db"
    for store, name in (("", "one"), (other, "one"), ("", "two")):
        monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", name)
        monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
        assert called(["track"]) == 0
    monkeypatch.delenv("MLFLOW_TRACKING_URI")
    for runs in (runs_in(tracked), runs_at(other)):
        assert len(runs) == 2  # the run and its study


def test_runs_of_one_case_are_named_by_what_differs_and_described(tracked):
    simulated("triangles_circle")
    directory = simulated("triangles_circle", "case.tolerance=1e-7")
    (tracked / "mine.fold").write_text("{}")
    simulated("fold_file", "case.pattern.path=mine.fold")
    assert called(["track"]) == 0
    assert names(tracked) == [
        "simulate fold_file path=mine.fold",
        "simulate triangles_circle",
        "simulate triangles_circle tolerance=1e-07",
    ]
    found = {run.data.tags.get("differs", ""): run for run in runs_in(tracked)}
    assert {*found} == {"", "case.tolerance=1e-07", "case.pattern.path=mine.fold"}
    tags = found["case.tolerance=1e-07"].data.tags
    assert tags["mlflow.user"] == directory.owner()
    assert tags["mlflow.source.name"] == "morphtrack simulate"
    assert tags["mlflow.source.type"] == "LOCAL"
    assert tags.get("mlflow.source.git.commit", "") == code_state()["git_commit"]
    first = (tracked / "conf/case/triangles_circle.yaml").read_text().splitlines()[0]
    assert tags["mlflow.note.content"].split("\n\n") == [
        first.removeprefix("# "),
        "With `case.tolerance=1e-07`.",
        f"Files: `{directory}`",
    ]


def test_a_study_has_one_parent_with_its_table_and_plot(tracked):
    study_of(tracked, [1, 2])
    for _ in range(2):
        assert called(["track"]) == 0
    runs = {run.info.run_name: run for run in runs_in(tracked, "study sheet_size")}
    assert runs.keys() == {"simulate toy n=1", "simulate toy n=2", "study sheet_size"}
    parent = runs.pop("study sheet_size")
    for child in runs.values():
        assert child.data.tags["mlflow.parentRunId"] == parent.info.run_id
        assert child.info.status == "FINISHED"
    counts = {"finished": 2.0, "pruned": 0.0, "failed": 0.0, "missing": 0.0}
    assert parent.data.metrics == counts
    assert parent.info.status == "FINISHED"
    files = client_of(tracked).list_artifacts(parent.info.run_id)
    assert {file.path for file in files} == {"members.json", "table.csv", "effects.png"}
    first = (tracked / "conf/study/sheet_size.yaml").read_text().splitlines()[0]
    assert parent.data.tags["mlflow.note.content"] == first.removeprefix("# ")


def test_a_study_whose_runs_are_missing_has_not_ended(tracked):
    folder = study_of(tracked, [1])
    value = json.loads((folder / "members.json").read_text())
    value["members"].append({"key": "0" * 16, "point": {}})
    (folder / "members.json").write_text(json.dumps(value))
    assert called(["track"]) == 0
    (parent,) = [r for r in runs_in(tracked) if r.data.tags["step"] == "study"]
    assert parent.info.status == "RUNNING"
    assert parent.data.metrics["missing"] == 1.0


def test_a_run_of_two_studies_is_there_once(tracked):
    study_of(tracked, [1], "first")
    study_of(tracked, [1], "second")  # its run is there, of the first
    assert called(["track"]) == 0
    assert names(tracked, "study first") == ["simulate toy n=1", "study first"]
    assert names(tracked, "study second") == ["study second"]


@pytest.mark.parametrize(("asked", "points"), [("false", 0), ("true", 5)])
def test_steps_of_a_study_s_runs_are_metrics_only_where_asked(tracked, asked, points):
    settings = tracked / "conf" / "tracking.yaml"
    text = settings.read_text().replace("study_steps: false", f"study_steps: {asked}")
    settings.write_text(text)
    study_of(tracked, [1])
    assert called(["track"]) == 0
    (run,) = [r for r in runs_in(tracked) if r.data.tags["step"] == "simulate"]
    history = client_of(tracked).get_metric_history(run.info.run_id, "E")
    assert len({point.step for point in history}) == max(points, 1)
    assert run.data.metrics["E"] == 1.4


def test_values_of_one_last_name_are_told_apart_by_the_whole_name():
    values = {"case.targets.0.radius": 1.0, "case.targets.1.radius": 2.0, "case.n": 3}
    assert differences_text(values, short=True) == (
        "case.targets.0.radius=1.0 case.targets.1.radius=2.0 n=3"
    )


def test_a_name_stays_readable_whatever_differs():
    many = {f"case.value_{i}": "x" * 100 for i in range(20)}
    text = differences_text(many, short=True)
    assert text.startswith(f"value_0={'x' * 29}… value_1=")
    assert text.endswith(" and 12 more")
    name = run_name({"step": "simulate", "name": "triangles_circle"}, text)
    assert len(name) == LONGEST_NAME
    assert name.endswith("…")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("study_steps: false", "study_steps: 1", "study_steps must be true or false"),
        ("most_steps: 2000", "most_steps: 1", "most_steps must be 2 or more, not 1"),
        ("uri:", "url:", "has no key 'url'.*did you mean uri"),
    ],
)
def test_a_wrong_option_of_tracking_is_refused(project, old, new, message):
    settings = project / "conf" / "tracking.yaml"
    settings.write_text(settings.read_text().replace(old, new))
    with pytest.raises(InputError, match=message):
        read_options()


def test_the_defaults_are_those_of_the_shipped_file(project):
    assert read_options() == TrackingOptions()
    (project / "conf" / "tracking.yaml").unlink()
    assert read_options() == TrackingOptions()
