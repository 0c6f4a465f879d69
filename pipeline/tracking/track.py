"""Runs brought into MLflow from their files, each once, also while they go on."""

import select
import sys
from collections.abc import Callable
from pathlib import Path

from pipeline.store.leases import sweep_dead
from pipeline.store.runs import RESULTS, run_record
from pipeline.terminal.errors import (
    InputError,
    one_line,
)
from pipeline.tracking.database import analyse
from pipeline.tracking.live import LiveRuns
from pipeline.tracking.options import without_secrets
from pipeline.tracking.record import end_run, start_run
from pipeline.tracking.report_page import update_report
from pipeline.tracking.store import Store
from pipeline.tracking.studies import update_parents

FOLLOW_SECONDS = 2.0
LONGEST_PAUSE_SECONDS = 30.0  # between two tries of a store that fails
MOST_REFUSED = 3  # runs in a row
STORE_PACKAGES = ("mlflow", "sqlalchemy", "requests", "urllib3")


def run_directories(results: Path) -> list[Path]:
    """Finished and failed runs, oldest first."""
    found = [
        path.parent
        for place in ("runs", "failed")
        for path in (results / place).glob("*/run.json")
    ]
    return sorted(found, key=lambda path: (path / "run.json").stat().st_mtime_ns)


class Tracker:
    """Writes runs into one store, each once."""

    def __init__(self, store: Store, results: Path = RESULTS) -> None:
        self._store = store
        self._results = results
        self._live = LiveRuns(store)
        self._unreadable: set[str] = set()
        self.written = 0

    def catch_up(self) -> None:
        """Write every run that has ended and is not in the store.

        What the store refuses is left for the next pass, and the others are written;
        where it refuses one after the other, this pass ends.
        """
        if not self._missing() and self._store.exists():
            return
        _ = self._store.client  # learns what the store holds before anything is written
        refused: list[Exception] = []
        in_a_row = 0
        for directory in self._missing():
            try:
                self._write(directory)
                in_a_row = 0
            except Exception as error:
                refused.append(error)
                in_a_row += 1
                if not is_the_store_s(error) or in_a_row == MOST_REFUSED:
                    raise
        self._store.save_index()
        if refused:
            raise refused[0]

    def _missing(self) -> list[Path]:
        held = self._store.known.keys() | self._unreadable
        return [d for d in run_directories(self._results) if d.name not in held]

    def _write(self, directory: Path) -> None:
        store = self._store
        try:
            record = run_record(directory)
            belonging = store.belonging(record)
            started = self._live.take(record) or start_run(
                store.client, store.experiment, record, directory, belonging
            )
            end_run(store.client, started, directory, store.options, belonging)
        except (InputError, KeyError, ValueError, OSError) as error:
            if is_the_store_s(error):
                raise
            print(f"error: {directory}: {one_line(error)}", file=sys.stderr)
            self._unreadable.add(directory.name)
        else:
            store.known[directory.name] = started.run_id
            self.written += 1

    def follow(self) -> None:
        """Catch up, and bring in the new steps of runs that are going."""
        self.catch_up()
        self._live.update(self._results)

    def conclude(self) -> None:
        """Catch up for the last time; complete the studies' parents and the report."""
        sweep_dead(self._results)
        self.catch_up()
        update_parents(self._store, self._results)
        update_report(self._store, self._results)
        self._store.save_index()
        if self.written:
            analyse(self._store.uri)

    def forget(self) -> bool:
        """Start anew after the store failed; whether it is a new one."""
        self._live = LiveRuns(self._store)
        return self._store.forget()

    @property
    def sound(self) -> bool:
        """Whether every run directory could be read."""
        return not self._unreadable


def is_the_store_s(error: Exception) -> bool:
    """Whether the store, or the way to it, is what failed."""
    return type(error).__module__.split(".")[0] in STORE_PACKAGES


def attempted(tracker: Tracker, work: Callable[[], None]) -> str:
    """Do `work`; what the store says if it fails, on one line, else nothing.

    The runs are files: whatever a store does, the next pass writes what is missing.
    An embedded store that turns out to be damaged is replaced and filled at once.
    """
    trouble = ""
    for _ in range(2):
        try:
            work()
        except Exception as error:
            if not is_the_store_s(error):
                raise
            trouble = without_secrets(one_line(error))
            if not tracker.forget():
                return trouble
        else:
            return ""
    return trouble


def _told_to_stop(seconds: float) -> bool:
    """Wait; whether standard input has ended meanwhile."""
    ready, _, _ = select.select([sys.stdin], [], [], seconds)
    return bool(ready) and not sys.stdin.readline()


def follow(tracker: Tracker) -> None:
    """Track over and over until told to stop; a store that fails is tried again."""
    said, pause = "", FOLLOW_SECONDS
    try:
        while not _told_to_stop(pause):
            trouble = attempted(tracker, tracker.follow)
            if trouble and trouble != said:
                print(f"MLflow is tried again later: {trouble}", file=sys.stderr)
            said = trouble
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS) if said else FOLLOW_SECONDS
    except KeyboardInterrupt:
        print()
