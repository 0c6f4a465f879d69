"""Runs that were edited by hand: what the terminal and MLflow say of them."""

import os
import re
import time
from collections import Counter
from pathlib import Path

import pytest

from pipeline.commands.track import main
from tests.pipeline.conftest import Command
from tests.pipeline.tracking.test_track import held, run


def edit(file: Path, text: str) -> None:
    """Change a file of a run, a second after the run has ended."""
    file.write_text(text)
    later = time.time() + 1
    os.utime(file, (later, later))


def test_a_run_that_was_edited_by_hand_is_told_in_one_line(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, _ = run(1), run(2), run(3)
    assert first is not None
    assert second is not None
    assert main([]) == 0
    assert capsys.readouterr().err == ""
    for directory in (first, second):
        edit(directory / "steps.csv", "step,E\n0,7.0\n")
    assert main([]) == 0
    named = min(first, second)
    assert capsys.readouterr().err == (
        f"warning: {named}: steps.csv was edited since it ran: remove this folder, "
        "it is made again (and 1 more run was edited)\n"
    )
    (project / "results/mlflow/mlflow.db").unlink()
    assert main([]) == 0
    marked = {r.data.tags["key"]: r.data.tags.get("edited") for r in held(project)}
    assert Counter(marked.values()) == Counter({"steps.csv was edited": 2, None: 1})


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("steps.csv", "\n1,1.1\n", "\n1\n"),
        ("run.json", '"paths": []', '"paths": ["data/a.ply"]'),
    ],
)
def test_an_edited_run_that_cannot_be_read_is_told_in_one_line(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    old: str,
    new: str,
) -> None:
    """As it is where the database is lost after the edit."""
    directory = run(1)
    run(2)
    assert directory is not None
    text = (directory / name).read_text()
    assert old in text
    edit(directory / name, text.replace(old, new))
    assert main([]) == 1
    assert capsys.readouterr().err == (
        f"error: {directory}: {name} was edited since it ran: "
        "remove this folder, it is made again\n"
    )
    assert len(held(project)) == 1


def test_a_run_that_was_edited_is_not_shown_again_without_a_word(
    project: Path, command: Command
) -> None:
    words = ["case=triangles_circle", "case.target.radius=2.3"]
    assert command("simulate", *words).stderr == ""
    (directory,) = (project / "results/runs").iterdir()
    record = (directory / "run.json").read_text()
    edit(directory / "run.json", re.sub(r'"S": [0-9.]+', '"S": 9.9', record))
    for again in (["simulate", *words], ["see", directory.name, "--no-open"]):
        done = command(*again)
        assert (done.returncode, "S = 9.9" in done.stdout) == (0, True)
        assert done.stderr == (
            f"warning: {directory}: run.json was edited since it ran: remove this "
            "folder, it is made again\n"
        )
