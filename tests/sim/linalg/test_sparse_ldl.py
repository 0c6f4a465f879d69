"""Sparse factorisation against dense linear algebra."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from sim.core.arrays import Floats, Ints
from sim.linalg.sparse_ldl import analyse, factorise, sorted_places


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


def test_a_factor_that_is_to_be_definite_ends_at_a_negative_pivot():
    n, rows, cols = lattice(30, 40, 1)
    pattern = analyse(n, rows, cols)
    for wrong in (None, 0, n // 2, n - 1):
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


def test_minimum_degree_keeps_fill_far_below_that_of_the_natural_order():
    n, rows, cols = lattice(40, 40, 1)
    natural = analyse(n, rows, cols, order=np.arange(n)).fill
    assert analyse(n, rows, cols).fill < natural / 3


def test_places_are_sorted_and_counted_once(rng):
    for rows, cols, count in ((1, 1, 1), (5, 9, 30), (50, 40, 3000), (7, 7, 0)):
        a, b = rng.integers(rows, size=count), rng.integers(cols, size=count)
        start, minor, slot = sorted_places((rows, cols), a, b)
        places, same = np.unique(a * cols + b, return_inverse=True)
        major = np.repeat(np.arange(rows), np.diff(start))
        assert_array_equal(major * cols + minor, places)
        assert_array_equal(slot, same)
