"""Dense fronts of a sparse factorisation: assemble, eliminate, pass on.

A front is a dense symmetric matrix over the rows that its columns touch. `F[k, i]` is
row i of column k, i >= k, so that a column is contiguous. `sim.sparse` prepares the
places.
"""

from typing import NamedTuple

import numpy as np

from sim.arrays import Floats, Ints
from sim.kernels import kernel

BLOCK = 4  # columns that are subtracted from the others at a time


class Fronts(NamedTuple):
    """The places of the entries of A and L, in the order of elimination.

    Attributes
    ----------
    order : (n,) unknowns in the order of their elimination
    slot : (e,) where each given entry is added in the lower triangle of P A P^T
    start, row : (n + 1,), (u,) columns of that triangle
    first : (s + 1,) first column of each front
    front_start, front_row : (s + 1,), (q,) rows of each front, its own columns first
    panel : (s + 1,) where the columns of L of each front begin
    children : (s,) fronts whose remainders each front takes up
    widest : rows of the largest front
    scratch : room for the largest front, then for the remainders that wait
    """

    order: Ints
    slot: Ints
    start: Ints
    row: Ints
    first: Ints
    front_start: Ints
    front_row: Ints
    panel: Ints
    children: Ints
    widest: int
    scratch: Floats


@kernel
def factorise_fronts(
    fronts: Fronts, values: Floats, drop: float, L: Floats, pivot: Floats
) -> None:
    """Fill L and the pivots front by front; children come before parents."""
    start, row, first = fronts.start, fronts.row, fronts.first
    front_start, front_row = fronts.front_start, fronts.front_row
    panel, children, widest = fronts.panel, fronts.children, fronts.widest
    scratch = fronts.scratch
    entries = np.zeros(len(row))
    for e in range(len(values)):
        entries[fronts.slot[e]] += values[e]
    n = len(pivot)
    local = np.empty(n, dtype=np.int64)
    terms = np.zeros(n)  # sum of the sizes of what made each diagonal entry
    room, stack = scratch[: widest * widest], scratch[widest * widest :]
    waiting = np.empty(len(children) + 1, dtype=np.int64)
    top, count = 0, 0
    for s in range(len(children)):
        rows = front_row[front_start[s] : front_start[s + 1]]
        size, width = len(rows), first[s + 1] - first[s]
        F = room[: size * size].reshape(size, size)
        for k in range(size):
            local[rows[k]] = k
            F[k, k:] = 0.0
        for k in range(width):
            for p in range(start[first[s] + k], start[first[s] + k + 1]):
                F[k, local[row[p]]] += entries[p]
            terms[first[s] + k] += abs(F[k, k])
        for _ in range(children[s]):
            count -= 1
            child = waiting[count]
            below = front_row[front_start[child] : front_start[child + 1]]
            below = below[first[child + 1] - first[child] :]
            top -= len(below) ** 2
            _take_up(F, stack[top:], below, local)
        _eliminate(F, width, rows, terms, drop, pivot[first[s] : first[s + 1]])
        kept = L[panel[s] : panel[s + 1]].reshape(width, size)
        for k in range(width):
            kept[k, k:] = F[k, k:]
        rest = size - width
        remainder = stack[top : top + rest * rest].reshape(rest, rest)
        for k in range(rest):
            remainder[k, k:] = F[width + k, width + k :]
        top += rest * rest
        waiting[count] = s
        count += 1


@kernel
def _take_up(F: Floats, flat: Floats, rows: Ints, local: Ints) -> None:
    """Add a child's remainder to the front."""
    size = len(rows)
    U = flat[: size * size].reshape(size, size)
    for k in range(size):
        column = F[local[rows[k]]]
        for i in range(k, size):
            column[local[rows[i]]] += U[k, i]


@kernel
def _eliminate(
    F: Floats, width: int, rows: Ints, terms: Floats, drop: float, pivot: Floats
) -> None:
    """L D L^T of the first `width` columns; the rest becomes the remainder.

    BLOCK columns are made ready one after the other, then subtracted from all later
    ones in one sweep.
    """
    size = len(F)
    for low in range(0, width, BLOCK):
        high = min(low + BLOCK, width)
        for k in range(low, high):
            column = F[k]
            for j in range(low, k):
                weight = F[j, k] * pivot[j]
                ready = F[j]
                for i in range(k, size):
                    column[i] -= weight * ready[i]
            d = column[k]
            pivot[k] = d if abs(d) > drop * terms[rows[k]] else 0.0
            inverse = 1.0 / pivot[k] if pivot[k] != 0.0 else 0.0
            column[k] = 1.0
            for i in range(k + 1, size):
                column[i] *= inverse
                terms[rows[i]] += column[i] * column[i] * abs(pivot[k])
        if high - low == BLOCK:
            _subtract_four(F, low, pivot)
        else:
            for j in range(low, high):
                ready = F[j]
                for k in range(high, size):
                    weight = ready[k] * pivot[j]
                    column = F[k]
                    for i in range(k, size):
                        column[i] -= weight * ready[i]


@kernel
def _subtract_four(F: Floats, low: int, pivot: Floats) -> None:
    """Subtract four ready columns from all later ones."""
    a, b, c, d = F[low], F[low + 1], F[low + 2], F[low + 3]
    for k in range(low + 4, len(F)):
        wa, wb = a[k] * pivot[low], b[k] * pivot[low + 1]
        wc, wd = c[k] * pivot[low + 2], d[k] * pivot[low + 3]
        column = F[k]
        for i in range(k, len(F)):
            column[i] -= wa * a[i] + wb * b[i] + wc * c[i] + wd * d[i]


@kernel
def solve_fronts(fronts: Fronts, L: Floats, pivot: Floats, b: Floats) -> Floats:
    """x with L D L^T x = b, in the given order of the unknowns."""
    first, front_start, panel = fronts.first, fronts.front_start, fronts.panel
    n = len(pivot)
    y, x = np.empty(n), np.empty(n)
    room = np.empty(fronts.widest)
    for k in range(n):
        y[k] = b[fronts.order[k]]
    for s in range(len(first) - 1):
        rows = fronts.front_row[front_start[s] : front_start[s + 1]]
        size, width = len(rows), first[s + 1] - first[s]
        columns = L[panel[s] : panel[s + 1]].reshape(width, size)
        for i in range(size):
            room[i] = y[rows[i]]
        for k in range(width):
            column, value = columns[k], room[k]
            for i in range(k + 1, size):
                room[i] -= column[i] * value
        for i in range(size):
            y[rows[i]] = room[i]
    for s in range(len(first) - 2, -1, -1):
        rows = fronts.front_row[front_start[s] : front_start[s + 1]]
        size, width = len(rows), first[s + 1] - first[s]
        columns = L[panel[s] : panel[s + 1]].reshape(width, size)
        for i in range(width, size):
            room[i] = y[rows[i]]
        for k in range(width - 1, -1, -1):
            d = pivot[first[s] + k]
            value = y[rows[k]] / d if d != 0.0 else 0.0
            column = columns[k]
            for i in range(k + 1, size):
                value -= column[i] * room[i]
            room[k] = value if d != 0.0 else 0.0
            y[rows[k]] = room[k]
    for k in range(n):
        x[fronts.order[k]] = y[k]
    return x
