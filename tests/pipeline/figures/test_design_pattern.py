"""The figure of a pattern shows the one that gave the shape; others are refused."""

from pathlib import Path

import pytest
import yaml

from pipeline.figures.design_pattern import draw
from pipeline.terminal.errors import InputError
from tests.pipeline.conftest import ROOT
from tests.pipeline.figure_runs import rows_of, run_of

STRIP = ROOT / "conf" / "structure" / "elastic" / "hidden_strip.yaml"


def test_the_pattern_that_gave_the_shape_is_found_and_drawn(tmp_path: Path) -> None:
    (row,) = rows_of("design-pattern", tmp_path)
    drawn, expected = draw([row]), yaml.safe_load(STRIP.read_text())["expected"]
    found = drawn.tables["pattern"]
    second = found["parts"][found["material"] == "second"].tolist()
    assert second == [f"springs {strut}" for strut in expected["second"]]
    E = drawn.tables["steps"]["E_0"]
    assert E.iloc[0] > 0.1
    assert E.iloc[-1] < 1e-8  # what seven digits of the goals leave
    assert drawn.said["last"] == E.iloc[-1]


def test_a_run_without_a_pattern_is_refused(tmp_path: Path) -> None:
    row = run_of("flap", ("case=growing_strip",), tmp_path / "flap")
    with pytest.raises(InputError, match=r"has no pattern\.csv: run a case"):
        draw([row])
