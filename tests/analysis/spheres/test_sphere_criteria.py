"""What tells spheres from rings, and one sphere from another."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.spheres.centre_fit import BLIND, FreeRadius, refine
from analysis.spheres.centre_votes import surface
from analysis.spheres.detections import PickOptions, RejectionReason
from analysis.spheres.find import find_spheres
from analysis.spheres.sphere_criteria import (
    SphereCandidate,
    _spread_of_cap,
    fault,
    is_rough,
    odd_ones,
    rivals,
    spread,
    visible_cap,
)
from analysis.spheres.spheres_of_one_radius import Scan, _creased
from analysis.spheres.voxel_grid import members
from sim.core.arrays import Floats
from tests.analysis.spheres.test_centre_fit import CENTRE, cap


def test_the_spread_of_a_round_cap_is_the_closed_form(rng):
    for angle in (35.0, 60.0, 85.0):
        share = (1 - np.cos(np.deg2rad(angle))) / 2
        x = CENTRE + cap(rng, 40_000, angle)
        assert np.isclose(spread(x, CENTRE), _spread_of_cap(share), rtol=0.03)


def test_a_ring_has_little_spread(rng):
    a, z = rng.uniform(0, 2 * np.pi, 2_000), rng.uniform(-0.2, 0.2, 2_000)
    s = np.sqrt(1 - z * z)
    x = CENTRE + 6.0 * np.column_stack([s * np.cos(a), s * np.sin(a), z])
    assert spread(x, CENTRE) < 0.1 * _spread_of_cap(0.3)


def test_the_visible_cap_is_the_share_of_the_surface_with_points(rng):
    for angle in (40.0, 60.0, 90.0):
        share = (1 - np.cos(np.deg2rad(angle))) / 2
        x = CENTRE + cap(rng, 5_000, angle)
        assert np.isclose(visible_cap(x, CENTRE), share, atol=0.06)


def told_free(radius: float, sd: float) -> FreeRadius:
    return FreeRadius(lambda: (radius, sd))


def sphere_of(rng: np.random.Generator, count: int) -> SphereCandidate:
    x = CENTRE + cap(rng, count, 70)
    fit = refine(x, np.append(CENTRE, 6.0), 0.05, BLIND, rounds=2)
    assert fit is not None
    facing = np.ones(count, dtype=bool)
    share = visible_cap(x, CENTRE)
    return SphereCandidate(fit, np.arange(count), facing, share, spread(x, CENTRE))


def rising(c: SphereCandidate, count: int, wall: int = 0) -> SphereCandidate:
    """The first points stand 1 mm above the sphere and were not fitted."""
    height, used = c.fit.height.copy(), c.fit.used.copy()
    height[:count], used[:count] = 1.0, False
    return replace(c, fit=replace(c.fit, height=height, used=used), wall=wall)


def test_no_two_balls_of_a_mesh_stand_within_each_other(rng):
    """A clamp on a ball is like a small cap of another, on no point of the first."""
    ball, small = sphere_of(rng, 2_000), sphere_of(rng, 100)
    small = replace(small, near=small.near + 2_000)
    for away, kept in ((1.1, 1), (1.3, 2)):
        at = ball.fit.centre + np.array([0.0, 0.0, 6.0 * away])
        clamp = replace(small, fit=replace(small.fit, centre=at))
        assert len(rivals([clamp, ball])[0]) == 2
        assert rivals([clamp, ball], 7.2)[0] == [ball, clamp][:kept]


def test_a_mesh_tells_radii_better_than_a_scan(rng):
    """A clamp whose own radius is told to 0.2 mm is no ball of 6 mm in a mesh."""
    c = sphere_of(rng, 3_000)
    for sd, fused, taken in (
        (0.2, False, True),
        (0.2, True, False),
        (0.1, True, True),
    ):
        vague = replace(c, fit=replace(c.fit, free=told_free(6.0, sd)))
        wrong = fault(vague, PickOptions(6.0, fused=fused))
        assert (wrong is None) == taken
        assert wrong is None or wrong.reason is RejectionReason.RADIUS


def test_a_centre_that_still_moves_makes_no_sphere(rng):
    c = sphere_of(rng, 3_000)
    assert fault(c, PickOptions(6.0)) is None
    wrong = fault(replace(c, fit=replace(c.fit, step=0.5)), PickOptions(6.0))
    assert wrong is not None
    assert wrong.reason is RejectionReason.UNSETTLED


def test_a_centre_that_moves_less_than_its_error_is_settled(rng):
    c = sphere_of(rng, 3_000)
    for step, settled in ((2e-4, True), (3e-4, False)):
        fit = replace(c.fit, covariance=1e-6 * np.eye(3), step=step)  # sd 1e-3 mm
        assert (fault(replace(c, fit=fit), PickOptions(6.0)) is None) == settled


def test_a_radius_off_by_more_than_its_tolerance_and_its_error_is_no_sphere(rng):
    """Of 0.24 mm and three sd of 0.1 mm the root of the squares counts: 0.384 mm."""
    c = sphere_of(rng, 3_000)
    for off, wanted in ((0.38, None), (0.39, RejectionReason.RADIUS)):
        fit = replace(c.fit, free=told_free(6.0 + off, 0.1))
        wrong = fault(replace(c, fit=fit), PickOptions(6.0))
        assert (wrong and wrong.reason) == wanted


def test_few_points_that_hardly_tell_a_sphere_may_be_less_rough(rng):
    c = sphere_of(rng, 162)  # relative sd of the rms 1 / 18, thrice that 1 / 6
    noise = 0.05 * rng.normal(size=162)
    for sd, ratio, rough in (
        (0.05, 1.35, False), (0.05, 1.45, True), (0.3, 1.19, False), (0.3, 1.21, True),
    ):  # fmt: skip
        told = replace(c, fit=replace(c.fit, free=told_free(6.0, sd), height=noise))
        assert is_rough(told, told.fit.rms / ratio) == rough


def test_rms_at_rounding_tell_nothing_rough(rng):
    c = sphere_of(rng, 162)
    for rms, rough in ((6e-4, False), (1e-3, True)):  # of 1e-4 radii, 1.67 times that
        told = replace(c, fit=replace(c.fit, height=np.full(162, rms)))
        assert is_rough(told, 1e-12) == rough


def bent(rng: np.random.Generator, bend: float) -> Floats:
    """Points on the upper half of a tube of radius 6 mm, bent with radius `bend`."""
    around, along = rng.uniform(0, 2 * np.pi, 20_000), rng.uniform(0, np.pi, 20_000)
    outer = bend + 6.0 * np.cos(around)
    x = np.column_stack(
        [outer * np.cos(along), outer * np.sin(along), 6.0 * np.sin(around)]
    )
    kept = (rng.uniform(0, bend + 6.0, len(x)) < outer) & (np.sin(around) > 0)
    noise = 0.04 * rng.normal(size=(int(kept.sum()), 3))
    return x[kept] + noise


def test_a_bent_tube_of_the_radius_holds_no_sphere(rng):
    """But where it ends, as far as its radius from there."""
    for bend in (20.0, 45.0):
        picks = find_spheres(bent(rng, bend), PickOptions(6.0))
        assert (np.abs(picks.centres[:, 1]) < 6.0).all()
        assert len(picks.spheres) <= 2


def with_wall(rng: np.random.Generator, wide: float, long: float) -> Floats:
    """Points on what is left of two balls at the ends of a round bar of radius `wide`,
    `long` between their centres."""
    u = rng.standard_normal((9_000, 3))
    ball = 6.0 * u / np.linalg.norm(u, axis=1)[:, None]
    around = rng.uniform(0, 2 * np.pi, int(2_400 * long * wide / 72.0))
    along = rng.uniform(0, long, len(around))
    wall = np.column_stack([wide * np.cos(around), wide * np.sin(around), along])
    ends = [np.linalg.norm(wall - [0, 0, z], axis=1) > 6.0 for z in (0.0, long)]
    outside = np.hypot(ball[:, 0], ball[:, 1]) > wide
    left = [ball[outside | (side * ball[:, 2] < 0)] for side in (1, -1)]
    left[1] = left[1] + [0.0, 0.0, long]
    x = np.concatenate([*left, wall[ends[0] & ends[1]]])
    return x + 0.04 * rng.standard_normal(x.shape)


@pytest.mark.parametrize("fused", [False, True])
def test_the_round_ends_of_a_bar_of_the_radius_are_no_balls(rng, fused):
    """However well they are seen; two balls on a thinner bar are balls."""
    options = PickOptions(6.0, fused=fused)
    for long in (9.0, 20.0):
        assert not find_spheres(with_wall(rng, 6.0, long), options).spheres
    assert len(find_spheres(with_wall(rng, 5.4, 20.0), options).spheres) == 2


@pytest.mark.parametrize(
    ("fused", "points", "count", "on_tube", "is_sphere"),
    [
        (True, 3_000, 230, 230, False),
        (True, 3_000, 150, 150, True),
        (True, 3_000, 900, 680, True),
        (True, 3_000, 900, 780, False),
        (True, 3_000, 1_050, 620, True),
        (True, 3_000, 1_050, 740, False),
        ("", 3_000, 150, 150, False),
        ("", 3_000, 55, 55, True),
        ("", 3_000, 600, 250, True),
        ("", 3_000, 600, 500, False),
        ("", 250, 15, 15, False),
        ("", 250, 8, 8, True),
    ],
)
def test_a_tube_goes_on_from_its_end_and_nothing_rises_beside_it(
    rng, fused, points, count, on_tube, is_sphere
):
    """Poisson's equation closes a surface below balls by chance on their tube too."""
    own = rising(sphere_of(rng, points), count, on_tube)
    assert (fault(own, PickOptions(6.0, fused=fused)) is None) == is_sphere


