"""Factorisation of the step's matrix in 2 x 2 blocks, one block a pair of nodes.

    A = L D L^T   with L unit lower triangular in blocks, D block diagonal.

`sim.linalg.sparse_ldl` factorises any symmetric matrix entry by entry, and asks for the
rank. A rod needs neither: every entry belongs to a pair of nodes, the matrix of a step
is regular, and the time of a run is the time of this factorisation. So the places of
all updates are found once, and the loop over them is unrolled for 2 x 2 blocks; at 84
nodes that is several times faster. The order of elimination is
that of `sim.linalg.elimination_order`.

Blocks are stored by columns: `start`, `row` for L below the diagonal, values
(row x, col x), (row x, col y), (row y, col x), (row y, col y); diagonal blocks as xx,
xy, yy. `place[node]` is the column of a node.
"""

from typing import NamedTuple

import numpy as np

from sim.core.arrays import Bools, Floats, Ints
from sim.core.numba_kernels import kernel
from sim.linalg.elimination_order import minimum_degree


class BlockPattern(NamedTuple):
    """Places of the blocks of L and of the elements' contributions.

    Attributes
    ----------
    place : (n,) column of each node
    start, row : (n + 1,), (l,) blocks of L below the diagonal, by columns
    update : (u,) for each pair of blocks of a column, in the order of the
        elimination: where their product is subtracted
    edge_slot : (m,) block of each edge
    bend_slot : (b, 3) blocks of the pairs before-at, at-after, before-after
    bend_flip : (b, 3) whether the block is the transpose of the pair's
    """

    place: Ints
    start: Ints
    row: Ints
    update: Ints
    edge_slot: Ints
    bend_slot: Ints
    bend_flip: Bools


class BlockMatrix(NamedTuple):
    """A symmetric matrix: diagonal blocks (n, 3) and those below it (l, 4)."""

    diagonal: Floats
    lower: Floats


def analyse(n: int, edges: Ints, bends: Ints) -> BlockPattern:
    """Order n nodes for elimination, and find all places once."""
    pairs = np.vstack([edges, bends[:, :2], bends[:, 1:], bends[:, ::2]])
    place = np.empty(n, dtype=np.int64)
    place[minimum_degree(n, *pairs.T)] = np.arange(n)
    columns = _fill(n, place[pairs])
    start = np.concatenate([[0], np.cumsum([len(c) for c in columns])])
    row = np.concatenate([*map(np.asarray, columns)]).astype(np.int64)
    slot = {
        (j, int(i)): int(start[j]) + k
        for j, column in enumerate(columns)
        for k, i in enumerate(column)
    }
    update = [
        slot[a, b]
        for column in columns
        for k, a in enumerate(column)
        for b in column[k + 1 :]
    ]

    def find(first: Ints, second: Ints) -> tuple[Ints, Bools]:
        p, q = place[first], place[second]
        low, high = np.minimum(p, q).tolist(), np.maximum(p, q).tolist()
        found = [slot[pair] for pair in zip(low, high, strict=True)]
        return np.array(found, dtype=np.int64), p < q

    bend = [find(bends[:, a], bends[:, b]) for a, b in ((0, 1), (1, 2), (0, 2))]
    return BlockPattern(
        place=place,
        start=start.astype(np.int64),
        row=row,
        update=np.array(update, dtype=np.int64),
        edge_slot=find(edges[:, 0], edges[:, 1])[0],
        bend_slot=np.column_stack([slots for slots, _ in bend]),
        bend_flip=np.column_stack([flips for _, flips in bend]),
    )


def _fill(n: int, pairs: Ints) -> list[list[int]]:
    """The rows of each column of L, ascending: those of A and of earlier columns."""
    rows: list[set[int]] = [set() for _ in range(n)]
    for i, j in pairs.tolist():
        rows[min(i, j)].add(max(i, j))
    columns = []
    for j in range(n):
        column = sorted(rows[j])
        columns.append(column)
        if column:
            rows[column[0]].update(column[1:])
    return columns


def empty(pattern: BlockPattern) -> BlockMatrix:
    """A zero matrix with this pattern."""
    return BlockMatrix(
        np.zeros((len(pattern.place), 3)), np.zeros((len(pattern.row), 4))
    )


def dense(pattern: BlockPattern, matrix: BlockMatrix) -> Floats:
    """(2n, 2n) a matrix in blocks, in the order of the nodes."""
    n = len(pattern.place)
    whole, node = np.zeros((n, 2, n, 2)), np.argsort(pattern.place)
    column = np.repeat(node, np.diff(pattern.start))
    row, blocks = node[pattern.row], matrix.lower.reshape(-1, 2, 2)
    whole[row, :, column, :] = blocks
    whole[column, :, row, :] = blocks.transpose(0, 2, 1)
    whole[node, :, node, :] = matrix.diagonal[:, [0, 1, 1, 2]].reshape(-1, 2, 2)
    return whole.reshape(2 * n, 2 * n)


