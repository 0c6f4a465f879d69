"""Second derivatives of the constraints, and the matrix of a Newton step.

    K = W + sum_i y_i Hess c_i + mu I + sum_i rho_i grad c_i grad c_i^T

W is the curvature of the distance to the goals, y the forces of the constraints (their
Lagrange multipliers; lambda belongs to z), mu a shift. The last term keeps steps on
the constraints. With it K is positive definite just where the step is one of descent,
dependent rows do no harm, and no row of its own is needed for y.

K is made of 3 x 3 blocks, one for each pair of nodes that share a row; a multiplier
lambda counts as a node with one unknown.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.kernels import kernel
from sim.morph.rows import DIST, DOT, PAR, TRIPLE, Layout
from sim.morph.system import System
from sim.sparse import Factor, Pattern, analyse, factorise

CURVED = (3, 4, 12, 6, 0, 0)  # pairs of nodes in the second derivative of each kind
NO_ENDS = np.empty((0, 2), dtype=np.int64)
NO_BLOCKS = np.empty((0, 3, 3))


class Blocks(NamedTuple):
    """Where the blocks of K are.

    Attributes
    ----------
    upper, lower : (b,) nodes of each block, upper >= lower
    diagonal : (n + k,) the block of each node
    outer : (o, 3) block p, block q of J and the block of K that their product adds to
    first, slot, swapped : for each constraint the blocks of its second derivative, and
        whether they are stored transposed
    entries : which of the 9 numbers of each block are in the lower triangle of K
    """

    upper: Ints
    lower: Ints
    diagonal: Ints
    outer: Ints
    first: Ints
    slot: Ints
    swapped: Bools
    entries: Ints


@dataclass(frozen=True, eq=False)
class Places:
    """Where the entries of K and of its factor are."""

    blocks: Blocks
    pattern: Pattern


class Terms(NamedTuple):
    """What K is made of.

    Attributes
    ----------
    W : (n, 3, 3) curvature of the distance to the goals
    y : (m,) forces of the constraints
    rho : (m,) weights of the constraints
    mu : shift
    blocks : (b, 3, 3) of K to begin with, or none
    """

    W: Floats
    y: Floats
    rho: Floats
    mu: float
    blocks: Floats = NO_BLOCKS


@lru_cache(maxsize=1)
def places_of(system: System) -> Places:
    """Find the places of all entries of K."""
    return find_places(system)


def find_places(system: System, ends: Ints = NO_ENDS) -> Places:
    """The same, not kept for the next time, with blocks for the nodes `ends` (e, 2)."""
    size = system.n + system.k
    row_start = np.searchsorted(system.block_row, np.arange(system.m + 1))
    p, q = _pairs_in_rows(row_start)
    key = system.block_node[p] * size + system.block_node[q]
    own = np.arange(size) * (size + 1)
    more = ends.max(axis=1) * size + ends.min(axis=1)
    keys = np.unique(np.concatenate([key, own, more]))
    outer = np.column_stack([p, q, np.searchsorted(keys, key)])
    first = np.concatenate([[0], np.cumsum(np.array(CURVED)[system.table.kind])])
    x, y = _curved_pairs(system.table.kind, system.table.nodes, system.n, first)
    slot = np.searchsorted(keys, np.maximum(x, y) * size + np.minimum(x, y))
    upper, lower = np.divmod(keys, size)
    i, j = np.divmod(np.arange(9), 3)
    rows = (3 * upper[:, None] + i).ravel()
    cols = (3 * lower[:, None] + j).ravel()
    entries = np.flatnonzero(rows >= cols)
    pattern = analyse(3 * size, rows[entries], cols[entries])
    diagonal = np.flatnonzero(upper == lower)
    blocks = Blocks(upper, lower, diagonal, outer, first, slot, x < y, entries)
    return Places(blocks, pattern)


def factorise_newton(
    system: System, places: Places, B: Floats, z: Floats, terms: Terms
) -> Factor:
    """L D L^T of K.

    Parameters
    ----------
    B : (blocks, 3) blocks of the Jacobian at `z` (n + k, 3)
    """
    values = assemble(system.layout, places.blocks, B, z, terms)
    return factorise(places.pattern, values, drop=0.0)


def dense(places: Places, values: Floats) -> Floats:
    """All of K from the entries of its lower triangle."""
    blocks, (i, j) = places.blocks, np.divmod(np.arange(9), 3)
    row = (3 * blocks.upper[:, None] + i).ravel()[blocks.entries]
    col = (3 * blocks.lower[:, None] + j).ravel()[blocks.entries]
    size = 3 * len(blocks.diagonal)
    K = np.zeros((size, size))
    K[row, col] = values
    K[col, row] = values
    return K


@kernel
def assemble(
    layout: Layout, blocks: Blocks, B: Floats, z: Floats, terms: Terms
) -> Floats:
    """The entries of the lower triangle of K."""
    n = layout.n
    K = np.zeros((len(blocks.upper), 3, 3))
    if len(terms.blocks):
        K += terms.blocks
    _outer_products(blocks.outer, B, layout.block_row, terms.rho, K)
    if np.any(terms.y):
        _second_derivatives(layout, blocks, z, terms.y, K)
    for j in range(len(blocks.diagonal)):
        block = K[blocks.diagonal[j]]
        if j < n:
            block += terms.W[j]
        for i in range(3):
            block[i, i] = block[i, i] + terms.mu if j < n or i == 0 else 1.0
    flat, values = K.reshape(-1), np.empty(len(blocks.entries))
    for e in range(len(values)):
        values[e] = flat[blocks.entries[e]]
    return values


@kernel
def _pairs_in_rows(row_start: Ints) -> tuple[Ints, Ints]:
    """Every pair p >= q of blocks of one row."""
    count = 0
    for i in range(len(row_start) - 1):
        width = row_start[i + 1] - row_start[i]
        count += width * (width + 1) // 2
    p, q = np.empty((2, count), dtype=np.int64)
    filled = 0
    for i in range(len(row_start) - 1):
        for a in range(row_start[i], row_start[i + 1]):
            for b in range(row_start[i], a + 1):
                p[filled], q[filled] = a, b
                filled += 1
    return p, q


@kernel
def _curved_pairs(kind: Ints, nodes: Ints, n: int, first: Ints) -> tuple[Ints, Ints]:
    """The pairs of nodes of each second derivative, in the order they are written."""
    x, y = np.empty((2, first[-1]), dtype=np.int64)
    lam = n
    for e in range(len(kind)):
        at = first[e]
        if kind[e] == DIST:
            for i in range(3):
                x[at + i] = nodes[e, 0 if i < 2 else 1]
                y[at + i] = nodes[e, 0 if i < 1 else 1]
        elif kind[e] == PAR:
            for i in range(3):
                x[at + 2 * i], y[at + 2 * i] = nodes[e, 2], lam
                x[at + 2 * i + 1], y[at + 2 * i + 1] = nodes[e, 3], lam
            lam += 1
        else:
            vectors = 2 if kind[e] == DOT else 3 if kind[e] == TRIPLE else 0
            for v in range(1 if vectors == 2 else vectors):
                w = (v + 1) % vectors
                for i in range(4):
                    x[at + 4 * v + i] = nodes[e, 2 * v + i // 2]
                    y[at + 4 * v + i] = nodes[e, 2 * w + i % 2]
    return x, y


@kernel
def _outer_products(
    outer: Ints, B: Floats, block_row: Ints, rho: Floats, K: Floats
) -> None:
    """Add rho_i grad c_i grad c_i^T."""
    for t in range(len(outer)):
        p, q = outer[t, 0], outer[t, 1]
        block = K[outer[t, 2]]
        weight = rho[block_row[p]]
        for i in range(3):
            left = weight * B[p, i]
            for j in range(3):
                block[i, j] += left * B[q, j]


@kernel
def _add(block: Floats, same: bool, swapped: bool, i: int, j: int, v: float) -> None:
    """Add v at (i, j) of a block, or where symmetry puts it."""
    if same:
        block[i, j] += v
        block[j, i] += v
    elif swapped:
        block[j, i] += v
    else:
        block[i, j] += v


@kernel
def _second_derivatives(
    layout: Layout, blocks: Blocks, z: Floats, y: Floats, K: Floats
) -> None:
    """Add y_i Hess c_i of every row.

    dist    2 I on the ends, -2 I between them
    dot     I between d and u
    triple  -[w] between each two of d, u, v, w the third: a.(b x c) = -a^T [c] b
    par     -1 between lambda and u, a row each
    """
    kind, nodes = layout.kind, layout.nodes
    slot, swapped = blocks.slot, blocks.swapped
    for e in range(len(kind)):
        row = layout.first_row[e]
        at = blocks.first[e]
        if kind[e] == DIST:
            for t in range(3):
                v = 2.0 * y[row] * (0.5 if t != 1 else -1.0)
                same = t != 1
                for i in range(3):
                    _add(K[slot[at + t]], same, swapped[at + t], i, i, v)
        elif kind[e] == DOT:
            for t in range(4):
                sign = 1.0 if t // 2 == t % 2 else -1.0
                same = nodes[e, t // 2] == nodes[e, 2 + t % 2]
                for i in range(3):
                    _add(K[slot[at + t]], same, swapped[at + t], i, i, sign * y[row])
        elif kind[e] == TRIPLE:
            for v in range(3):
                w, third = (v + 1) % 3, (v + 2) % 3
                tail, head = nodes[e, 2 * third], nodes[e, 2 * third + 1]
                for t in range(4):
                    sign = y[row] * (1.0 if t // 2 == t % 2 else -1.0)
                    same = nodes[e, 2 * v + t // 2] == nodes[e, 2 * w + t % 2]
                    s = at + 4 * v + t
                    for i in range(3):
                        j, k = (i + 1) % 3, (i + 2) % 3
                        value = sign * (z[head, k] - z[tail, k])
                        _add(K[slot[s]], same, swapped[s], i, j, value)
                        _add(K[slot[s]], same, swapped[s], j, i, -value)
        elif kind[e] == PAR:
            for i in range(3):
                for t in range(2):
                    s = at + 2 * i + t
                    sign = 1.0 if t == 0 else -1.0
                    _add(K[slot[s]], False, swapped[s], i, 0, sign * y[row + i])
