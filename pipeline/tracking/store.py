"""The MLflow store: opened when there is something to write, one writer at a time."""

import contextlib
import fcntl
import json
import os
import select
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.store.durable import sync
from pipeline.store.files import write_json, write_text
from pipeline.store.variations import Variations, said
from pipeline.terminal.errors import InputError
from pipeline.tracking.database import identity, prepare, put_aside, quiet, sqlite_file
from pipeline.tracking.labels import (
    DIFFERS,
    NAME,
    NOTE,
    PARENT,
    TAG,
    columns,
    run_name,
    title,
)
from pipeline.tracking.options import TrackingOptions, tracking_uri, without_secrets

if TYPE_CHECKING:
    from mlflow import MlflowClient

ENDED = ("FINISHED", "FAILED", "KILLED")
STUDY_TAG = "morphtrack.study"
# Tags of runs that belong together, the parent's own tag, its step and first words.
GROUPS = {
    "measured_set": ("morphtrack.measured_set", "measured", "measured set"),
    "comparison": ("morphtrack.comparison", "compare", "comparison"),
}
PROJECT_TAG = "morphtrack.project"


def _store_identity(uri: str) -> str | None:
    """What tells one embedded database from the next; None where nothing does."""
    file = sqlite_file(uri)
    if file is None:
        return None  # a server's database may be another one tomorrow
    held = identity(file)
    return None if held is None else f"{uri}#{held}"


@contextlib.contextmanager
def only_writer(place: Path, patience: float = 60.0) -> Iterator[None]:
    """Hold the right to write to the store.

    A tracker that a killed workflow left behind concludes by itself: it is waited for.

    Raises
    ------
    InputError
        if another process still writes after `patience` seconds
    """
    place.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + patience
    with (place / "lock").open("a") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > end:
                    raise InputError(
                        "another process is writing to MLflow: wait for it, or stop it"
                    ) from error
                select.select([], [], [], 0.2)  # a date set back is none of its
        yield


def project_name(place: Path) -> str:
    """What tells the runs of this project from others on the same server.

    Drawn once and kept beside the runs, so that it moves with them.
    """
    file = place / "project"
    if not file.is_file() or not file.read_text(encoding="utf-8").strip():
        write_text(file, f"{uuid.uuid4()}\n")
        sync(place)  # lost, the server would be given all runs again
    return file.read_text(encoding="utf-8").strip()


