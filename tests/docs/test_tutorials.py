"""Every command of a tutorial runs in a new project and prints what the page shows."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "tools"))

import console  # noqa: E402
import pictures  # noqa: E402

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
LONG = {"first-verdict"}  # the whole demo


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[pytest.mark.slow] * (path.stem in LONG), id=path.stem)
        for path in TUTORIALS
    ],
)
def test_a_tutorial_prints_what_it_shows(path, tmp_path):
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
