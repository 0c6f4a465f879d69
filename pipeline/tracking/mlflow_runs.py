"""The MLflow store of a results folder: experiments, runs, parents of studies."""

import contextlib
import json
import os
import socket
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.runs.atomic_files import read_json
from pipeline.runs.run_attempts import now
from pipeline.runs.run_differences import Variations
from pipeline.runs.run_directory import Ledger
from pipeline.runs.run_keys import TRACKED, mlflow_note
from pipeline.tracking import logged_contents, mlflow_database, mlflow_location
from pipeline.tracking.logged_contents import Record, artifacts, milliseconds

if TYPE_CHECKING:
    import pandas as pd
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param, Run, RunTag


RUNNING = "RUNNING"
METRICS, PARAMS = 800, 100  # in a call; MLflow takes 1000 of all, with the tags


@dataclass
class Started:
    """An MLflow run.

    Attributes
    ----------
    experiment : its id
    is_whole : whether it was made of the record of its end, with the tags
    steps, files : steps of steps.csv and files that it has
    """

    run_id: str
    experiment: str
    status: str
    is_whole: bool
    steps: set[int] = field(default_factory=set)
    files: set[str] = field(default_factory=set)


class Store:
    """Writes runs; only the holder of the lock of the results folder has one.

    Parameters
    ----------
    place : <results>/mlflow

    Attributes
    ----------
    name : as a person in this folder calls it
    file : of an embedded store
    is_empty : whether it is one that is made anew
    parents : run ids of the parents of studies whose runs were written
    """

    def __init__(self, options: mlflow_location.TrackingOptions, place: Path) -> None:
        self.options, self.uri = options, mlflow_location.tracking_uri(options)
        self.name = mlflow_location.shown_store(self.uri)
        self.file, self.is_empty = mlflow_database.sqlite_file(self.uri), False
        self.parents: dict[str, str] = {}
        self._place, self._address = place, mlflow_location.without_secrets(self.uri)
        self._variations = Variations(place.parent)
        self._client: MlflowClient | None = None
        self._experiments: dict[str, str] = {}
        self._alone_since = now()  # no other process began runs in the store since

    def prepare(self, *, thorough: bool = False) -> str:
        """See `mlflow_database.prepare`; the store is opened anew at its next use."""
        self._client, self._alone_since = None, now()
        self._experiments, self.parents = {}, {}
        if self.file is None:
            return ""
        note = mlflow_database.prepare(
            self.file, self.options.artifacts, thorough=thorough
        )
        self.is_empty = not self.file.is_file()
        return note

    @property
    def client(self) -> "MlflowClient":
        """The client; an embedded store is made at its first use."""
        if self._client is None:
            mlflow_database.set_up_mlflow()
            from mlflow import MlflowClient

            if self.file is not None and self.is_empty:
                mlflow_database.make(self.file)
            self._client = MlflowClient(self.uri)
        return self._client

    def _experiment(self, name: str) -> str:
        """The id of an experiment, made if it is missing."""
        if name not in self._experiments:
            place = Path(self.options.artifacts).resolve().as_uri()
            found = self.client.get_experiment_by_name(name)
            number = found.experiment_id if found else None
            if number is None:
                own = place if self.file else None
                number = self.client.create_experiment(name, own)
            self._experiments[name] = str(number)
        return self._experiments[name]

    def is_complete(self, directory: Path) -> bool:
        """Whether the folder of a run says that the store has how it ended."""
        return self._claim(directory).get("status", RUNNING) != RUNNING

    def _claim(self, directory: Path) -> Mapping[str, str]:
        """What the folder of a run says of its MLflow run in this store."""
        claim = mlflow_note(directory)
        return claim if claim.get("store") == self._address else {}

    def _leave_claim(self, started: Started, directory: Path) -> None:
        """Write into the folder of a run where MLflow has it.

        The file is written elsewhere and renamed: the folder may move meanwhile, and
        its process makes a list of its files.
        """
        claim = {
            "store": self._address,
            "experiment_id": started.experiment,
            "run_id": started.run_id,
            "status": started.status,
        }
        temporary = self._place / f".{TRACKED}.{os.getpid()}"
        with contextlib.suppress(OSError):  # it has moved, or is for reading only
            temporary.write_text(json.dumps(claim, indent=1) + "\n", encoding="utf-8")
            temporary.replace(directory / TRACKED)

    def begin(self, record: Record, directory: Path) -> Started:
        """The MLflow run of an attempt, with its parameters: found, else made."""
        study, began = logged_contents.study_of(record), milliseconds(record["started"])
        experiment = self._experiment(
            logged_contents.experiment_of(record["step"], study)
        )
        found = self._found(record, directory)
        is_whole = found is None and "ended" in record
        if found is None:
            tags = logged_contents.tags(record, directory, self._variations.of(record))
            if study:
                tags[logged_contents.PARENT] = self.parent(study, began)
            found = self.client.create_run(experiment, began, tags)
        started = Started(found.info.run_id, experiment, found.info.status, is_whole)
        if found.info.lifecycle_stage == "deleted":  # by a person
            started.status = found.info.lifecycle_stage
        if started.status == RUNNING:
            self._leave_claim(started, directory)
            if found.data.params and self.wants_steps(record):
                started.steps = self._steps_in(found.info.run_id, found.data.metrics)
            if not is_whole:
                self._log(started, params=logged_contents.params(record))
        return started

    def _found(self, record: Record, directory: Path) -> "Run | None":
        """The run that another process began for this attempt."""
        claim = self._claim(directory)
        if self.is_empty or not (claim or record["started"] <= self._alone_since):
            return None
        tags = {logged_contents.ATTEMPT: logged_contents.attempt_of(record)}
        return self._search(tags, claim.get("experiment_id", ""))

    def _search(self, tags: Mapping[str, str], experiment: str = "") -> "Run | None":
        """A run that has these tags, deleted or not, of one experiment or of all."""
        from mlflow.entities import ViewType

        text = " and ".join(f"tags.`{name}` = '{tags[name]}'" for name in tags)
        homes = [experiment] if experiment else self._all_experiments()
        found = self.client.search_runs(homes, text, ViewType.ALL, max_results=1)
        return found[0] if found else None

    def _all_experiments(self) -> list[str]:
        """Ids of all experiments: another name may have been set when a run began."""
        from mlflow.entities import ViewType

        found = self.client.search_experiments(ViewType.ALL)
        return [str(experiment.experiment_id) for experiment in found]

    def _steps_in(self, run_id: str, names: Iterable[str]) -> set[int]:
        """Steps that the run has, but the last: that may have come in part."""
        histories = (self.client.get_metric_history(run_id, name) for name in names)
        found = {metric.step for history in histories for metric in history}
        return found - {max(found, default=0)}

    def wants_steps(self, record: Record) -> bool:
        """Whether metrics by step go into MLflow; those of a study's many do not."""
        return self.options.study_steps or not logged_contents.study_of(record)

    def grow(self, started: Started, directory: Path) -> None:
        """Log the new steps of a run that works."""
        if len(started.steps) < self.options.most_steps:
            time = milliseconds(now())
            self._log_steps(
                started, logged_contents.read_steps(directory), (time, time)
            )

    def _log_steps(
        self, started: Started, steps: "pd.DataFrame", times: tuple[int, int]
    ) -> None:
        most = self.options.most_steps
        metrics = logged_contents.step_metrics(steps, started.steps, times, most)
        self._log(started, metrics)
        started.steps.update(metric.step for metric in metrics)

    def _log(
        self,
        started: Started,
        metrics: "Sequence[Metric]" = (),
        params: "Sequence[Param]" = (),
        tags: "Sequence[RunTag]" = (),
    ) -> None:
        """Log in as few calls as MLflow allows."""
        first = metrics[:METRICS], params[:PARAMS], tags
        if any(first):
            self.client.log_batch(started.run_id, *first)
        for i in range(METRICS, len(metrics), METRICS):
            self.client.log_batch(started.run_id, metrics[i : i + METRICS])
        for i in range(PARAMS, len(params), PARAMS):
            self.client.log_batch(started.run_id, params=params[i : i + PARAMS])

    def complete(self, started: Started, record: Record, directory: Path) -> None:
        """Log how a run ended, and its files; not those of a study's many runs."""
        from mlflow.entities import RunTag

        times = milliseconds(record["started"]), milliseconds(record["ended"])
        step: int = 0
        last: Mapping[Hashable, float] = {}
        if self.wants_steps(record):
            steps = logged_contents.read_steps(directory)
            self._log_steps(started, steps, times)
            for row in steps.tail(1).to_dict("records"):
                step, last = int(steps.index[-1]), row
        metrics = logged_contents.result_metrics(record, step, last)
        if started.is_whole:
            self._log(started, metrics, logged_contents.params(record))
        else:
            tags = logged_contents.tags(record, directory, self._variations.of(record))
            self._log(started, metrics, tags=[RunTag(*tag) for tag in tags.items()])
        if not logged_contents.study_of(record):
            if inputs := logged_contents.datasets(record):
                self.client.log_inputs(started.run_id, inputs)
            self.log_files(started, directory)
        started.status = logged_contents.STATUS[record["status"]]
        self.client.set_terminated(started.run_id, started.status, times[1])
        self._leave_claim(started, directory)

    def log_files(self, started: Started, directory: Path) -> None:
        """Log the artifacts of a run that it does not have yet."""
        for path in logged_contents.artifacts(
            directory, self.options.largest_artifact_mb
        ):
            if path.name not in started.files:
                self.client.log_artifact(started.run_id, str(path))
                started.files.add(path.name)

    def parent(self, study: str, began: int) -> str:
        """The run id of the parent of a study's runs, made if it is missing.

        Parameters
        ----------
        began : when the first of them did, ms from 1970
        """
        if study not in self.parents:
            experiment = self._experiment(logged_contents.experiment_of("study", study))
            project = f"{socket.gethostname()}:{self._place.resolve()}"
            own = {logged_contents.STUDY: study, logged_contents.PROJECT: project}
            found = None if self.is_empty else self._search(own)
            found = found or self.client.create_run(
                experiment,
                began,
                own | logged_contents.study_tags(study),
                f"study {study}",
            )
            self.parents[study] = found.info.run_id
        return self.parents[study]


