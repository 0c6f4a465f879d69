"""What [Hu20] says of its figures, beside the numbers that ours plot.

Its measured points are in no table: where it prints symbols, ours has curves alone.
"""

import numpy as np
import pytest

from pipeline.figures.read_runs import draw
from tests.pipeline.figure_runs import rows_of

PULSE = 0.25  # s
RESHAPED = 3.0  # s: "can totally reshape to its original configuration within 3 s"


def test_fig_3_the_limb_changes_at_once_and_is_back_within_3_s(tmp_path):
    table = draw("huang-3", rows_of("huang-3", tmp_path)).tables["law"]
    for quantity in ("curvature", "modulus"):
        value = table[quantity].to_numpy()
        farthest = int(np.abs(value - 1.0).argmax())
        assert 0 < table["time"][farthest] < PULSE
        back = np.abs(value[farthest:] - 1.0)
        assert (np.diff(back[1:]) <= 0).all()  # a decay, without a rise in it
        assert np.interp(RESHAPED, table["time"], value) == pytest.approx(1, abs=0.01)


def test_fig_4_the_robot_rolls_to_the_right_and_keeps_its_lengths(tmp_path):
    """ "Upon actuation of Limb 4, the robot rolls to the right"."""
    table = draw("huang-4", rows_of("huang-4", tmp_path)).tables["shapes"]
    assert table["time"].unique().tolist() == [0.0, 0.25, 0.5, 1.0, 2.0]
    middle = table.groupby("time")["x"].mean()
    assert middle[2.0] - middle[0.0] > 5e-3
    assert table["node"].nunique() == 84  # N of the text
    assert table["y"].min() > -1e-4  # none below the ground
