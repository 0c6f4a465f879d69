"""Bring every run that is not in MLflow yet into it: python -m pipeline.track.

Reads results/runs and results/failed, writes to the store that conf/tracking.yaml or
MLFLOW_TRACKING_URI names. A second pass adds nothing; a lost database is refilled.
With --follow, go on: steps of runs that are still going appear within seconds, until
Ctrl-C or the end of standard input.
"""

import argparse
import select
import sys
from pathlib import Path

from pipeline.errors import FAILED, InputError, command, one_line
from pipeline.live import LiveRuns
from pipeline.owners import sweep_dead
from pipeline.runs import RESULTS, run_record
from pipeline.store import Store, only_writer
from pipeline.study_tracking import update_parents
from pipeline.tracking import TrackingOptions, end_run, start_run
from pipeline.yaml_file import read_mapping

TRACKING = Path("conf/tracking.yaml")
FOLLOW_SECONDS = 2.0


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


def track(store: Store, live: LiveRuns, results: Path = RESULTS) -> tuple[int, int]:
    """Write what is missing; return how many were written and how many failed to be."""
    missing = [d for d in run_directories(results) if d.name not in store.known]
    if not missing and store.exists():
        return 0, 0
    _ = store.client  # learns what the store holds before anything is written to it
    written = failures = 0
    for directory in (d for d in missing if d.name not in store.known):
        try:
            _track_one(store, live, directory)
        except (InputError, KeyError, ValueError) as error:
            print(f"error: {directory}: {one_line(error)}", file=sys.stderr)
            failures += 1
        else:
            written += 1
    store.save_index()
    return written, failures


def _track_one(store: Store, live: LiveRuns, directory: Path) -> None:
    record = run_record(directory)
    parent = store.parent_of(record)
    started = live.take(directory) or start_run(
        store.client, store.experiment, record, directory, parent
    )
    end_run(store.client, started, directory, store.options, parent)
    store.known[directory.name] = started.run_id


def _conclude(store: Store, live: LiveRuns, before: int = 0) -> int:
    """The last pass: what is missing, then the studies' parents."""
    written, failures = track(store, live)
    update_parents(store, RESULTS)
    store.save_index()
    print(f"MLflow: {before + written} runs added to {store.uri}")
    return FAILED if failures else 0


def _told_to_stop(seconds: float) -> bool:
    """Wait; whether standard input has ended meanwhile."""
    ready, _, _ = select.select([sys.stdin], [], [], seconds)
    return bool(ready) and not sys.stdin.readline()


def follow(store: Store, live: LiveRuns) -> int:
    """Track over and over, bring in the steps of live runs, until told to stop."""
    total = 0
    try:
        while not _told_to_stop(FOLLOW_SECONDS):
            total += track(store, live)[0]
            live.update(RESULTS)
    except KeyboardInterrupt:
        print()
    return _conclude(store, live, total)


@command
def main(argv: list[str] | None = None) -> int:
    """Bring the missing runs into MLflow and say how many there were."""
    parser = argparse.ArgumentParser(
        prog="python -m pipeline.track",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--follow", action="store_true", help="go on until told to stop"
    )
    options = parser.parse_args(argv)
    place = RESULTS / "mlflow"
    with only_writer(place):
        sweep_dead(RESULTS)
        store = Store(read_options(), place)
        live = LiveRuns(store)
        return (follow if options.follow else _conclude)(store, live)


if __name__ == "__main__":
    sys.exit(main())
