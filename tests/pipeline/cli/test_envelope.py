"""Reachable shapes: their case, a run of it and their figure."""

import re
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hydra.errors import InstantiationException
from PIL import Image

from pipeline.cases.design import EnvelopeCase
from pipeline.cli.app import called
from pipeline.figures.read_runs import Row, draw
from pipeline.runs.checkpoints import Checkpoints
from pipeline.steps.simulate import record_steps
from pipeline.terminal import InputError
from tests.helpers.cases import changed

SMALL = ["case=reachable_sheet", "case.structure.rows=1", "case.structure.columns=1"]
build = partial(changed, EnvelopeCase, "reachable_sheet")


def test_a_case_is_recorded_and_drawn(tmp_path):
    result = dict(record_steps(build(samples=150), "reachable_sheet", tmp_path))
    table = pd.read_csv(tmp_path / "steps.csv")
    assert (result["stop"], result["samples"], len(table)) == ("samples", 150, 150)
    assert table["residual"].max() <= 1e-10
    for name in ("S", "size", "sigma"):
        assert result[f"{name}_least"] == table[name].min()
        assert result[f"{name}_most"] == table[name].max()
    assert (table["size"] >= table["box_long"] - 1e-12).all()
    assert result["cells"] == table["cells"].iloc[-1] > 50
    drawn = draw("reachable-shapes", [Row("reachable_sheet", tmp_path)])
    assert len(drawn.tables["samples"]) == 150
    assert drawn.tables["extremes"]["S"].min() == result["S_least"]
    with pytest.raises(InputError, match="shows one run, not 2"):
        draw("reachable-shapes", [Row("a", tmp_path), Row("b", tmp_path)])


def test_a_run_prints_and_draws_the_shapes_that_it_reached(project, capsys):
    assert called(["simulate", *SMALL, "case.samples=40"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(re.fullmatch(r"S: 0\.\d{4} to \d\.\d{4}", line) for line in lines)
    assert any("of them new in the last 100 samples" in line for line in lines)
    (picture,) = project.glob("results/own/*/picture.png")
    with Image.open(picture) as wide:  # six shapes beside each other, not one
        assert wide.width / wide.height > 1.6
    assert called(["simulate", *SMALL, "case.samples=1"]) == 0


def test_a_rigid_structure_is_said_to_be_one(project, capsys):
    path = project / "body.json"
    path.write_text(
        '{"nodes": [[0,0,0],[1,0,0],[0,1,0]], '
        '"dist": [[0,1,1.0],[1,2,2.0],[0,2,1.0]], "bodies": [[0,1,2]]}'
    )
    case = project / "conf/case/body.yaml"
    case.write_text(
        "_target_: pipeline.cases.design.EnvelopeCase\n"
        "structure:\n"
        "  _target_: pipeline.io.structure_file.structure_file\n"
        f"  path: {path}\n"
    )
    assert called(["simulate", "case=body"]) == 0
    said = capsys.readouterr().out
    assert "after 1 samples" in said
    assert "rigid: the mechanism has only rigid-body motions" in said


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("samples", 0, "samples must be a whole number"),
        ("cell", 1e-320, "cell must be 1e-06 or more"),
        ("ball_radius", -1.0, "ball_radius must be 0 or more"),
        ("ball_radius", 1.5, "overlap at the start"),
    ],
)
def test_bad_values_of_a_search_are_refused(key, value, words):
    with pytest.raises(InstantiationException) as caught:
        build(**{key: value})
    assert words in str(caught.value.__cause__)


def test_an_interrupted_search_keeps_its_samples_and_goes_on(
    project, command, monkeypatch
):
    def interrupted(self: Checkpoints, index: int, *given: Any) -> None:
        keep(self, index, *given)
        if index == 20:
            raise KeyboardInterrupt

    words, keep = ["simulate", *SMALL, "case.samples=40"], Checkpoints.keep
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoints, "keep", interrupted)
        assert command(*words).returncode == 130
    (stored,) = project.glob("results/failed/*/steps.csv")
    first = pd.read_csv(stored)
    assert len(first) == 21
    done = command(*words)
    assert done.returncode == 0, done.stderr
    (run,) = project.glob("results/runs/*")
    whole = pd.read_csv(run / "steps.csv")
    assert (run / "continued.json").is_file()
    assert len(whole) == 40
    pd.testing.assert_frame_equal(whole.iloc[: len(first)], first)
    with np.load(run / "steps.npz") as arrays:
        assert len(arrays["r"]) == 40
