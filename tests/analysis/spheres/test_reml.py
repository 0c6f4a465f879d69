"""Variances that are most likely: known answers, and few rounds to them."""

import numpy as np
import pytest

from analysis.spheres.variance_components import likeliest
from sim.core.arrays import Floats

GROUPS, EACH = 7, 4
MEAN = np.ones((GROUPS * EACH, 1)) / np.sqrt(GROUPS * EACH)


def groups(rng: np.random.Generator, apart: float) -> tuple[Floats, Floats]:
    """Measurements of groups that differ by an sd, and the two covariances."""
    member = np.kron(np.eye(GROUPS), np.ones((EACH, 1)))
    z = 3.0 + rng.normal(size=len(member)) + member @ (apart * rng.normal(size=GROUPS))
    return z, np.array([np.eye(len(z)), member @ member.T])


def mean_squares(z: Floats) -> tuple[float, float]:
    """Within groups and between them."""
    table = z.reshape(GROUPS, EACH)
    within = float(((table - table.mean(axis=1)[:, None]) ** 2).sum())
    between = EACH * float(((table.mean(axis=1) - z.mean()) ** 2).sum())
    return within / (GROUPS * (EACH - 1)), between / (GROUPS - 1)


def test_variances_of_groups_are_those_of_the_analysis_of_variance(rng):
    z, each = groups(rng, apart=2.0)
    found = likeliest(z, each, MEAN)
    assert found is not None
    within, between = mean_squares(z)
    np.testing.assert_allclose(found[0], [within, (between - within) / EACH], rtol=1e-6)
    # the mean of k squares scatters by 2 / k of its square
    own = 2.0 * within**2 / (GROUPS * (EACH - 1))
    both = own / EACH**2 + 2.0 * between**2 / (GROUPS - 1) / EACH**2
    V = np.array([[own, -own / EACH], [-own / EACH, both]])
    np.testing.assert_allclose(found[1], V, rtol=1e-6)
    assert found[2] <= 8


def test_groups_that_differ_less_than_chance_have_no_variance_of_their_own():
    z = np.tile([1.0, 2.0, -1.0, 0.5], GROUPS)
    found = likeliest(z, groups(np.random.default_rng(0), 0.0)[1], MEAN)
    assert found is not None
    assert found[0][1] == 0.0
    assert found[0][0] == pytest.approx(np.var(z, ddof=1), rel=1e-6)


def minorised(z: Floats, each: Floats, known: Floats, rounds: int) -> Floats:
    """The slow twin: t <- t sqrt(z' P C_k P z / tr(P C_k)), which never overshoots.

    Zhou, Hu, Zhou, Lange, J. Comput. Graph. Stat. 28:350 (2019).
    """
    t = np.ones(len(each))
    for _ in range(rounds):
        inverse = np.linalg.inv(np.tensordot(t, each, 1))
        taken = inverse @ known
        P = inverse - taken @ np.linalg.solve(known.T @ taken, taken.T)
        t = t * np.sqrt((each @ P @ z) @ (P @ z) / np.einsum("ij,kji->k", P, each))
    return np.asarray(t)


def fields(rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Heights along a line that err apart and over two lengths, but a free slope."""
    x = np.linspace(0.0, 1.0, 60)
    apart = (x[:, None] - x) ** 2
    each = np.array([np.eye(60), np.exp(-apart / 2e-3), np.exp(-apart / 0.1)])
    z = np.linalg.cholesky(np.tensordot([0.5, 2.0, 3.0], each, 1)) @ rng.normal(size=60)
    return z, each, np.column_stack([np.ones(60), x])


def test_it_is_where_minorising_and_maximising_leads(rng):
    z, each, known = fields(rng)
    known = np.linalg.qr(known)[0]
    found = likeliest(z, each, known)
    assert found is not None
    slow = minorised(z, each, known, 200)
    np.testing.assert_allclose(found[0], slow, rtol=1e-6)
    assert found[2] <= 12


def test_what_is_known_to_move_everything_has_no_part(rng):
    z, each, known = fields(rng)
    known = np.linalg.qr(known)[0]
    found = likeliest(z, each, known)
    moved = likeliest(z + known @ [40.0, -70.0], each, known)
    assert found is not None
    assert moved is not None
    np.testing.assert_allclose(found[0], moved[0], rtol=1e-4)


def test_covariances_of_zero_tell_nothing():
    assert likeliest(np.ones(3), np.zeros((2, 3, 3)), np.empty((3, 0))) is None


def test_components_without_any_covariance_are_not_estimated(rng):
    z, each = groups(rng, apart=1.0)
    assert likeliest(z, 0.0 * each, MEAN) is None
