"""How many trials, where, and real servers."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipeline.tracking.ports import free_port
from tests.pipeline.conftest import ROOT, furnish

TRIALS = int(os.environ.get("FAULT_TRIALS", "100"))


@contextmanager
def project() -> Iterator[Path]:
    """A folder that other users of this machine can reach, as PostgreSQL's must."""
    with tempfile.TemporaryDirectory(
        prefix="faults-", ignore_cleanup_errors=True
    ) as name:
        made = Path(name).resolve()
        made.chmod(0o755)
        furnish(made)
        yield made


@pytest.fixture
def place() -> Iterator[Path]:
    """A project of its own."""
    with project() as made:
        yield made


def environment(**more: str) -> dict[str, str]:
    """The environment of a command: the code on the path, no store but ours."""
    own = {k: v for k, v in os.environ.items() if not k.startswith("MLFLOW_")}
    return {**own, "PYTHONPATH": str(ROOT), **more}


def start(folder: Path, *words: str, **more: str) -> "subprocess.Popen[bytes]":
    """`morphtrack words` in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "pipeline", *words],
        cwd=folder,
        env=environment(**more),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def run(folder: Path, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
    """`morphtrack words` to its end."""
    return subprocess.run(
        [sys.executable, "-m", "pipeline", *words],
        cwd=folder,
        env=environment(**more),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def patience(seconds: float) -> float:
    """Seconds to wait for what takes `seconds` where nobody else wants processors."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False


@contextmanager
def server_in(folder: Path, backend: str, **more: str) -> Iterator["Server"]:
    """`make server` over one of sqlite, postgresql, or `make ui`; ended as by Ctrl-C.

    Parameters
    ----------
    more : variables of its environment
    """
    server = Server(folder, backend, more)
    try:
        server.start()
        yield server
    finally:
        server.stop()


class Server:
    """An MLflow server that can be killed and started again on the same port."""

    def __init__(self, folder: Path, backend: str, more: Mapping[str, str]) -> None:
        self._folder = folder
        self._more = more
        self._words = {
            "sqlite": ["server", "--workers", "1", "--sqlite"],
            "postgresql": ["server", "--workers", "1"],
            "ui": ["ui"],
        }[backend]
        self.port = free_port()

    @property
    def uri(self) -> str:
        """What MLFLOW_TRACKING_URI is set to."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        port = ["--port", str(self.port)]
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "pipeline", *self._words, *port],
                cwd=self._folder,
                env=environment(**self._more),
                stdout=log,
                stderr=log,
            )
        end = time.monotonic() + patience(120)
        while not _answers(self.port):
            log_text = (self._folder / "server.log").read_text()
            assert self._process.poll() is None, log_text
            assert time.monotonic() < end, log_text
            time.sleep(0.2)

    def kill(self) -> None:
        """kill -9 of MLflow's processes; the command that watches them then ends."""
        asked = ["pgrep", "-f", f"mlflow server.*--port {self.port}"]
        found = subprocess.run(asked, capture_output=True, text=True, check=False)
        for process in found.stdout.split():
            os.killpg(os.getpgid(int(process)), signal.SIGKILL)
            break
        assert self._process.wait(patience(60)) == 1

    def revive(self) -> None:
        """Start it again if something of it was killed."""
        if not _answers(self.port):
            assert self._process.wait(patience(60)) != 0
            self.start()

    def stop(self) -> None:
        """End it as a person would."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            assert self._process.wait(patience(60)) == 0
