"""The statements that MLflow's own store sends to SQLite, as calls that may fail."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import sqlalchemy.exc
from sqlalchemy import event
from sqlalchemy.engine import Engine

from pipeline.tracking import database
from tests.faults.simulated.calls import Calls

_MADE: list[bytes] = []  # a database without runs: making it takes seconds


_make = database._tables


def _tables() -> bytes:
    if not _MADE:
        _MADE.append(_make())
    return _MADE[0]


@contextmanager
def counted_statements(calls: Calls) -> Iterator[None]:
    """Let statements and commits of the block go through `calls`."""

    def statement(*given: Any) -> None:
        text = " ".join(str(given[2]).split("(")[0].split())[:40]
        try:
            calls.call("sql", text, lambda: None)
        except OSError as error:
            fault = sqlite3.OperationalError("disk I/O error")
            raise sqlalchemy.exc.OperationalError(text, None, fault) from error

    def after(*_: Any) -> None:
        calls.call("after sql", "", lambda: None)

    heard = [
        ("before_cursor_execute", statement),
        ("after_cursor_execute", after),
        ("commit", after),
    ]
    for name, act in heard:
        event.listen(Engine, name, act)
    try:
        with mock.patch.object(database, "_tables", _tables):
            yield
    finally:
        for name, act in heard:
            event.remove(Engine, name, act)