@kernel
def factorise(pattern: BlockPattern, matrix: BlockMatrix) -> bool:
    """Overwrite A by L and the inverses of D; False if A is not positive definite."""
    diagonal, lower = matrix.diagonal, matrix.lower
    positive = True
    u = 0
    for j in range(len(diagonal)):
        xx, xy, yy = diagonal[j, 0], diagonal[j, 1], diagonal[j, 2]
        determinant = xx * yy - xy * xy
        positive = positive and xx > 0.0 and determinant > 0.0
        inverse = 1.0 / determinant
        xx, xy, yy = yy * inverse, -xy * inverse, xx * inverse
        diagonal[j, 0], diagonal[j, 1], diagonal[j, 2] = xx, xy, yy
        end = pattern.start[j + 1]
        for p in range(pattern.start[j], end):
            b00, b01, b10, b11 = lower[p, 0], lower[p, 1], lower[p, 2], lower[p, 3]
            l00, l01 = b00 * xx + b01 * xy, b00 * xy + b01 * yy
            l10, l11 = b10 * xx + b11 * xy, b10 * xy + b11 * yy
            i = pattern.row[p]
            diagonal[i, 0] -= b00 * l00 + b01 * l01
            diagonal[i, 1] -= b00 * l10 + b01 * l11
            diagonal[i, 2] -= b10 * l10 + b11 * l11
            for q in range(p + 1, end):
                c00, c01, c10, c11 = lower[q, 0], lower[q, 1], lower[q, 2], lower[q, 3]
                t = pattern.update[u]
                u += 1
                lower[t, 0] -= c00 * l00 + c01 * l01
                lower[t, 1] -= c00 * l10 + c01 * l11
                lower[t, 2] -= c10 * l00 + c11 * l01
                lower[t, 3] -= c10 * l10 + c11 * l11
            lower[p, 0], lower[p, 1], lower[p, 2], lower[p, 3] = l00, l01, l10, l11
    return positive


@kernel
def forward(pattern: BlockPattern, factor: BlockMatrix, z: Floats) -> None:
    """z <- L^-1 z, with z (n, 2) in the order of the columns."""
    for j in range(len(z)):
        zx, zy = z[j, 0], z[j, 1]
        for p in range(pattern.start[j], pattern.start[j + 1]):
            i = pattern.row[p]
            z[i, 0] -= factor.lower[p, 0] * zx + factor.lower[p, 1] * zy
            z[i, 1] -= factor.lower[p, 2] * zx + factor.lower[p, 3] * zy


@kernel
def backward(pattern: BlockPattern, factor: BlockMatrix, z: Floats) -> None:
    """z <- L^-T D^-1 z."""
    for j in range(len(z) - 1, -1, -1):
        d = factor.diagonal[j]
        zx = d[0] * z[j, 0] + d[1] * z[j, 1]
        zy = d[1] * z[j, 0] + d[2] * z[j, 1]
        for p in range(pattern.start[j], pattern.start[j + 1]):
            i = pattern.row[p]
            zx -= factor.lower[p, 0] * z[i, 0] + factor.lower[p, 2] * z[i, 1]
            zy -= factor.lower[p, 1] * z[i, 0] + factor.lower[p, 3] * z[i, 1]
        z[j, 0], z[j, 1] = zx, zy


@kernel
def solve_each(
    pattern: BlockPattern, factor: BlockMatrix, space: Floats, r: Floats
) -> None:
    """r[p] <- A^-1 r[p] for each of r (P, n, 2), in the order of the nodes.

    space : (n, 2)
    """
    for p in range(len(r)):
        for i in range(len(space)):
            j = pattern.place[i]
            space[j, 0], space[j, 1] = r[p, i, 0], r[p, i, 1]
        forward(pattern, factor, space)
        backward(pattern, factor, space)
        for i in range(len(space)):
            j = pattern.place[i]
            r[p, i, 0], r[p, i, 1] = space[j, 0], space[j, 1]


@kernel
def unit_forward(
    pattern: BlockPattern, factor: BlockMatrix, column: int, axis: int, y: Floats
) -> None:
    """y <- L^-1 of the unit vector at one column and axis.

    Only the columns from `column` up to the root of the elimination tree are filled.
    """
    y[:] = 0.0
    y[column, axis] = 1.0
    j = column
    while j >= 0:
        begin, end = pattern.start[j], pattern.start[j + 1]
        for p in range(begin, end):
            i = pattern.row[p]
            y[i, 0] -= factor.lower[p, 0] * y[j, 0] + factor.lower[p, 1] * y[j, 1]
            y[i, 1] -= factor.lower[p, 2] * y[j, 0] + factor.lower[p, 3] * y[j, 1]
        j = pattern.row[begin] if end > begin else -1


@kernel
def weighted_product(
    pattern: BlockPattern, factor: BlockMatrix, column: int, y: Floats, z: Floats
) -> float:
    """y^T D^-1 z, where y is zero off the path from `column` to the root."""
    total = 0.0
    j = column
    while j >= 0:
        d = factor.diagonal[j]
        total += y[j, 0] * (d[0] * z[j, 0] + d[1] * z[j, 1])
        total += y[j, 1] * (d[1] * z[j, 0] + d[2] * z[j, 1])
        begin, end = pattern.start[j], pattern.start[j + 1]
        j = pattern.row[begin] if end > begin else -1
    return total
