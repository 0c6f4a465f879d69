"""Where, and commands of a user."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.pipeline.conftest import ROOT, furnish


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
def place():
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
