"""What a plan was made of is known again by its contents."""

import os
import subprocess
from pathlib import Path

import pytest

from pipeline.terminal.errors import InputError
from pipeline.workflow import fresh
from sim.syntax import PACKAGES


def written(place: Path, text: str = "a = 1\n") -> Path:
    for package in PACKAGES:
        (place / package).mkdir(parents=True)
        (place / package / "part.py").write_text(text)
    return place


def state(place: Path, monkeypatch: pytest.MonkeyPatch) -> fresh.Read:
    monkeypatch.setattr(fresh, "SOURCE_ROOT", place)
    monkeypatch.setattr(fresh, "CONF", Path("conf"))
    monkeypatch.chdir(place)
    return fresh.state_of_inputs({"scan.ply"})


def test_touched_files_and_a_moved_folder_are_what_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = written(tmp_path / "one")
    before = state(place, monkeypatch)
    os.utime(place / "sim" / "part.py", (1, 1))
    assert state(place, monkeypatch) == before
    assert state(place.rename(tmp_path / "two"), monkeypatch) == before


def test_an_edit_of_the_same_length_and_time_is_another_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = written(tmp_path / "one")
    before, part = state(place, monkeypatch), place / "sim" / "part.py"
    then = part.stat().st_mtime_ns
    part.write_text("a = 2\n")
    os.utime(part, ns=(then, then))
    assert state(place, monkeypatch) != before


def test_a_file_from_outside_is_told_by_its_size_and_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = written(tmp_path / "one")
    (place / "scan.ply").write_text("ply")
    before = state(place, monkeypatch)
    os.utime(place / "scan.ply", (1, 1))
    assert state(place, monkeypatch) != before


def test_a_refused_plan_says_why_whatever_packages_warn_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "no home: a folder is taken\nerror: conf/workflow.yaml is empty\n"
    ended = subprocess.CompletedProcess("", 2, "", said)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: ended)
    with pytest.raises(InputError, match=r"^conf/workflow\.yaml is empty$"):
        fresh.plan_without_compiling(tmp_path)
