"""Spheres of whole virtual scans."""

import re

import numpy as np
import pytest

from analysis.spheres.detections import PickOptions, Picks, Rejected, RejectionReason
from analysis.spheres.find import find_spheres, other_size, round_fit
from sim.core.arrays import Floats, Ints
from tests.analysis.spheres.scenes import Parts, Scanner, VirtualScan, scan, tree

OPTIONS = PickOptions(radius_mm=6.0)
SCANNER = Scanner(views=5, pixels=(240, 180))


@pytest.fixture(scope="module")
def seen():
    """Ten balls above a plane, with noise, mixed pixels and outliers."""
    rng = np.random.default_rng(1)
    return scan(rng, tree(rng, 10, "plane"), SCANNER)


@pytest.fixture(scope="module")
def picks(seen):
    return find_spheres(seen.points, OPTIONS)


def nearest(seen: VirtualScan, picks: Picks) -> Floats:
    gaps = seen.parts.centres[:, None] - picks.centres[None]
    return np.asarray(np.linalg.norm(gaps, axis=2))


def test_every_ball_seen_is_found_and_nothing_else(seen, picks):
    gaps = nearest(seen, picks)
    assert (gaps.min(axis=1)[seen.cap > 0.12] < 0.1).all()
    assert (gaps.min(axis=0) < 0.3).all()


def test_errors_are_as_large_as_the_covariance_says(seen, picks):
    gaps = nearest(seen, picks)
    squares = []
    for k, s in enumerate(picks.spheres):
        e = s.centre - seen.parts.centres[gaps[:, k].argmin()]
        squares.append(e @ np.linalg.solve(s.covariance, e) / 3)
    assert 0.4 < np.mean(squares) < 1.9


def test_quality_figures_agree_with_the_truth(seen, picks):
    ball = nearest(seen, picks).argmin(axis=0)
    caps = np.array([s.cap for s in picks.spheres])
    assert np.abs(caps - seen.cap[ball]).max() < 0.15
    assert 0.8 * seen.sigma < picks.noise < 1.2 * seen.sigma
    for s, k in zip(picks.spheres, ball, strict=True):
        assert 0.7 < s.points / (seen.label == k).sum() < 1.1
        assert abs(s.free_radius - 6.0) < 5 * s.free_radius_sd
        assert s.radius == 6.0


def test_every_other_candidate_has_a_reason(picks):
    assert len(picks.rejected) > 0
    assert all(
        isinstance(r.reason, RejectionReason) and r.detail for r in picks.rejected
    )


def test_neither_the_order_nor_the_place_of_points_matters(seen, picks, rng):
    shuffled = rng.permutation(seen.points)
    again = find_spheres(shuffled, OPTIONS)
    assert len(again.spheres) == len(picks.spheres)
    assert np.allclose(again.centres, picks.centres, atol=5e-4)
    shift = np.array([5_000.0, -300.0, 77.0])
    moved = find_spheres(seen.points + shift, OPTIONS)
    gaps = moved.centres[:, None] - shift - picks.centres[None]
    sd = np.sqrt([np.trace(s.covariance) for s in picks.spheres])
    assert (np.linalg.norm(gaps, axis=2).min(axis=0) < sd).all()


def test_spheres_of_another_radius_are_named_with_their_own(rng):
    at = np.array([[0.0, 0, 0], [60, 0, 0], [0, 60, 0]])
    small = scan(rng, Parts(at, 5.5, np.empty((0, 7)), "none", np.zeros(3)), SCANNER)
    picks = find_spheres(small.points, OPTIONS)
    assert len(picks.spheres) == 0
    told = [r.detail for r in picks.rejected if r.reason is RejectionReason.RADIUS]
    radii = np.array([float(detail.split()[2]) for detail in told])
    assert (np.abs(radii - 5.5) < 0.03).sum() == 3


def test_two_touching_balls_stay_two(rng):
    at = np.array([[0.0, 0, 0], [9.0, 0, 0]])
    pair = scan(rng, Parts(at, 6.0, np.empty((0, 7)), "none", np.zeros(3)), SCANNER)
    picks = find_spheres(pair.points, OPTIONS)
    assert len(picks.spheres) == 2
    assert nearest(pair, picks).min(axis=1).max() < 0.05


