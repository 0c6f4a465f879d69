"""One logging process a command or session: started, killed, left to itself.

`make test-faults` runs what is slow here.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli.app import called
from pipeline.runs.run_keys import TRACKED
from pipeline.tracking import logging_process
from pipeline.tracking.logging_process import LOGGER, logged
from tests.helpers.mlflow_runs import client_of, runs_in
from tests.pipeline.conftest import ROOT
from tests.pipeline.tracking.toys import toy_run

IMPORTS = (
    "import os, sys, time\n"
    "from pathlib import Path\n"
    "from pipeline.tracking.logging_process import end_session, logged, start_session\n"
    "from tests.pipeline.tracking.toys import *\n"
)


def start(code: str, **more: str) -> "subprocess.Popen[str]":
    """A process that runs `code` in the project's folder."""
    return subprocess.Popen(
        [sys.executable, "-c", IMPORTS + code],
        env={**os.environ, "PYTHONPATH": str(ROOT), **more},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(condition: Callable[[], Any], seconds: float = 600.0) -> Any:
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
    return found


def claims(status: str = "") -> list[dict[str, str]]:
    """What folders of runs say of MLflow."""
    found = [
        json.loads(path.read_text()) for path in Path("results").glob(f"*/*/{TRACKED}")
    ]
    return [claim for claim in found if claim["status"] == (status or claim["status"])]


ONE = "with logged(): toy_run(1)"
LONG = (
    "def body(out):\n"
    "    numbers = toy_steps(out, 1)\n"
    "    print('works', flush=True)\n"
    "    sys.stdin.readline()\n"
    "    return numbers\n"
    "with logged(): run_once(toy_job(1), body)\n"
)


@pytest.mark.parametrize(
    "store", ["there", pytest.param("absent", marks=pytest.mark.slow)]
)
def test_the_run_of_a_command_is_in_mlflow_when_it_ends(
    tracked, monkeypatch, capfd, store
):
    if store == "absent":
        (tracked / "results" / "mlflow" / "mlflow.db").unlink()
    monkeypatch.setattr(logging_process, "COMMAND_SECONDS", 600.0)
    with logged():
        toy_run(1)
    (found,) = runs_in(tracked, "simulate")
    assert found.info.status == "FINISHED"
    line = f"MLflow   run {found.info.run_id} in results/mlflow/mlflow.db\n"
    assert capfd.readouterr() == (line, "")
    assert LOGGER not in os.environ


def test_a_command_that_made_nothing_new_imports_and_leaves_nothing(project):
    done = start(
        "from pipeline.terminal import InputError\n"
        "with logged(): raise InputError('no')"
    )
    assert "InputError: no" in done.communicate()[1]
    assert not (project / "results").exists()
    with logged():
        pass
    assert not (project / "results").exists()


@pytest.mark.slow
def test_a_command_does_not_wait_for_a_slow_store(tracked, monkeypatch):
    with sleeping_server() as (uri, wake):
        patient = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "600"}  # whatever the run takes
        done = start(ONE, MLFLOW_TRACKING_URI=uri, **patient)
        output, errors = done.communicate(timeout=600)
        assert not wake.is_set()  # the server still sleeps
    assert (done.returncode, output) == (0, "")
    (line,) = errors.splitlines()
    assert line.startswith("warning: MLflow needs more than 3 s: process ")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    wait_for(lambda: called(["track"]) == 0)  # the process that was left ends first
    assert len(runs_in(tracked)) == 1


@contextmanager
def sleeping_server() -> Iterator[tuple[str, threading.Event]]:
    """A server that answers no request before the block ends."""
    wake = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            wake.wait()

        do_GET = do_POST = handle_any  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", wake
    finally:
        wake.set()
        server.shutdown()
        server.server_close()


@pytest.mark.slow
def test_a_command_says_that_its_run_waits_for_an_absent_server(tracked):
    done = start(ONE, MLFLOW_TRACKING_URI="http://127.0.0.1:9")
    output, errors = done.communicate()
    assert (done.returncode, output) == (0, "")
    (line,) = errors.splitlines()
    assert line.startswith("warning: MLflow ")
    assert "goes on" in line or "run `morphtrack track` later" in line
    wait_for(lambda: called(["track"]) == 0)
    assert len(runs_in(tracked)) == 1


def test_a_killed_command_leaves_a_killed_run(tracked):
    command = start(LONG)
    assert command.stdout is not None
    assert command.stdout.readline() == "works\n"
    wait_for(claims)
    command.kill()
    (claim,) = wait_for(lambda: claims("KILLED"))
    run = client_of(tracked).get_run(claim["run_id"])
    assert run.info.status == "KILLED"
    assert len(runs_in(tracked)) == 1
    command.communicate()


@pytest.mark.parametrize("moment", ["at once", "while the run works"])
def test_the_run_of_a_killed_logging_process_is_completed(tracked, moment):
    command = start(LONG.replace("print('works'", f"print(os.environ['{LOGGER}']"))
    assert command.stdout is not None
    number = int(command.stdout.readline())
    if moment != "at once":
        wait_for(claims)
    os.kill(number, signal.SIGKILL)
    _, errors = command.communicate("go on\n")
    assert command.returncode == 0
    assert "failed" in errors
    assert "run `morphtrack track` later" in errors
    assert called(["track"]) == 0
    (found,) = runs_in(tracked)
    assert found.info.status == "FINISHED"


SESSION = (
    "import subprocess\n"
    "from pipeline.tracking import logging_process\n"
    "logging_process.SESSION_SECONDS = 600.0\n"
    "start_session()\n"
    "job = 'from pipeline.tracking.logging_process import *\\n'\n"
    "job += 'from tests.pipeline.tracking.toys import *\\n'\n"
    "job += 'import sys\\nwith logged(): toy_run(int(sys.argv[1]))'\n"
    "for n in '12': subprocess.run([sys.executable, '-c', job, n], check=True)\n"
)


def test_a_session_has_one_logging_process_for_all_jobs(tracked):
    done = start(SESSION + f"end_session()\nprint('{LOGGER}' in os.environ)")
    output, errors = done.communicate()
    assert errors == ""
    assert output == "MLflow   2 runs in results/mlflow/mlflow.db\nFalse\n"
    assert len(runs_in(tracked, "simulate")) == 2


@pytest.mark.slow
def test_a_session_that_is_killed_is_logged_all_the_same(tracked):
    killed = start(SESSION + "os.kill(os.getpid(), 9)")
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    wait_for(lambda: len(claims("FINISHED")) == 2)
    assert len(runs_in(tracked, "simulate")) == 2


@pytest.mark.slow
def test_the_runs_of_two_commands_at_once_are_there_once(tracked):
    both = [start(ONE.replace("1", n)) for n in "34"]
    for command in both:
        command.communicate()
        assert command.returncode == 0
    wait_for(lambda: len(claims("FINISHED")) == 2)
    assert len(runs_in(tracked)) == 2
