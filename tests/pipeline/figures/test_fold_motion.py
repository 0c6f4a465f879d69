"""The figure of sheets in motion: its closed form, and the runs it asks for."""

import numpy as np
import pytest

from analysis.figures.fold_motion import RingingCrease, SlidingLeaf
from pipeline.figures.fold_motion import draw
from pipeline.terminal.errors import InputError


def test_a_crease_rings_as_a_cosine_of_its_first_fold() -> None:
    ringing = RingingCrease(np.zeros(1), np.array([0.3]), 2.0)
    assert ringing.known(np.array([0.0, np.pi / 2])) == pytest.approx([0.3, -0.3])


def test_a_leaf_slides_by_what_friction_leaves_of_its_weight() -> None:
    time, ways = np.array([0.0, 2.0]), np.zeros(2)
    slides = SlidingLeaf(time, ways, 0.5, 45.0, 10.0)
    assert slides.known(time) == pytest.approx([0.0, 10.0 * np.sqrt(0.5)])
    assert SlidingLeaf(time, ways, 1.1, 45.0, 10.0).known(time).max() == 0.0


def test_other_than_six_runs_are_refused() -> None:
    with pytest.raises(InputError, match="shows 6 runs, not 0"):
        draw([])
