"""MLflow's SQLite file after kills, damage and other versions: runs refill it."""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.commands import server, ui
from pipeline.commands.track import main
from pipeline.tracking.database import WHOLE, condition, prepare, put_aside
from pipeline.tracking.ports import free_port
from tests.pipeline.conftest import command_in
from tests.pipeline.tracking.killed_tracker import KILLED
from tests.pipeline.tracking.test_track import held, run


def database(project: Path) -> Path:
    return project / "results" / "mlflow" / "mlflow.db"


def half_migrated(file: Path) -> None:
    """What a kill leaves in the midst of one of MLflow's migrations."""
    from mlflow.store.db import utils

    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    engine = utils.create_sqlalchemy_engine(f"sqlite:///{file}")
    utils.InitialBase.metadata.create_all(engine)
    engine.dispose()
    with contextlib.closing(sqlite3.connect(file)) as half:
        half.execute("ALTER TABLE metrics ADD COLUMN step BIGINT DEFAULT '0' NOT NULL")


def no_database(file: Path) -> None:
    file.write_bytes(b"a page of notes " * 500)


def zeroed_within(file: Path) -> None:
    """A disk that lost all but the first pages, which tell the version."""
    with file.open("r+b") as pages:
        pages.seek(40 * 4096)
        pages.write(bytes(file.stat().st_size - 40 * 4096))


def of_another_version(file: Path) -> None:
    with contextlib.closing(sqlite3.connect(file)) as other, other:
        other.execute("UPDATE alembic_version SET version_num = 'f00d'")


def without_a_table(file: Path) -> None:
    with contextlib.closing(sqlite3.connect(file)) as other, other:
        other.execute("DROP TABLE metrics")


def with_a_table_of_before(file: Path) -> None:
    """What MLflow makes of one without it: the table of its first version."""
    without_a_table(file)
    with contextlib.closing(sqlite3.connect(file)) as other, other:
        other.execute("CREATE TABLE metrics (key VARCHAR(250), value FLOAT)")


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (half_migrated, "half-made"),
        (no_database, "damaged"),
        (zeroed_within, "damaged"),
        (of_another_version, "other-mlflow"),
        (without_a_table, "damaged"),
        (with_a_table_of_before, "damaged"),
    ],
)
def test_a_database_that_cannot_be_opened_is_put_aside_and_refilled(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    spoil: Callable[[Path], None],
    why: str,
) -> None:
    run(1)
    if spoil is not half_migrated:
        assert main([]) == 0
    spoil(database(project))
    spoiled = database(project).read_bytes()
    run(2)
    capsys.readouterr()
    assert main([]) == 0
    said = capsys.readouterr()
    (line,) = said.err.splitlines()
    assert line.startswith(f"warning: {database(project)} ")
    assert f"kept as mlflow.{why}.db" in line
    assert said.out.startswith("MLflow: 2 runs added")
    assert database(project).with_name(f"mlflow.{why}.db").read_bytes() == spoiled
    assert len(held(project)) == 2


def test_a_second_one_that_is_put_aside_does_not_replace_the_first(
    project: Path,
) -> None:
    for _ in range(2):
        half_migrated(database(project))
        prepare(f"sqlite:///{database(project)}")
    found = sorted(path.name for path in database(project).parent.glob("*.db"))
    assert found == ["mlflow.db", "mlflow.half-made.2.db", "mlflow.half-made.db"]


def test_what_sqlite_left_beside_a_database_never_meets_a_new_one(
    project: Path,
) -> None:
    file = database(project)
    prepare(f"sqlite:///{file}")
    wal = file.with_name("mlflow.db-wal")
    wal.write_bytes(b"of the old one")
    put_aside(file, "moved")
    kept = file.with_name("mlflow.moved.db-wal")
    assert kept.read_bytes() == b"of the old one"
    wal.write_bytes(b"of one that was deleted by hand")
    prepare(f"sqlite:///{file}")
    assert not wal.exists()
    assert condition(file, thorough=True) == WHOLE


