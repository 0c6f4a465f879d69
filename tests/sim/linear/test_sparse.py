"""Sparse factorisation against dense linear algebra."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sim.arrays import Floats, Ints
from sim.linear import symbolic
from sim.linear.ordering import nested_dissection
from sim.linear.sparse import analyse, factorise, sorted_places


def lattice(rows: int, columns: int, per_node: int) -> tuple[int, Ints, Ints]:
    """Lower-triangle places of a lattice with several unknowns at each node."""
    node = np.arange(rows * columns).reshape(rows, columns)
    pairs = [(node[1:], node[:-1]), (node[:, 1:], node[:, :-1]), (node, node)]
    i = np.concatenate([a.ravel() for a, _ in pairs])
    j = np.concatenate([b.ravel() for _, b in pairs])
    a, b = np.divmod(np.arange(per_node**2), per_node)
    r = (i[:, None] * per_node + a).ravel()
    c = (j[:, None] * per_node + b).ravel()
    kept = (np.repeat(i != j, per_node**2)) | (r >= c)
    return rows * columns * per_node, r[kept], c[kept]


def dense(n: int, rows: Ints, cols: Ints, values: Floats) -> Floats:
    A = np.zeros((n, n))
    np.add.at(A, (rows, cols), values)
    return A + A.T - np.diag(A.diagonal())


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 40, 2), (9, 11, 3), (20, 20, 1)])
def test_solution_solves_the_system(
    shape: tuple[int, int, int], rng: np.random.Generator
) -> None:
    n, rows, cols = lattice(*shape)
    values = rng.normal(size=len(rows)) + 12.0 * (rows == cols)
    b = rng.normal(size=(n, 2))
    factor = factorise(analyse(n, rows, cols), values)
    assert_allclose(dense(n, rows, cols, values) @ factor.solve(b), b, atol=1e-12)
    assert_allclose(factor.solve(b)[:, 1], factor.solve(b[:, 1]), atol=1e-14)


def test_pivots_have_the_signs_of_the_eigenvalues(rng: np.random.Generator) -> None:
    n, rows, cols = lattice(7, 6, 3)
    signs = np.where(rng.random(n) < 0.3, -12.0, 12.0)
    values = rng.normal(size=len(rows))
    values[rows == cols] += signs
    eigenvalues = np.linalg.eigvalsh(dense(n, rows, cols, values))
    factor = factorise(analyse(n, rows, cols), values)
    assert factor.positive == np.count_nonzero(eigenvalues > 0)
    assert factor.negative == np.count_nonzero(eigenvalues < 0)


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("shared", [0, np.inf])
def test_a_factor_that_is_to_be_definite_ends_at_a_negative_pivot(
    shared: float, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(symbolic, "SHARED", shared)
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    n, rows, cols = lattice(30, 40, 1)
    pattern = analyse(n, rows, cols)
    for wrong in (None, 0, n // 2, n - 1):  # in a branch, and above all branches
        values = np.where(rows == cols, 5.0, -1.0)
        if wrong is not None:
            values[(rows == cols) & (rows == pattern.order[wrong])] = -5.0
        whole = factorise(pattern, values)
        ended = factorise(pattern, values, definite=True)
        assert (ended.negative > 0) == (whole.negative > 0) == (wrong is not None)
        if wrong is None:
            assert_array_equal(ended.pivot, whole.pivot)


@pytest.mark.parametrize("size", [30, 60, 250])
def test_dependent_rows_are_dropped_and_consistent_systems_solved(
    size: int, rng: np.random.Generator
) -> None:
    """One front; of 250 columns, panels are subtracted as products of matrices."""
    J = rng.normal(size=(size, 2 * size)) / np.sqrt(size)
    J[7] = J[3] - 2.0 * J[20]
    J[-1] = J[0] + J[1]
    A = J @ J.T
    rows, cols = np.tril_indices(size)
    factor = factorise(analyse(size, rows, cols), A[rows, cols])
    assert len(factor.dropped) == 2
    assert factor.positive == size - 2
    b = A @ rng.normal(size=size)
    assert_allclose(A @ factor.solve(b), b, atol=1e-10)
    assert_array_equal(factor.solve(b)[factor.dropped], 0.0)


def test_entries_of_one_place_add_up_in_either_triangle() -> None:
    rows, cols = np.array([0, 1, 1, 0, 0]), np.array([0, 1, 0, 1, 0])
    pattern = analyse(2, rows, cols)
    factor = factorise(pattern, np.array([2.0, 5.0, 0.5, 0.5, 1.0]))
    assert_allclose(factor.solve(np.array([4.0, 6.0])), [1.0, 1.0], atol=1e-15)


def test_one_pattern_serves_many_values(rng: np.random.Generator) -> None:
    n, rows, cols = lattice(5, 5, 2)
    pattern = analyse(n, rows, cols)
    b = rng.normal(size=n)
    for _ in range(3):
        values = rng.normal(size=len(rows)) + 12.0 * (rows == cols)
        x = factorise(pattern, values).solve(b)
        assert_allclose(dense(n, rows, cols, values) @ x, b, atol=1e-12)


def test_order_holds_every_unknown_once_whatever_the_graph() -> None:
    star = np.arange(1, 200)
    n, rows, cols = 400, star, np.zeros_like(star)  # a star and 200 lone unknowns
    assert_array_equal(np.sort(analyse(n, rows, cols).order), np.arange(n))


def test_dissection_keeps_fill_far_below_that_of_the_natural_order() -> None:
    n, rows, cols = lattice(40, 40, 1)
    natural = analyse(n, rows, cols, order=np.arange(n)).fill
    assert analyse(n, rows, cols).fill < natural / 3


def test_an_empty_graph_has_an_empty_order() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert len(nested_dissection(np.zeros(1, dtype=np.int64), none)) == 0


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_branches_that_threads_share_give_the_bits_of_one(
    shift: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Laplacian of a grid, alone of rank n - 1, in branches and as a whole."""
    n, rows, cols = lattice(30, 40, 1)
    ends = np.concatenate([rows[rows != cols], cols[rows != cols]])
    degree = shift + np.bincount(ends, minlength=n)
    values = np.where(rows == cols, degree[rows], -1.0)
    b = np.random.default_rng(0).normal(size=n)
    b -= b.mean()
    made = []
    for shared, threads in ((np.inf, "1"), (0, "1"), (0, "2"), (0, "0")):
        monkeypatch.setattr(symbolic, "SHARED", shared)
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        pattern = analyse(n, rows, cols)
        assert (len(pattern.fronts.branches) > 3) == (shared == 0)
        made.append(factorise(pattern, values))
        assert len(made[-1].dropped) == (shift == 0.0)
        assert_array_equal(made[-1].pivot, made[0].pivot)
        assert_array_equal(made[-1].solve(b), made[0].solve(b))
    x = made[-1].solve(b)
    assert_allclose(dense(n, rows, cols, values) @ x, b, atol=1e-10)


def test_places_are_sorted_and_counted_once(rng: np.random.Generator) -> None:
    for rows, cols, count in ((1, 1, 1), (5, 9, 30), (50, 40, 3000), (7, 7, 0)):
        a, b = rng.integers(rows, size=count), rng.integers(cols, size=count)
        start, minor, slot = sorted_places((rows, cols), a, b)
        places, same = np.unique(a * cols + b, return_inverse=True)
        major = np.repeat(np.arange(rows), np.diff(start))
        assert_array_equal(major * cols + minor, places)
        assert_array_equal(slot, same)


def test_a_chain_and_a_single_front_have_no_branches_to_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(symbolic, "SHARED", 0)
    for n, rows, cols in (lattice(1, 300, 2), (40, *np.tril_indices(40))):
        values = np.where(rows == cols, 50.0, 1.0)
        pattern = analyse(n, rows, cols, order=np.arange(n))
        assert len(pattern.fronts.branches) == 2
        x = factorise(pattern, values).solve(np.ones(n))
        assert_allclose(dense(n, rows, cols, values) @ x, 1.0, atol=1e-12)
