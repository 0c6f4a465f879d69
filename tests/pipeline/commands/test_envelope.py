"""The command that samples reachable shapes, its case and its figure."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hydra.errors import InstantiationException

from pipeline.cases.envelope import EnvelopeCase
from pipeline.commands.envelope import main
from pipeline.figures.reachable_shapes import draw
from pipeline.results.shown import Row
from pipeline.steps.recording import record_steps
from pipeline.terminal.errors import InputError
from tests.helpers.cases import changed
from tests.pipeline.conftest import Command

SMALL = ["case=reachable_sheet", "case.structure.rows=1", "case.structure.columns=1"]
build = partial(changed, EnvelopeCase, "reachable_sheet")


def test_a_case_is_recorded_and_drawn(tmp_path: Path) -> None:
    result = dict(record_steps(build(samples=150), "reachable_sheet", tmp_path))
    table = pd.read_csv(tmp_path / "steps.csv")
    assert (result["stop"], result["samples"], len(table)) == ("samples", 150, 150)
    assert table["residual"].max() <= 1e-10
    for name in ("S", "size", "sigma"):
        assert result[f"{name}_least"] == table[name].min()
        assert result[f"{name}_most"] == table[name].max()
    assert (table["size"] >= table["box_long"] - 1e-12).all()
    assert result["cells"] == table["cells"].iloc[-1] > 50
    drawn = draw([Row("reachable_sheet", tmp_path)])
    assert len(drawn.tables["samples"]) == 150
    assert drawn.tables["extremes"]["S"].min() == result["S_least"]
    with pytest.raises(InputError, match="shows one run, not 2"):
        draw([Row("a", tmp_path), Row("b", tmp_path)])


def test_the_command_prints_and_draws_what_is_reached(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SMALL, "case.samples=40"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("samples   40\nS  ")
    assert "of them new in the" in said
    assert (project / "results/envelope/reachable_sheet.png").stat().st_size > 10_000
    assert main([*SMALL, "case.samples=1"]) == 0


def test_a_rigid_structure_is_said_to_be_one(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project / "body.json"
    path.write_text(
        '{"nodes": [[0,0,0],[1,0,0],[0,1,0]], '
        '"dist": [[0,1,1.0],[1,2,2.0],[0,2,1.0]], "bodies": [[0,1,2]]}'
    )
    case = project / "conf/case/body.yaml"
    case.write_text(
        "_target_: pipeline.cases.envelope.EnvelopeCase\n"
        "structure:\n"
        "  _target_: pipeline.formats.structure_file.structure_file\n"
        f"  path: {path}\n"
    )
    assert main(["case=body"]) == 0
    said = capsys.readouterr().out
    assert "samples   1\nrigid     the structure only moves as a whole" in said


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("samples", 0, "samples must be a whole number"),
        ("cell", 1e-320, "cell must be 1e-06 or more"),
        ("ball_radius", -1.0, "ball_radius must not be negative"),
        ("ball_radius", 1.5, "overlap at the start"),
    ],
)
def test_bad_values_of_a_search_are_refused(key: str, value: Any, words: str) -> None:
    with pytest.raises(InstantiationException) as caught:
        build(**{key: value})
    assert words in str(caught.value.__cause__)


@pytest.mark.usefixtures("project")
def test_other_cases_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["case=pentapod"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: case=pentapod is no EnvelopeCase: choose one")


@pytest.mark.slow
def test_an_interrupted_search_keeps_its_samples_and_goes_on(
    project: Path, command: Command
) -> None:
    words = ["envelope", *SMALL, "case.samples=3000"]
    started = subprocess.Popen(
        [sys.executable, "-m", "pipeline", *words], cwd=project, env={**os.environ}
    )
    deadline = time.monotonic() + 120.0
    while not list(project.glob("results/running/*/checkpoint.npz")):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    time.sleep(0.5)
    started.send_signal(signal.SIGINT)
    assert started.wait(60) == 130
    (kept,) = project.glob("results/failed/*/steps.csv")
    first = pd.read_csv(kept)
    assert 1 < len(first) < 3000
    assert (project / "results/envelope/reachable_sheet.png").is_file()
    done = command(*words)
    assert done.returncode == 0, done.stderr
    run = Path(done.stdout.splitlines()[-1])
    whole = pd.read_csv(project / run / "steps.csv")
    assert (project / run / "continued.json").is_file()
    assert len(whole) == 3000
    pd.testing.assert_frame_equal(whole.iloc[: len(first)], first)
    with np.load(project / run / "steps.npz") as arrays:
        assert len(arrays["r"]) == 3000
