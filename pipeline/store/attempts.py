"""Attempts at a run: claimed while it works, recorded however it ends.

What runs, where and when stands in run.json beside what the run gave; the form of that
is `pipeline.store.keys.RECORDS`.
"""

import contextlib
import os
import platform
import select
import shutil
import socket
import subprocess
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from pipeline.store.code_parts import keep_code
from pipeline.store.digests import DIGESTS, write_digests
from pipeline.store.durable import sync
from pipeline.store.files import write_json
from pipeline.store.leases import HEARTBEAT_SECONDS, others_at, process_start
from pipeline.store.runs import (
    REMEDY,
    RESULTS,
    Job,
    Numbers,
    finished,
    run_record,
)
from pipeline.terminal.errors import (
    InputError,
    PrunedError,
    RunFailedError,
    lacks_machine,
    one_line,
)
from pipeline.terminal.machine import machine

WAIT_SECONDS = 0.2

Body = Callable[[Path], Numbers]


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


def _attempts(key: str, results: Path) -> int:
    taken = [
        int(path.name.rpartition(".")[2])
        for place in ("running", "failed")
        for path in (results / place).glob(f"{key}.*")
        if path.name.rpartition(".")[2].isdigit()
    ]
    return max(taken, default=0)


def claim(job: Job, results: Path) -> Path:
    """A new directory under results/running, this process's own."""
    attempt = _attempts(job.key, results) + 1
    while True:
        directory = results / "running" / f"{job.key}.{attempt}"
        try:
            directory.mkdir(parents=True)
        except FileExistsError:
            if not directory.parent.is_dir():
                raise  # what stands is above it, a link that leads nowhere
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
        "modules": list(job.modules),
        "identity": dict(job.identity),
        **code_state(),
        "host": socket.gethostname(),
        "platform": platform.platform(),
        "processor": machine(),
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


def record_run(directory: Path, job: Job, body: Body) -> dict[str, Any]:
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
        # A disk that is full or fails says as little about the run as a kill does.
        by_itself = isinstance(error, Exception) and not lacks_machine(error)
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
            write_digests(directory)  # last: what has them is whole
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
        select.select([], [], [], WAIT_SECONDS)  # a date set back is none of its
    if done is not None:
        return done
    _refuse_damaged(results / "runs" / job.key)
    directory = claim(job, results)
    keep_code(job, results)
    try:
        record_run(directory, job, body)
    except BaseException as error:
        if is_refusal(error, job) or not (directory / DIGESTS).is_file():
            raise  # what was interrupted twice is closed by the next command's sweep
        if run_record(directory)["status"] == "finished":
            publish(
                directory, results / "runs" / job.key
            )  # interrupted at its very end
            raise
        kept = _move(directory, results / "failed" / directory.name)
        if isinstance(error, Exception):
            raise RunFailedError(f"{_reason(error)} (kept in {kept})") from error
        raise
    return publish(directory, results / "runs" / job.key)


def _refuse_damaged(place: Path) -> None:
    """Refuse to make a run whose folder is there, and holds no record of it."""
    if place.is_dir() and not (place / "run.json").is_file():
        raise InputError(f"{place} has no run.json: {REMEDY}")


def _move(directory: Path, place: Path) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    sync(directory)
    directory.rename(place)
    return place


def publish(directory: Path, place: Path) -> Path:
    """Rename to runs/<key>; where another process was first, its run is the run."""
    try:
        return _move(directory, place)
    except OSError:
        _refuse_damaged(place)
        if not place.is_dir():
            raise
        shutil.rmtree(directory)
        return place
