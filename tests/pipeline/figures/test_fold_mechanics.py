"""The figure of what designers ask of folds: its closed form, and its runs."""

import numpy as np
import pytest

from analysis.figures.folded_sheets import rigid_ratio


def test_the_ratio_of_rigid_panels_is_that_of_their_periods():
    first = np.linspace(1.0, 2.0, 400)
    ratio = rigid_ratio(np.column_stack([first, 3.0 * first**-2.0]))
    assert ratio == pytest.approx(np.full(400, 2.0), rel=1e-4)
