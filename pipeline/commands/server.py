"""Run an MLflow server for several people or machines: morphtrack server.

It stores runs in PostgreSQL, or in SQLite if asked, and answers on the loopback address
unless told otherwise. The others set MLFLOW_TRACKING_URI to its address, and
MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD where a proxy asks for them.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

from pipeline.store.runs import RESULTS
from pipeline.terminal.arguments import OneLineParser, port_number
from pipeline.terminal.errors import InputError, RunFailedError, command
from pipeline.tracking.database import prepare
from pipeline.tracking.ports import LOOPBACK, check_port
from pipeline.tracking.postgres import Postgres
from pipeline.workflow.workflow import only_one

BACKEND = "MLFLOW_BACKEND_STORE_URI"  # in the environment: it may hold a password
BOUNDED = "morphtrack"  # pipeline.tracking.bounded_server, as pyproject.toml calls it
PLACE = "MORPHTRACK_SERVER"  # in the environment of all that serves a folder


def bounded() -> list[str]:
    """Words that let MLflow serve pipeline.tracking.bounded_server."""
    if not entry_points(group="mlflow.app", name=BOUNDED):
        raise InputError(
            "this environment was set up before MLflow was bounded: run make setup"
        )
    return ["--app-name", BOUNDED]


@contextlib.contextmanager
def _backend(place: Path, *, sqlite: bool) -> Iterator[str]:
    if sqlite:
        uri = f"sqlite:///{(place / 'mlflow.db').resolve()}"
        prepare(uri, thorough=True)
        yield uri
        return
    with Postgres(place / "postgres").running() as address:
        yield address


def _remains(place: Path) -> Iterator[int]:
    """Processes that serve `place`."""
    mark = f"{PLACE}={place.resolve()}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (process / "environ").read_bytes().split(b"\0"):
                yield int(process.name)


def _end_remains(place: Path) -> None:
    """End what a killed command left serving `place`, whose lock is ours."""
    while left := list(_remains(place)):
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.05)


def serve(place: Path, host: str, port: int, workers: int, *, sqlite: bool) -> None:
    """Serve until a signal ends it.

    Raises
    ------
    RunFailedError
        if the server ended by itself; MLflow's own status is 0 even where it was killed
    """
    words = [sys.executable, "-m", "mlflow", "server", "--host", host]
    words += ["--port", str(port), "--workers", str(workers)]
    words += bounded()
    words += ["--artifacts-destination", str((place / "artifacts").resolve())]
    with _backend(place, sqlite=sqlite) as backend:
        environment = {
            **os.environ,
            BACKEND: backend,
            PLACE: str(place.resolve()),
            "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
            "MLFLOW_DISABLE_TELEMETRY": "true",
        }
        with subprocess.Popen(words, env=environment, start_new_session=True) as server:
            try:
                status = server.wait()
            except KeyboardInterrupt:
                os.killpg(server.pid, signal.SIGTERM)
                server.wait()
                return
            finally:  # one of them may have been killed alone
                _end_remains(place)
    raise RunFailedError(
        f"MLflow's server ended by itself, with status {status}: start it again"
    )


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


@contextlib.contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, _interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def arguments() -> OneLineParser:
    parser = OneLineParser("server", __doc__)
    parser.add_argument("--host", default=LOOPBACK, help="address to answer on")
    parser.add_argument("--port", type=port_number, default=5000)
    parser.add_argument("--workers", type=int, default=2, help="processes of MLflow")
    parser.add_argument(
        "--place", type=Path, default=RESULTS / "server", help="folder of the database"
    )
    parser.add_argument("--sqlite", action="store_true", help="SQLite, for a few users")
    return parser


def _announced(given: argparse.Namespace) -> None:
    """Say who may come, and serve them."""
    address = f"http://{given.host}:{given.port}"
    reach = "this machine only" if given.host == LOOPBACK else "WHOEVER reaches it"
    print(f"MLflow for {reach}: export MLFLOW_TRACKING_URI={address}; Ctrl-C ends it")
    sys.stdout.flush()
    serve(given.place, given.host, given.port, given.workers, sqlite=given.sqlite)


@command
def main(argv: list[str] | None = None) -> int:
    """Start the database and MLflow, say where, and stop both on Ctrl-C."""
    given = arguments().parse_args(argv)
    if given.workers < 1:
        raise InputError(f"--workers must be 1 or more, not {given.workers}")
    with _sigterm_as_ctrl_c(), only_one(given.place):
        _end_remains(given.place)
        check_port(given.host, given.port)
        _announced(given)
    return 0
