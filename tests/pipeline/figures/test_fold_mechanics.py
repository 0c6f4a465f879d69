"""The figure of what designers ask of folds: its closed form and the points shown."""

import numpy as np
import pandas as pd
import pytest

from analysis.figures.fold_mechanics import rigid_ratio
from pipeline.figures.fold_mechanics import _landscape, draw
from pipeline.terminal.errors import InputError


def test_the_ratio_of_rigid_panels_is_that_of_their_periods() -> None:
    first = np.linspace(1.0, 2.0, 400)
    ratio = rigid_ratio(np.column_stack([first, 3.0 * first**-2.0]))
    assert ratio == pytest.approx(np.full(400, 2.0), rel=1e-4)


def test_of_a_point_that_was_found_twice_the_last_is_shown() -> None:
    asked = [(0.0, 0.0, 5.0), (10.0, 0.0, 6.0), (0.0, 20.0, 7.0), (10.0, 20.0, 8.0),
             (10.0, 0.0, 1.0)]  # fmt: skip
    table = pd.DataFrame(asked, columns=["asked_0_deg", "asked_1_deg", "energy"])
    shown = _landscape(table, [60, 80, 120, 100])
    assert shown.energy.tolist() == [[5.0, 1.0], [7.0, 8.0]]
    assert shown.first.tolist() == [0.0, 10.0]


def test_other_than_six_runs_are_refused() -> None:
    with pytest.raises(InputError, match="shows 6 runs, not 0"):
        draw([])
