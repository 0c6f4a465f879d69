"""A full disk, and a clock that is set back; then one plain rerun."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.terminal.errors import FAILED, REFUSED
from tests.faults.conftest import run, start
from tests.faults.ended import nothing_is_wrong
from tests.faults.test_kills import write_study
from tests.pipeline.conftest import furnish

pytestmark = pytest.mark.slow

SIZE = 24_000_000  # bytes of the small disk


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A project on a file system of its own; making one takes root."""
    assert os.geteuid() == 0, "a small file system is mounted: run this as root"
    where = tmp_path / "disk"
    where.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(where)]
    subprocess.run(["mount", *options], check=True)
    try:
        furnish(where)
        yield where
    finally:
        subprocess.run(["umount", "--lazy", str(where)], check=True)


@pytest.mark.parametrize("left", [pytest.param(0, marks=pytest.mark.long), 400_000])
def test_a_full_disk_loses_nothing_once_there_is_room(
    small_disk: Path, left: int
) -> None:
    write_study(small_disk, 0)
    assert run(small_disk, "study", "mine").returncode == 0
    write_study(small_disk, 1)
    _told_that_it_is_full(small_disk, left, "study", "mine")
    done = run(small_disk, "study", "mine")
    assert done.returncode == 0, done.stdout + done.stderr
    nothing_is_wrong(small_disk, "mine")


def _told_that_it_is_full(disk: Path, left: int, *words: str) -> str:
    """What a command says that finds `left` bytes of room, in one line of its own."""
    ballast = disk / "ballast"
    room = shutil.disk_usage(disk).free - left
    with ballast.open("wb") as file:
        file.write(b"\0" * max(0, room))
    full = run(disk, *words)
    ballast.unlink()
    assert full.returncode in {FAILED, REFUSED}, full.stdout + full.stderr
    assert "Traceback" not in full.stdout + full.stderr
    said = full.stdout + full.stderr
    assert "No space left" in said or "make room" in said, said
    return said


def _names(disk: Path) -> set[str]:
    return {path.name for path in disk.rglob("*")}


def test_a_film_needs_room_and_an_ffmpeg_that_ends_well(
    small_disk: Path, tmp_path: Path
) -> None:
    small = [f"case.structure.{side}=1" for side in ("rows", "columns")]
    done = run(small_disk, "simulate", "case=triangles_cylinder", *small)
    assert done.returncode == 0, done.stderr
    (where,) = (small_disk / "results" / "runs").iterdir()
    before = _names(where)
    for left in (0, 20_000):
        _told_that_it_is_full(small_disk, left, "film", where.name, "--gif")
        assert _names(where) == before
    ffmpeg = tmp_path / "ffmpeg"
    ffmpeg.write_text(
        "#!/bin/sh\nread -r _; echo 'there is no such codec' >&2; exit 3\n"
    )
    ffmpeg.chmod(0o755)
    told = run(small_disk, "film", where.name, PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert (told.returncode, _names(where)) == (1, before)
    assert len(told.stderr.splitlines()) == 1, told.stderr
    line = told.stderr
    assert "ffmpeg ended with 3: there is no such codec: --gif does" in line
    assert run(small_disk, "film", where.name, "--gif").returncode == 0
    assert _names(where) == {*before, "moving.gif"}


def _set_back(place: Path, seconds: float) -> None:
    """Leave the files as a clock does that is set back: they are from the future."""
    for path in place.rglob("*"):
        found = path.lstat()
        later = (found.st_atime + seconds, found.st_mtime + seconds)
        os.utime(path, later, follow_symlinks=False)


@pytest.mark.long
def test_a_clock_that_is_set_back_confuses_nobody(place: Path) -> None:
    write_study(place, 0)
    first = start(place, "study", "mine")
    end = time.monotonic() + 120
    while not list(place.glob("results/runs/*")):  # somewhere in the middle of it
        assert time.monotonic() < end
        time.sleep(0.1)
    first.kill()
    first.communicate()
    for number in (1, 0):
        _set_back(place, 90.0)
        write_study(place, number)
        done = run(place, "study", "mine")
        assert done.returncode == 0, done.stdout + done.stderr
    nothing_is_wrong(place, "mine")
