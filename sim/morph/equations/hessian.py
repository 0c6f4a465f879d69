"""Where the entries of K are, the matrix of a Newton step; it depends on no length.

K is made of 3 x 3 blocks, one for each pair of nodes that share a row; a multiplier
lambda counts as a node with one unknown. `sim.morph.equations.curvature` fills them.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sim.arrays import Ints
from sim.kernels import kernel
from sim.linear.sparse import SparsityPattern, analyse, elimination_order, sorted_places
from sim.morph.equations.rows import CURVED, CurvedBlocks
from sim.morph.equations.topology import Topology, with_multiplier
from sim.morph.structure.constraints import starts
from sim.once import once_per_owner

NO_ENDS = np.empty((0, 2), dtype=np.int64)


class HessianBlocks(NamedTuple):
    """Where the blocks of K are.

    Attributes
    ----------
    upper, lower : (b,) nodes of each block, upper >= lower
    diagonal : (n + k,) the block of each node
    outer : (o, 3) block p, block q of J and the block of K that their product adds to
    curved : where the second derivatives of the constraints go
    entries : which of the 9 numbers of each block are in the lower triangle of K
    """

    upper: Ints
    lower: Ints
    diagonal: Ints
    outer: Ints
    curved: CurvedBlocks
    entries: Ints


@dataclass(frozen=True, eq=False)
class HessianPattern:
    """Where the entries of K and of its factor are."""

    blocks: HessianBlocks
    factor: SparsityPattern


@once_per_owner
def hessian_pattern_of(topology: Topology) -> HessianPattern:
    """The places of all entries of K; found once for a topology."""
    return hessian_pattern_with(topology, NO_ENDS)


def hessian_pattern_with(topology: Topology, ends: Ints) -> HessianPattern:
    """The same with blocks for the pairs of nodes `ends` (e, 2), as of contacts."""
    size = topology.n + topology.k
    row_start = np.searchsorted(topology.block_row, np.arange(topology.m + 1))
    p, q = _pairs_in_rows(row_start)
    node, own = topology.block_node, np.arange(size)
    start, lower, slot = sorted_places(
        (size, size),
        np.concatenate([node[p], own, ends.max(axis=1)]),
        np.concatenate([node[q], own, ends.min(axis=1)]),
    )
    upper = np.repeat(own, np.diff(start))
    keys, outer = upper * size + lower, np.column_stack([p, q, slot[: len(p)]])
    first, x, y = _curved_pairs(topology)
    slot = np.searchsorted(keys, np.maximum(x, y) * size + np.minimum(x, y))
    curved = CurvedBlocks(first, slot, np.sign(x - y))
    kept = np.tril(np.ones((3, 3), dtype=bool)) | (upper > lower)[:, None, None]
    diagonal = np.flatnonzero(upper == lower)
    blocks = HessianBlocks(
        upper, lower, diagonal, outer, curved, np.flatnonzero(kept).astype(np.int64)
    )
    order = elimination_order(size, upper, lower)
    all_three = (3 * order[:, None] + np.arange(3)).ravel()
    return HessianPattern(
        blocks, analyse(3 * size, *entries_of(blocks), order=all_three)
    )


def entries_of(blocks: HessianBlocks) -> tuple[Ints, Ints]:
    """Rows and columns in K of the entries that are stored, its lower triangle."""
    block, number = np.divmod(blocks.entries, 9)
    i, j = np.divmod(number, 3)
    return 3 * blocks.upper[block] + i, 3 * blocks.lower[block] + j


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


def _curved_pairs(topology: Topology) -> tuple[Ints, Ints, Ints]:
    """Where each constraint's pairs of second derivatives begin, and their nodes."""
    kind, own = (
        topology.kind,
        with_multiplier(topology.kind, topology.nodes, topology.n),
    )
    first = starts(np.array([len(pairs) for pairs in CURVED])[kind])
    nodes = np.empty((first[-1], 2), dtype=np.int64)
    for each, pairs in enumerate(CURVED):
        chosen = np.flatnonzero(kind == each)
        local = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        at = first[chosen][:, None] + np.arange(len(local))
        nodes[at] = own[chosen][:, local]
    return first, nodes[:, 0], nodes[:, 1]
