"""The form of what a sphere was fitted to, by known answers."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.spheres.centre_fit import BLIND, Fit, refine
from analysis.spheres.detections import PickOptions
from analysis.spheres.find import find_spheres
from analysis.spheres.form_deviation import far_wall, free_ways, lengthwise, on_wall
from pipeline.scans.points_on_meshes import points_on
from sim.core.arrays import Floats
from tests.analysis.spheres.scenes import Scanner, scan, tree
from tests.helpers.detection_errors import outcome
from tests.helpers.fused_meshes import Fusion, fused
from tests.helpers.stereo_scanner import (
    Scene,
    StereoScanner,
    bars,
    bent_tube,
    mechanism,
    scanned,
)

R = 6.0


def directions(rng: np.random.Generator, count: int) -> Floats:
    """(count, 3) unit vectors of the upper half."""
    u = rng.standard_normal((count, 3))
    u[:, 2] = np.abs(u[:, 2])
    return np.asarray(u / np.linalg.norm(u, axis=1)[:, None])


def fitted(x: Floats) -> Fit:
    fit = refine(x, np.array([0.0, 0.0, 0.0, R]), 0.1, BLIND, rounds=2)
    assert fit is not None
    return fit


def told(x: Floats) -> tuple[float, float]:
    fit = fitted(x)
    found = lengthwise(fit, x - fit.centre, np.ones(len(x), dtype=bool))
    return float(found[0]), float(found[1])


@pytest.mark.parametrize("rise", [0.0, 0.02, 0.05])
def test_a_ball_that_is_longer_along_one_axis_tells_how_its_curvatures_differ(
    rng, rise
):
    """r = R (1 + t u_x^2): the curvatures where it bulges differ by 2 t / R."""
    u = directions(rng, 20_000)
    noise = 0.005 * rng.standard_normal(len(u))
    found, sd = told(u * (R * (1 + rise * u[:, 0] ** 2) + noise)[:, None])
    assert found == pytest.approx(2 * rise, rel=0.05, abs=4 * sd)
    assert sd < 0.002


def test_a_tube_has_one_curvature_and_no_other(rng):
    """Points to three tenths of a radius above count, where a parabola is too low."""
    around, along = rng.uniform(0, np.pi, 20_000), rng.uniform(-9, 9, 20_000)
    x = np.column_stack([along, R * np.cos(around), R * np.sin(around)])
    found, sd = told(x + 0.02 * rng.standard_normal(x.shape))
    s = np.linspace(0.0, np.sqrt(1.3**2 - 1), 1_000)  # along the tube, in radii
    slope = np.polyfit(s**2 / (1 + s**2), np.sqrt(1 + s**2), 1)[0]
    assert found == pytest.approx(2 * slope, rel=0.03)
    assert sd < 0.05


def wall(scale: float, u: Floats, rising: Floats) -> int:
    """Of what rises (k, 3) above a ball seen at u (m, 3)."""
    x = np.concatenate([R * u, rising])
    height = np.linalg.norm(x, axis=1) - R
    fit = replace(fitted(R * u), scale=scale, height=height)
    return on_wall(fit, x, np.arange(len(u), len(x)))


def test_points_of_a_tube_that_ends_in_a_sphere_are_counted(rng):
    """Of which a quarter is seen; those 0.3 mm within it are not on it, nor is what
    rises on the far side."""
    around, along = rng.uniform(0.0, np.pi / 2, 300), rng.uniform(3.0, 5.0, 300)
    wide = np.where(np.arange(300) < 200, R, R - 0.3)
    x = np.column_stack([wide * np.cos(around), wide * np.sin(around), along])
    end = -directions(rng, 400)
    assert wall(0.02, end, x) == 200
    sheet = rng.uniform([-5.0, -6.8, -5.0], [5.0, -6.2, 5.0], (80, 3))
    assert wall(0.02, end, np.concatenate([x[:200], sheet])) == 200


def test_a_few_points_of_other_things_do_not_turn_a_tube(rng):
    """11 on the far side beside 160 on a strip of its wall: the end of a short bar
    with a mesh of sheets behind it was a ball."""
    around, along = rng.uniform(0.0, 0.8, 160), rng.uniform(1.2, 5.0, 160)
    x = np.column_stack([R * np.cos(around), R * np.sin(around), along])
    behind = rng.uniform([1.5, -1.5, -7.5], [3.5, 1.5, -6.7], (11, 3))
    assert wall(0.02, -directions(rng, 400), np.concatenate([x, behind])) == 160


def test_points_of_the_sphere_that_a_tube_would_hide_speak_against_it(rng):
    """With a gate of 0.1 mm they lie nearer its axis than that within its wall."""
    around, along = rng.uniform(0.0, 2 * np.pi, 300), rng.uniform(2.0, 5.0, 300)
    x = np.column_stack([R * np.cos(around), R * np.sin(around), along])
    whole = directions(rng, 250)
    hidden = int((np.linalg.norm(whole[:, :2], axis=1) * R < R - 0.1).sum())
    assert 180 < hidden < 250
    assert wall(0.02, np.concatenate([whole, -whole]), x) == 300 - hidden


def test_a_tube_that_is_a_little_wide_and_seen_from_one_side_is_found(rng):
    """Its axis is told by its points, not by those heights along it that err most."""
    around, along = rng.uniform(-0.6, 0.6, 300), rng.uniform(0.9, 5.0, 300)
    wide = R + 0.1 + 0.03 * rng.standard_normal(300)
    x = np.column_stack([wide * np.cos(around), wide * np.sin(around), along])
    assert wall(0.04, -directions(rng, 400), x) > 290


def test_points_on_the_axis_of_a_tube_are_none_of_it():
    """Of a grid some are exactly on it, within the first gates of a rough surface."""
    x = np.array([[0.0, 0, R + h] for h in (0.5, 1.0, 1.5)])
    assert wall(0.1, -directions(np.random.default_rng(0), 400), x) == 0


def tube(rng: np.random.Generator, low: float, high: float) -> Floats:
    """(300, 3) a third of a tube of radius R around z, mm."""
    around, along = rng.uniform(-1.0, 1.0, 300), rng.uniform(low, high, 300)
    return np.column_stack([R * np.cos(around), R * np.sin(around), along])


def far(x: Floats, own: Floats, *others: Fit) -> int:
    fit = fitted(own)
    fit = replace(fit, scale=0.02, height=np.linalg.norm(own - fit.centre, axis=1) - R)
    around = np.concatenate([own, x]) - fit.centre
    return far_wall(fit, around, free_ways(fit, own - fit.centre), [*others])


def test_a_tube_is_found_whose_wall_is_hidden_where_it_ends(rng):
    """It counts up to where it ends; what lies within it there speaks against it."""
    x, end = tube(rng, 2.0 * R, 2.8 * R), R * -directions(rng, 400)
    beyond = rng.uniform([-1.0, -1.0, 2.8 * R], [1.0, 1.0, 3.0 * R], (100, 3))
    before = beyond - np.array([0.0, 0.0, R])
    assert far(x, end) == 300
    assert far(np.concatenate([x, beyond]), end) == 300
    assert far(np.concatenate([x, before]), end) == 200


def test_a_tube_is_found_beside_other_things_that_are_roughly_on_tubes(rng):
    """Four patches, and a thing behind the tube's other end: it went after those."""
    x, end = tube(rng, 2.0 * R, 2.8 * R), R * -directions(rng, 1500)
    end = end[end[:, 2] < -0.7 * R]
    behind = rng.uniform([-1.0, -1.0, 2.85 * R], [1.0, 1.0, 3.0 * R], (400, 3))
    s, c = 0.5, np.sqrt(0.75)  # tubes that lean by 30 degrees, 1.1 R wide
    out, up = 1.1 * R, rng.uniform(1.6 * R, 2.4 * R, 200)
    turn = rng.uniform(-0.4, 0.4, 200)
    patch = np.column_stack(
        [s * up + c * out * np.cos(turn), out * np.sin(turn), c * up]
    )
    patch[:, 2] -= s * out * np.cos(turn)
    quarter = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    patches = [patch @ np.linalg.matrix_power(quarter, k) for k in range(4)]
    assert far(np.concatenate([x, behind, *patches]), end) == 300


