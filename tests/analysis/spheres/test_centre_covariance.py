"""What neighbouring points err by together shows in the covariance of the centres."""

import numpy as np
import pytest

from analysis.spheres.centre_covariance import (
    largest,
    of_cells,
    of_degree_1,
    of_views,
)
from analysis.spheres.centre_fit import BLIND, refine
from analysis.spheres.detections import Excess, PickOptions
from analysis.spheres.find import find_spheres
from analysis.spheres.form_deviation import form_ratios
from analysis.spheres.sphere_criteria import SphereCandidate
from sim.core.arrays import Floats
from tests.analysis.spheres.scenes import Scanner, scan, tree
from tests.helpers.detection_errors import outcome
from tests.helpers.stereo_scanner import StereoScanner, mechanism, scanned

OPTIONS = PickOptions(radius_mm=6.0)


@pytest.fixture(scope="module")
def stereo():
    rng = np.random.default_rng([24, 0])
    return scanned(mechanism(rng), StereoScanner(), rng)


@pytest.mark.parametrize("merged", [False, True])
def test_correlated_errors_are_seen_and_counted(stereo, merged):
    view = None if merged else stereo.view
    picks = find_spheres(stereo.points, OPTIONS, view)
    excess = picks.excess
    assert excess is not None
    assert "variances of centres are multiplied" in excess.summary
    found = outcome(stereo.centres, picks)
    assert (found.found, found.false) == (12, 0)
    assert excess.ratio * found.nees > 4.0  # by points alone
    assert found.nees < 2.2
    assert picks.joint_radius is not None
    radius, sd = picks.joint_radius
    assert abs(radius - 6.0) < 2.0 * sd < 0.15


def test_independent_errors_change_nothing():
    rng = np.random.default_rng(1)
    seen = scan(rng, tree(rng, 10), Scanner(views=5, pixels=(240, 180)))
    assert find_spheres(seen.points, OPTIONS, seen.view).excess is None


def test_the_largest_excess_beyond_chance_is_taken():
    chance = Excess("a few", 3.0, 1.0)
    known = Excess("many", 2.0, 0.1)
    assert largest([chance, known, Excess("more", 1.5, 0.1)]) is known
    assert largest([chance]) is None
    assert largest([]) is None


def test_signs_that_chance_may_lead_to_one_by_one_count_together():
    cells, radii = Excess("cells", 1.56, 0.2), Excess("radii", 2.0, 0.4)  # 2.8, 2.5 sd
    both = largest([cells, radii])
    assert both is not None
    assert both.sign == "cells and radii"
    assert both.ratio == pytest.approx((1.56 / 0.2 + 2.0 / 0.4) / 7.5)
    assert (both.ratio - 1.0) / both.sd == pytest.approx((2.8 + 2.5) / np.sqrt(2.0))
    assert largest([cells, Excess("radii", 1.2, 0.4)]) is None


def test_few_degrees_of_freedom_tell_nothing():
    assert of_views(100.0, 4) == []
    (excess,) = of_views(100.0, 50)
    assert excess.ratio == 2.0
    assert excess.sd == pytest.approx(0.2)


Balls = tuple[list[SphereCandidate], list[Floats]]


def balls(u: Floats, height: Floats) -> Balls:
    """Balls (m, k) fitted from where they are, and the points they use."""
    accepted, seen = [], []
    for x in (6.0 + height[..., None]) * u:
        fit = refine(
            x, np.array([0.0, 0.0, 0.0, 6.0]), 0.05, BLIND, rounds=2, last=True
        )
        assert fit is not None
        every = np.arange(len(x))
        accepted.append(SphereCandidate(fit, every, every >= 0, 0.5, 0.5))
        seen.append(x[fit.used] - fit.centre)
    return accepted, seen


def directions(rng: np.random.Generator, m: int, k: int) -> Floats:
    u = rng.standard_normal((m, k, 3))
    return np.asarray(u / np.linalg.norm(u, axis=2, keepdims=True))


@pytest.mark.parametrize(
    ("oval", "alike", "expected"),
    [
        (0.0, False, 1.0),
        (0.02, False, 1.0 + 4000 * 0.02**2 / 0.05**2 * 4 / 225),
        (0.02, True, 1.0),
    ],
)
def test_the_form_of_balls_is_told_from_noise_and_from_what_all_have_in_common(
    rng, oval, alike, expected
):
    """An oval of amplitude a adds a^2 n 4/45 / s^2 / 5 to the ratio of n points."""
    u = directions(rng, 8, 4000)
    axis = np.repeat(directions(rng, 1 if alike else 8, 1), 8 if alike else 1, axis=0)
    height = oval * ((u * axis).sum(axis=2) ** 2 - 1 / 3)
    accepted, points = balls(u, height + 0.05 * rng.normal(size=(8, 4000)))
    ratios = form_ratios([c.fit for c in accepted], points)
    assert ratios.mean() == pytest.approx(expected, rel=0.35)
    assert of_degree_1(accepted[:4], points[:4]) is None


@pytest.mark.parametrize("length", [0.9, 1.2])
def test_fields_move_centres_as_form_and_cells_tell(length):
    """Fields of Gaussian correlation over `length` mm on 80 halves of balls, whose
    squared errors over what points tell of them are known to a tenth by chance."""
    rng = np.random.default_rng([5, 1])
    u = directions(rng, 80, 1000)
    u[..., 2] = np.abs(u[..., 2])
    waves = rng.standard_normal((80, 3, 200)) * 6.0 / length
    phase = rng.uniform(0, 2 * np.pi, (80, 1, 200))
    height = 0.02 / 10.0 * np.cos(u @ waves + phase).sum(axis=2)
    accepted, points = balls(u, height)
    off = np.array([c.fit.centre for c in accepted])
    plain = np.array([c.fit.covariance for c in accepted])
    true = np.einsum("mi,mij,mj->", off, np.linalg.inv(plain), off) / off.size
    assert true > 2.5
    (cells,) = of_cells(accepted)
    form = form_ratios([c.fit for c in accepted], points).mean()
    np.testing.assert_allclose([cells.ratio**1.5, form], true, rtol=0.3)
    found = of_degree_1(accepted, points)
    assert found is not None
    assert found.ratio == pytest.approx(max(cells.ratio**1.5, form))
