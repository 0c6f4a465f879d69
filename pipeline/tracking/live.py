"""Runs that are still going, as they look in MLflow: RUNNING, their metrics growing."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.store.leases import is_alive, owner, running_directories
from pipeline.tracking.record import (
    Started,
    began,
    log_metrics,
    metrics_of_rows,
    start_run,
    wants_steps,
)
from pipeline.tracking.store import Store

OLD_ENOUGH_SECONDS = 3.0  # a shorter run is written once, when it has ended


class LiveRuns:
    """Follows the directories under results/running."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._runs: dict[str, Started] = {}
        self._growing: set[str] = set()  # those of them whose steps are wanted

    def update(self, results: Path) -> None:
        """Bring the new steps of every live run into MLflow."""
        for directory in running_directories(results):
            if directory.name not in self._runs:
                self._start(directory)
            if directory.name in self._growing:
                self._grow(directory, self._runs[directory.name])

    def _start(self, directory: Path) -> None:
        record = owner(directory)
        steps = directory / "steps.csv"
        if record is None or not steps.is_file() or not is_alive(directory):
            return
        age = time.time() - (directory / "owner.json").stat().st_mtime
        if age >= OLD_ENOUGH_SECONDS:
            store, belonging = self._store, self._store.belonging(record)
            self._runs[directory.name] = start_run(
                store.client, store.experiment, record, directory, belonging
            )
            if wants_steps(store.options, belonging):
                self._growing.add(directory.name)

    def _grow(self, directory: Path, live: Started) -> None:
        try:
            with (directory / "steps.csv").open("rb") as file:
                names = file.readline().decode().strip().split(",")
                live.read = max(live.read, file.tell())
                file.seek(live.read)
                text = file.read()
        except FileNotFoundError:
            return  # it has ended and moved away meanwhile
        whole = text[: text.rfind(b"\n") + 1]
        live.read += len(whole)
        now = round(time.time() * 1000)
        rows = [line.split(",") for line in whole.decode().splitlines()]
        live.rows += len(rows)
        metrics = metrics_of_rows(names, rows, [now] * len(rows))
        log_metrics(self._store.client, live.run_id, metrics)

    def take(self, record: Mapping[str, Any]) -> Started | None:
        """The MLflow run of a run that has ended, if it was followed while it ran.

        Another attempt at the same run, which was killed, is not taken for it.
        """
        wanted = began(record)
        for name, live in list(self._runs.items()):
            if live.began == wanted:
                self._growing.discard(name)
                return self._runs.pop(name)
        return None
