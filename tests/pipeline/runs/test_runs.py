import errno
import json
import os
import shutil
import subprocess
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from pipeline.runs import atomic_files, run_attempts
from pipeline.runs.atomic_files import sync, write_text
from pipeline.runs.run_attempts import is_alive, owner, run_once, sweep_dead
from pipeline.runs.run_directory import (
    Job,
    Ledger,
    failed_attempts,
    finished,
    run_record,
)
from pipeline.runs.run_keys import (
    DIGESTS,
    edits,
    identity,
    recorded_digests,
    write_digests,
)
from pipeline.runs.step_jobs import content_digest, link_files, planned_digest
from pipeline.terminal import InputError, RunFailedError, command
from sim.core.options import NotConvergedError


def job(n: int = 1) -> Job:
    config = {"n": n}
    return Job("simulate", "toy", identity("simulate", config), config)


def places(results: Path) -> list[str]:
    found = results.glob("*/*")
    return sorted(str(p.relative_to(results)) for p in found if p.is_dir())


def test_a_finished_run_is_in_its_place_with_its_record(tmp_path, monkeypatch):
    """Its folder was synced before it was called finished."""
    synced: list[list[str]] = []
    monkeypatch.setattr(
        run_attempts,
        "sync",
        lambda p: synced.append(sorted(q.name for q in p.iterdir())),
    )

    def body(out: Path) -> dict[str, float]:
        owner = json.loads((out / "owner.json").read_text())
        assert owner["process"] == os.getpid()
        assert is_alive(out)
        write_text(out / "steps.csv", "step\n0\n")
        return {"E": 0.5}

    directory = run_once(job(), body, tmp_path)
    record = run_record(directory)
    assert directory == finished(job().key, tmp_path)
    assert (record["status"], record["result"]) == ("finished", {"E": 0.5})
    assert record["cpu_s"] >= 0
    assert record["identity"] == job().identity
    names = sorted(p.name for p in directory.iterdir())
    assert names == [DIGESTS, "run.json", "steps.csv"]
    assert synced == [names]


def test_the_same_key_runs_once_but_again_where_files_were_edited(tmp_path, capsys):
    calls = []

    def body(out: Path) -> dict[str, float]:
        calls.append(out)
        write_text(out / "verdict.csv", "differs\n")
        return {}

    run = run_once(job(), body, tmp_path)
    assert run_once(job(), body, tmp_path) == run
    run_once(job(2), body, tmp_path)
    assert len(calls) == 2
    (run / "verdict.csv").write_text("agrees\n")
    assert run_once(job(), body, tmp_path) == run
    assert (run / "verdict.csv").read_text() == "differs\n"
    kept = tmp_path / "edited" / f"{job().key}.1" / "verdict.csv"
    assert kept.read_text() == "agrees\n"
    assert "verdict.csv was edited: the run is repeated" in capsys.readouterr().err


def test_a_failed_run_leaves_the_steps_it_made(tmp_path):
    def body(out: Path) -> dict[str, float]:
        write_text(out / "steps.csv", "step\n0\n")
        raise NotConvergedError("residual 3 is above 1e-9", best=None)

    for attempt in (1, 2):
        with pytest.raises(RunFailedError, match="residual 3 is above 1e-9"):
            run_once(job(), body, tmp_path)
        kept = tmp_path / "failed" / f"{job().key}.{attempt}"
        assert (kept / "steps.csv").read_text() == "step\n0\n"
        assert run_record(kept)["status"] == "failed"
        assert "residual 3" in run_record(kept)["reason"]
    assert finished(job().key, tmp_path) is None


def test_refused_input_leaves_nothing(tmp_path):
    def body(out: Path) -> dict[str, float]:
        write_text(out / "half.csv", "x")
        raise InputError("the scan has 5 spheres for 6 nodes")

    with pytest.raises(InputError, match="5 spheres"):
        run_once(job(), body, tmp_path)
    assert places(tmp_path) == []


def test_who_wants_a_run_that_is_being_made_waits_for_it(tmp_path):
    with ThreadPoolExecutor() as others:
        waiting: list[Future[Path]] = []

        def slow(out: Path) -> dict[str, int]:
            waiting.append(others.submit(run_once, job(), lambda _: {}, tmp_path))
            write_text(out / "steps.csv", "first")
            return {"who": 1}

        directory = run_once(job(), slow, tmp_path)
        assert waiting[0].result() == directory
    assert run_record(directory)["result"] == {"who": 1}
    assert places(tmp_path) == [f"runs/{job().key}"]


def test_an_interrupted_run_is_kept_and_counts_as_killed(tmp_path):
    def body(_: Path) -> dict[str, float]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_once(job(), body, tmp_path)
    kept = tmp_path / "failed" / f"{job().key}.1"
    assert places(tmp_path) == [f"failed/{kept.name}"]
    assert run_record(kept)["status"] == "killed"
    assert Ledger(tmp_path).state(job().key) == "missing"