def test_what_a_ball_shows_where_a_tube_would_be_speaks_three_times_against_it(rng):
    """Of the few that are let pass at all, a hundredth here."""
    x, end = tube(rng, 2.0 * R, 2.8 * R), R * -directions(rng, 400)
    few = R * np.array([[0.1 * k, 0.0, np.sqrt(1 - 0.01 * k * k)] for k in range(4)])
    assert far(x, np.concatenate([end, few])) == 300 - 3 * 4
    assert far(x, R * np.concatenate([end / R, directions(rng, 400)])) == 0


@pytest.mark.parametrize("fused", [False, True])
def test_an_end_of_a_bar_whose_wall_shows_farther_on_is_no_ball(fused, rng):
    """Beside three balls, from above; the line says what would tell."""
    at = np.array([[20.0, 0, 0], [0, 20.0, 0], [-20.0, 0, 0], [0, -30.0, 0]])
    balls = [c + R * directions(rng, 900) for c in at]
    turn = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # the bar lies along y
    bar = (tube(rng, 1.4 * R, 2.9 * R) @ turn.T)[:, [2, 1, 0]] + at[3]
    half = balls[3][balls[3][:, 1] < at[3, 1]]
    scan = np.concatenate([*balls[:3], half, bar])
    scan += 0.02 * rng.standard_normal(scan.shape)
    picks = find_spheres(scan, PickOptions(R, fused=fused))
    assert len(picks.spheres) == 3
    told = [one.detail for one in picks.rejected if "in line with it" in one.detail]
    assert any("scan the gap between them" in one for one in told)


@pytest.mark.slow
def test_balls_in_loud_noise_are_no_ends_of_tubes(rng):
    """With noise of a twentieth of the radius 13 of 24 were refused."""
    parts = tree(rng, 8, "cylinder")
    seen = scan(rng, parts, Scanner(sigma=0.30, pixels=(560, 420)))
    picks = find_spheres(seen.points, PickOptions(R))
    assert not [one for one in picks.rejected if "in line with it" in one.detail]
    assert len(picks.spheres) == 8


