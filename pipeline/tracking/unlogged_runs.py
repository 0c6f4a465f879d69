"""Brings the runs of a results folder into MLflow, at once or while they work.

Runs are files: whatever becomes of the store, the next pass logs what is missing.
"""

import contextlib
import fcntl
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from pipeline.runs.run_attempts import is_alive, owner, running_directories, sweep_dead
from pipeline.runs.run_directory import RESULTS, run_record
from pipeline.terminal import (
    DONE,
    FAILED,
    InputError,
    RunFailedError,
    lacks_machine,
    one_line,
)
from pipeline.tracking.logged_contents import attempt_of, milliseconds, study_of
from pipeline.tracking.mlflow_database import StoreError, analyse
from pipeline.tracking.mlflow_location import read_options, shown_store, without_secrets
from pipeline.tracking.mlflow_runs import RUNNING, Started, Store, update_studies

ENDED = ("runs", "failed")  # folders of runs, below that of the results
PLACE = "mlflow"  # folder of the store, below that of the results
RETRY_SECONDS = 30.0  # between two tries of a store that fails
LONGEST_REASON = 160
SHORT_SECONDS = 1.0  # a run that takes less is written once, at its end
DRIVERS = {"requests", "urllib3", "sqlite3"}
STORE = {"mlflow", "sqlalchemy", *DRIVERS}  # packages whose errors are the store's


