"""Attempts at a run: locked while it works, recorded however it ends.

run.json states what runs, where and when, and the result; its form is
`pipeline.runs.run_keys.RECORDS`.

The identity of a run holds one digest of its code. The digests of the modules behind it
are stored once for all runs of the same code, to find later which of them
changed.

The kernel frees a lock when its process ends, however it ends, so a folder under
results/running whose lock is free was left by a process that has ended.
"""

import contextlib
import fcntl
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import count
from pathlib import Path
from typing import IO, Any

from pipeline.runs import run_keys
from pipeline.runs.atomic_files import read_mapping, sync, write_json
from pipeline.runs.run_directory import (
    REMEDY,
    RESULTS,
    Job,
    Numbers,
    attempt_of,
    finished,
    node_names,
    run_record,
)
from pipeline.terminal import (
    EditedError,
    InputError,
    PrunedError,
    RunFailedError,
    ShownError,
    lacks_machine,
    machine,
    named_nodes,
    one_line,
)


@cache
def _parts(modules: frozenset[str]) -> dict[str, str]:
    return run_keys.decisive(modules)[0]


def parts_of_job(job: Job) -> dict[str, str]:
    """Digests of the modules that decide a job now, by name."""
    return _parts(run_keys.named_modules(job.step, job.config, job.modules))


def _place(code: str, results: Path) -> Path:
    return results / "code" / f"{code[:32]}.json"


def store_code(job: Job, results: Path = RESULTS) -> None:
    """Leave the digests of the modules of a job that is about to run."""
    code = str(job.identity.get("code", ""))
    if not code or stored_code(job.identity, results):
        return
    parts = parts_of_job(job)
    if run_keys.json_digest(parts) == code:  # else its code was another process's
        write_json(_place(code, results), parts)


def stored_code(identity: Mapping[str, Any], results: Path = RESULTS) -> dict[str, str]:
    """Stored digests of the modules that an identity was made of; may be none."""
    return read_mapping(_place(str(identity.get("code", "")), results))


LOCK = ".lock"  # what follows the key in the name of its lock