def test_a_sound_database_is_left_as_it_is_also_while_it_is_locked(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(1)
    assert main([]) == 0
    file = database(project)
    before = file.read_bytes()
    with contextlib.closing(sqlite3.connect(file)) as other:
        other.execute("BEGIN EXCLUSIVE")
        prepare(f"sqlite:///{file}", thorough=True)
    assert file.read_bytes() == before
    assert capsys.readouterr().err == ""


def test_the_tables_are_those_that_mlflow_makes_itself(project: Path) -> None:
    from mlflow.store.db import utils
    from sqlalchemy import event

    ours, theirs = project / "ours.db", project / "theirs.db"
    prepare(f"sqlite:///{ours}")
    engine = utils.create_sqlalchemy_engine(f"sqlite:///{theirs}")
    event.listen(
        engine, "connect", lambda raw, _: raw.execute("PRAGMA synchronous = OFF")
    )
    utils._initialize_tables(engine)
    engine.dispose()

    def tables(file: Path) -> set[Any]:
        columns = (
            "SELECT t.type, t.name, c.name, c.type, c.pk, c.dflt_value "
            "FROM sqlite_master AS t LEFT JOIN pragma_table_info(t.name) AS c"
        )
        with contextlib.closing(sqlite3.connect(file)) as opened:
            return set(opened.execute(columns))

    assert tables(ours) == tables(theirs)
    assert len(tables(ours)) > 100


@pytest.mark.parametrize("command", ["server", "ui"])
def test_a_server_finds_a_database_that_is_whole(
    project: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Neither lets MLflow migrate: it could be killed meanwhile."""
    files = {"server": project / "results/server/mlflow.db", "ui": database(project)}
    half_migrated(files[command])
    found: list[str] = []

    def started(*_: object, **__: object) -> None:
        found.append(condition(files[command]))
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "execve", started)
    monkeypatch.setattr(subprocess, "Popen", started)
    words = ["--port", str(free_port())]
    assert (server if command == "server" else ui).main(
        [*words, "--sqlite"] if command == "server" else words
    ) == 130
    assert found == [WHOLE]


def test_a_pass_that_wrote_leaves_counts_and_one_that_did_not_touches_nothing(
    project: Path,
) -> None:
    """MLflow's list sorted by a metric takes seconds at 10,000 runs without them."""
    run(1)
    assert main([]) == 0
    asked = "SELECT DISTINCT tbl FROM sqlite_stat1"
    with contextlib.closing(sqlite3.connect(database(project))) as opened:
        counted = {name for (name,) in opened.execute(asked)}
    assert {"runs", "latest_metrics", "metrics", "params", "tags"} <= counted
    before = database(project).read_bytes()
    assert main([]) == 0
    assert database(project).read_bytes() == before


def test_two_that_make_one_database_at_once_make_it_once(project: Path) -> None:
    file = database(project)
    code = (
        f"from pipeline.tracking.database import prepare; prepare('sqlite:///{file}')"
    )
    both = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert condition(file, thorough=True) == WHOLE
    assert sorted(path.name for path in file.parent.iterdir()) == [
        "mlflow.db",
        "mlflow.db.lock",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kills", [3, pytest.param(40, marks=pytest.mark.slow)])
def test_a_tracker_killed_anywhere_is_made_good_by_the_next(
    project: Path, kills: int
) -> None:
    directories = {str(run(n).name) for n in range(2)}  # type: ignore[union-attr]
    tracker = command_in(project, "tests.pipeline.tracking.killed_tracker")
    told = tracker(str(kills)).stderr.splitlines()
    done = [json.loads(line) for line in told]
    assert len(done) > kills
    assert {kill["killed"] for kill in done} == {KILLED}
    assert "os.rename .mlflow.db.new" in {kill["at"] for kill in done}
    for kill in done:
        assert kill["again"] == 0, kill
        found = sorted(kill["held"])
        assert found == sorted(["FINISHED", name] for name in directories), kill
    (place,) = {database(project).parent}
    assert {path.name for path in place.glob("*mlflow.db*")} == {
        "mlflow.db",
        "mlflow.db.lock",
    }
