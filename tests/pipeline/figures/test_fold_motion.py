"""The figure of sheets in motion: its closed form, and the runs it asks for."""

import numpy as np
import pytest

from analysis.figures.fold_motion import RingingCrease
from pipeline.figures.fold_motion import draw
from pipeline.terminal.errors import InputError


def test_a_crease_rings_as_a_cosine_of_its_first_fold() -> None:
    ringing = RingingCrease(np.zeros(1), np.array([0.3]), 2.0)
    assert ringing.known(np.array([0.0, np.pi / 2])) == pytest.approx([0.3, -0.3])


def test_other_than_three_runs_are_refused() -> None:
    with pytest.raises(InputError, match="shows three runs, not 0"):
        draw([])
