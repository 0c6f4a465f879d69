"""A store that is absent, busy, read-only, damaged or moved: no run is lost."""

import contextlib
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.cli.app import called
from pipeline.tracking import mlflow_location as ui
from pipeline.tracking.mlflow_database import make, prepare
from tests.helpers.mlflow_runs import runs_at, runs_in
from tests.pipeline.tracking.toys import toy_run


def database(project: Path) -> Path:
    return project / "results" / "mlflow" / "mlflow.db"


def no_database(file: Path) -> None:
    file.write_bytes(b"a page of notes " * 500)


def zeroed_within(file: Path) -> None:
    """A disk that lost all but the first pages."""
    with file.open("r+b") as pages:
        pages.seek(40 * 4096)
        pages.write(bytes(file.stat().st_size - 40 * 4096))


def changed(file: Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(file)) as other, other:
        for statement in statements:
            other.execute(statement)


def without_a_table(file: Path) -> None:
    changed(file, "DROP TABLE metrics")


def with_an_old_table(file: Path) -> None:
    """What MLflow makes of one without it: the table of its first version."""
    changed(
        file, "DROP TABLE metrics", "CREATE TABLE metrics (key VARCHAR, value FLOAT)"
    )


def cut_short(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


@pytest.mark.parametrize(
    "spoil",
    [no_database, zeroed_within, without_a_table, with_an_old_table, cut_short],
)
def test_a_damaged_database_is_put_aside_and_replaces_none_before(
    tracked, empty_store, spoil
):
    file = database(tracked)
    for n in (1, 2):
        shutil.copy(empty_store, file)
        spoil(file)
        spoiled = file.read_bytes()
        said = prepare(file, "results/mlflow/artifacts", thorough=True)
        assert said.startswith(f"{file} is damaged: renamed to mlflow.damaged.{n}.db;")
        assert file.with_name(f"mlflow.damaged.{n}.db").read_bytes() == spoiled
    assert not file.exists()


def test_a_damaged_database_is_refilled(tracked, capsys):
    toy_run(1)
    assert called(["track"]) == 0
    zeroed_within(database(tracked))
    toy_run(2)
    capsys.readouterr()
    assert called(["track"]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"warning: {database(tracked)} is damaged")
    assert len(runs_in(tracked)) == 2


def test_a_journal_that_was_left_never_meets_a_new_database(tracked):
    toy_run(1)
    database(tracked).unlink()
    journal = database(tracked).with_name("mlflow.db-journal")
    journal.write_bytes(b"of a database that was deleted by hand")
    assert called(["track"]) == 0
    assert not journal.exists()
    assert len(runs_in(tracked)) == 1


def test_a_copied_project_fills_a_store_of_its_own(
    tracked, tmp_path_factory, monkeypatch, capsys
):
    toy_run(1)
    assert called(["track"]) == 0
    copied = tmp_path_factory.mktemp("copy") / "project"
    shutil.copytree(tracked, copied)
    monkeypatch.chdir(copied)
    toy_run(2)
    assert called(["track"]) == 0
    assert "is moved" in capsys.readouterr().err
    assert len(runs_in(copied)) == 2
    for found in runs_in(copied):
        assert str(copied) in found.info.artifact_uri
    artifacts = tracked / "results" / "mlflow" / "artifacts"
    assert len(list(artifacts.iterdir())) == 1


def test_a_busy_store_is_waiting_not_damaged(tracked, capsys):
    toy_run(1)
    before = database(tracked).read_bytes()
    with contextlib.closing(sqlite3.connect(database(tracked))) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert called(["track"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "database is locked (no result is lost" in line
    assert database(tracked).read_bytes() == before
    assert called(["track"]) == 0
    assert len(runs_in(tracked)) == 1


@pytest.mark.parametrize("name", ["mlflow.db", ""])
def test_a_store_for_reading_only_is_waiting(tracked, name):
    toy_run(1)
    place = database(tracked).parent
    (place / "lock").touch()
    for path in (place / name, place / "lock") if name else (place,):
        path.chmod(0o444 if path.is_file() else 0o555)
    words = [sys.executable, "-m", "pipeline", "track"]
    if os.getuid() == 0:  # who may write what is read-only
        drop = "--bounding-set=-dac_override --inh-caps=-dac_override"
        words = ["setpriv", *drop.split(), *words]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode in (1, 2)
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    (place / "lock").chmod(0o644)
    assert runs_in(tracked) == []
    (place / (name or "mlflow.db")).chmod(0o644)
    place.chmod(0o755)
    assert called(["track"]) == 0
    assert len(runs_in(tracked)) == 1


def test_a_server_that_does_not_answer_loses_nothing_and_no_password_is_written(
    tracked, monkeypatch, capsys
):
    secret = "hunter2-and-more"
    toy_run(1)
    with monkeypatch.context() as patch:
        patch.setenv("MLFLOW_TRACKING_PASSWORD", secret)
        patch.setenv("MLFLOW_TRACKING_URI", f"http://lab:{secret}@127.0.0.1:9")
        assert called(["track"]) == 1
    captured = capsys.readouterr()
    assert "127.0.0.1:9" in captured.out
    assert secret not in captured.out + captured.err
    for path in tracked.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path
    (line,) = captured.err.splitlines()
    assert "no result is lost" in line
    assert called(["track"]) == 0
    assert len(runs_in(tracked)) == 1


@pytest.mark.slow  # quick: the second maker takes the database of the first
def test_two_makers_make_one_database(project):
    file = project / "mlflow.db"
    code = (
        "import gc; gc.disable()\n"  # half of an import
        "from pathlib import Path; from pipeline.tracking.mlflow_database import *\n"
        f"set_up_mlflow(); make(Path('{file}'))"
    )
    makers = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
    assert [maker.wait() for maker in makers] == [0, 0]
    assert [path.name for path in project.glob("*mlflow.db*")] == ["mlflow.db"]
    assert runs_at(f"sqlite:///{file}") == []


def test_the_second_maker_takes_the_database_of_the_first(tracked):
    file = database(tracked)
    before = file.stat().st_ino
    make(file)
    assert file.stat().st_ino == before
    assert list(file.parent.glob(".*")) == []


def test_ui_names_the_page_of_each_experiment(tracked, monkeypatch, capsys):
    toy_run(1)
    toy_run(2)
    toy_run(3, "compare")
    assert called(["track"]) == 0
    capsys.readouterr()
    started: list[list[str]] = []
    monkeypatch.setattr(ui.os, "execve", lambda _, words, __: started.append(words))
    called(["ui", "--port", "5123"])
    ids = {r.data.tags["step"]: r.info.experiment_id for r in runs_in(tracked)}
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    page = "http://127.0.0.1:5123/#/experiments/{}/runs?workflowType=machine_learning"
    assert lines[:2] == [
        [step, runs, "runs", page.format(ids[step])]
        for step, runs in (("compare", "1"), ("simulate", "2"))
    ]
    words = "only this machine can open the pages; Ctrl-C stops the server"
    assert lines[2:] == [words.split()]
    (words,) = started
    assert words[words.index("--host") + 1] == "127.0.0.1"


def test_ui_without_a_store_says_what_to_run(project, capsys):
    assert called(["ui"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: results/mlflow/mlflow.db does not exist")
    assert "make demo" in line
    assert not (project / "results").exists()


def test_ui_refuses_a_port_that_is_taken(tracked, refused):
    del tracked
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        assert f"port {port} of 127.0.0.1 cannot be used" in refused(
            "ui", "--port", str(port)
        )