def test_a_cap_whose_surface_goes_on_with_more_points_is_the_tip_of_something(rng):
    c = sphere_of(rng, 3_000)
    for count, is_sphere in ((1_000, True), (1_300, False)):  # 0.50 and 0.76
        wrong = fault(rising(c, count), PickOptions(6.0))
        assert (wrong is None) == is_sphere
    assert wrong is not None
    assert "the surface continues beyond the cap" in wrong.detail


def test_a_mesh_may_close_its_surface_beside_a_ball(rng):
    """With 0.67 of the ball's points; the end of a tube of its radius has 0.83."""
    c = sphere_of(rng, 3_000)
    for share, is_sphere in ((0.67, True), (0.83, False)):
        rises = rising(c, int(3_000 * share / (1.0 + share)))
        wrong = fault(rises, PickOptions(6.0, fused=True))
        assert (wrong is None) == is_sphere
        assert fault(rises, PickOptions(6.0)) is not None


def test_a_strip_goes_on_where_its_surface_faces_the_centre(rng):
    """By half its points, as a round cap may; and not where these face elsewhere."""
    c = replace(sphere_of(rng, 3_000), spread=0.22 * _spread_of_cap(0.33), cap=0.33)
    rises = rising(c, 1_000)
    wrong = fault(rises, PickOptions(6.0))
    assert wrong is not None
    assert "the surface continues beyond the cap" in wrong.detail
    facing = c.facing.copy()
    facing[:1000] = False
    assert fault(replace(rises, facing=facing), PickOptions(6.0)) is None


