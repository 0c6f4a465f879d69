"""What must hold after any fault and one plain rerun."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.store.digests import edits
from pipeline.store.runs import run_record
from pipeline.studies.members import read_members
from pipeline.tracking.labels import TAG
from pipeline.tracking.record import STATUS

DOOMED = {"case.max_steps": 1}  # the values of runs that fail by themselves


def is_doomed(point: Mapping[str, Any]) -> bool:
    """Whether a run with these values fails by itself."""
    return DOOMED.items() <= point.items()


def embedded_store(folder: Path) -> str:
    """The address of the store that a project keeps for itself."""
    return f"sqlite:///{folder}/results/mlflow/mlflow.db"


def stored(uri: str) -> list[Any]:
    """Every run of the store."""
    from mlflow import MlflowClient

    client = MlflowClient(uri)
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


def _is_whole(directory: Path, record: Mapping[str, Any]) -> None:
    """A finished run, and every file of it, is as it was when it ended."""
    assert record["status"] == "finished", directory
    assert not edits(directory), directory
    rows = (directory / "steps.csv").read_text()
    assert rows.endswith("\n"), directory
    last = int(float(rows.splitlines()[-1].partition(",")[0]))
    assert last == record["result"]["steps"], directory


def _members_ended(folder: Path, study: str, finished: Mapping[str, Any]) -> None:
    """Each run of the study has finished, or failed where it had to, in its row."""
    wanted = read_members(study, folder / "results")["members"]
    table = pd.read_csv(folder / "results" / "study" / study / "table.csv")
    assert list(table["key"]) == [member["key"] for member in wanted]
    for member, status in zip(wanted, table["status"], strict=True):
        doomed = is_doomed(member["point"])
        assert (member["key"] in finished) is not doomed, "a run is lost, or not true"
        assert status == ("failed" if doomed else "finished")


def nothing_is_wrong(folder: Path, study: str, uri: str = "") -> None:
    """0 lost, 0 doubled, 0 half-written, 0 FINISHED that failed.

    Parameters
    ----------
    uri : the store, if it is not the embedded one
    """
    results = folder / "results"
    assert not list(results.glob("running/*")), "somebody still works"
    ended = {
        path.parent.name: run_record(path.parent)
        for place in ("runs", "failed")
        for path in (results / place).glob("*/run.json")
    }
    finished = {
        name: ended[name] for name in ended if (results / "runs" / name).is_dir()
    }
    assert len(list(results.glob("runs/*"))) == len(finished)
    for name, record in finished.items():
        _is_whole(results / "runs" / name, record)
    _members_ended(folder, study, finished)
    runs = [r for r in stored(uri or embedded_store(folder)) if TAG in r.data.tags]
    held = Counter(r.data.tags[TAG] for r in runs)
    assert not ended.keys() - held.keys(), "runs are lost in MLflow"
    twice = [
        (r.data.tags[TAG], r.info.status) for r in runs if held[r.data.tags[TAG]] > 1
    ]
    assert not twice, "runs are doubled in MLflow"
    assert not held.keys() - ended.keys(), "MLflow has runs that nobody made"
    for run in runs:
        record = ended[run.data.tags[TAG]]
        assert run.info.status == STATUS[record["status"]], run.data.tags[TAG]
        assert ("reason" in run.data.tags) == (record["status"] != "finished")
        if record["status"] == "finished":
            assert run.data.metrics["final.E"] == record["result"]["E"]
