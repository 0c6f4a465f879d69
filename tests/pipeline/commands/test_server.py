"""What stands in a server's way: a taken port, a second server, a killed one's rest."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.commands import server, ui
from pipeline.terminal.errors import InputError
from pipeline.tracking.ports import LOOPBACK, free_port
from pipeline.workflow.workflow import only_one


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which somebody listens."""
    with socket.create_server((LOOPBACK, 0)) as listening:
        yield int(listening.getsockname()[1])


def test_a_taken_port_is_refused_in_one_line(
    project: Path, taken: int, capsys: pytest.CaptureFixture[str]
) -> None:
    del project
    for main in (server.main, ui.main):
        assert main(["--port", str(taken)]) == 2
        said = capsys.readouterr()
        assert said.err.startswith(f"error: port {taken} of 127.0.0.1 is not to be had")
        assert len((said.out + said.err).splitlines()) == 1


def test_a_second_server_over_one_folder_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with only_one(project / "results" / "server"):
        assert server.main(["--port", str(free_port())]) == 2
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    assert f"is in use by process {os.getpid()}" in capsys.readouterr().err


def test_what_a_killed_server_left_is_ended_and_nobody_elses(
    project: Path, taken: int
) -> None:
    place = project / "results" / "server"
    sleep = [sys.executable, "-c", "import time; time.sleep(60)"]

    def serving(folder: Path) -> "subprocess.Popen[bytes]":
        told = {**os.environ, server.PLACE: str(folder)}
        return subprocess.Popen(sleep, env=told)

    with serving(place) as mine, serving(project) as other:
        assert server.main(["--port", str(taken), "--place", str(place)]) == 2
        assert mine.wait(10) != 0
        assert other.poll() is None
        other.kill()


def test_a_server_that_ends_by_itself_is_a_failure_whatever_its_status(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    del project
    monkeypatch.setattr(server.sys, "executable", "true")  # it ends at once, well
    assert server.main(["--sqlite", "--port", str(free_port())]) == 1
    assert "ended by itself, with status 0" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["abc", "0", "70000", "-1", ""])
def test_a_port_that_is_none_is_refused_and_nothing_written(
    project: Path, port: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert server.main([f"--port={port}"]) == 2
    assert f"between 1 and 65535, not {port}" in capsys.readouterr().err
    assert not (project / "results").exists()


def test_an_environment_of_before_is_told_to_be_set_up_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert server.bounded() == ["--app-name", "morphtrack"]
    monkeypatch.setattr(server, "BOUNDED", "of-no-package")
    with pytest.raises(InputError, match="run make setup"):
        server.bounded()