def try_lock(results: Path) -> IO[str] | None:
    """The right to write to the store, until the file is closed; None if taken."""
    (results / PLACE).mkdir(parents=True, exist_ok=True)
    file = (results / PLACE / "lock").open("a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def ended_runs(results: Path) -> Iterator[Path]:
    """Folders of runs that have ended."""
    for place in ENDED:
        if (results / place).is_dir():
            yield from (results / place).iterdir()


def folder_of(run: Path) -> tuple[str, int]:
    """Name and inode of the folder of a run, another one if the run is made again."""
    try:
        return run.name, run.stat().st_ino
    except OSError:
        return run.name, 0


def changed(path: Path) -> float:
    """When a file or folder was changed, s from 1970; 0 if it is not there."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _chain(error: BaseException | None) -> Iterator[tuple[BaseException, str]]:
    """An error and those that it came from, each with its package."""
    while error is not None:
        yield error, type(error).__module__.split(".")[0]
        error = error.__context__


def _way_failed(error: BaseException) -> bool:
    """Whether the way to the store failed, as it would for the next run."""
    return bool(DRIVERS.intersection(package for _, package in _chain(error)))


def _is_of_store(error: BaseException) -> bool:
    return isinstance(error, StoreError) or next(_chain(error))[1] in STORE


def _reason(error: BaseException) -> str:
    """Why the store fails; if the way to it does, in the words of the system."""
    if _way_failed(error):
        *_, (error, _) = _chain(error)
    return without_secrets(one_line(error))[:LONGEST_REASON]


class Logger:
    """Writes the runs of a results folder into its store.

    Parameters
    ----------
    since : changes of files are looked for from then on, s from 1970; 0 checks all

    Attributes
    ----------
    trouble : why the store cannot be used, "" if it can
    notes, unreadable : what happened to the store, and why runs cannot be read
    logged : MLflow run ids of the runs that were completed
    """

    def __init__(self, results: Path, since: float = 0.0) -> None:
        self._results, self._since = results, since
        self.store = Store(read_options(), results / PLACE)
        self.trouble = ""
        self.notes: list[str] = []
        self.unreadable: list[str] = []
        self.logged: list[str] = []
        self._live: dict[str, tuple[Started, Path]] = {}  # by attempt
        self._files: list[tuple[Started, Path]] = []  # that may get more of them
        self._done: set[tuple[str, int]] | None = (
            None  # folders that need no more looks
        )
        self._looked: list[float] = []
        self._try_again = 0.0

    def follow(self) -> None:
        """Bring MLflow up to date, unless the store failed a moment ago."""
        if time.monotonic() >= self._try_again:
            self._attempt(self._update)

    def conclude(self) -> None:
        """Log what is missing, late files, and the parents of runs."""
        self._attempt(self._conclude)

    def _attempt(self, work: Callable[[], None]) -> None:
        """Do `work`; an embedded store that is damaged is replaced, and filled."""
        try:
            try:
                work()
            except Exception as error:
                known = isinstance(error, StoreError) or not _is_of_store(error)
                if known or not self._look(thorough=True):
                    raise
                work()
        except Exception as error:
            if not _is_of_store(error):
                raise
            self.trouble = f"{self.store.name}: {_reason(error)}"
            self._try_again = time.monotonic() + RETRY_SECONDS
            self._done = None  # look at the store anew
        else:
            self.trouble, self._try_again = "", 0.0

    def _look(self, *, thorough: bool = False) -> bool:
        """Look at the store and at what is complete in it; whether it is empty."""
        note = self.store.prepare(thorough=thorough)
        self.notes += [note] if note else []
        self._looked, self._done = [], set()
        if self.store.is_empty:
            self._live = {}
        elif self._since:
            runs = ended_runs(self._results)
            self._done = {folder_of(run) for run in runs if self.store.is_complete(run)}
        return self.store.is_empty

    def _conclude(self) -> None:
        with contextlib.suppress(OSError):  # another process closes them too
            sweep_dead(self._results)
        self._looked = []
        self._update()
        for started, directory in self._live.values():
            if not directory.is_dir():  # its input was refused: there is no run
                self.store.client.delete_run(started.run_id)
        for started, directory in self._files:
            self.store.log_files(started, directory)
        update_studies(self.store, self._results, self._since)
        if self.logged and self.store.file is not None:
            analyse(self.store.file)

    def _update(self) -> None:
        """Log new steps of runs that work, and runs that have ended, oldest first.

        One that the store refuses does not hold up the others.
        """
        if self._done is None:
            self._look()
        running, ended = running_directories(self._results), self._ended()
        if running or ended:
            _ = self.store.client  # imports MLflow while the first run works
        for directory in running:
            self._grow(directory)
        refused = None
        for directory in ended:
            try:
                self._log(directory)
            except Exception as error:
                if not _is_of_store(error) or _way_failed(error):
                    raise
                refused = error
        if refused:
            raise refused

    def _ended(self) -> list[Path]:
        """Runs that ended since the last look and are not complete."""
        looked = [changed(self._results / place) for place in ENDED]
        if looked == self._looked:
            return []
        self._looked, done = looked, self._done or set()
        runs = [run for run in ended_runs(self._results) if folder_of(run) not in done]
        return sorted([r for r in runs if (r / "run.json").is_file()], key=changed)

    def _grow(self, directory: Path) -> None:
        """Log what a run that works has made since the last look."""
        record = owner(directory)
        if record is None:
            return
        attempt = attempt_of(record)
        if attempt not in self._live:
            age_s = time.time() - milliseconds(record["started"]) / 1000
            if age_s < SHORT_SECONDS or not is_alive(directory):
                return
            self._live[attempt] = self.store.begin(record, directory), directory
        if self.store.wants_steps(record):
            with contextlib.suppress(ValueError):  # its end says what is wrong
                self.store.grow(self._live[attempt][0], directory)

    def _log(self, directory: Path) -> None:
        """Log a run that has ended."""
        assert self._done is not None
        folder = folder_of(directory)
        try:
            record = run_record(directory)
            started, _ = self._live.pop(attempt_of(record), (None, None))
            started = started or self.store.begin(record, directory)
            if started.status == RUNNING:
                self.store.complete(started, record, directory)
                self.logged.append(started.run_id)
            if not study_of(record):
                self._files.append((started, directory))
        except (InputError, KeyError, ValueError, OSError) as error:
            if _is_of_store(error):
                raise
            if lacks_machine(error):
                raise StoreError(one_line(error)) from error
            if folder_of(directory) != folder:
                return  # moved, or made again: the next look finds it
            self.unreadable.append(f"{directory}: {one_line(error)}")
        self._done.add(folder)


WAIT_SECONDS = 60.0  # for another process that logs


def _lock() -> IO[str]:
    """The right to write to the store."""
    end = time.monotonic() + WAIT_SECONDS
    while (lock := try_lock(RESULTS)) is None:
        if time.monotonic() > end:
            raise InputError(
                "another process is writing to MLflow: wait for it, or stop it"
            )
        time.sleep(0.2)
    return lock


def track() -> int:
    """Bring the missing runs into MLflow and print how many there were."""
    with _lock():
        logger = Logger(RESULTS)
        logger.conclude()
    for note in logger.notes:
        print(f"warning: {note}", file=sys.stderr)
    for reason in logger.unreadable:
        print(f"error: {reason}", file=sys.stderr)
    print(f"MLflow: new runs in {shown_store(logger.store.uri)}: {len(logger.logged)}")
    if logger.trouble:
        raise RunFailedError(f"{logger.trouble} (no result is lost): repeat this later")
    return FAILED if logger.unreadable else DONE
