"""A film on a full disk, and with an ffmpeg that fails."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pipeline.terminal import FAILED, REFUSED
from tests.faults.conftest import run
from tests.pipeline.conftest import furnish

pytestmark = pytest.mark.slow

SIZE = 24_000_000  # bytes of the small disk


@pytest.fixture
def small_disk(tmp_path):
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


def test_a_film_needs_room_and_an_ffmpeg_that_ends_well(small_disk, tmp_path):
    small = [f"case.structure.{side}=1" for side in ("rows", "columns")]
    done = run(small_disk, "simulate", "case=triangles_cylinder", *small)
    assert done.returncode == 0, done.stderr
    (where,) = (small_disk / "results" / "runs").iterdir()
    before = _names(where)
    for left in (0, 20_000):
        _told_that_it_is_full(small_disk, left, "show", where.name, "--gif")
        assert _names(where) == before
    ffmpeg = tmp_path / "ffmpeg"
    ffmpeg.write_text(
        "#!/bin/sh\nread -r _; echo 'there is no such codec' >&2; exit 3\n"
    )
    ffmpeg.chmod(0o755)
    told = run(
        small_disk,
        "show",
        where.name,
        "--film",
        PATH=f"{tmp_path}:{os.environ['PATH']}",
    )
    assert (told.returncode, _names(where)) == (1, before)
    assert len(told.stderr.splitlines()) == 1, told.stderr
    assert "ffmpeg failed with status 3 (there is no such codec): use" in told.stderr
    assert run(small_disk, "show", where.name, "--gif").returncode == 0
    assert _names(where) == {*before, "moving.gif"}
