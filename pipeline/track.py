"""Bring every run that is not in MLflow yet into it: python -m pipeline.track.

Reads results/runs and results/failed, writes to the store that conf/tracking.yaml or
MLFLOW_TRACKING_URI names. A second pass adds nothing; a lost database is refilled.
"""

import argparse
import json
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

from pipeline.errors import FAILED, InputError, command, one_line
from pipeline.files import write_json
from pipeline.runs import RESULTS
from pipeline.tracking import TAG, TrackingOptions, log_run, tracking_uri
from pipeline.yaml_file import read_mapping

if TYPE_CHECKING:
    from mlflow import MlflowClient

TRACKING = Path("conf/tracking.yaml")


def read_options(path: Path = TRACKING) -> TrackingOptions:
    """conf/tracking.yaml, checked."""
    try:
        return TrackingOptions(**read_mapping(path))
    except TypeError as error:
        raise InputError(f"{path}: {one_line(error)}") from error


def run_directories(results: Path) -> list[Path]:
    """Finished and failed runs, oldest first."""
    found = [
        path.parent
        for place in ("runs", "failed")
        for path in (results / place).glob("*/run.json")
    ]
    return sorted(found, key=lambda path: (path / "run.json").stat().st_mtime_ns)


def _sqlite_file(uri: str) -> Path | None:
    parsed = urlparse(uri)
    return Path(parsed.path[1:]) if parsed.scheme == "sqlite" else None


class Index:
    """Which run directories this very store holds already.

    A cache beside the store that spares asking it: it counts only as long as the
    store is the one it was written for.
    """

    def __init__(self, path: Path, uri: str) -> None:
        self._path, self._store = path, _store_identity(uri)
        held = {}
        if path.is_file():
            try:
                held = json.loads(path.read_text(encoding="utf-8"))
            except ValueError:
                held = {}
        same = self._store is not None and held.get("store") == self._store
        self.runs: dict[str, str] = held["runs"] if same else {}

    def save(self, uri: str) -> None:
        """Write the index for the store as it is now."""
        value = {"store": _store_identity(uri), "runs": self.runs}
        write_json(self._path, value)


def _store_identity(uri: str) -> str | None:
    """What tells one embedded database from the next at the same place."""
    file = _sqlite_file(uri)
    if file is None:
        return uri
    return f"{uri}#{file.stat().st_ino}" if file.is_file() else None


def _quiet() -> None:
    """Keep MLflow's start-up chatter off the terminal."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("DO_NOT_TRACK", "true")
    warnings.filterwarnings("ignore", module="mlflow|alembic|sqlalchemy")
    os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "WARNING")
    logging.getLogger("alembic").setLevel(logging.WARNING)


def open_store(options: TrackingOptions) -> tuple["MlflowClient", str]:
    """The client of the store and the id of the experiment, made where missing."""
    _quiet()
    from mlflow import MlflowClient

    uri = tracking_uri(options)
    file = _sqlite_file(uri)
    place = None
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        place = Path(options.artifacts).resolve().as_uri()
    client = MlflowClient(uri)
    found = client.get_experiment_by_name(options.experiment)
    if found is not None:
        return client, str(found.experiment_id)
    return client, client.create_experiment(options.experiment, place)


def _held(client: "MlflowClient", experiment: str) -> Iterator[Any]:
    """Every run of the experiment."""
    token = None
    while True:
        page = client.search_runs([experiment], max_results=1000, page_token=token)
        yield from page
        token = page.token
        if not token:
            return


def _reconcile(client: "MlflowClient", experiment: str, index: Index) -> None:
    """Learn what the store holds; drop what a killed tracker left half-written."""
    index.runs.clear()
    for run in _held(client, experiment):
        name = run.data.tags.get(TAG)
        if name is None:
            continue
        if run.info.status in ("FINISHED", "FAILED") and name not in index.runs:
            index.runs[name] = run.info.run_id
        else:
            client.delete_run(run.info.run_id)


def track(options: TrackingOptions, results: Path = RESULTS) -> tuple[int, int]:
    """Write what is missing; return how many were written and how many failed to be."""
    uri = tracking_uri(options)
    path = results / "mlflow" / "index.json"
    index = Index(path, uri)
    missing = [d for d in run_directories(results) if d.name not in index.runs]
    if not missing and _store_identity(uri) is not None:
        return 0, 0
    client, experiment = open_store(options)
    _reconcile(client, experiment, index)
    written = failures = 0
    for directory in (d for d in missing if d.name not in index.runs):
        try:
            index.runs[directory.name] = log_run(client, experiment, directory, options)
            written += 1
        except (InputError, KeyError, ValueError) as error:
            print(f"error: {directory}: {one_line(error)}", file=sys.stderr)
            failures += 1
    index.save(uri)
    return written, failures


@command
def main(argv: list[str] | None = None) -> int:
    """Bring the missing runs into MLflow and say how many there were."""
    argparse.ArgumentParser(
        prog="python -m pipeline.track", description=__doc__
    ).parse_args(argv)
    options = read_options()
    written, failures = track(options)
    print(f"MLflow: {written} runs added to {tracking_uri(options)}")
    return FAILED if failures else 0


if __name__ == "__main__":
    sys.exit(main())
