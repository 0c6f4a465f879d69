"""From the record of a run to an MLflow run: files are the result, MLflow their index.

One process writes. Every finished key becomes one FINISHED run, every failed attempt a
FAILED one; both are found again by their tag, so a second pass adds nothing.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.store.leaves import flat
from pipeline.store.runs import run_record
from pipeline.tracking.labels import PARENT, tags
from pipeline.tracking.options import TrackingOptions

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import DatasetInput, Metric, Param

METRICS_A_CALL, PARAMS_A_CALL = 1000, 100  # limits of MLflow's log_batch
LONGEST_PARAM = 6000
NOT_IN_NAMES = re.compile(r"[^\w\-. :/]")  # what MLflow refuses in names
ARTIFACT_SUFFIXES = {
    ".csv", ".gif", ".html", ".json", ".npz", ".pdf", ".png", ".svg", ".txt"
}  # fmt: skip
STATUS = {
    "finished": "FINISHED",
    "pruned": "FINISHED",  # as far as its search wanted it; the tag says so
    "failed": "FAILED",
    "killed": "KILLED",
}


def _milliseconds(moment: str) -> int:
    return round(datetime.fromisoformat(moment).timestamp() * 1000)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _metric(name: str, value: float, time: int, step: int) -> "Metric":
    from mlflow.entities import Metric

    return Metric(NOT_IN_NAMES.sub("_", name), value, time, step)


def metrics_of_rows(
    names: Sequence[str], rows: Sequence[Sequence[str]], times: Sequence[int]
) -> list["Metric"]:
    """Rows of steps.csv as metrics by step; the first column is the step.

    Parameters
    ----------
    times : ms since 1970, one a row
    """
    return [
        _metric(name, value, time, int(float(row[0])))
        for row, time in zip(rows, times, strict=True)
        for name, cell in zip(names[1:], row[1:], strict=True)
        if (value := _as_float(cell)) is not None
    ]


def step_metrics(
    directory: Path, started: int, ended: int, *, most: int, after: int = 0
) -> list["Metric"]:
    """steps.csv as metrics by step, thinned evenly to `most` steps.

    Parameters
    ----------
    after : rows beyond this number only; not bytes, since columns that only the end of
        a run tells are written over then
    """
    path = directory / "steps.csv"
    if not path.is_file():
        return []
    with path.open("rb") as file:
        names = file.readline().decode().strip().split(",")
        lines = file.read().decode().splitlines()
    rows = [line.split(",") for line in lines[after:]]
    kept = np.unique(np.linspace(0, len(rows) - 1, min(most, len(rows))).astype(int))
    times = [
        started + (ended - started) * int(i) // max(len(rows) - 1, 1) for i in kept
    ]
    return metrics_of_rows(names, [rows[i] for i in kept], times)


def _as_float(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def result_metrics(record: Mapping[str, Any], ended: int) -> list["Metric"]:
    """Numbers of the result, named `final.<name>`, and what the run cost."""
    values = {f"final.{k}": v for k, v in flat(record.get("result") or {})}
    values |= {k: record[k] for k in ("wall_s", "cpu_s") if k in record}
    return [
        _metric(name, float(value), ended, 0)
        for name, value in values.items()
        if _is_number(value) and math.isfinite(value)
    ]


def params(record: Mapping[str, Any]) -> list["Param"]:
    """The resolved configuration and the words of the result."""
    from mlflow.entities import Param

    words = {
        f"result.{k}": v
        for k, v in flat(record.get("result") or {})
        if not _is_number(v)
    }
    leaves = dict(flat(record["config"])) | words
    return [
        Param(NOT_IN_NAMES.sub("_", k), str(v)[:LONGEST_PARAM])
        for k, v in leaves.items()
    ]


def datasets(record: Mapping[str, Any]) -> list["DatasetInput"]:
    """Files from outside and upstream runs, each with its digest."""
    from mlflow.entities import Dataset, DatasetInput, InputTag

    files = record["identity"]["files"]
    rows = [
        (Path(path).name, digest, "file", path)
        for path, digest in zip(record["paths"], files, strict=True)
    ]
    for role, keys in record.get("needs", {}).items():
        rows += [
            (role, key, "run", f"results/runs/{key}")
            for key in ([keys] if isinstance(keys, str) else keys)
        ]
    return [
        DatasetInput(
            Dataset(name, digest[:36], kind, f'{{"uri": "{source}"}}'),
            [InputTag("mlflow.data.context", role_of(kind))],
        )
        for name, digest, kind, source in rows
    ]


def role_of(kind: str) -> str:
    """How MLflow's UI names an input."""
    return "scan" if kind == "file" else "upstream run"


