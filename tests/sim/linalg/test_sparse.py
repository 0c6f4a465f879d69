"""Sparse factorisation against dense linear algebra."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sim.core.arrays import Floats, Ints
from sim.linalg import elimination_order
from sim.linalg.sparse import analyse, factorise, sorted_places


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


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("shared", [0, np.inf])
def test_a_factor_that_is_to_be_definite_ends_at_a_negative_pivot(
    shared, threads, monkeypatch
):
    monkeypatch.setattr(elimination_order, "SHARED", shared)
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


def test_entries_of_one_place_add_up_in_either_triangle():
    rows, cols = np.array([0, 1, 1, 0, 0]), np.array([0, 1, 0, 1, 0])
    pattern = analyse(2, rows, cols)
    factor = factorise(pattern, np.array([2.0, 5.0, 0.5, 0.5, 1.0]))
    assert_allclose(factor.solve(np.array([4.0, 6.0])), [1.0, 1.0], atol=1e-15)


def test_order_holds_every_unknown_once_whatever_the_graph():
    star = np.arange(1, 200)
    n, rows, cols = 400, star, np.zeros_like(star)  # a star and 200 lone unknowns
    assert_array_equal(np.sort(analyse(n, rows, cols).order), np.arange(n))


def test_dissection_keeps_fill_far_below_that_of_the_natural_order():
    n, rows, cols = lattice(40, 40, 1)
    natural = analyse(n, rows, cols, order=np.arange(n)).fill
    assert analyse(n, rows, cols).fill < natural / 3


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_branches_that_threads_share_give_the_bits_of_one(shift, monkeypatch):
    """The Laplacian of a grid, alone of rank n - 1, in branches and as a whole."""
    n, rows, cols = lattice(30, 40, 1)
    ends = np.concatenate([rows[rows != cols], cols[rows != cols]])
    degree = shift + np.bincount(ends, minlength=n)
    values = np.where(rows == cols, degree[rows], -1.0)
    b = np.random.default_rng(0).normal(size=n)
    b -= b.mean()
    made = []
    for shared, threads in ((np.inf, "1"), (0, "1"), (0, "2"), (0, "0")):
        monkeypatch.setattr(elimination_order, "SHARED", shared)
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        pattern = analyse(n, rows, cols)
        assert (len(pattern.fronts.branches) > 3) == (shared == 0)
        made.append(factorise(pattern, values))
        assert len(made[-1].dropped) == (shift == 0.0)
        assert_array_equal(made[-1].pivot, made[0].pivot)
        assert_array_equal(made[-1].solve(b), made[0].solve(b))
    x = made[-1].solve(b)
    assert_allclose(dense(n, rows, cols, values) @ x, b, atol=1e-10)


def test_places_are_sorted_and_counted_once(rng):
    for rows, cols, count in ((1, 1, 1), (5, 9, 30), (50, 40, 3000), (7, 7, 0)):
        a, b = rng.integers(rows, size=count), rng.integers(cols, size=count)
        start, minor, slot = sorted_places((rows, cols), a, b)
        places, same = np.unique(a * cols + b, return_inverse=True)
        major = np.repeat(np.arange(rows), np.diff(start))
        assert_array_equal(major * cols + minor, places)
        assert_array_equal(slot, same)


def test_a_chain_and_a_single_front_have_no_branches_to_share(monkeypatch):
    monkeypatch.setattr(elimination_order, "SHARED", 0)
    for n, rows, cols in (lattice(1, 300, 2), (40, *np.tril_indices(40))):
        values = np.where(rows == cols, 50.0, 1.0)
        pattern = analyse(n, rows, cols, order=np.arange(n))
        assert len(pattern.fronts.branches) == 2
        x = factorise(pattern, values).solve(np.ones(n))
        assert_allclose(dense(n, rows, cols, values) @ x, 1.0, atol=1e-12)
