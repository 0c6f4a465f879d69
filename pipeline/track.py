"""Bring every run that is not in MLflow yet into it: python -m pipeline.track.

Reads results/runs and results/failed, writes to the store that conf/tracking.yaml or
MLFLOW_TRACKING_URI names. A second pass adds nothing; a lost database is refilled.
With --follow, go on: steps of runs that are still going appear within seconds, until
Ctrl-C or the end of standard input.
"""

import argparse
import select
import sys
from collections.abc import Callable
from pathlib import Path

from pipeline.arguments import OneLineParser
from pipeline.errors import FAILED, InputError, RunFailedError, command, one_line
from pipeline.index.live import LiveRuns
from pipeline.index.report_page import update_report
from pipeline.index.store import Store, only_writer
from pipeline.index.studies import update_parents
from pipeline.index.tracking import TrackingOptions, end_run, start_run, without_secrets
from pipeline.owners import sweep_dead
from pipeline.runs import RESULTS, run_record
from pipeline.yaml_file import read_mapping

TRACKING = Path("conf/tracking.yaml")
FOLLOW_SECONDS = 2.0
LONGEST_PAUSE_SECONDS = 30.0  # between two tries of a store that fails
MOST_REFUSED = 3  # runs in a row
STORE_PACKAGES = ("mlflow", "sqlalchemy", "requests", "urllib3")


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
        held = self._store.known.keys() | self._unreadable
        missing = [d for d in run_directories(self._results) if d.name not in held]
        if not missing and self._store.exists():
            return
        _ = self._store.client  # learns what the store holds before anything is written
        refused: list[Exception] = []
        in_a_row = 0
        for directory in missing:
            if directory.name in self._store.known:
                continue
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

    def forget(self) -> None:
        """Start anew after the store failed."""
        self._store.forget()
        self._live = LiveRuns(self._store)

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
    """
    try:
        work()
    except Exception as error:
        if not is_the_store_s(error):
            raise
        tracker.forget()
        return without_secrets(one_line(error))
    return ""


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


@command
def main(argv: list[str] | None = None) -> int:
    """Bring the missing runs into MLflow and say how many there were."""
    parser = OneLineParser(
        prog="python -m pipeline.track",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--follow", action="store_true", help="go on until told to stop"
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=60.0,
        help="seconds to wait for another tracker",
    )
    options = parser.parse_args(argv)
    place = RESULTS / "mlflow"
    with only_writer(place, options.patience):
        sweep_dead(RESULTS)
        store = Store(read_options(), place)
        tracker = Tracker(store)
        if options.follow:
            follow(tracker)
        trouble = attempted(tracker, tracker.conclude)
    print(f"MLflow: {tracker.written} runs added to {without_secrets(store.uri)}")
    if trouble:
        raise RunFailedError(f"{trouble} (nothing is lost: run it again later)")
    return 0 if tracker.sound else FAILED


if __name__ == "__main__":
    sys.exit(main())
