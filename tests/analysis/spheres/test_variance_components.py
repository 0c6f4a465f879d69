"""Components of variance: what errors points share is found again in their heights."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.spheres.cells_on_a_sphere import even_directions
from analysis.spheres.thresholds import PATCHES
from analysis.spheres.variance_components import (
    Components,
    Patches,
    estimate,
    likeliest,
    merge_close,
)
from sim.core.arrays import Floats

BALLS, R = 6, 6.0
AT = 40.0 * np.indices((2, 3, 1)).reshape(3, BALLS).T
WAYS = np.array([[1.0, 0, 1], [0, 1, 1], [-1, 0, 1], [0, -1, 1]]) / np.sqrt(2)
NAMES = [  # in the order of the sizes
    "noise of points", "errors independent between patches",
    *(f"line of sight, correlated over {length:g} radii" for length in PATCHES.lengths),
    "ovality of spheres", "form error of spheres", "spread of sphere radii",
    "common to all views, radius", "common to all views, steep surfaces",
    "translation of views", "rotation of views",
]  # fmt: skip


def seen(merged: bool) -> Patches:
    """Balls seen from four sides, each patch by one view or by those that may."""
    u = even_directions(50)
    cos = u @ WAYS.T
    rows = []
    for ball in range(BALLS):
        views = [None] if merged else range(len(WAYS))
        for view in views:
            at = np.flatnonzero(
                (cos > 0.35).any(axis=1) if view is None else cos[:, view] > 0.35
            )
            share = np.where(cos[at] > 0.35, cos[at], 0.0)
            if view is not None:
                share = np.zeros_like(share)
                share[:, view] = 1.0
            rows.append((np.full(len(at), ball), u[at], share))
    ball, normal, share = (np.concatenate([row[k] for row in rows]) for k in range(3))
    n, share = len(ball), share / share.sum(axis=1)[:, None]
    return Patches(
        ball, AT[ball] + R * normal, normal, np.ones(n), np.zeros(n),
        np.full(n, 1e-4), share, normal @ WAYS.T, R, merged,
    )  # fmt: skip


def with_errors(
    rng: np.random.Generator, p: Patches, sizes: dict[str, float]
) -> Patches:
    """The patches raised at random by the components named."""
    t = np.array([sizes.get(name, 0.0) for name in NAMES[: 13 if p.merged else 11]])
    C = Components(p, t).covariance(np.eye(len(p.sphere)))
    values, vectors = np.linalg.eigh(C)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return replace(p, height=root @ rng.normal(size=len(values)))


def centres(p: Patches) -> Floats:
    """(n, 3 m) what makes centres of heights."""
    J = np.zeros((len(p.sphere), 3 * BALLS))
    for i in range(BALLS):
        u = p.u[p.sphere == i]
        J[p.sphere == i, 3 * i : 3 * i + 3] = u @ np.linalg.inv(u.T @ u)
    return J


FIELD = "line of sight, correlated over 2 radii"


@pytest.mark.parametrize(
    ("merged", "sizes"),
    [
        (False, {"noise of points": 1.0, FIELD: 4e-4}),
        (False, {"noise of points": 2.0, "ovality of spheres": 4e-4}),
        (True, {"noise of points": 1.0, "translation of views": 4e-4}),
        (True, {"noise of points": 1.0, "form error of spheres": 4e-4}),
    ],
)
def test_what_centres_err_by_is_learnt_from_what_is_left_on_balls(rng, merged, sizes):
    p = seen(merged)
    J = centres(p)
    names = NAMES[: 13 if merged else 11]
    true = Components(p, np.array([sizes.get(name, 0.0) for name in names]))
    told, spread = 0.0, float(np.trace(true.covariance(J)))
    for _ in range(2):
        found = estimate(with_errors(rng, p, sizes), np.empty((len(p.sphere), 0)))
        assert found is not None
        told += float(np.trace(found.covariance(J))) / 2
    assert told == pytest.approx(spread, rel=0.45)


def test_squared_errors_over_variances_that_are_learnt_are_one_in_the_mean(rng):
    """Over the likeliest variances alone they are a tenth more."""
    p, over, over_likeliest = seen(merged=False), [], []
    J = centres(p)
    sizes = {"noise of points": 1.0, NAMES[5]: 4e-4, "spread of sphere radii": 1e-4}
    true = Components(p, np.array([sizes.get(name, 0.0) for name in NAMES[:11]]))
    spread = true.covariance(J)
    for _ in range(10):
        found = estimate(with_errors(rng, p, sizes), np.empty((len(p.sphere), 0)))
        assert found is not None
        over.append(np.trace(np.linalg.solve(found.covariance(J), spread)) / len(J.T))
        plain = found.likeliest(J)[1]
        over_likeliest.append(np.trace(np.linalg.solve(plain, spread)) / len(J.T))
    assert np.mean(over) == pytest.approx(1.0, abs=0.25)
    assert np.mean(over_likeliest) > 1.05 * np.mean(over)


def test_a_variance_of_k_squares_is_taken_one_and_two_over_k_times():
    p = seen(merged=False)
    J, sizes, k = centres(p), 3.0 * np.eye(11)[0], 8.0
    V = np.zeros((11, 11))
    V[0, 0] = 2.0 * sizes[0] ** 2 / k
    found = Components(p, sizes, V).covariance(J)
    plain = Components(p, sizes).covariance(J)
    np.testing.assert_allclose(found, (1.0 + 2.0 / k) * plain)


def test_noise_that_is_independent_has_no_other_component(rng):
    p = with_errors(rng, seen(merged=False), {"noise of points": 1.0})
    found = estimate(p, np.empty((len(p.sphere), 0)))
    assert found is not None
    J = centres(p)
    plain = Components(p, np.eye(11)[0]).covariance(J)
    ratio = np.trace(found.covariance(J)) / np.trace(plain)
    assert ratio == pytest.approx(1.0, abs=0.4)
    assert found.sizes.shape == (11,)
    assert np.sqrt(found.sizes[2:9].max()) < 0.005


def test_eleven_components_are_told_in_thirty_rounds(rng):
    """Half of them are none; minorising and maximising took over a hundred."""
    p = seen(merged=False)
    every = np.eye(len(p.sphere))
    each = Components(p, np.zeros(11)).likeliest(every)[0]
    centres_alone = np.linalg.qr(centres(p))[0]
    for sizes in ({FIELD: 4e-4}, {}):
        z = with_errors(rng, p, {"noise of points": 1.0, **sizes}).height
        found = likeliest(z, each, centres_alone)
        assert found is not None
        assert found[2] <= 30
        assert (found[0] == 0.0).sum() >= 3


def test_what_motions_of_views_explain_is_no_error_of_theirs(rng):
    """Views moved by a tenth of a mm: no error is left where they are known to move."""
    p = with_errors(rng, seen(merged=False), {"noise of points": 1.0})
    shifts = 0.1 * rng.normal(size=(4, 3))
    moved = replace(p, height=p.height + np.einsum("ni,nv,vi->n", p.u, p.share, shifts))
    free = (p.share[:, :, None] * p.u[:, None]).reshape(len(p.u), -1)
    J = centres(p)
    traces = []
    for known in (free, np.empty((len(p.u), 0))):
        found = estimate(moved, known)
        assert found is not None
        traces.append(float(np.trace(found.covariance(J))))
    assert 50.0 * traces[0] < traces[1]


def test_a_radius_that_is_wrong_is_counted_as_large_as_it_is(rng):
    p = with_errors(rng, seen(merged=False), {"noise of points": 1.0})
    found = estimate(replace(p, height=p.height + 0.1), np.empty((len(p.sphere), 0)))
    assert found is not None
    J = centres(p)
    pulled = J.sum(axis=0) * 0.1
    along = pulled @ found.covariance(J) @ pulled / (pulled @ pulled)
    assert along == pytest.approx(pulled @ pulled, rel=0.3)


def test_a_ball_of_which_no_patch_is_left_tells_nothing(rng):
    p = with_errors(rng, seen(merged=False), {"noise of points": 1.0})
    kept = p.sphere != 2
    rest = Patches(
        p.sphere[kept], p.x[kept], p.u[kept], p.weight[kept], p.height[kept],
        p.white[kept], p.share[kept], p.cos[kept], R, merged=False,
    )  # fmt: skip
    found = estimate(rest, np.empty((int(kept.sum()), 0)))
    assert found is not None
    assert found.sizes[0] == pytest.approx(1.0, abs=0.4)


def test_few_balls_tell_no_components():
    p = seen(merged=False).of(4)
    assert estimate(p, np.empty((len(p.sphere), 0))) is None


def test_close_directions_are_one_view():
    near = np.array([[1.0, 0.1, 0.0], [0.0, 0.0, 1.0], [3.0, -0.1, 0.0]])
    np.testing.assert_allclose(merge_close(near), [[4.0, 0, 0], [0, 0, 1]], atol=1e-12)