STATES = ("finished", "pruned", "failed", "missing")


def update_studies(store: Store, results: Path, since: float) -> None:
    """Bring parents up to date: those of which runs were written, or files changed.

    Parameters
    ----------
    since : when files may have changed first, s from 1970
    """
    for path in sorted((results / "study").glob("*/members.json")):
        files = [path, *artifacts(path.parent, store.options.largest_artifact_mb)]
        changed = max(file.stat().st_mtime for file in files)
        if changed >= since or path.parent.name in store.parents:
            _update(store, files, results)


def _update(store: Store, files: list[Path], results: Path) -> None:
    """Counts, table and plots of a study; it has no parent before its first run.

    Parameters
    ----------
    files : its members.json, and its artifacts
    """
    from mlflow.entities import Metric

    members, ledger = read_json(files[0])["members"], Ledger(results)
    states = Counter(ledger.state(member["key"]) for member in members)
    if states["missing"] == len(members):
        return
    times = [round(1000 * file.stat().st_mtime) for file in files]
    parent = store.parent(files[0].parent.name, min(times))
    time = milliseconds(now())
    store.client.log_batch(
        parent, [Metric(state, states[state], time, 0) for state in STATES]
    )
    for file in files:
        store.client.log_artifact(parent, str(file))
    if not states["missing"]:
        store.client.set_terminated(parent, "FINISHED", max(times))
