"""The fit of one sphere: exactness, slopes, bound, and the pull along the sight."""

import numpy as np

from analysis.spheres.centre_fit import BLIND, fit_sphere, minimise, refine, seen_at
from analysis.spheres.thresholds import FIT
from sim.core.arrays import Floats
from tests.analysis.spheres.test_normals import ball

CENTRE = np.array([12.0, -7.0, 30.0])
EYE = np.array([12.0, -7.0, 430.0])


def cap(rng: np.random.Generator, count: int, angle: float) -> Floats:
    """Points of the cap of that half angle (degrees) around +z, of radius 6."""
    z = rng.uniform(np.cos(np.deg2rad(angle)), 1.0, count)
    a = rng.uniform(0, 2 * np.pi, count)
    s = np.sqrt(1 - z * z)
    return 6.0 * np.column_stack([s * np.cos(a), s * np.sin(a), z])


def scanned(rng: np.random.Generator, x: Floats, sigma: float) -> tuple[Floats, Floats]:
    """Points with noise along the line of sight, sigma along the normal."""
    at = CENTRE + x
    d = at - EYE
    d /= np.linalg.norm(d, axis=1)[:, None]
    cos = -np.einsum("ij,ij->i", d, x) / 6.0
    seen = cos > 0.31
    at, d, cos = at[seen], d[seen], cos[seen]
    return at + (rng.normal(0, sigma, len(at)) / cos)[:, None] * d, d


def test_points_on_a_sphere_give_its_centre_and_radius(rng):
    x = CENTRE + cap(rng, 400, 60)
    start = np.array([12.3, -7.2, 30.4])
    fit = fit_sphere(x, start, 6.0, np.ones(len(x), dtype=bool))
    assert fit is not None
    assert np.allclose(fit.centre, CENTRE, atol=1e-6)
    assert np.isclose(fit.free_radius, 6.0, atol=1e-5)


def test_heights_have_the_slopes_that_the_fit_uses(rng):
    theta = np.append(CENTRE, 6.0)
    x, d = scanned(rng, cap(rng, 60, 60), 0.3)
    v = rng.normal(size=4)
    h = 1e-3 * 0.5 ** np.arange(5)
    u, e = seen_at(x, BLIND, theta)
    J = np.append(u[7], 1.0)
    remainder = [
        abs(seen_at(x, BLIND, theta + k * v)[1][7] - e[7] + k * (J @ v)) for k in h
    ]
    slope = np.polyfit(np.log(h), np.log(remainder), 1)[0]
    assert abs(slope - 2) < 0.1
    # Along the line of sight the slopes hold on the surface, where the fit ends.
    u, e = seen_at(x, d, theta)
    on = x - (e / (u * d).sum(axis=1))[:, None] * d
    u, e = seen_at(on, d, theta)
    J = np.append(u[7], 1.0)
    assert abs(e[7]) < 1e-9
    remainder = [abs(seen_at(on, d, theta + k * v)[1][7] + k * (J @ v)) for k in h]
    slope = np.polyfit(np.log(h), np.log(remainder), 1)[0]
    assert abs(slope - 2) < 0.1


def test_the_covariance_is_the_cramer_rao_bound(rng):
    sigma = 0.05
    ratios = []
    for _ in range(10):
        u = cap(rng, 2_000, 70) / 6.0
        x = CENTRE + u * (6.0 + rng.normal(0, sigma, 2_000))[:, None]
        fit = refine(x, np.append(CENTRE, 6.0), sigma, BLIND, rounds=2)
        assert fit is not None
        bound = sigma**2 * np.linalg.inv(u.T @ u)
        ratios.append(np.trace(fit.covariance) / np.trace(bound))
    assert 0.9 < np.mean(ratios) < 1.2


def test_a_free_radius_costs_five_times_the_error_on_a_quarter_cap(rng):
    """sd sigma sqrt(12 / N) / (1 - cos a) instead of sqrt(3 / (N (1 + c + c^2)))."""
    sigma, count, c = 0.05, 4_000, np.cos(np.deg2rad(60))
    u = cap(rng, count, 60) / 6.0
    x = CENTRE + u * (6.0 + rng.normal(0, sigma, count))[:, None]
    fit = refine(x, np.append(CENTRE, 6.0), sigma, BLIND, rounds=2)
    assert fit is not None
    axial = np.sqrt(fit.covariance[2, 2])
    assert np.isclose(axial, sigma * np.sqrt(3 / count / (1 + c + c * c)), rtol=0.2)
    # At this cap the axis and the radius trade places almost one for one.
    assert np.isclose(
        fit.free_radius_sd, sigma * np.sqrt(4 / count * (1 + c + c * c)) / (1 - c),
        rtol=0.3,
    )  # fmt: skip


def test_the_line_of_sight_takes_the_pull_out_of_the_centre(rng):
    blind, sighted = [], []
    every = np.append(CENTRE, 6.0)
    for _ in range(20):
        x, d = scanned(rng, ball(rng, 6_000, 6.0), 0.3)
        use = np.ones(len(x), dtype=bool)
        blind.append(minimise(x, use, BLIND, every, 0.3, False, 1e-4)[0][:3] - CENTRE)
        sighted.append(minimise(x, use, d, every, 0.3, False, 1e-4)[0][:3] - CENTRE)
    pull, left = np.mean(blind, axis=0)[2], np.mean(sighted, axis=0)[2]
    error = float(np.std(sighted, axis=0)[2]) / np.sqrt(20)
    assert pull > 8 * error
    assert abs(left) < 4 * error