def in_line_with(rng: np.random.Generator, apart: float) -> tuple[Floats, Fit]:
    """A ball whose half towards z = 0 is hidden up to its rim, and its fit."""
    u = directions(rng, 3000)[:, [2, 1, 0]]
    ball = R * u[(u[:, 0] > 0.6) & (u[:, 2] > -0.2)]
    above = np.array([0.0, 0.0, apart * R])
    return ball + above, replace(fitted(ball), centre=above, scale=0.02)


def test_the_rim_of_another_ball_is_no_tube(rng):
    """A tube before it is one, none behind it; so is a bar whose other end it is."""
    (ball, other), end = in_line_with(rng, 2.3), R * -directions(rng, 400)
    rim, before = far(ball, end), tube(rng, 1.2 * R, 2.0 * R)
    assert rim > 100
    assert far(ball, end, other) == 0
    assert far(np.concatenate([ball, before]), end, other) > 290
    behind = tube(rng, 3.1 * R, 3.4 * R)
    assert far(np.concatenate([ball, behind]), end, other) == 0
    bar = np.concatenate([ball[ball[:, 2] > 2.3 * R], tube(rng, 2.0 * R, 2.3 * R)])
    assert far(bar, end, other) > 290
    bar, other = in_line_with(rng, 1.5)
    assert far(bar, end, other) > 100


def test_a_ball_in_line_with_another_whose_near_half_is_hidden_is_found(rng):
    at = np.array([[20.0, 0, 0], [0, 20.0, 0], [-20.0, 0, 0], [0, -30.0, 0]])
    balls = [c + R * directions(rng, 900) for c in at]
    half = at[3] + R * -directions(rng, 900)
    scan = np.concatenate([*balls[:3], half, at[3] + in_line_with(rng, 2.3)[0]])
    scan += 0.02 * rng.standard_normal(scan.shape)
    assert len(find_spheres(scan, PickOptions(R)).spheres) == 5


def test_an_error_that_grows_towards_the_rim_of_a_cap_makes_no_tube(rng):
    """As smoothing does in a single view, with 0.1 mm at the rim of a cap of 26 %."""
    wide = directions(rng, 40_000)
    u = wide[wide[:, 2] > 0.48]
    droop = 0.1 * (1 - u[:, 2]) ** 2 / 0.52**2
    for way in (-1.0, 1.0):
        found, sd = told(
            u * (R + way * droop + 0.02 * rng.normal(size=len(u)))[:, None]
        )
        assert found < 4 * sd < 0.08


def test_few_points_that_hardly_tell_a_form_say_so(rng):
    """A cap of 20 %: what it differs by is within the chance that it states."""
    wide = directions(rng, 3_000)
    u = wide[wide[:, 2] > 0.6][:150]
    found, sd = told(u * (R + 0.3 * rng.standard_normal(len(u)))[:, None])
    assert sd > 0.05
    assert found < 4 * sd


def test_the_ends_of_a_bent_tube_in_a_fused_mesh_are_no_balls():
    """A mesh is rough, and the tube's wall at its end within that roughness."""
    rng = np.random.default_rng([24, 97000])
    some = mechanism(rng, 4, 110.0 * 3 ** (-1 / 3))
    low = float(some.centres[:, 2].min())
    beside = np.array([float(np.abs(some.centres).max()) + 28.0, 0.0, low + 2.0])
    rods = [*some.rods, *bent_tube(beside, 30.0, R)]
    seen = scanned(Scene(some.centres, R, rods), StereoScanner(), rng)
    mesh = fused(seen.points, seen.view, seen.places, 0.5, Fusion.TSDF)
    options = PickOptions(R, fused=True)
    found = outcome(seen.centres, find_spheres(points_on(*mesh, 0.4, 36.0), options))
    assert (found.found, found.false) == (4, 0)


@pytest.fixture(scope="module")
def balls_and_bars():
    """Four balls with links and three bars of their radius: centres, and the scan."""
    rng = np.random.default_rng([24, 97001])
    some = mechanism(rng, 4, 110.0 * 3 ** (-1 / 3))
    rods = [*some.rods, *bars(rng, some.centres, 3, R)]
    return scanned(Scene(some.centres, R, rods), StereoScanner(), rng)


@pytest.mark.parametrize(("how", "most"), [(Fusion.TSDF, 0), (Fusion.POISSON, 1)])
def test_the_round_ends_of_bars_in_a_fused_mesh_are_no_balls(balls_and_bars, how, most):
    """Of the balls' radius; balls with links attached are found beside them. Poisson's
    equation closes the mesh below balls too, as it does beside one of the six ends."""
    seen = balls_and_bars
    mesh = fused(seen.points, seen.view, seen.places, 0.5, how)
    options = PickOptions(R, fused=True)
    found = outcome(seen.centres, find_spheres(points_on(*mesh, 0.4, 36.0), options))
    assert found.found == 4
    assert found.false <= most
