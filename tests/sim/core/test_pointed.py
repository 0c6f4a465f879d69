"""A named tuple by its address is, to a kernel, the tuple itself."""

import pickle
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from sim.core.arrays import Floats, Ints
from sim.core.numba_kernels import compiled, pointed


class Inner(NamedTuple):
    a: Floats
    flag: bool
    last: Ints


class Outer(NamedTuple):
    n: int
    f: float
    inner: Inner
    grid: Floats
    record: Any
    flag: bool


def _read_and_write(of: Outer, k: float) -> float:
    total = 0.0
    for i in range(len(of.inner.a)):
        of.grid[i, 1] += of.inner.a[i] * of.f * k
        total += of.grid[i, 1]
    of.record.x += total
    total += 1e3 if of.flag else 0.0
    total += 1e4 if of.inner.flag else 0.0
    return total + of.n + 1e5 * of.inner.last[-1]


def _outer() -> Outer:
    record: Any = np.zeros((), np.dtype((np.record, [("m", "i8"), ("x", "f8")])))
    grid = np.arange(20.0).reshape(5, 4)[:, ::2]  # of a layout of its own
    inner = Inner(np.arange(5.0), False, np.arange(4))
    return Outer(-3, 2.5, inner, grid, record[()].copy(), True)


@pytest.mark.parametrize("options", [{}, {"_nrt": False}])
def test_a_kernel_reads_and_writes_the_parts_of_a_tuple_by_its_address(options):
    plain, by_address = _outer(), _outer()
    read_and_write = compiled(_read_and_write, **options)
    expected = _read_and_write(plain, 2.0)
    assert read_and_write(pointed(by_address), 2.0) == expected
    assert np.array_equal(by_address.grid, plain.grid)
    assert by_address.record.x == plain.record.x != 0.0


def test_two_tuples_of_the_same_types_are_of_one_type():
    assert numba.typeof(pointed(_outer())) == numba.typeof(pointed(_outer()))
    assert numba.typeof(pointed(_outer())) != numba.typeof(pointed(_outer().inner))


def test_a_part_that_kernels_do_not_know_is_refused():
    with pytest.raises(
        TypeError, match="an argument is a list: give arrays and numbers"
    ):
        pointed(_outer()._replace(grid=[1, 2]))


def test_a_copy_has_parts_of_its_own_and_stands_in_for_the_tuple():
    one = pointed(_outer())
    other = pickle.loads(pickle.dumps(one))
    read_and_write = compiled(_read_and_write)
    assert read_and_write(one, 2.0) == read_and_write(other, 2.0)
    assert one.grid is not other.grid
    np.testing.assert_array_equal(one.grid, other.grid)
