"""MLflow's database: an SQLite file, made, checked and counted here.

MLflow makes its tables by some seventy migrations, which are not one transaction in
SQLite: a kill among them leaves a file that MLflow never opens again. So they are made
under another name, which is linked into place when they are complete.
"""

import contextlib
import logging
import os
import sqlite3
import uuid
import warnings
from pathlib import Path
from typing import Any

PREFIX = "sqlite:///"
SUFFIXES = ("", "-journal", "-wal", "-shm")  # a database and SQLite's files next to it
DAMAGED = {"SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR"}  # or no such table
COUNTED_ROWS = 1000  # of an index, as SQLite advises
SETTINGS = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    # Sent again, what a slow server still works on would make a run twice.
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
    # A file is opened for each transaction, so that another may take its place.
    "MLFLOW_SQLALCHEMYSTORE_POOLCLASS": "NullPool",
}

# Columns that runs are written to: nothing is read, SQLite only checks that they exist.
COLUMNS = (
    "SELECT r.run_uuid, m.step, l.step, p.value, t.value, e.name FROM runs r, "
    "metrics m, latest_metrics l, params p, tags t, experiments e LIMIT 0"
)
ELSEWHERE = (
    "SELECT count(*) FROM experiments "
    "WHERE artifact_location LIKE '%/' || ? AND artifact_location != ?"
)


class StoreError(Exception):
    """The store cannot be used now; the message is one line that says why."""


def sqlite_file(uri: str) -> Path | None:
    """The file of an embedded store; None if `uri` names a server."""
    if not uri.startswith(PREFIX):
        return None
    return Path(uri.removeprefix(PREFIX).partition("?")[0])


def set_up_mlflow() -> None:
    """Import MLflow for a process that logs: quiet, impatient, quick with SQLite."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    import mlflow  # noqa: F401  it sets the level of its loggers
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    if "MLFLOW_LOGGING_LEVEL" not in os.environ:
        logging.getLogger("mlflow").setLevel(logging.CRITICAL)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", module="mlflow|alembic|sqlalchemy")
    if not event.contains(Engine, "connect", _do_not_wait_for_the_disk):
        event.listen(Engine, "connect", _do_not_wait_for_the_disk)


def _do_not_wait_for_the_disk(connection: Any, _: Any) -> None:
    """After a power cut, the runs fill a new database."""
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous = OFF")


def prepare(file: Path, artifacts: str, *, thorough: bool = False) -> str:
    """Put a database aside that cannot be used; the new name says why.

    Parameters
    ----------
    artifacts : folder of artifacts, relative to that of the project
    thorough : read all of the file

    Returns
    -------
    what a person should know, on one line, or ""

    Raises
    ------
    StoreError
        if it cannot be written now: it is locked, or for reading only
    """
    if not file.is_file():
        return ""
    try:
        with _opened(file) as database:
            database.execute(COLUMNS)
            check = "PRAGMA quick_check(1)"
            sound = not thorough or database.execute(check).fetchone() == ("ok",)
            here = [artifacts, Path(artifacts).resolve().as_uri()]
            (moved,) = database.execute(ELSEWHERE, here).fetchone()
            database.execute("BEGIN IMMEDIATE")  # refused if it cannot be written
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorname", "") not in DAMAGED:
            raise StoreError(f"{file}: {error}") from error
        sound, moved = False, 0
    if sound and not moved:
        return ""
    why, n = "moved" if sound else "damaged", 1
    while (aside := file.with_name(f"{file.stem}.{why}.{n}{file.suffix}")).exists():
        n += 1
    for suffix in reversed(SUFFIXES):
        with contextlib.suppress(FileNotFoundError):
            Path(f"{file}{suffix}").replace(f"{aside}{suffix}")
    return f"{file} is {why}: renamed to {aside.name}; runs are logged to a new one"


def _opened(file: Path) -> "contextlib.closing[sqlite3.Connection]":
    address = f"{file.absolute().as_uri()}?mode=rw"
    return contextlib.closing(sqlite3.connect(address, uri=True))


def run_counts(file: Path) -> list[tuple[str, int, int]]:
    """Experiments by name, each with its id and how many runs it has."""
    with _opened(file) as database:
        return list(
            database.execute(
                "SELECT e.name, e.experiment_id, count(*) FROM runs r JOIN experiments "
                "e USING (experiment_id) WHERE r.lifecycle_stage = 'active' GROUP BY 1"
            )
        )


def make(file: Path) -> None:
    """Make MLflow's database; if another process makes it too, one of both is taken."""
    from mlflow import MlflowClient

    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name}.{uuid.uuid4().hex}.new")
    for suffix in SUFFIXES[1:]:  # of a removed file
        Path(f"{file}{suffix}").unlink(missing_ok=True)
    MlflowClient(f"{PREFIX}{temporary}")  # it makes the tables
    try:
        os.link(temporary, file)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        with contextlib.suppress(FileExistsError), file.open("xb") as target:
            target.write(temporary.read_bytes())
    temporary.unlink()


def analyse(file: Path) -> None:
    """Let SQLite count its indices, so that MLflow's lists use the right one.

    Without counts, a list of 10,592 runs sorted by a metric took 5.7 s, with them 0.15;
    counting a sample of the rows takes 0.03 s, a whole one would take 0.2.
    """
    with _opened(file) as database:
        database.execute(f"PRAGMA analysis_limit = {COUNTED_ROWS}")
        with contextlib.suppress(sqlite3.OperationalError):  # a reader is in the way
            database.execute("ANALYZE")
