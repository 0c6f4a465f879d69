"""L D L^T of a profile agrees with dense algebra."""

import numpy as np
import pytest

from sim.core.arrays import Floats, Ints
from sim.linalg.skyline import back_substitute, factorise, row_starts, solve


def random_profile(
    rng: np.random.Generator, n: int, shift: float
) -> tuple[Floats, Floats, Ints, Ints]:
    """A dense symmetric matrix and its rows from their first entry."""
    first = np.maximum(0, np.arange(n) - rng.integers(0, 9, n))
    A = rng.normal(size=(n, n))
    A[np.arange(n)[None, :] < first[:, None]] = 0.0
    A = np.tril(A) + np.tril(A, -1).T + shift * np.eye(n)
    start = row_starts(first)
    values = np.concatenate([A[i, first[i] : i + 1] for i in range(n)])
    return A, values, start, first


@pytest.mark.parametrize("shift", [0.0, 12.0])
def test_factors_solve_what_the_dense_matrix_solves(shift, rng):
    A, values, start, first = random_profile(rng, 60, shift)
    b = rng.normal(size=60)
    negative, smallest = factorise(values, start, first)
    assert negative == np.count_nonzero(np.linalg.eigvalsh(A) < 0)
    assert smallest > 0
    x = b.copy()
    solve(values, start, first, x)
    assert A @ x == pytest.approx(b, abs=1e-6)


def test_back_substitution_solves_with_the_upper_factor(rng):
    A, values, start, first = random_profile(rng, 30, 12.0)
    factorise(values, start, first)
    L = np.eye(30)
    for i in range(30):
        L[i, first[i] : i] = values[start[i] : start[i + 1] - 1]
    D = values[start[1:] - 1]
    assert L @ np.diag(D) @ L.T == pytest.approx(A, abs=1e-12)
    b = rng.normal(size=30)
    x = b.copy()
    back_substitute(values, start, first, x)
    assert L.T @ x == pytest.approx(b, abs=1e-12)