@contextlib.contextmanager
def key_lock(key: str, results: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of a key; wait for another process that holds it.

    The file of a lock is removed by its holder, so a lock counts only while its name
    leads to the file that is locked.

    Yields
    ------
    whether the lock is held; always, if `wait`
    """
    path = results / "running" / f"{key}{LOCK}"
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with path.open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
                return
            if not _is_named(file, path):
                continue
            try:
                yield True
            finally:
                path.unlink(missing_ok=True)
            return


def _is_named(file: IO[str], path: Path) -> bool:
    """Whether `path` still leads to an open file."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def running_directories(results: Path, key: str = "*") -> list[Path]:
    """Directories of runs that have not ended, of one key or all."""
    found = sorted((results / "running").glob(f"{key}.*"))
    return [path for path in found if path.suffix != LOCK]


def owner(directory: Path) -> dict[str, Any] | None:
    """The record with which the run in `directory` began, if it is there and whole."""
    try:
        record = json.loads((directory / "owner.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None  # a disk that fails says nothing about who is there
    return record if isinstance(record, dict) else None


def key_of_directory(directory: Path) -> str:
    """The key of a run from the name of its directory, <key>.<attempt>."""
    return directory.name.rpartition(".")[0]


def is_alive(directory: Path) -> bool:
    """Whether a process still works in `directory`, a folder of results/running."""
    with key_lock(
        key_of_directory(directory), directory.parents[1], wait=False
    ) as ours:
        return not ours


def _ended(directory: Path) -> str:
    """When the run in `directory` last wrote a file."""
    last = max(path.stat().st_mtime for path in (directory, *directory.iterdir()))
    return datetime.fromtimestamp(last, UTC).isoformat(timespec="milliseconds")


def _ended_record(directory: Path) -> dict[str, Any] | None:
    record = read_mapping(directory / "run.json")
    return record if {"key", "status"} <= record.keys() else None


def close_dead(directory: Path, results: Path) -> Path | None:
    """Move what a dead process left to where it belongs; the key's lock is held.

    A run that was finished but for its last move counts as finished; another is
    killed, and keeps the whole steps that it made.
    """
    record = _ended_record(directory)  # killed between its end and its last move
    done = record is not None and record["status"] == "finished"
    if record is None or (
        done and run_keys.edits(directory)
    ):  # a power cut keeps names only
        record, done = record or owner(directory), False
        if record is None:  # killed before it wrote its record
            shutil.rmtree(directory, ignore_errors=True)
            return None
        record |= {"status": "killed", "reason": "its process has ended"}
        write_json(directory / "run.json", record | {"ended": _ended(directory)})
    for name in ("owner.json", *([] if done else [run_keys.DIGESTS])):
        (directory / name).unlink(missing_ok=True)
    if not done:
        for table in directory.glob("*.csv"):
            _end_with_a_line(table)
        run_keys.write_digests(directory)
    sync(directory)
    place = results / ("runs" if done else "failed")
    place /= record["key"] if done else directory.name
    place.parent.mkdir(parents=True, exist_ok=True)
    if done and place.is_dir():  # somebody else finished the same key meanwhile
        shutil.rmtree(directory)
    else:
        directory.rename(place)
    return place


def _end_with_a_line(table: Path) -> None:
    """Take away what a kill left of a row."""
    whole = table.read_bytes().rpartition(b"\n")
    if whole[2]:
        with table.open("r+b") as file:
            file.truncate(len(whole[0]) + len(whole[1]))


def sweep_dead(results: Path, key: str = "*") -> list[Path]:
    """Close the runs whose process has ended, of one key or all; where they are now."""
    closed = []
    for directory in running_directories(results, key):
        with key_lock(key_of_directory(directory), results, wait=False) as ours:
            if ours and directory.is_dir():
                closed.append(close_dead(directory, results))
    return [place for place in closed if place is not None]


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
    taken = (
        attempt_of(path)
        for place in ("running", "failed")
        for path in (results / place).glob(f"{key}.*")
    )
    return max(taken, default=0)


def claim(job: Job, results: Path) -> Path:
    """A new directory under results/running, for a job whose lock is held."""
    attempt = _attempts(job.key, results) + 1
    directory = results / "running" / f"{job.key}.{attempt}"
    directory.mkdir(parents=True)
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
        "started": now(),
    }


def now() -> str:
    """This moment as records have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def record_run(directory: Path, job: Job, body: Body) -> dict[str, Any]:
    """Run `body` in `directory` and write run.json; return the record.

    A refusal of input leaves nothing; any other exception leaves a record with status
    "failed", the reason, and the steps that were made.
    """
    record = _start_record(job)
    write_json(directory / "owner.json", record)
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        record["result"] = body(directory)
        record["status"] = "finished"
    except BaseException as error:
        simulated = RESULTS / "runs" / str(job.needs.get("simulated"))
        names = node_names(directory) or node_names(simulated)
        words = (named_nodes(a, names) if isinstance(a, str) else a for a in error.args)
        error.args = tuple(words)
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
            record["ended"] = now()
            record["wall_s"] = round(time.perf_counter() - wall, 6)
            record["cpu_s"] = round(time.process_time() - cpu, 6)
            write_json(directory / "run.json", record)
            (directory / "owner.json").unlink()
            run_keys.write_digests(directory)  # last: what has them is whole
    return record


def is_refusal(error: BaseException, job: Job) -> bool:
    """Whether input was refused and no record stays; in a study, the reason stays."""
    shown = isinstance(error, ShownError) or "study" in job.tags
    refused = isinstance(error, InputError) and not shown
    return refused or isinstance(error, EditedError)


def _reason(error: BaseException) -> str:
    name = type(error).__name__
    return f"{name}: {one_line(error)}" if str(error) else name


def run_once(job: Job, body: Body, results: Path = RESULTS) -> Path:
    """Perform `job` unless its run is there already; return the finished directory.

    Where another process works on the same key, wait for it. What a killed attempt
    left is closed first, so that this one can go on from its checkpoint. A run whose
    files were edited since is made again.

    Raises
    ------
    RunFailedError
        when the run failed; its directory is then under results/failed
    """
    done = finished(job.key, results)
    if done is not None and not run_keys.edits(done):
        return done
    with key_lock(job.key, results):
        for left in running_directories(results, job.key):
            close_dead(left, results)
        done = finished(job.key, results)
        if done is not None and (found := run_keys.edits(done)):
            _set_aside(done, found)
            done = None
        return done if done is not None else _attempt(job, body, results)


EDITED = "edited"  # folder of finished runs whose files a person changed


def _set_aside(directory: Path, found: Sequence[str]) -> None:
    """Move a run whose files were changed out of the way, and say where it is."""
    edited = directory.parents[1] / EDITED
    edited.mkdir(exist_ok=True)
    place = next(
        path
        for attempt in count(1)
        if not (path := edited / f"{directory.name}.{attempt}").exists()
    )
    directory.rename(place)
    print(
        f"warning: {directory}: {'; '.join(found)}: the run is repeated; the changed "
        f"files are in {place}",
        file=sys.stderr,
    )


def _attempt(job: Job, body: Body, results: Path) -> Path:
    """Perform `job`, whose lock is held; return the finished directory."""
    place = results / "runs" / job.key
    if place.is_dir():  # it would be a finished run if it held a record
        raise InputError(f"{place} has no run.json: {REMEDY}")
    directory = claim(job, results)
    store_code(job, results)
    try:
        record_run(directory, job, body)
    except BaseException as error:
        if is_refusal(error, job) or not (directory / run_keys.DIGESTS).is_file():
            raise  # the next attempt closes what was interrupted twice
        if run_record(directory)["status"] == "finished":
            _move(directory, place)  # interrupted at its very end
            raise
        place = _move(directory, results / "failed" / directory.name)
        if isinstance(error, ShownError):
            raise ShownError(f"{error} (see {place})") from error
        if isinstance(error, Exception):
            raise RunFailedError(f"{_reason(error)} (see {place})") from error
        raise
    return _move(directory, place)


def _move(directory: Path, place: Path) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    sync(directory)
    directory.rename(place)
    return place
