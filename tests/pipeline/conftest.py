"""A project folder of its own for every test that reads conf or writes results."""

import logging
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline import terminal
from pipeline.tracking.logging_process import LOGGER

ROOT = Path(__file__).resolve().parent.parent.parent

Capture = pytest.CaptureFixture[str]
Refused = Callable[..., str]
Command = Callable[..., "subprocess.CompletedProcess[str]"]


def furnish(folder: Path) -> None:
    """Copy what a project folder needs beside the code."""
    shutil.copytree(ROOT / "conf", folder / "conf")
    shutil.copy(ROOT / "Snakefile", folder)


@pytest.fixture(scope="package", autouse=True)
def elsewhere(tmp_path_factory):
    """A folder like this repository without results; no command starts MLflow.

    However slow the machine is, none writes lines of progress either.
    """
    folder = tmp_path_factory.mktemp("elsewhere")
    for path in ROOT.glob("[!.]*"):
        if path.name != "results":
            (folder / path.name).symlink_to(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv(LOGGER, "0")
        patch.setattr(terminal, "EVERY", math.inf)
        yield


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A temporary folder with the shipped conf and Snakefile; the code on the path."""
    furnish(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return tmp_path


@pytest.fixture
def command(project, capfd, monkeypatch):
    """Run `morphtrack <words>` in the project folder and in this process."""
    from pipeline.cli.app import called

    del project

    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        capfd.readouterr()
        environment, handlers = dict(os.environ), list(logging.root.handlers)
        monkeypatch.setattr(sys, "argv", sys.argv)  # Hydra's, for a while
        try:
            status = called([*words])
        except SystemExit as end:  # of Hydra, after --version and the like
            status = int(end.code or 0)
        finally:
            os.environ.clear()
            os.environ.update(environment)
            logging.root.handlers[:] = handlers  # Hydra's write to captured streams
        return subprocess.CompletedProcess(words, status, *capfd.readouterr())

    return run


@pytest.fixture
def process(project):
    """Run `morphtrack <words>` in the project folder by a process of its own."""
    return command_in(project)


def command_in(folder: Path, module: str = "pipeline", limit_s: float = 900) -> Command:
    """Run `python -m module <words>` in `folder`; of ours, morphtrack <words>."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("MLFLOW_TRACKING_URI", None)

    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", module, *words],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )

    return run


def refusal(done: "subprocess.CompletedProcess[str]") -> str:
    """The single line with which a command refused its input."""
    assert done.returncode == 2, done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("error: ")
    return lines[0]


@pytest.fixture
def refused(capsys):
    """The single line with which morphtrack refuses its words, in this process."""
    from pipeline.cli.app import called

    def run(*words: str) -> str:
        capsys.readouterr()
        assert called([*words]) == 2
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n")) == ("", 1)
        assert said.err.startswith("error: ")
        return said.err.strip()

    return run
