"""What neighbouring points err by together shows in the covariance of the centres."""

import numpy as np
import pytest

from analysis.spheres.find import find_spheres
from analysis.spheres.picks import Excess, PickOptions
from analysis.spheres.shared_errors import largest, of_views
from tests.analysis.spheres.scenes import Scanner, scan, tree
from tests.bench.bench_spheres_stereo import picked
from tests.helpers.stereo_scanner import StereoScan, StereoScanner, mechanism, scanned

OPTIONS = PickOptions(radius_mm=6.0)


@pytest.fixture(scope="module")
def stereo() -> StereoScan:
    rng = np.random.default_rng([24, 0])
    return scanned(mechanism(rng), StereoScanner(), rng)


@pytest.mark.parametrize("merged", [False, True])
def test_correlated_errors_are_seen_and_counted(
    stereo: StereoScan, merged: bool
) -> None:
    view = None if merged else stereo.view
    excess = find_spheres(stereo.points, OPTIONS, view).excess
    assert excess is not None
    assert "variances of centres are taken" in excess.told
    found = picked(stereo, 6.0, view)
    assert (found.found, found.false) == (12, 0)
    assert excess.ratio * found.nees > 4.0  # by points alone
    assert found.nees < 2.5


def test_independent_errors_change_nothing() -> None:
    rng = np.random.default_rng(1)
    seen = scan(rng, tree(rng, 10), Scanner(views=5, pixels=(240, 180)))
    assert find_spheres(seen.points, OPTIONS, seen.view).excess is None


def test_the_largest_excess_beyond_chance_is_taken() -> None:
    chance = Excess("a few", 3.0, 1.0)
    known = Excess("many", 2.0, 0.1)
    assert largest([chance, known, Excess("more", 1.5, 0.1)]) is known
    assert largest([chance]) is None
    assert largest([]) is None


def test_few_degrees_of_freedom_tell_nothing() -> None:
    assert of_views(100.0, 4) == []
    (excess,) = of_views(100.0, 50)
    assert excess.ratio == 2.0
    assert excess.sd == pytest.approx(0.2)