def test_a_crease_that_normals_of_voxels_round_is_told_by_the_nearest_points(rng):
    """Clamps leave a ball at 46 degrees, a tube's wall goes on with it."""
    around, along = rng.uniform(0, 2 * np.pi, 3_000), rng.uniform(0, 9.0, 3_000)
    u = rng.standard_normal((5_000, 3))
    ball = 6.0 * u / np.linalg.norm(u, axis=1)[:, None]
    seen = {4.2: (1.5, 4.28), 6.0: (-4.0, 0.0)}  # heights of what is left of the ball
    for wide, (low, high) in seen.items():
        wall = np.column_stack([wide * np.cos(around), wide * np.sin(around), along])
        left = ball[(ball[:, 2] > low) & (ball[:, 2] < high)]
        x = np.concatenate([left, wall[np.linalg.norm(wall, axis=1) > 6.0]])
        x += 0.02 * rng.standard_normal(x.shape)
        fit = refine(x, np.array([0.0, 0.0, 0.0, 6.0]), 0.05, BLIND, rounds=2)
        assert fit is not None
        blurred = np.ones(len(x), dtype=bool)
        c = SphereCandidate(fit, np.arange(len(x)), blurred, 0.5, 0.2)
        voxels = surface(x, 1.0, 2.0)
        cubes = members(voxels.grid.cube, len(voxels.grid.keys))
        beyond = len(c.beyond)
        assert beyond > 0.45 * len(c.points)
        for fused in (True, False):
            told = len(_creased(c, Scan(x, voxels, *cubes, fused)).beyond) / beyond
            assert told < 0.2 if wide < 6.0 else told > 0.8


