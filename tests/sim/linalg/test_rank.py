"""Pivots of a sparse QR factorisation."""

import numpy as np
from numpy.testing import assert_allclose

from sim.core.arrays import Floats
from sim.linalg.rank import SparseRows, column_pivots
from sim.linalg.sparse_ldl import SparsityPattern, analyse


def sparse(A: Floats) -> tuple[SparsityPattern, SparseRows]:
    """The pattern of A^T A, and A row by row."""
    row, column = np.nonzero(A)
    shared = (A != 0.0).T.astype(float) @ (A != 0.0)
    i, j = np.nonzero(np.tril(shared))
    start = np.searchsorted(row, np.arange(len(A) + 1))
    return analyse(A.shape[1], i, j), SparseRows(start, column, A[row, column])


def scattered(rng: np.random.Generator, rows: int, columns: int) -> Floats:
    A = np.zeros((rows, columns))
    for i in range(rows):
        near = (i + np.append(0, rng.integers(-4, 5, 2))) % columns
        A[i, near] = rng.normal(size=3)
    return A


def test_pivots_are_the_diagonal_of_r(rng):
    A = scattered(rng, 90, 60)
    pattern, rows = sparse(A)
    found = column_pivots(pattern.fronts, rows, 0.0)
    R = np.linalg.qr(A[:, pattern.order], mode="r")
    exact = np.abs(np.diag(R)) / np.linalg.norm(A, axis=0)[pattern.order]
    assert_allclose(found[pattern.order], exact, atol=1e-13)


def test_columns_that_depend_on_others_are_found(rng):
    A = scattered(rng, 90, 60)
    A[:, 7] = A[:, 8] - 0.5 * A[:, 30]
    A[:, 50] = A[:, 51] + 1e-8 * A[:, 49]
    pattern, rows = sparse(A)
    found = column_pivots(pattern.fronts, rows, 1e-10)
    assert np.count_nonzero(found == 0.0) == 60 - np.linalg.matrix_rank(A, tol=1e-12)
    assert np.linalg.matrix_rank(A[:, found > 0.0]) == np.count_nonzero(found)
