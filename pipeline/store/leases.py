"""Who works on what is under results/running, and what became of those who do not."""

import json
import os
import shutil
import socket
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.store.digests import DIGESTS, edits, write_digests
from pipeline.store.durable import sync
from pipeline.store.files import read_json, write_json
from pipeline.terminal.errors import InputError

HEARTBEAT_SECONDS = 5.0
STALE_SECONDS = 300.0  # without a heartbeat, a run on another host counts as dead


def running_directories(results: Path, key: str = "*") -> list[Path]:
    """Run directories that have not been finished, of one key or all."""
    return sorted((results / "running").glob(f"{key}.*"))


def owner(directory: Path) -> dict[str, Any] | None:
    """The record with which the run in `directory` began, if it is there and whole."""
    try:
        record = json.loads((directory / "owner.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None  # a disk that fails says nothing about who is there
    return record if isinstance(record, dict) else None


def _heartbeat_age(directory: Path) -> float:
    for name in ("heartbeat", "owner.json"):
        try:
            return time.time() - (directory / name).stat().st_mtime
        except FileNotFoundError:
            continue
    try:
        return time.time() - directory.stat().st_mtime
    except FileNotFoundError:
        return float("inf")


def process_start(process: int) -> str:
    """What tells a process from a later one of the same number; "" where it is gone."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return "" if fields[0] == "Z" else fields[19]
    except FileNotFoundError:
        return "" if Path("/proc/self").exists() else _alive_without_proc(process)


def _alive_without_proc(process: int) -> str:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        return "alive"
    return "alive"


def is_alive(directory: Path) -> bool:
    """Whether somebody still works in `directory`.

    On this host by its process; on another by its heartbeat, whose age is taken
    without regard to sign, since clocks differ and are set back.
    """
    record = owner(directory)
    if record is None:
        return abs(_heartbeat_age(directory)) < HEARTBEAT_SECONDS
    if record.get("host") != socket.gethostname():
        return abs(_heartbeat_age(directory)) < STALE_SECONDS
    start = process_start(int(record["process"]))
    return start != "" and start == record.get("process_start", start)


def others_at(key: str, results: Path) -> list[Path]:
    """Directories in which another live process works on `key`."""
    return [
        directory
        for directory in (results / "running").glob(f"{key}.*")
        if is_alive(directory)
        and (owner(directory) or {}).get("process") != os.getpid()
    ]


def _ended(directory: Path) -> str:
    """When the run in `directory` last gave a sign of life."""
    beat = directory / "heartbeat"
    place = beat if beat.exists() else directory
    moment = datetime.fromtimestamp(place.stat().st_mtime, UTC)
    return moment.isoformat(timespec="milliseconds")


def _ended_record(directory: Path) -> dict[str, Any] | None:
    try:
        record = read_json(directory / "run.json")
    except InputError:
        return None
    whole = isinstance(record, dict) and {"key", "status"} <= record.keys()
    return record if whole else None


def _close(directory: Path, results: Path) -> Path | None:
    """Move what a dead process left to where it belongs."""
    record = _ended_record(directory)  # killed between its end and its last move
    done = record is not None and record["status"] == "finished"
    if record is None or (done and edits(directory)):  # a power cut keeps names only
        record, done = record or owner(directory), False
        if record is None:  # killed before it had said what it was
            shutil.rmtree(directory, ignore_errors=True)
            return None
        record |= {"status": "killed", "reason": "its process is gone"}
        write_json(directory / "run.json", record | {"ended": _ended(directory)})
    for name in ("owner.json", "heartbeat", *([] if done else [DIGESTS])):
        (directory / name).unlink(missing_ok=True)
    if not done:
        for table in directory.glob("*.csv"):
            _end_with_a_line(table)
        write_digests(directory)
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
    """Close the runs whose process is gone, of one key or all; where they are now.

    One that was done but for the last rename counts as finished; the others are
    "killed", and the whole steps they made are kept.
    """
    dead = [d for d in running_directories(results, key) if not is_alive(d)]
    return [place for d in dead if (place := _close(d, results)) is not None]