class Store:
    """A client, its experiment, and what the store is known to hold.

    The index beside an embedded store spares asking it; it counts only as long as the
    database is the one it was written for.
    """

    def __init__(self, options: TrackingOptions, place: Path) -> None:
        self.options = options
        self.uri = tracking_uri(options)
        self._place, self._index = place, place / "index.json"
        # An embedded store is this project's alone; on a server, others have runs too.
        shared = sqlite_file(self.uri) is None
        self.mark = {PROJECT_TAG: project_name(place)} if shared else {}
        self._put_aside_if_moved()
        self._opened: tuple[MlflowClient, str] | None = None
        self.known = self._read_index()
        self._parents: dict[str, str] = {}
        self._variations = Variations(place.parent)

    def _put_aside_if_moved(self) -> None:
        """Leave a database that came with a copied folder; the runs fill a new one.

        It holds absolute places of artifacts, in the folder where it was made.
        """
        file = sqlite_file(self.uri)
        try:
            made_as = json.loads(self._index.read_text(encoding="utf-8"))["uri"]
        except (OSError, ValueError, KeyError, TypeError):
            return
        elsewhere = sqlite_file(made_as)
        if file is None or elsewhere is None or not file.is_file():
            return
        if elsewhere != file and elsewhere.name == file.name:
            put_aside(file, "moved")

    def _read_index(self) -> dict[str, str]:
        """MLflow run ids by directory name."""
        try:
            held = json.loads(self._index.read_text(encoding="utf-8"))
            same = held["store"] is not None and held["store"] == self._identity()
            return dict(held["runs"]) if same else {}
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def _identity(self) -> str | None:
        return _store_identity(self.uri)

    def exists(self) -> bool:
        """Whether the store is an embedded one that the index was written for."""
        return self._identity() is not None

    def save_index(self) -> None:
        """Write what the store holds now."""
        value = {
            "store": self._identity(),
            "uri": without_secrets(self.uri),
            "runs": self.known,
        }
        write_json(self._index, value, compact=True)

    def forget(self) -> bool:
        """Start anew with the store after it failed: ask again what it holds.

        Returns
        -------
        whether an embedded store was damaged: then it is a new one now
        """
        self._opened = None
        self._parents = {}
        return prepare(self.uri, thorough=True)

    @property
    def client(self) -> "MlflowClient":
        """The client; the store is opened at its first use."""
        return self._open()[0]

    @property
    def experiment(self) -> str:
        """Id of the experiment that holds the runs, made where it is missing."""
        return self._open()[1]

    def _open(self) -> tuple["MlflowClient", str]:
        if self._opened is None:
            prepare(self.uri)
            self._opened = _open_store(self.options, self.uri)
            try:
                self._reconcile()
            except BaseException:
                self._opened = None
                raise
        return self._opened

    def runs(self, **tags: str) -> Iterator[Any]:
        """This project's runs that have all of `tags`."""
        wanted = {**self.mark, **tags}
        text = " and ".join(f"tags.`{k}` = '{v}'" for k, v in wanted.items())
        token = None
        while True:
            page = self.client.search_runs(
                [self.experiment], text, max_results=1000, page_token=token
            )
            yield from page
            token = page.token
            if not token:
                return

    def belonging(self, record: Mapping[str, Any]) -> dict[str, str]:
        """Tags that say whose a run is, and what tells it from the others of its case.

        Its project's and its study's, if any; where it has values of its own, these.
        """
        tags = record.get("tags", {})
        parent = {}
        if tags.get("study"):
            parent = {PARENT: self.parent_run(tags["study"])}
        for group in GROUPS:
            if tags.get(group) and not parent:
                parent = {PARENT: self.group_run(group, tags[group])}
        values = self._variations.of(record)
        own = {NAME: run_name(record, said(values, short=True))}
        own |= {DIFFERS: said(values)} if values else {}
        return self.mark | parent | own

    def parent_run(self, study: str) -> str:
        """The id of a study's parent run, made where it is missing."""
        if study not in self._parents:
            held = self.runs(**{STUDY_TAG: study})
            self._parents[study] = next(
                (run.info.run_id for run in held), None
            ) or self._new_parent(study)
        return self._parents[study]

    def group_run(self, group: str, name: str) -> str:
        """The id of the parent of runs that belong together, ended as it is made.

        Of a measured set: fit, predictions and comparisons; of a comparison: scan,
        ingest, deviation and compare.
        """
        key = f"{group} {name}"
        if key not in self._parents:
            held = next(self.runs(**{GROUPS[group][0]: name}), None)
            parent = str(held.info.run_id) if held else self._new_group(group, name)
            if held is None or held.info.status not in ENDED:
                self.client.set_terminated(parent, "FINISHED")
            self._parents[key] = parent
        return self._parents[key]

    def _new_group(self, group: str, name: str) -> str:
        own, step, words = GROUPS[group]
        tags = {own: name, "step": step, group: name, **self.mark}
        tags |= columns(step, self._place)
        tags[NOTE] = (
            title(Path("conf/measured") / f"{name}.yaml")
            if group == "measured_set"
            else f"What `comparisons.{name}` of conf/workflow.yaml made."
        )
        run = self.client.create_run(
            self.experiment, tags=tags, run_name=f"{words} {name}"
        )
        return str(run.info.run_id)

    def _new_parent(self, study: str) -> str:
        tags = {STUDY_TAG: study, "step": "study", "study": study, **self.mark}
        tags |= columns("study", self._place)
        tags[NOTE] = title(Path("conf/study") / f"{study}.yaml")
        run = self.client.create_run(
            self.experiment, tags=tags, run_name=f"study {study}"
        )
        return str(run.info.run_id)

    def _reconcile(self) -> None:
        """Learn what the store holds; drop what a killed tracker left half-written."""
        self.known = {}
        for run in list(self.runs()):
            name = run.data.tags.get(TAG)
            if name is None:
                continue
            if run.info.status in ENDED and name not in self.known:
                self.known[name] = run.info.run_id
            else:
                self.client.delete_run(run.info.run_id)


def _open_store(options: TrackingOptions, uri: str) -> tuple["MlflowClient", str]:
    quiet()
    # MLflow would send again what a slow server is still at, and so make a run twice;
    # the next pass asks first what is there.
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")
    from mlflow import MlflowClient

    file = sqlite_file(uri)
    place = None if file is None else Path(options.artifacts).resolve().as_uri()
    client = MlflowClient(uri)
    found = client.get_experiment_by_name(options.experiment)
    if found is not None and file is not None and found.artifact_location != place:
        # A database that was copied with its folder would write into the original.
        raise InputError(
            f"{file} came from another folder and would write into that one: "
            "remove it, it is refilled from the runs"
        )
    if found is not None:
        return client, str(found.experiment_id)
    return client, str(client.create_experiment(options.experiment, place))
