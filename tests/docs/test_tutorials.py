"""Every command of a tutorial runs in a new project and prints what the page shows."""

import contextlib
import io
import math
import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest

from pipeline import terminal
from pipeline.cli.app import called
from pipeline.tracking.logging_process import LOGGER

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "tools"))

import console  # noqa: E402
import pictures  # noqa: E402

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
LONG = {"first-verdict"}  # the whole demo
SHELL = console.typed


def typed(command: str, folder: Path, *, logged: bool = True) -> str:
    """The output of a command; what it can, this process does, which has imported."""
    program, *typed = shlex.split(command.replace("\\\n", " "))
    if program not in ("morphtrack", "python") or "make" in typed:
        return SHELL(command, folder, logged=logged)
    words: list[str] = []
    for word in typed:
        files = sorted(map(str, Path().glob(word))) if "*" in word else []
        words += files or [word]
    output, script = io.StringIO(), program == "python"
    errors = io.StringIO() if script else output
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        if script:
            runpy.run_path(*words)
        else:
            status = called(words)
            assert status == 0, output.getvalue()
    return output.getvalue()


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[pytest.mark.slow] * (path.stem in LONG), id=path.stem)
        for path in TUTORIALS
    ],
)
def test_a_tutorial_prints_what_it_shows(path, tmp_path, monkeypatch):
    for name, value in {LOGGER: "0", "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", sys.argv)  # Hydra's, for a while
    monkeypatch.setattr(console, "typed", typed)
    monkeypatch.setattr(terminal, "EVERY", math.inf)  # lines of progress of slow runs
    page = path.read_text(encoding="utf-8").replace(*pictures.DEMO)
    console.furnish(tmp_path)
    done = 0
    for _, command, shown, output in console.run(page, tmp_path, logged=False):
        assert console.agrees(output, shown), f"$ {command}\n{output}"
        done += 1
    assert done >= 3
    for source in re.findall(r"\.png\)<!-- (.+?) -->", page):
        assert (tmp_path / source).is_file()


def test_dots_stand_for_anything_and_nothing_else_does():
    assert console.agrees("a 1.5 s\nb\nMLflow   run x\n", "a ... s\nb\n")
    assert not console.agrees("a 1.5 s\nc\n", "a ... s\nb\n")
    assert not console.agrees("a\nb\n", "a\n")


def test_a_console_has_its_commands_and_a_file_its_name():
    page = (
        '```yaml title="a.yaml"\nx: 1\n```\n\n'
        "- one\n\n  ```console\n  $ first \\\n    more\n  out\n  $ second\n  ```\n"
        "```sh\nignored\n```\n"
    )
    file, commands = console.blocks(page)
    assert (file.title, file.text) == ("a.yaml", "x: 1\n")
    assert commands.commands == [("first \\\n  more", "out\n"), ("second", "")]
