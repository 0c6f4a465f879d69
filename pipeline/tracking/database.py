"""The SQLite file of an embedded store: complete or absent, whoever makes it.

MLflow makes its tables by some seventy migrations, which are not one transaction in
SQLite: a kill among them leaves a file that MLflow never opens again. Here they run in
memory, and what they made is written under another name, which is renamed at the end.
"""

import contextlib
import fcntl
import logging
import os
import secrets
import sqlite3
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PREFIX = "sqlite:///"
BESIDE = ("-journal", "-wal", "-shm")  # files of SQLite's own, next to a database
DAMAGED = {"SQLITE_CORRUPT", "SQLITE_NOTADB"}
COUNTED_ROWS = 1000  # of an index, as SQLite advises

# Columns that runs are written to: nothing is read, but SQLite looks whether they are.
ASKED_FOR = (
    "SELECT r.run_uuid, m.step, l.step, p.value, t.value, e.name FROM runs r, "
    "metrics m, latest_metrics l, params p, tags t, experiments e LIMIT 0"
)

EMPTY, WHOLE = "empty", "whole"
WHY = {
    "half-made": "was left half made",
    "damaged": "is damaged",
    "other-mlflow": "was made by another version of MLflow",
    "moved": "came with its folder from another place",
}


def sqlite_file(uri: str) -> Path | None:
    """The file of an embedded store; None where `uri` names a server."""
    if not uri.startswith(PREFIX):
        return None
    return Path(uri.removeprefix(PREFIX).split("?")[0])


def quiet() -> None:
    """Keep MLflow's chatter off the terminal; what it raises is said on one line."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("DO_NOT_TRACK", "true")
    import mlflow  # noqa: F401  it sets the level of its loggers

    if "MLFLOW_LOGGING_LEVEL" not in os.environ:
        logging.getLogger("mlflow").setLevel(logging.CRITICAL)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", module="mlflow|alembic|sqlalchemy")


def prepare(uri: str, *, thorough: bool = False) -> bool:
    """See to it that MLflow finds all its tables, where `uri` names a SQLite file.

    A file that MLflow cannot open is put aside, which is said: runs refill the new one.

    Parameters
    ----------
    thorough : read all of the file for damage, not only what tells its version

    Returns
    -------
    whether the file is a new one
    """
    file = sqlite_file(uri)
    if file is None:
        return False
    quiet()
    file = file.absolute()
    if condition(file, thorough=thorough) == WHOLE:
        return False
    with _only_maker(file):
        found = condition(file, thorough=thorough)  # another process may have made it
        if found == WHOLE:
            return False
        let_go(uri)
        if found != EMPTY:
            put_aside(file, found)
        _make(file)
    return True


def identity(file: Path) -> str | None:
    """What tells one database from the next of that name; None where there is none.

    A number drawn when it was made, kept in SQLite's header as its user's version: a
    new file may have the inode of the one before.
    """
    try:
        with file.open("rb") as opened:
            return opened.read(100)[60:64].hex() + f"-{file.stat().st_ino}"
    except FileNotFoundError:
        return None


def let_go(uri: str) -> None:
    """Close the file of `uri`, which MLflow keeps open until a process ends."""
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    engine = SqlAlchemyStore._engine_map.get(uri)
    if engine is not None:
        engine.dispose()


def condition(file: Path, *, thorough: bool = False) -> str:
    """EMPTY, WHOLE or a word of WHY.

    Where SQLite cannot tell, for a lock or a right to read that is missing, the file
    counts as whole: MLflow will say what it lacks.
    """
    if not file.is_file() or not file.stat().st_size:
        return EMPTY
    try:
        asked = sqlite3.connect(f"{file.as_uri()}?mode=rw", uri=True)
        with contextlib.closing(asked) as database:
            return _condition(database, thorough=thorough)
    except sqlite3.DatabaseError as error:
        name = getattr(error, "sqlite_errorname", "")
        return "damaged" if name in DAMAGED else WHOLE


def _condition(database: sqlite3.Connection, *, thorough: bool) -> str:
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    if not tables:
        return EMPTY
    made_by = None
    if "alembic_version" in tables:
        asked = "SELECT version_num FROM alembic_version"
        made_by = database.execute(asked).fetchone()
    if made_by != (_migrations()._get_latest_schema_revision(),):
        counted = "SELECT count(*) FROM runs"
        used = "runs" in tables and database.execute(counted).fetchone() != (0,)
        return "other-mlflow" if used else "half-made"
    try:
        database.execute(ASKED_FOR)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname == "SQLITE_ERROR":  # no such table, no such column
            return "damaged"
        raise
    if thorough and database.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        return "damaged"
    return WHOLE


def analyse(uri: str) -> None:
    """Let SQLite count its indices, so that MLflow's lists use the right one.

    Without counts, a list of 10,592 runs sorted by a metric took 5.7 s, with them 0.15;
    counting a sample of the rows takes 0.03 s, a whole one would take 0.2.
    """
    file = sqlite_file(uri)
    if file is None:
        return
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.execute(f"PRAGMA analysis_limit = {COUNTED_ROWS}")
        with contextlib.suppress(sqlite3.OperationalError):  # a reader is in the way
            database.execute("ANALYZE")


def put_aside(file: Path, why: str) -> None:
    """Give a database that cannot be used a name that says why, and say so.

    Parameters
    ----------
    why : a word of WHY
    """
    kept, n = file.with_name(f"{file.stem}.{why}{file.suffix}"), 1
    while kept.exists():
        n += 1
        kept = file.with_name(f"{file.stem}.{why}.{n}{file.suffix}")
    for beside in BESIDE:  # first, so that they never lie next to a new database
        with contextlib.suppress(FileNotFoundError):
            _next_to(file, beside).replace(_next_to(kept, beside))
    file.replace(kept)
    kept_as = f"it is kept as {kept.name}, the runs fill a new one"
    print(f"warning: {file} {WHY[why]}: {kept_as}", file=sys.stderr)


def _next_to(file: Path, beside: str) -> Path:
    return file.with_name(f"{file.name}{beside}")


@contextlib.contextmanager
def _only_maker(file: Path) -> Iterator[None]:
    """Hold the right to make or put aside `file`; wait for it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with _next_to(file, ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make(file: Path) -> None:
    """An empty database with all of MLflow's tables; what a killed maker left goes."""
    made = _tables()
    temporary = file.with_name(f".{file.name}.new")
    with temporary.open("wb") as written:
        written.write(made)
        written.flush()
        os.fsync(written.fileno())
    for beside in BESIDE:
        _next_to(file, beside).unlink(missing_ok=True)  # of a file that is gone
    temporary.replace(file)


def _tables() -> bytes:
    """A database file of this MLflow, without experiments or runs."""
    engine = _migrations().create_sqlalchemy_engine(f"{PREFIX}:memory:")
    try:
        _migrations()._initialize_tables(engine)
        with contextlib.closing(engine.raw_connection()) as connection:
            drawn = secrets.randbits(31)
            connection.cursor().execute(f"PRAGMA user_version = {drawn}")
            connection.commit()
            return bytes(connection.driver_connection.serialize())
    finally:
        engine.dispose()


def _migrations() -> Any:
    """MLflow's own, which it offers to nobody: a test compares what they make."""
    from mlflow.store.db import utils

    return utils
