"""Run directories: claimed while a run works, immutable once it has finished.

    results/running/<key>.<attempt>/   while it runs: owner.json, heartbeat, its steps
    results/runs/<key>/                finished
    results/failed/<key>.<attempt>/    failed, with the steps it made

A directory moves from the first place to one of the others by a single rename, with
the digests of its files in SHA256SUMS.
"""

import contextlib
import os
import platform
import shutil
import socket
import subprocess
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from pipeline.digests import write_digests
from pipeline.errors import (
    InputError,
    PrunedError,
    RunFailedError,
    is_full_disk,
    one_line,
)
from pipeline.files import read_json, write_json
from pipeline.keys import key_of
from pipeline.owners import HEARTBEAT_SECONDS, others_at, process_start

RESULTS = Path("results")
WAIT_SECONDS = 0.2

Numbers = dict[str, Any]
Body = Callable[[Path], Numbers]


@dataclass(frozen=True)
class Job:
    """One run that is wanted: what it is, and what decides its numbers.

    Parameters
    ----------
    step : the module pipeline.<step> that performs it
    name : what a person calls it, such as the case or the scan
    identity : what the key is the hash of (pipeline.keys.identity)
    config : resolved configuration
    needs : keys of the runs it reads, by role; several where a role is a list
    paths : files from outside
    """

    step: str
    name: str
    identity: Mapping[str, Any]
    config: Mapping[str, Any]
    needs: Mapping[str, str | list[str]] = field(default_factory=dict)
    paths: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The key of this run."""
        return key_of(self.identity)


def finished(key: str, results: Path = RESULTS) -> Path | None:
    """The directory of the finished run `key`, if there is one."""
    directory = results / "runs" / key
    return directory if (directory / "run.json").is_file() else None


def run_record(directory: Path) -> dict[str, Any]:
    """run.json of a finished or failed run."""
    record = read_json(directory / "run.json")
    if not isinstance(record, dict) or "key" not in record:
        raise InputError(f"{directory}/run.json is not the record of a run")
    return record


@cache
def code_state() -> dict[str, Any]:
    """Git commit and whether tracked files differ from it; empty outside a checkout."""
    try:
        commit = _git("rev-parse", "HEAD")
        dirty = bool(_git("status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.CalledProcessError):
        return {"git_commit": "", "git_dirty": False}
    return {"git_commit": commit, "git_dirty": dirty}


def _git(*words: str) -> str:
    source = Path(__file__).resolve().parent
    done = subprocess.run(
        ["git", "-C", str(source), *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def failed_attempts(key: str, results: Path = RESULTS) -> list[Path]:
    """Directories of the attempts at `key` that failed by themselves, oldest first.

    Killed ones are not among them: they say nothing about the run.
    """
    return _by_themselves((results / "failed").glob(f"{key}.*"))


def _by_themselves(attempts: Iterable[Path]) -> list[Path]:
    own = [p for p in attempts if _status(p) in ("failed", "pruned")]
    return sorted(own, key=lambda p: int(p.name.rpartition(".")[2]))


def _status(directory: Path) -> str:
    try:
        return str(run_record(directory)["status"])
    except (InputError, KeyError):
        return "unreadable"


class Ledger:
    """Which keys have finished and which have failed, read from the folders once."""

    def __init__(self, results: Path = RESULTS) -> None:
        self._results = results
        runs = results / "runs"
        names = [entry.name for entry in os.scandir(runs)] if runs.is_dir() else []
        self.finished = {n for n in names if finished(n, results) is not None}
        attempts: dict[str, list[Path]] = {}
        for path in (results / "failed").glob("*.*"):
            attempts.setdefault(path.name.partition(".")[0], []).append(path)
        self._failed = {key: _by_themselves(paths) for key, paths in attempts.items()}

    def last_failure(self, key: str) -> Path | None:
        """The latest attempt at `key` that failed by itself, if it never finished."""
        failed = self._failed.get(key)
        return failed[-1] if failed and key not in self.finished else None

    def state(self, key: str) -> str:
        """One of finished, failed, pruned, missing."""
        if key in self.finished:
            return "finished"
        failure = self.last_failure(key)
        return "missing" if failure is None else _status(failure)

    def ended(self) -> set[str]:
        """Every key that has finished, failed or been pruned."""
        return self.finished | {key for key, paths in self._failed.items() if paths}

    def directory(self, key: str) -> Path | None:
        """Where the record of `key` is: of its finished run, or of its last failure."""
        if key in self.finished:
            return self._results / "runs" / key
        return self.last_failure(key)


def _attempts(key: str, results: Path) -> int:
    taken = [
        int(path.name.rpartition(".")[2])
        for place in ("running", "failed")
        for path in (results / place).glob(f"{key}.*")
        if path.name.rpartition(".")[2].isdigit()
    ]
    return max(taken, default=0)


def _claim(job: Job, results: Path) -> Path:
    """A new directory under results/running, this process's own."""
    attempt = _attempts(job.key, results) + 1
    while True:
        directory = results / "running" / f"{job.key}.{attempt}"
        try:
            directory.mkdir(parents=True)
        except FileExistsError:
            attempt += 1
            continue
        return directory