def test_a_rod_on_the_sphere_does_not_move_the_centre(rng):
    sigma = 0.05
    u = ball(rng, 3_000, 1.0)
    u = u[(np.hypot(u[:, 1], u[:, 2]) > 0.7) | (u[:, 0] < 0)]
    x = u * (6.0 + rng.normal(0, sigma, len(u)))[:, None]
    a, z = rng.uniform(0, 2 * np.pi, 800), rng.uniform(4.285, 9, 800)
    r = 4.2 + rng.normal(0, sigma, 800)
    clamp = np.column_stack([z, r * np.cos(a), r * np.sin(a)])
    fit = refine(
        np.concatenate([x, clamp]) + CENTRE, np.append(CENTRE, 6.0), sigma, BLIND,
        rounds=3,
    )  # fmt: skip
    assert fit is not None
    error = fit.centre - CENTRE
    assert error @ np.linalg.solve(fit.covariance, error) < 14.2  # 99.7 % of chi2(3)


def test_points_without_a_sphere_give_none(rng):
    x = rng.uniform(-50, 50, (40, 3))
    assert fit_sphere(x, np.zeros(3), 1.0, np.ones(40, dtype=bool)) is None


def test_a_step_longer_than_the_reweighted_one_ends_at_the_same_minimum(rng):
    """At the minimum the scores sum to zero, whatever the way there."""
    x = CENTRE + cap(rng, 2_000, 60) * (1 + rng.normal(0, 0.02, 2_000))[:, None]
    start = np.append(CENTRE + np.array([0.4, -0.3, 0.5]), 6.0)
    use = np.ones(len(x), dtype=bool)
    theta, step = minimise(x, use, BLIND, start, 0.12, False, 1e-9)
    assert step < 1e-9
    d = x - theta[:3]
    r = np.linalg.norm(d, axis=1)
    q = np.minimum(((r - 6.0) / 0.6) ** 2, 1.0)
    scores = ((1 - q) ** 2 * (r - 6.0) / r) @ d
    assert np.linalg.norm(scores) < 1e-6


def test_a_minimum_too_far_away_is_not_claimed(rng):
    """40 steps of a tenth of the radius at most: 24 mm."""
    x = CENTRE + cap(rng, 500, 180)
    use = np.ones(len(x), dtype=bool)
    for away, reached in ((20.0, True), (30.0, False)):
        start = np.append(CENTRE, 6.0)
        start[0] += away
        theta, step = minimise(x, use, BLIND, start, 10.0, False, 1e-4)
        assert (step < 1e-4) == reached
        assert bool(abs(theta[0] - CENTRE[0]) < 0.1) == reached


def test_points_too_rough_for_a_sphere_are_given_up(rng):
    x = CENTRE + cap(rng, 600, 60) * (1 + rng.normal(0, 0.05, 600))[:, None]
    theta = np.append(CENTRE, 6.0)
    assert refine(x, theta, 0.3, BLIND, rounds=3) is not None
    assert refine(x, theta, 0.3, BLIND, rounds=3, roughest=0.1) is None


def test_a_radius_whose_steps_end_in_a_cycle_has_an_error():
    """Points come and go at the rim of lines of sight: 4 of 100 such caps."""
    sight = np.tile([0.0, 0.0, -1.0], (220, 1))
    radii = []
    for seed in range(100, 200):
        draw = np.random.default_rng(seed)
        z, a = draw.uniform(np.cos(np.deg2rad(78)), 1, 220), draw.uniform(0, 7, 220)
        s = np.sqrt(1 - z * z)
        x = 12.0 * np.column_stack([s * np.cos(a), s * np.sin(a), z])
        x[:, 2] += 0.34 * draw.normal(size=220) / np.maximum(z, 0.25)
        fit = refine(x, np.array([0, 0, 0, 12.0]), 0.34, sight, rounds=1)
        assert fit is not None
        radii.append((fit.free_radius, fit.free_radius_sd))
    off, sd = np.array(radii).T - np.array([[12.0], [0.0]])
    assert (sd < 0.03 * 12.0).all()
    assert (np.abs(off) < 5 * sd).mean() > 0.95


def test_a_fit_in_large_noise_does_not_take_in_what_is_around(rng):
    """Noise of 8 % of the radius; the scale grew until it held the clutter too."""
    u = rng.standard_normal((800, 3))
    u /= np.linalg.norm(u, axis=1)[:, None]
    u[:, 2] = np.abs(u[:, 2])
    on = (20.0 + 1.6 * rng.standard_normal((800, 1))) * u
    around = rng.uniform(-30, 30, (1200, 3))
    x = np.concatenate([on, around[np.linalg.norm(around, axis=1) > 22.0]])
    fit = fit_sphere(x, np.array([1.0, 1.0, 1.0]), 20.0, np.ones(len(x), np.bool_))
    assert fit is not None
    assert fit.scale <= FIT.widest * 20.0
    assert np.abs(fit.centre).max() < 1.0
