"""Real MLflow servers, as docs/how-to/mlflow.md sets them up."""

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.faults.conftest import environment, patience
from tests.helpers.ports import free_port

USER = "postgres"  # of the operating system: PostgreSQL does not run as root


def _program(name: str) -> str:
    """A program of PostgreSQL; Debian keeps them out of the path."""
    beside = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    found = shutil.which(name) or (str(beside[-1]) if beside else "")
    assert found, f"{name} is missing: on Debian, apt-get install postgresql"
    return found


def _run(name: str, words: Sequence[str]) -> None:
    as_user = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
    line = [*(as_user if os.geteuid() == 0 else []), _program(name), *words]
    subprocess.run(line, cwd="/", stdout=subprocess.DEVNULL, check=True)


@contextmanager
def postgresql(place: Path) -> Iterator[str]:
    """A database cluster below `place` while the block works; its address."""
    place.mkdir()
    place.chmod(0o700)
    password, port = secrets.token_hex(16), free_port()
    (place / "password").write_text(password)
    if os.geteuid() == 0:
        for path in (place, place / "password"):
            shutil.chown(path, USER, USER)
    data = ["--pgdata", str(place / "data")]
    words = ["--username", USER, "--pwfile", str(place / "password")]
    _run("initdb", [*data, *words, "--auth", "scram-sha-256", "--encoding", "UTF8"])
    options = f"-c listen_addresses=127.0.0.1 -p {port} -k {place}"
    log = ["--log", str(place / "log"), "-o", options]
    _run("pg_ctl", [*data, "--wait", *log, "start"])
    try:
        yield f"postgresql://{USER}:{password}@127.0.0.1:{port}/postgres"
    finally:
        _run("pg_ctl", [*data, "--wait", "--mode", "immediate", "stop"])


class Server:
    """An MLflow server that can be killed and started again on the same port."""

    def __init__(self, folder: Path, backend: str) -> None:
        self._folder, self._backend = folder, backend
        self.port = free_port()

    @property
    def uri(self) -> str:
        """The value of MLFLOW_TRACKING_URI."""
        return f"http://127.0.0.1:{self.port}"

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.uri}/health", timeout=5):
                return True
        except (urllib.error.URLError, OSError):
            return False

    def start(self) -> None:
        """Start it and wait until it answers."""
        words = ["--host", "127.0.0.1", "--port", str(self.port), "--workers", "1"]
        words += ["--artifacts-destination", str(self._folder / "artifacts")]
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "mlflow", "server", *words],
                cwd=self._folder,
                env=environment(MLFLOW_BACKEND_STORE_URI=self._backend),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        end = time.monotonic() + patience(120)
        while not self._answers():
            text = (self._folder / "server.log").read_text()
            assert self._process.poll() is None, text
            assert time.monotonic() < end, text
            time.sleep(0.2)

    def kill(self) -> None:
        """kill -9 of all its processes."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def revive(self) -> None:
        """Start it again if something of it was killed."""
        if not self._answers():
            self.kill()
            self.start()


@contextmanager
def server_in(folder: Path, backend: str) -> Iterator[Server]:
    """`mlflow server` over one of sqlite and postgresql while the block works."""
    with contextlib.ExitStack() as stack:
        uri = f"sqlite:///{folder / 'server.db'}"
        if backend == "postgresql":
            uri = stack.enter_context(postgresql(folder / "postgresql"))
        server = Server(folder, uri)
        stack.callback(server.kill)
        server.start()
        yield server
