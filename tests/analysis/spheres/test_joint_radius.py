"""What radius balls have that were scanned from several sides, whatever was stated."""

import numpy as np
import pytest

from analysis.spheres.find import find_spheres
from analysis.spheres.picks import PickOptions
from tests.analysis.spheres.scenes import SIX_CENTRES, seen_around


@pytest.mark.parametrize("stated", [5.8, 6.0, 6.15])
def test_views_do_not_move_to_hide_a_wrong_radius(
    rng: np.random.Generator, stated: float
) -> None:
    points, view = seen_around(rng, noise=0.05, off=0.05)
    picks = find_spheres(points, PickOptions(radius_mm=stated), view)
    assert len(picks.spheres) == len(SIX_CENTRES)
    assert picks.joint_radius is not None
    own, sd = picks.joint_radius
    assert own == pytest.approx(6.0, abs=0.012)
    assert sd < 0.01


@pytest.mark.long
def test_the_radius_of_views_is_as_uncertain_as_it_is_said_to_be() -> None:
    """Twelve scans with the right radius: its error over its sd, mean square one."""
    ratios = []
    for seed in range(12):
        scan = seen_around(np.random.default_rng(seed), noise=0.1, off=0.1)
        told = find_spheres(scan[0], PickOptions(radius_mm=6.0), scan[1]).joint_radius
        assert told is not None
        ratios.append((told[0] - 6.0) / told[1])
    assert 0.4 < np.mean(np.square(ratios)) < 2.1  # chi squared of 12 over 12, 99 %