def test_a_plane_a_rod_and_a_box_of_points_hold_no_sphere(rng):
    rods = np.array([[-60.0, 0, 0, 60, 0, 0, 2.5], [0, 40, 0, 0, 90, 0, 6.0]])
    parts = Parts(np.empty((0, 3)), 6.0, rods, "plane", np.array([0, 0, -30.0]))
    cloud = np.concatenate(
        [
            _rod_points(rng, rods[0]),
            _rod_points(rng, rods[1]),
            rng.uniform(-80, 80, (30_000, 3)) * [1, 1, 0] + parts.base,
            rng.uniform(-80, 80, (500, 3)),
        ]
    )
    assert find_spheres(cloud + rng.normal(0, 0.05, cloud.shape), OPTIONS).spheres == ()


def _rod_points(rng: np.random.Generator, rod: Floats) -> Floats:
    axis = rod[3:6] - rod[:3]
    length = np.linalg.norm(axis)
    side = np.cross(axis, [0.3, 0.4, 0.8])
    side /= np.linalg.norm(side)
    other = np.cross(axis / length, side)
    a, z = rng.uniform(0, 2 * np.pi, 8_000), rng.uniform(0, 1, 8_000)
    return np.asarray(
        rod[:3]
        + z[:, None] * axis
        + rod[6] * (np.cos(a)[:, None] * side + np.sin(a)[:, None] * other)
    )


def test_an_unknown_radius_is_found(seen):
    free = find_spheres(seen.points, PickOptions(radius_mm=5.0, radius_max_mm=7.5))
    gaps = nearest(seen, free)
    assert (gaps.min(axis=1)[seen.cap > 0.12] < 0.1).all()
    assert (gaps.min(axis=0) < 0.3).all()
    assert abs(free.spheres[0].radius - 6.0) < 0.01
    none = find_spheres(seen.points[:2_000] * [1, 1, 0], PickOptions(4.0, 4.2))
    assert none.spheres == ()


def test_clouds_of_a_few_points_hold_no_sphere():
    for n in (0, 1, 19, 40):
        picks = find_spheres(np.ones((n, 3)) * np.arange(n)[:, None], OPTIONS)
        assert picks.spheres == ()
        assert picks.covariance.shape == (0, 0)
        assert picks.centres.shape == (0, 3)


def test_bad_options_are_refused_in_one_line():
    for call, words in (
        (lambda: PickOptions(radius_mm=0.0), "radius_mm must be positive"),
        (lambda: PickOptions(radius_mm=float("nan")), "radius_mm must be positive"),
        (lambda: PickOptions(6.0, 5.0), "radius_max_mm must exceed"),
        (lambda: PickOptions(6.0, min_cap=0.9), "min_cap must be between 0 and 0.5"),
        (lambda: PickOptions(6.0, registration_mm=-1.0), "registration_mm must"),
    ):
        with pytest.raises(ValueError, match=re.escape(words)) as refused:
            call()
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("R", [1e-3, 1.0, 1e3])
def test_balls_without_noise_are_not_refused_for_rounding(rng, R, kind):
    """At the origin one is rounded least; 1,000 radii away single precision rounds
    twice as far beyond 1,024, and a step of a centre is as small as rounding."""
    for away in (0.0, 1_012.0):
        all_found(exact_balls(rng, R, away).astype(kind).astype(float), R, away)


@pytest.mark.parametrize("away", [0.0, 1_012.0])
def test_meshes_and_views_without_noise_have_finite_covariances(rng, away):
    x = exact_balls(rng, 1.0, away)
    all_found(x, 1.0, away, fused=True)
    all_found(x, 1.0, away, view=rng.integers(3, size=len(x)))


def exact_balls(rng: np.random.Generator, R: float, away: float) -> Floats:
    """Points on six spheres in a row."""
    u = rng.normal(size=(6, 600, 3))
    u /= np.linalg.norm(u, axis=2)[:, :, None]
    return np.asarray(R * (u + row()[:, None] + away)).reshape(-1, 3)


