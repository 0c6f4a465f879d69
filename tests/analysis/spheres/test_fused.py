"""Fused meshes: the radius that all balls have in common is found and counted."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.spheres.centre_covariance import fusion_bias
from analysis.spheres.detections import PickOptions, Picks
from analysis.spheres.find import find_spheres
from pipeline.scans.points_on_meshes import points_on
from sim.core.arrays import Floats
from tests.analysis.spheres.scenes import Scanner, place_of, scan, tree
from tests.analysis.spheres.test_sphere_criteria import sphere_of, told_free
from tests.helpers.detection_errors import outcome
from tests.helpers.fused_meshes import Fusion, fused
from tests.helpers.stereo_scanner import StereoScanner, mechanism, scanned

OPTIONS = PickOptions(radius_mm=6.0, fused=True)


def balls(
    rng: np.random.Generator, radii: Floats, noise: float = 0.02
) -> tuple[Floats, Floats]:
    """Centres, and points on the upper half of balls, 25 mm apart."""
    centres = 25.0 * np.array([[k % 4, k // 4 % 4, k % 3] for k in range(len(radii))])
    u = rng.standard_normal((len(radii), 2000, 3))
    u /= np.linalg.norm(u, axis=2, keepdims=True)
    u[..., 2] = np.abs(u[..., 2])
    height = radii[:, None, None] + noise * rng.standard_normal((*u.shape[:2], 1))
    return centres, (centres[:, None] + height * u).reshape(-1, 3)


def errors(picks: Picks, centres: Floats) -> Floats:
    apart = np.linalg.norm(centres[:, None] - picks.centres, axis=2)
    return np.asarray(picks.centres[apart.argmin(axis=1)] - centres)


def test_the_common_radius_is_found_and_said(rng):
    centres, points = balls(rng, np.full(12, 6.0 * 1.017))
    picks = find_spheres(points, OPTIONS)
    assert picks.fusion is not None
    assert picks.fusion.radius_mm == pytest.approx(6.102, abs=4 * picks.fusion.sd_mm)
    assert picks.fusion.sd_mm < 0.003
    assert picks.fusion.summary.startswith("spheres are 1.7 +- ")
    assert "% too large in this fused mesh" in picks.fusion.summary
    assert np.abs(errors(picks, centres)).max() < 0.02
    plain = find_spheres(points, PickOptions(radius_mm=6.0))
    assert errors(plain, centres)[:, 2].mean() > 0.05  # caps slide with the radius


def test_balls_that_differ_slide_along_their_caps(rng):
    """With radii of sd 0.05 mm the error along the cap is known to be as large."""
    centres, points = balls(rng, 6.1 + 0.05 * rng.standard_normal(16))
    picks = find_spheres(points, OPTIONS)
    along = np.sqrt([s.covariance[2, 2] for s in picks.spheres])
    across = np.sqrt([s.covariance[0, 0] for s in picks.spheres])
    assert np.median(along) > 2.0 * np.median(across)
    z = errors(picks, centres)[:, 2] / np.median(along)
    assert 0.3 < np.mean(z**2) < 2.0


def test_one_ball_alone_tells_its_radius(rng):
    centres, points = balls(rng, np.array([6.1]))
    picks = find_spheres(points, OPTIONS)
    assert picks.fusion is not None
    assert picks.fusion.radius_mm == pytest.approx(6.1, abs=0.01)
    assert np.abs(errors(picks, centres)).max() < 0.02


def test_two_balls_that_tell_other_radii_tell_none_in_common(rng):
    (first, second) = (
        replace(c, fit=replace(c.fit, free=told_free(radius, c.fit.free_radius_sd)))
        for c, radius in ((sphere_of(rng, 500), 5.6), (sphere_of(rng, 500), 6.4))
    )
    assert fusion_bias([first, second], 6.0) is None
    assert fusion_bias([first], 6.0) is not None


def test_signed_distances_of_exact_views_are_fused_where_the_ball_is(rng):
    """Pictures half a pixel of 0.6 mm off would put it 0.4 mm down."""
    angle = np.radians(60.0 * np.arange(6))
    ways = np.column_stack([np.cos(angle), np.sin(angle), np.full(6, 0.6)])
    places = 600.0 * ways / np.linalg.norm(ways, axis=1)[:, None]
    u = rng.standard_normal((6, 8000, 3))
    u /= np.linalg.norm(u, axis=2, keepdims=True)
    seen = np.einsum("vki,vi->vk", u, places) > 0.35 * 600.0
    view = np.repeat(np.arange(6), seen.sum(axis=1))
    x, _ = fused(6.0 * u[seen], view, places, 0.5, Fusion.TSDF)
    rows = np.column_stack([2.0 * x, np.ones(len(x))])
    centre = np.linalg.lstsq(rows, (x**2).sum(axis=1))[0][:3]
    assert np.linalg.norm(centre) < 0.05


@pytest.mark.long
@pytest.mark.parametrize("how", list(Fusion))
@pytest.mark.parametrize("scanner", ["stereo", "projector"])
def test_meshes_of_both_scanners(scanner, how):
    rng = np.random.default_rng([24, 77])
    if scanner == "stereo":
        seen = scanned(mechanism(rng), StereoScanner(), rng)
        points, view, centres = seen.points, seen.view, seen.centres
        places, pitch = seen.places, 0.5
    else:
        first = Scanner(views=6, pixels=(800, 600))
        virtual = scan(rng, tree(rng, 12), first)
        points, view, centres = virtual.points, virtual.view, virtual.parts.centres
        places, pitch = np.array([place_of(first, v) for v in range(6)]), 0.5
    vertices, faces = fused(points, view, places, pitch, how)
    picks = find_spheres(points_on(vertices, faces, 0.4, 36.0), OPTIONS)
    found = outcome(centres, picks)
    assert found.found == 12
    assert found.false <= 1
    assert found.nees < 2.5