def test_what_leaves_at_a_crease_outweighs_as_much_that_goes_on(rng):
    """Normals at the foot of a cup are round; the edge of a box has no crease."""
    c = sphere_of(rng, 3_000)
    rises = rising(c, 1_900)
    assert fault(rises, PickOptions(6.0)) is not None
    facing = c.facing.copy()
    facing[:1_000] = False
    cup = replace(rises, facing=facing)
    assert fault(cup, PickOptions(6.0)) is None


def test_what_bends_more_one_way_than_the_other_is_no_sphere(rng):
    c = sphere_of(rng, 3_000)
    for bent, is_sphere in ((0.7, True), (0.8, False)):  # less three sd of 0.1
        edge = replace(c, lengthwise=np.array([bent, 0.1]))
        assert (fault(edge, PickOptions(6.0)) is None) == is_sphere


def rough_by(c: SphereCandidate, factor: float) -> SphereCandidate:
    return replace(c, fit=replace(c.fit, height=factor * c.fit.height))


def noisy_spheres(rng: np.random.Generator, *counts: int) -> list[SphereCandidate]:
    found = []
    for count in counts:
        c = sphere_of(rng, count)
        noise = 0.05 * rng.normal(size=count)
        found.append(replace(c, fit=replace(c.fit, height=noise)))
    return found


@pytest.mark.parametrize(("count", "factor", "rough"), [
    (2_000, 1.9, False), (100, 1.9, False), (2_000, 2.5, True), (60, 1.9, True),
])  # fmt: skip
def test_many_points_show_a_sphere_of_nearly_twice_the_noise(rng, count, factor, rough):
    *others, last = noisy_spheres(rng, 1_000, 1_000, 1_000, 1_000, count)
    _, odd = odd_ones([*others, rough_by(last, factor)], PickOptions(6.0))
    assert [one.reason for one in odd] == [RejectionReason.RMS] * rough


def test_a_radius_unlike_that_of_the_other_spheres_is_no_sphere(rng):
    """Of 0.12 mm and three sd of 0.02 mm the root of the squares counts: 0.134 mm."""
    spheres = [
        replace(c, fit=replace(c.fit, free=told_free(5.9, 0.02)))
        for c in noisy_spheres(rng, *[1_000] * 6)
    ]
    for off, odd in ((0.13, 0), (0.14, 1), (-0.14, 1)):
        fit = replace(spheres[0].fit, free=told_free(5.9 + off, 0.02))
        judged = [replace(spheres[0], fit=fit), *spheres[1:]]
        assert len(odd_ones(judged, PickOptions(6.0))[1]) == odd
        assert not odd_ones(judged[:4], PickOptions(6.0))[1]  # too few to judge by


def test_a_narrow_strip_that_explains_few_points_is_no_sphere(rng):
    c = sphere_of(rng, 3_000)
    narrow = replace(c, spread=0.3 * c.spread / c.width)
    assert fault(narrow, PickOptions(6.0)) is None
    used = c.fit.used.copy()
    used[: 2 * len(used) // 3] = False
    wrong = fault(replace(narrow, fit=replace(c.fit, used=used)), PickOptions(6.0))
    assert wrong is not None
    assert wrong.reason is RejectionReason.STRIP


def test_more_may_rise_around_a_smaller_cap(rng):
    c = sphere_of(rng, 3_000)
    rises = rising(c, int(3_000 * 0.75 / 1.75))
    assert fault(replace(rises, cap=0.25), PickOptions(6.0)) is not None
    small = replace(rises, cap=0.12, spread=_spread_of_cap(0.12))
    assert fault(small, PickOptions(6.0)) is None
