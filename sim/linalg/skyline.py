"""Symmetric matrices whose profile changes at every step, factorised by rows.

Row i holds columns first[i] ... i, from place start[i] on, so that no analysis is
needed: a row that reaches further out is just longer (Jennings, Computer J. 9, 1966).
`factorise` makes L D L^T of the rows in place. It is one compiled loop, for small
systems inside other compiled loops; `sim.linalg.sparse_ldl` serves fixed patterns.
"""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.core.numba_kernels import compiled

Function = TypeVar("Function", bound=Callable[..., object])


def reordering_kernel(function: Function) -> Function:
    """As `kernel`; sums may be reordered, which lets them run four wide."""
    return compiled(function, fastmath={"reassoc", "contract", "nsz"})


@reordering_kernel
def row_starts(first: Ints) -> Ints:
    """(n + 1,) where each row begins in the array of values."""
    start = np.empty(len(first) + 1, dtype=np.int64)
    start[0] = 0
    for i in range(len(first)):
        start[i + 1] = start[i] + i - first[i] + 1
    return start


@reordering_kernel
def factorise(values: Floats, start: Ints, first: Ints) -> tuple[int, float]:
    """Replace A by L and D in place; number of negative pivots, smallest |pivot|.

    Pivots are taken in order: where D has a pivot that is not positive the caller
    raises the diagonal, so that stability is not at risk.
    """
    negative, smallest = 0, np.inf
    for i in range(len(first)):
        begin = start[i] - first[i]
        for j in range(first[i], i):
            other, low = start[j] - first[j], max(first[i], first[j])
            g, below = values[begin + low : begin + j], values[other + low : other + j]
            total = 0.0
            for k in range(len(g)):
                total += g[k] * below[k]
            values[begin + j] -= total
        pivot = values[begin + i]
        for j in range(first[i], i):
            entry = values[begin + j]
            scaled = entry / values[start[j + 1] - 1]
            pivot -= entry * scaled
            values[begin + j] = scaled
        values[begin + i] = pivot
        smallest = min(smallest, abs(pivot))
        if pivot < 0.0:
            negative += 1
    return negative, smallest


@reordering_kernel
def solve(values: Floats, start: Ints, first: Ints, b: Floats) -> None:
    """Solve L D L^T x = b in place."""
    n = len(first)
    for i in range(n):
        begin = start[i] - first[i]
        total = 0.0
        for k in range(first[i], i):
            total += values[begin + k] * b[k]
        b[i] -= total
    for i in range(n):
        b[i] /= values[start[i + 1] - 1]
    back_substitute(values, start, first, b)


@reordering_kernel
def back_substitute(values: Floats, start: Ints, first: Ints, b: Floats) -> None:
    """Solve L^T x = b in place."""
    for i in range(len(first) - 1, -1, -1):
        begin, x = start[i] - first[i], b[i]
        for k in range(first[i], i):
            b[k] -= values[begin + k] * x
