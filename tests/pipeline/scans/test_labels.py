"""Spheres that cannot be told as nodes: the reason and what may be done."""

import numpy as np
import pytest

from analysis.comparison.assumptions import UncertaintyOptions
from analysis.labels.rigid_distances import Mechanism
from pipeline.scans.sphere_tables import SphereTable, label_scan
from pipeline.terminal import InputError

FOUR_BAR = np.array([[0, 0, 0], [0, 40, 0], [60, 60, 0], [80, 0, 0], [80, 40, 0]])


def test_a_four_bar_without_one_ball_has_too_few_lengths_and_says_so():
    """Two links and a body of three: 5 of 10 distances; 3 are left of four balls."""
    mechanism = Mechanism(FOUR_BAR.astype(np.float64), ((2, 3, 4), (0, 1), (1, 2)))
    covariance = 1e-5 * np.eye(12)
    table = SphereTable(
        tuple("0123"), FOUR_BAR[:4] + 10.0, np.tile(1e-5 * np.eye(3), (4, 1, 1)),
        covariance, True,
    )  # fmt: skip
    with pytest.raises(InputError) as caught:
        label_scan(mechanism, table, UncertaintyOptions())
    said = str(caught.value)
    assert "determine only 5 of the 10 distances between nodes" in said
    assert "scan every sphere" in said
