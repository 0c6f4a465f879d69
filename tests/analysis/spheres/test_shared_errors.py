"""What neighbouring points err by together shows in the covariance of the centres."""

import numpy as np
import pytest

from analysis.spheres.find import find_spheres
from analysis.spheres.form import form_ratio
from analysis.spheres.judge import SphereCandidate
from analysis.spheres.picks import Excess, PickOptions
from analysis.spheres.search import search
from analysis.spheres.shared_errors import (
    largest,
    of_degree_1,
    of_radii,
    of_views,
)
from sim.arrays import Floats
from tests.analysis.spheres.scenes import Scanner, scan, tree
from tests.bench.bench_spheres_stereo import outcome
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
    picks = find_spheres(stereo.points, OPTIONS, view)
    excess = picks.excess
    assert excess is not None
    assert "variances of centres are taken" in excess.told
    found = outcome(stereo.centres, picks, 0.0)
    assert (found.found, found.false) == (12, 0)
    assert excess.ratio * found.nees > 4.0  # by points alone
    assert found.nees < 2.2
    assert picks.joint_radius is not None
    radius, sd = picks.joint_radius
    assert abs(radius - 6.0) < 2.0 * sd < 0.15


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


def test_signs_that_chance_may_lead_to_one_by_one_count_together() -> None:
    cells, radii = Excess("cells", 1.56, 0.2), Excess("radii", 2.0, 0.4)  # 2.8, 2.5 sd
    both = largest([cells, radii])
    assert both is not None
    assert both.learnt == "cells and radii"
    assert both.ratio == pytest.approx((1.56 / 0.2 + 2.0 / 0.4) / 7.5)
    assert (both.ratio - 1.0) / both.sd == pytest.approx((2.8 + 2.5) / np.sqrt(2.0))
    assert largest([cells, Excess("radii", 1.2, 0.4)]) is None


def test_few_degrees_of_freedom_tell_nothing() -> None:
    assert of_views(100.0, 4) == []
    (excess,) = of_views(100.0, 50)
    assert excess.ratio == 2.0
    assert excess.sd == pytest.approx(0.2)


def lumpy(
    rng: np.random.Generator, oval: float
) -> tuple[list[SphereCandidate], list[Floats]]:
    """Eight whole balls, drawn out by `oval` mm along an axis; their points."""
    u = rng.standard_normal((8, 4000, 3))
    u /= np.linalg.norm(u, axis=2, keepdims=True)
    height = (
        6.0 + oval * (u[..., 2:] ** 2 - 1 / 3) + 0.05 * rng.normal(size=(8, 4000, 1))
    )
    centres = 25.0 * np.indices((2, 2, 2)).reshape(3, 8).T
    points = (centres[:, None] + height * u).reshape(-1, 3)
    accepted, _ = search(points, 6.0, OPTIONS)
    return accepted, [points[c.points] - c.fit.centre for c in accepted]


def test_the_form_of_balls_is_told_from_noise(rng: np.random.Generator) -> None:
    """An oval of amplitude a adds a^2 n 4/45 / s^2 / 5 to the ratio of n points."""
    for oval, expected in (
        (0.0, 1.0),
        (0.02, 1.0 + 4000 * 0.02**2 / 0.05**2 * 4 / 225),
    ):
        accepted, points = lumpy(rng, oval)
        ratios = [form_ratio(c.fit, x) for c, x in zip(accepted, points, strict=True)]
        assert np.mean(np.array(ratios, float)) == pytest.approx(expected, rel=0.35)


def test_form_and_radii_of_balls_count_alike(rng: np.random.Generator) -> None:
    accepted, points = lumpy(rng, 0.04)
    found = of_degree_1(accepted, points)
    ratios = [form_ratio(c.fit, x) for c, x in zip(accepted, points, strict=True)]
    (radii,) = of_radii(accepted)
    mean = float(np.mean(np.array(ratios, float)))
    assert found is not None
    assert found.ratio == pytest.approx(max(np.sqrt(mean * radii.ratio), 1.0), rel=0.3)
    assert of_degree_1(accepted[:4], points[:4]) is None
