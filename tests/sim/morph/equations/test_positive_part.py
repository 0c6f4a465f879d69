"""The part of curvature that is never negative."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from sim.morph.equations.inertia_correction import positive_part


def test_positive_part_is_that_of_the_eigenvectors(rng: np.random.Generator) -> None:
    W = rng.normal(size=(60, 3, 3))
    W += W.transpose(0, 2, 1)
    W[:20] *= 10.0 ** rng.integers(-12, 12, (20, 1, 1))
    u = rng.normal(size=(10, 3))
    W[20:30] = -u[:, :, None] * u[:, None, :]  # twice the eigenvalue zero
    W[30], W[31], W[32] = 0.0, np.diag([1.0, -1.0, 0.0]), -np.ones((3, 3))
    values, vectors = np.linalg.eigh(W)
    kept = np.maximum(values, 0.0)[:, None, :]
    size = np.abs(values).max(axis=1)[:, None, None] + 1e-300
    found = positive_part(W)
    expected = (vectors * kept) @ vectors.transpose(0, 2, 1)
    assert_allclose(found / size, expected / size, atol=1e-14)
    assert_array_equal(found, found.transpose(0, 2, 1))


def test_a_positive_matrix_stays_as_it_is(rng: np.random.Generator) -> None:
    A = rng.normal(size=(20, 3, 3))
    W = A @ A.transpose(0, 2, 1)
    assert_array_equal(positive_part(W), W)
