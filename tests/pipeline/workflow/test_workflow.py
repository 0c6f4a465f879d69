"""A small workflow from a scan to a tracked comparison, run for real, and run again."""

import csv
import json
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

from pipeline.workflow.workflow import _last_said
from tests.helpers.mlflow_runs import runs_in
from tests.helpers.tables import rows_of
from tests.pipeline.conftest import ROOT, command_in, furnish

WORKFLOW = {
    "shared": {
        "sphere_radius_mm": 6.0,
        "scale_mm": 40.0,
        "input_draws": 20,
        "settings": {"node_margin_mm": 3.0},
    },
    "comparisons": {
        "same": {"case": "triangles_circle", "scan": {"virtual": {"seed": 1}}},
        "control": {
            "case": "triangles_circle",
            "scan": {"virtual": {"seed": 2, "of": ["case=triangles_cylinder"]}},
            "expect": "differs",
        },
    },
    "figures": {},
}
JOBS = Counter(
    simulate=2, virtual_scan=2, ingest=2, deviation=2, input_uncertainty=1, compare=2
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the small workflow has run."""
    folder = tmp_path_factory.mktemp("workflow")
    furnish(folder)
    (folder / "conf" / "workflow.yaml").write_text(yaml.safe_dump(WORKFLOW))
    scanner = folder / "conf" / "scanner.yaml"
    scanner.write_text(scanner.read_text().replace("pitch_mm: 0.5", "pitch_mm: 0.7"))
    done = command_in(folder)("make")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def tracked(folder: Path) -> list[Any]:
    """Every run of a key in the folder's MLflow store."""
    return [run for run in runs_in(folder) if "key" in run.data.tags]


def comparison(folder: Path, name: str) -> dict[str, str]:
    path = folder / "results" / "compare" / name / "comparison.csv"
    with path.open() as file:
        (row,) = csv.DictReader(file)
    return row


def test_a_faithful_scan_agrees_and_another_shape_differs(made: Path) -> None:
    assert comparison(made, "same")["verdict"] == "agrees"
    assert comparison(made, "control")["verdict"] == "differs"


def test_a_scanned_shape_factor_has_its_uncertainty(made: Path) -> None:
    row = {k: float(comparison(made, "same")[k]) for k in ("S_error", "S_u_val")}
    assert 0 < row["S_u_val"] < 0.01
    assert abs(row["S_error"]) < 4 * row["S_u_val"]


def test_synthetic_scans_say_so_everywhere(made: Path) -> None:
    results = made / "results"
    for scan in (results / "virtual_scan" / "same").glob("*.ply"):
        assert b"synthetic" in scan.read_bytes()[:400]
    spheres = (results / "ingest" / "same" / "spheres.csv").read_text().splitlines()
    assert spheres[0].endswith(",synthetic")
    assert all(line.lower().endswith(",true") for line in spheres[1:])
    assert comparison(made, "same")["synthetic"].lower() == "true"
    assert "synthetic" in (results / "report" / "index.html").read_text()
    said = {r.data.tags["step"]: r.data.tags.get("synthetic") for r in tracked(made)}
    assert said["virtual_scan"] == said["ingest"] == said["compare"] == "true"


def test_scan_ingest_deviation_and_comparison_have_one_parent_in_mlflow(
    made: Path,
) -> None:
    held = runs_in(made)
    names = {run.info.run_id: run.info.run_name for run in held}
    children: dict[str, list[str]] = {}
    for run in held:
        parent = run.data.tags.get("mlflow.parentRunId")
        if parent:
            children.setdefault(names[parent], []).append(run.data.tags["step"])
    steps = ["compare", "deviation", "ingest", "virtual_scan"]
    assert {name: sorted(found) for name, found in children.items()} == {
        "comparison same": steps,
        "comparison control": steps,
    }
    parents = [run for run in held if run.info.run_name in children]
    assert [run.info.status for run in parents] == ["FINISHED"] * 2


def test_mlflow_holds_one_finished_run_a_job_with_metrics_by_step(made: Path) -> None:
    from mlflow import MlflowClient

    runs = tracked(made)
    assert Counter(run.data.tags["step"] for run in runs) == JOBS
    assert {run.info.status for run in runs} == {"FINISHED"}
    keys = [run.data.tags["key"] for run in runs]
    assert len(set(keys)) == len(keys)
    client = MlflowClient(f"sqlite:///{made}/results/mlflow/mlflow.db")
    for run in runs:
        if run.data.tags["step"] == "simulate":
            directory = made / "results" / "runs" / run.data.tags["key"]
            rows = rows_of(directory / "steps.csv")
            history = client.get_metric_history(run.info.run_id, "E")
            assert [(m.step, m.value) for m in history] == [
                (int(row["step"]), float(row["E"])) for row in rows
            ]
            assert run.data.params["case.max_steps"] == "1000"


def test_the_report_is_in_mlflow_once_as_it_is_on_disk(made: Path) -> None:
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{made}/results/mlflow/mlflow.db")
    experiment = client.get_experiment_by_name("morphtrack")
    assert experiment is not None
    (page,) = client.search_runs([experiment.experiment_id], "tags.step = 'report'")
    copy = Path(client.download_artifacts(page.info.run_id, "index.html"))
    on_disk = made / "results" / "report" / "index.html"
    assert copy.read_bytes() == on_disk.read_bytes()


def test_a_second_run_runs_nothing_and_tracks_nothing(made: Path) -> None:
    runs = made / "results" / "runs"
    before = {p: p.stat().st_mtime_ns for p in runs.glob("*/run.json")}
    done = command_in(made)("make")
    assert done.returncode == 0
    assert "nothing to run" in done.stdout
    assert {p: p.stat().st_mtime_ns for p in runs.glob("*/run.json")} == before
    assert len(tracked(made)) == sum(JOBS.values())


def test_a_lost_database_is_refilled(made: Path) -> None:
    (made / "results" / "mlflow" / "mlflow.db").unlink()
    done = command_in(made)("track")
    assert done.returncode == 0, done.stderr
    assert Counter(run.data.tags["step"] for run in tracked(made)) == JOBS


def test_a_second_workflow_at_the_same_time_is_refused(made: Path) -> None:
    holder = (
        "import sys, time; from pipeline.workflow.workflow import only_one\n"
        "with only_one(): print('held', flush=True); sys.stdin.read()"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", holder],
        cwd=made,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        second = command_in(made)("make")
        first.communicate()
    assert second.returncode == 2
    assert f"in use by process {first.pid}" in second.stderr
    assert len(second.stderr.splitlines()) == 1


def wait_for(condition: Any, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def test_a_killed_workflow_goes_on_where_it_was(tmp_path: Path) -> None:
    furnish(tmp_path)
    one = {**WORKFLOW, "comparisons": {"same": WORKFLOW["comparisons"]["same"]}}
    (tmp_path / "conf" / "workflow.yaml").write_text(yaml.safe_dump(one))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    first = subprocess.Popen(
        [sys.executable, "-m", "pipeline", "make"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    runs = tmp_path / "results" / "runs"
    running = tmp_path / "results" / "running"
    wait_for(lambda: list(runs.glob("*/run.json")) and list(running.glob("*")))
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    done = command_in(tmp_path)("make")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not list(running.glob("*"))
    records = [json.loads(p.read_text()) for p in runs.glob("*/run.json")]
    assert Counter(r["step"] for r in records) == dict.fromkeys(JOBS, 1)
    ended = Counter(run.info.status for run in tracked(tmp_path))
    assert ended["FINISHED"] == len(JOBS)
    assert set(ended) <= {"FINISHED", "KILLED"}


def test_snakemake_that_ends_by_itself_says_why(tmp_path: Path) -> None:
    log = tmp_path / "snakemake.log"
    log.write_text("Traceback\n\nOSError: [Errno 28] No space left on device\n\n")
    said = "Snakemake ended: OSError: [Errno 28] No space left on device"
    assert _last_said(log) == f"{said} ({log})"
    log.write_text("")
    assert "without a word" in _last_said(log)