def test_a_run_interrupted_after_its_last_file_is_a_finished_one(tmp_path, monkeypatch):
    def interrupted(directory: Path) -> None:
        write_digests(directory)
        raise KeyboardInterrupt

    monkeypatch.setattr("pipeline.runs.run_keys.write_digests", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_once(job(), lambda _: {"E": 0.5}, tmp_path)
    assert places(tmp_path) == [f"runs/{job().key}"]
    assert finished(job().key, tmp_path) is not None


def test_a_directory_without_a_record_stops_nothing(tmp_path):
    (tmp_path / "failed" / f"{job().key}.1").mkdir(parents=True)
    assert Ledger(tmp_path).state(job().key) == "missing"
    assert run_once(job(), lambda _: {"E": 1.0}, tmp_path).is_dir()
    assert Ledger(tmp_path).state(job().key) == "finished"


def test_a_run_s_place_without_a_record_is_refused_before_anything_is_computed(
    tmp_path,
):
    place = tmp_path / "runs" / job().key
    place.mkdir(parents=True)
    (place / "steps.csv").write_text("step\n0\n")
    calls: list[Path] = []
    with pytest.raises(InputError, match=r"has no run\.json: remove the damaged"):
        run_once(job(), lambda out: {"n": calls.append(out)}, tmp_path)
    assert not calls
    assert [p.name for p in place.iterdir()] == ["steps.csv"]
    assert places(tmp_path) == [f"runs/{place.name}"]


def test_garbage_under_running_is_closed_like_a_killed_run(tmp_path):
    def body(out: Path) -> dict[str, float]:
        left = tmp_path / "running" / f"{job(2).key}.1"
        shutil.copytree(out, left)
        (left / "run.json").write_text("{half")
        owner = json.loads((left / "owner.json").read_text())
        owner["process"] = 2**22 + 1  # no process has this number
        (left / "owner.json").write_text(json.dumps(owner))
        return {}

    run_once(job(), body, tmp_path)
    (closed,) = sweep_dead(tmp_path)
    assert run_record(closed)["status"] == "killed"
    assert not list((tmp_path / "running").iterdir())


def test_results_that_lead_nowhere_are_refused_at_once(tmp_path):
    results = tmp_path / "results"
    results.symlink_to(tmp_path / "none")
    with pytest.raises(FileExistsError):
        run_once(job(), lambda _: {}, results)


def made(results: Path, code: str, *names: str, table: str = "E\n0.5\n") -> Path:
    """A run that leaves files of these names."""

    def body(out: Path) -> dict[str, float]:
        for name in names:
            write_text(out / name, table)
        return {"E": 0.5}

    return run_once(Job("toy", "one", {"code": code}, {"n": 1}), body, results)


@pytest.fixture
def run(tmp_path):
    return made(tmp_path, "a", "steps.csv", "sub/more.csv", "picture.png")


def test_runs_that_hold_the_same_have_the_same_content(run, tmp_path):
    other = made(tmp_path, "b", "steps.csv", "sub/more.csv")
    assert run_record(run)["key"] != run_record(other)["key"]
    assert content_digest(run) == content_digest(other)
    different = made(tmp_path, "c", "steps.csv", "sub/more.csv", table="E\n0.6\n")
    assert content_digest(run) != content_digest(different)
    (run / "notes.csv").write_text("mine")  # beside its files
    assert content_digest(run) == content_digest(other)
    (run / "steps.csv").write_text("E\n0.7\n")
    assert content_digest(run) != content_digest(other)


def test_a_folder_that_a_person_made_is_all_content(tmp_path):
    (tmp_path / "spheres.csv").write_text("x")
    before = content_digest(tmp_path)
    (tmp_path / "points.csv").write_text("y")
    assert content_digest(tmp_path) != before


def test_configuration_and_code_are_planned_and_inputs_are_not():
    known = {"config": {"n": 1}, "code": "c", "files": ["f"], "upstream": {"run": "u"}}
    planned = planned_digest(known)
    assert planned_digest({**known, "files": [], "upstream": {}}) == planned
    assert planned_digest({**known, "code": "d"}) != planned


@pytest.mark.parametrize("links", [True, False])
def test_the_files_of_a_run_replace_those_of_the_run_before(
    run, tmp_path, monkeypatch, capsys, links
):
    def refused(*_: object) -> None:
        raise OSError("no links here")

    if not links:
        monkeypatch.setattr(os, "link", refused)
    out = tmp_path / "out"
    link_files(run, out)
    (out / "notes.txt").write_text("mine")
    (out / "run.html").write_text("made of the run before")
    for name in ("steps.csv", "sub/more.csv", "picture.png", "run.json", "SHA256SUMS"):
        assert (out / name).read_bytes() == (run / name).read_bytes()
        assert (out / name).samefile(run / name) is links
    other = made(tmp_path, "b", "spheres.csv")
    link_files(run, out)
    assert capsys.readouterr().err == ""
    link_files(other, out)
    assert capsys.readouterr().err == f"note: {out} held another run, now replaced\n"
    files = sorted(str(p.relative_to(out)) for p in out.rglob("*") if p.is_file())
    assert files == ["SHA256SUMS", "notes.txt", "run.json", "spheres.csv"]
    assert run_record(out)["key"] == other.name
    assert (run / "steps.csv").is_file()


def test_a_run_leaves_digests_that_sha256sum_accepts(tmp_path):
    run = made(tmp_path, "a", "steps.csv", "pictures/a b.txt")
    assert edits(run) == []
    line = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    done = subprocess.run(line, cwd=run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    files = ["pictures/a b.txt", "run.json", "steps.csv"]
    assert done.stdout.splitlines() == [f"{name}: OK" for name in files]


def test_what_was_edited_or_removed_is_named(tmp_path):
    run = made(tmp_path, "a", "steps.csv")
    (run / "run.json").write_text("{}")
    (run / "steps.csv").unlink()
    assert edits(run) == ["run.json was edited", "steps.csv is missing"]
    (run / "SHA256SUMS").unlink()
    assert edits(run) == ["SHA256SUMS is missing"]


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