def _start_record(job: Job) -> dict[str, Any]:
    return {
        "key": job.key,
        "step": job.step,
        "name": job.name,
        "status": "running",
        "config": dict(job.config),
        "needs": dict(job.needs),
        "paths": list(job.paths),
        "tags": dict(job.tags),
        "identity": dict(job.identity),
        **code_state(),
        "host": socket.gethostname(),
        "platform": platform.platform(),
        "process": os.getpid(),
        "process_start": process_start(os.getpid()),
        "started": _now(),
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@contextlib.contextmanager
def _heartbeat(directory: Path) -> Iterator[None]:
    """Touch `heartbeat` while the block runs, so that others see it is alive."""
    beat = directory / "heartbeat"
    beat.touch()
    stop = threading.Event()

    def keep_beating() -> None:
        while not stop.wait(HEARTBEAT_SECONDS):
            with contextlib.suppress(OSError):
                beat.touch()

    thread = threading.Thread(target=keep_beating, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        beat.unlink(missing_ok=True)


def perform(directory: Path, job: Job, body: Body) -> dict[str, Any]:
    """Run `body` in `directory` and write run.json; return the record.

    A refusal of input leaves nothing; any other exception leaves a record with status
    "failed", the reason, and the steps that were made.
    """
    record = _start_record(job)
    write_json(directory / "owner.json", record)
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        with _heartbeat(directory):
            record["result"] = body(directory)
        record["status"] = "finished"
    except BaseException as error:
        if is_refusal(error, job):
            shutil.rmtree(directory, ignore_errors=True)
            raise
        # A full disk says as little about the run as a kill does: it is run again.
        by_itself = isinstance(error, Exception) and not is_full_disk(error)
        status = "pruned" if isinstance(error, PrunedError) else "failed"
        record |= {"status": status if by_itself else "killed"}
        record |= {"reason": _reason(error)}
        (directory / "traceback.txt").write_text(traceback.format_exc())
        raise
    finally:
        if directory.is_dir():
            record["ended"] = _now()
            record["wall_s"] = round(time.perf_counter() - wall, 6)
            record["cpu_s"] = round(time.process_time() - cpu, 6)
            write_json(directory / "run.json", record)
            (directory / "owner.json").unlink()
            write_digests(directory)
    return record


def is_refusal(error: BaseException, job: Job) -> bool:
    """Whether input was refused and nothing is kept; in a study, a reason is kept."""
    return isinstance(error, InputError) and "study" not in job.tags


def _reason(error: BaseException) -> str:
    name = type(error).__name__
    return f"{name}: {one_line(error)}" if str(error) else name


def run_once(job: Job, body: Body, results: Path = RESULTS) -> Path:
    """Perform `job` unless its run is there already; return the finished directory.

    Where another live process is at it, such as one that a killed workflow left
    behind, wait for that one.

    Raises
    ------
    RunFailedError
        when the run failed; its directory is then under results/failed
    """
    while (done := finished(job.key, results)) is None and others_at(job.key, results):
        time.sleep(WAIT_SECONDS)
    if done is not None:
        return done
    directory = _claim(job, results)
    try:
        perform(directory, job, body)
    except BaseException as error:
        if is_refusal(error, job) or not (directory / "run.json").is_file():
            raise  # what was interrupted twice is closed by the next command's sweep
        kept = _move(directory, results / "failed" / directory.name)
        if isinstance(error, Exception):
            raise RunFailedError(f"{_reason(error)} (kept in {kept})") from error
        raise
    return _publish(directory, results / "runs" / job.key)


def _move(directory: Path, place: Path) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    directory.rename(place)
    return place


def _publish(directory: Path, place: Path) -> Path:
    """Rename to runs/<key>; where another process was first, its run is the run."""
    try:
        return _move(directory, place)
    except OSError:
        if not (place / "run.json").is_file():
            raise
        shutil.rmtree(directory)
        return place
