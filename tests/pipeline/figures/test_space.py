"""Rods in space as a figure shows them."""

import numpy as np
import pytest

from analysis.figures.motions import upright
from pipeline.figures.read_runs import draw
from pipeline.terminal import InputError
from tests.pipeline.figure_runs import run_of


def test_what_is_up_in_its_plane_is_up_in_the_picture():
    r = np.array([[1.0, 2.0, 3.0], [0.0, 5.0, -1.0]])
    turned = upright(r, np.array([0.0, 1.0, 0.0]))
    assert turned[:, 2] == pytest.approx(r[:, 1])
    assert np.cross(*turned) == pytest.approx(
        upright(np.cross(*r), np.array([0.0, 1.0, 0.0]))
    )
    assert upright(r, np.array([0.0, 0.0, 1.0])) is r


def test_a_run_is_drawn_with_the_places_of_its_sections(tmp_path):
    words = ("case=helix", "case.edges=8", "case.load_steps=1")
    row = run_of("helix", words, tmp_path / "run")
    drawn = draw("space", [row])
    with np.load(tmp_path / "run/steps.npz") as arrays:
        last = arrays["r"][-1]
    assert drawn.tables["sections"][["x", "y", "z"]].to_numpy() == pytest.approx(last)
    assert drawn.keys == ("0123456789abcdef",)


def test_runs_without_frames_are_refused(tmp_path):
    row = run_of("law", ("case=actuator_law", "case.count=3"), tmp_path / "run")
    with pytest.raises(InputError, match="npz has no directors: run a case of"):
        draw("space", [row])