def row() -> Floats:
    return 5.0 * np.arange(6)[:, None] * [1, 0, 0]


def all_found(
    x: Floats, R: float, away: float, *, fused: bool = False, view: Ints | None = None
) -> None:
    picks = find_spheres(x, PickOptions(R, fused=fused), view)
    assert len(picks.spheres) == 6
    gaps = np.linalg.norm(R * (row() + away)[:, None] - picks.centres, axis=2)
    assert gaps.min(axis=1).max() < 1e-4 * R
    assert np.isfinite(picks.covariance).all()


def test_views_may_be_numbered_with_gaps(rng):
    """Of 9,999 views of which three see something the others cost nothing."""
    x = exact_balls(rng, 6.0, 0.0)
    x += 0.01 * rng.normal(size=x.shape)
    view = rng.integers(3, size=len(x))
    places = np.array([[0, 0, 300.0], [300.0, 0, 0], [0, 300.0, 0]])
    with_gaps = np.full((10_000, 3), np.nan)
    with_gaps[[0, 4, 9_999]] = places
    close = find_spheres(x, OPTIONS, view, places)
    apart = find_spheres(x, OPTIONS, np.array([0, 4, 9_999])[view], with_gaps)
    assert np.array_equal(close.covariance, apart.covariance)
    assert np.array_equal(close.seen, apart.seen[:, [0, 4, 9_999]])
    assert apart.seen.sum() == close.seen.sum()
    assert [motion.view for motion in close.motions] == [0, 1, 2]
    assert [motion.view for motion in apart.motions] == [0, 4, 9_999]


CENTRES = np.array([[0, 0, 0], [40, 5, 0], [10, 45, 8], [55, 50, -12], [-35, 20, 15]])


def caps(
    rng: np.random.Generator, radius: float, many: int = 800, noise: float = 0.02
) -> Floats:
    """The upper halves of a ball at each of CENTRES."""
    u = rng.standard_normal((len(CENTRES), many, 3))
    u /= np.linalg.norm(u, axis=2, keepdims=True)
    u[..., 2] = np.abs(u[..., 2])
    height = radius + noise * rng.standard_normal((*u.shape[:2], 1))
    return (CENTRES[:, None] + height * u).reshape(-1, 3)


def refused(rng: np.random.Generator) -> Picks:
    """Candidates near the balls, two for each."""
    places = np.repeat(CENTRES, 2, axis=0) + rng.normal(scale=1.0, size=(10, 3))
    rejected = tuple(Rejected(place, RejectionReason.RMS, "", 300) for place in places)
    return Picks((), rejected, np.zeros((0, 0)), np.nan)


@pytest.mark.parametrize("radius", [4.0, 5.5, 8.5])
def test_balls_of_another_radius_are_counted_once_each(rng, radius):
    found = other_size(caps(rng, radius), refused(rng), 6.0)
    assert found is not None
    assert found.many == len(CENTRES)
    assert found.radius == pytest.approx(radius, abs=0.01)
    assert str(found).startswith("5 spheres of radius ")


def test_rods_are_not_round(rng):
    phi = rng.uniform(0, 2 * np.pi, (5, 800))
    rod = np.stack(
        [2.5 * np.cos(phi), 2.5 * np.sin(phi), rng.uniform(-20, 20, phi.shape)]
    )
    points = (CENTRES[:, None] + np.moveaxis(rod, 0, 2)).reshape(-1, 3)
    assert other_size(points, refused(rng), 6.0) is None


def test_three_balls_are_no_size(rng):
    points = caps(rng, 8.5).reshape(5, -1, 3)[:3].reshape(-1, 3)
    assert other_size(points, refused(rng), 6.0) is None


def test_a_sphere_is_fitted_through_what_surrounds_it(rng):
    ball = caps(rng, 7.0, noise=0.0)[:800]
    clutter = rng.uniform(-12, 12, (250, 3))
    fit, roughness = round_fit(np.concatenate([ball, clutter]))
    np.testing.assert_allclose(fit, [0, 0, 0, 7.0], atol=1e-3)
    assert roughness < 1e-3
    assert round_fit(ball[:20])[1] == np.inf
