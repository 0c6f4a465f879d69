"""What the Makefile does to set up: where it was moved, and where it cannot."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.pipeline.conftest import ROOT


def said(*words: object, **names: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(word) for word in words],
        env={**os.environ, **names},
        capture_output=True,
        text=True,
        check=False,
    )


def made(folder: Path, *words: str, **names: str) -> str:
    """What make would do, or says, in a folder that was set up."""
    shutil.copy(ROOT / "Makefile", folder)
    done = said("make", "-C", folder, *words, **{"MAKEFLAGS": "", **names})
    return done.stdout + done.stderr


@pytest.mark.parametrize(("place", "again"), [("", False), ("/elsewhere", True)])
def test_packages_are_installed_again_where_a_folder_was_moved(tmp_path, place, again):
    (tmp_path / ".venv").mkdir()
    for name in ("requirements.lock", "pyproject.toml", ".venv/.packages"):
        (tmp_path / name).touch()
    (tmp_path / ".venv" / ".ready").write_text(place or str(tmp_path.resolve()))
    would = made(tmp_path, "-n", "demo")
    assert ("--editable" in would) == ("-m venv" in would) == again


def test_a_python_that_is_not_there_is_named_in_one_line(tmp_path):
    (tmp_path / "requirements.lock").touch()
    told = made(tmp_path, "setup", "PYTHON=python3.99").splitlines()
    assert [line for line in told if "python3.99" in line] == [
        "error: there is no python3.99: Python 3.11, 3.12 or 3.13 is needed"
    ]


def test_a_home_that_is_not_there_keeps_no_packages(tmp_path):
    for name in ("requirements.lock", "pyproject.toml"):
        (tmp_path / name).touch()
    assert "--no-cache-dir" in made(tmp_path, "-n", "setup", HOME=f"{tmp_path}/none")
    assert "--no-cache-dir" not in made(tmp_path, "-n", "setup", HOME=str(tmp_path))
