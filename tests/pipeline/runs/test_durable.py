"""What a disk that fails, or loses its power, leaves; tests/faults tries every call."""

import errno
import json
import os
from pathlib import Path

import pytest

from pipeline.runs import atomic_files, run_attempts
from pipeline.runs.atomic_files import sync
from pipeline.runs.run_attempts import owner, run_once, sweep_dead
from pipeline.runs.run_directory import Ledger, failed_attempts, finished
from pipeline.runs.run_keys import DIGESTS, edits, recorded_digests
from pipeline.terminal import RunFailedError, command
from tests.pipeline.runs.test_runs import job


def left(results: Path, status: str, table: bytes) -> Path:
    """What a process that is gone left of a run that had written its record."""
    directory = results / "running" / f"{job().key}.1"
    directory.mkdir(parents=True)
    (directory / "steps.csv").write_bytes(table)
    record = {
        "key": job().key,
        "status": status,
        "result": {},
        "host": "",
        "process": 0,
    }
    (directory / "run.json").write_text(json.dumps(record))
    long_ago = (0, 0)
    os.utime(directory, long_ago)
    return directory


def test_a_folder_is_synced_before_it_is_called_finished(tmp_path, monkeypatch):
    synced: list[list[str]] = []
    monkeypatch.setattr(
        run_attempts,
        "sync",
        lambda p: synced.append(sorted(q.name for q in p.iterdir())),
    )
    run_once(job(), lambda _: {}, tmp_path)
    assert synced == [[DIGESTS, "run.json"]]


def test_without_a_call_for_the_file_system_each_file_is_synced(tmp_path, monkeypatch):
    (tmp_path / "within").mkdir()
    (tmp_path / "within" / "a").write_text("a")
    seen: list[str] = []

    def fsync(number: int) -> None:
        seen.append(Path(f"/proc/self/fd/{number}").resolve().name)

    monkeypatch.setattr(atomic_files, "_file_system", lambda _: False)
    monkeypatch.setattr(os, "fsync", fsync)
    sync(tmp_path)
    assert seen == ["within", "a", tmp_path.name]


def test_a_record_whose_files_are_not_whole_is_no_finished_run(tmp_path):
    left(tmp_path, "finished", b"")  # with no digests: nobody knows what it held
    (place,) = sweep_dead(tmp_path)
    assert finished(job().key, tmp_path) is None
    assert not failed_attempts(job().key, tmp_path)  # it was killed, and runs again
    assert place.parent.name == "failed"
    assert not edits(place)


def test_of_a_killed_run_whole_rows_are_kept_with_their_digests(tmp_path):
    left(tmp_path, "killed", b"step,E\n0,1.5\n1,0.")
    (place,) = sweep_dead(tmp_path)
    assert (place / "steps.csv").read_text() == "step,E\n0,1.5\n"
    assert not edits(place)


def test_what_came_of_a_full_disk_is_no_failure_of_the_run(tmp_path):
    def body(out: Path) -> dict[str, float]:
        try:
            raise OSError(errno.ENOSPC, "No space left on device")
        finally:
            (out / "never.npy").read_bytes()

    with pytest.raises(RunFailedError):
        run_once(job(), body, tmp_path)
    assert Ledger(tmp_path).state(job().key) == "missing"


def test_a_disk_that_fails_says_nothing_about_what_is_on_it(
    tmp_path, monkeypatch, capsys
):
    def failing(*_: object, **__: object) -> str:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Path, "read_text", failing)
    for reader in (owner, recorded_digests):
        with pytest.raises(OSError, match="Input/output"):
            reader(tmp_path)
    assert command(failing)() == 1  # type: ignore[arg-type]
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "check the disk" in said