def _artifacts(directory: Path, largest_mb: float) -> list[Path]:
    return sorted(
        path
        for path in directory.iterdir()
        if path.suffix in ARTIFACT_SUFFIXES and path.stat().st_size <= largest_mb * 1e6
    )


def _chunks(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for i in range(0, len(items), size):
        yield items[i : i + size]


def log_metrics(
    client: "MlflowClient", run_id: str, metrics: Sequence["Metric"]
) -> None:
    """Write metrics, as many in one call as MLflow takes."""
    for chunk in _chunks(metrics, METRICS_A_CALL):
        client.log_batch(run_id, metrics=chunk)


@dataclass
class Started:
    """An MLflow run that exists but has not ended.

    Attributes
    ----------
    place : of the run when it started: it moves when it ends
    began : which attempt it is: its key, its process and when it began
    read, rows : bytes and rows of steps.csv that are in it already
    """

    run_id: str
    place: Path
    began: tuple[Any, ...]
    read: int = 0
    rows: int = 0


def began(record: Mapping[str, Any]) -> tuple[Any, ...]:
    """What tells one attempt at a run from the next."""
    return tuple(record[name] for name in ("key", "host", "process", "started"))


def start_run(
    client: "MlflowClient",
    experiment: str,
    record: Mapping[str, Any],
    directory: Path,
    belonging: Mapping[str, str],
) -> Started:
    """Create the MLflow run of the run that `record` describes."""
    run = client.create_run(
        experiment,
        start_time=_milliseconds(record["started"]),
        tags=tags(record, directory, belonging),
    )
    return Started(run.info.run_id, directory, began(record))


def wants_steps(options: TrackingOptions, belonging: Mapping[str, str]) -> bool:
    """Whether the steps of a run go into MLflow; those of a study's many do not."""
    return options.study_steps or PARENT not in belonging


def end_run(
    client: "MlflowClient",
    started: Started,
    directory: Path,
    options: TrackingOptions,
    belonging: Mapping[str, str],
) -> None:
    """Complete an MLflow run from the directory of a run that has ended."""
    from mlflow.entities import RunTag

    record = run_record(directory)
    begin, end = _milliseconds(record["started"]), _milliseconds(record["ended"])
    metrics = result_metrics(record, end)
    if wants_steps(options, belonging):
        metrics += step_metrics(
            directory, begin, end, most=options.most_steps, after=started.rows
        )
    entries = params(record)
    later = [RunTag(k, v) for k, v in tags(record, directory, belonging).items()]
    client.log_batch(
        started.run_id,
        metrics[:800],
        entries[:PARAMS_A_CALL],
        later * (directory != started.place),
    )
    log_metrics(client, started.run_id, metrics[800:])
    for chunk in _chunks(entries[PARAMS_A_CALL:], PARAMS_A_CALL):
        client.log_batch(started.run_id, params=chunk)
    # A study's runs are many: their files stay where they are.
    if not record.get("tags", {}).get("study"):
        _log_files(client, started.run_id, record, directory, options)
    client.set_terminated(started.run_id, STATUS[record["status"]], end_time=end)


def _log_files(
    client: "MlflowClient",
    run_id: str,
    record: Mapping[str, Any],
    directory: Path,
    options: TrackingOptions,
) -> None:
    inputs = datasets(record)
    if inputs:
        client.log_inputs(run_id, inputs)
    for path in _artifacts(directory, options.largest_artifact_mb):
        client.log_artifact(run_id, str(path))
