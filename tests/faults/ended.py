"""What must hold after any fault and one plain rerun."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from pipeline.studies.members import read_members


def stored(folder: Path) -> list[Any]:
    """Every run in the embedded store of a project."""
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{folder}/results/mlflow/mlflow.db")
    experiment = client.get_experiment_by_name("morphtrack")
    assert experiment is not None
    found: list[Any] = []
    token = None
    while True:
        page = client.search_runs(
            [experiment.experiment_id], max_results=1000, page_token=token
        )
        found += page
        token = page.token
        if not token:
            return found


def nothing_is_wrong(folder: Path, study: str) -> None:
    """0 lost, 0 doubled, 0 half-written, 0 FINISHED that failed."""
    results = folder / "results"
    wanted = {m["key"] for m in read_members(study, results)["members"]}
    whole = {}
    for directory in (results / "runs").iterdir():
        record = json.loads((directory / "run.json").read_text())
        assert record["status"] == "finished", directory
        rows = (directory / "steps.csv").read_text()
        assert rows.endswith("\n"), directory
        last = int(float(rows.splitlines()[-1].partition(",")[0]))
        assert last == record["result"]["steps"], directory
        whole[directory.name] = record
    assert wanted <= whole.keys(), "runs are lost"
    running = results / "running"
    assert not running.is_dir() or not list(running.iterdir())
    runs = [r for r in stored(folder) if r.data.tags["step"] != "study"]
    finished = [r for r in runs if r.info.status == "FINISHED"]
    assert Counter(r.data.tags["key"] for r in finished) == Counter(whole.keys())
    assert {r.info.status for r in runs} <= {"FINISHED", "FAILED", "KILLED"}
    for run in finished:
        record = whole[run.data.tags["key"]]
        assert run.data.metrics["final.E"] == record["result"]["E"]
        assert "reason" not in run.data.tags
