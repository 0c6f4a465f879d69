"""Which rows touch which nodes: the places of all entries of J and J J^T.

They depend on the kinds and nodes of the constraints, and on no length. So they are
found once for all structures that differ in lengths alone: those of a design, of a
calibration, or of a part in another unit.
"""

from dataclasses import dataclass, field
from weakref import WeakValueDictionary

import numpy as np

from sim.arrays import Floats, Ints
from sim.linear.sparse import SparsityPattern, analyse, sorted_places
from sim.morph.equations import jacobian
from sim.morph.equations.rows import LAMBDA, TOUCHES
from sim.morph.structure.constraints import (
    ROWS,
    ConstraintKind,
    ConstraintTable,
    starts,
)


@dataclass(frozen=True, eq=False)
class Topology:
    """What structures share that have the same constraints between the same nodes.

    Attributes
    ----------
    n, k, m : numbers of nodes, multipliers and rows
    kind, nodes, first_row, first_block, place, block_row, block_node, pairs : as in
        `jacobian.JacobianLayout`
    normal : sparsity pattern of J J^T
    """

    n: int
    k: int
    m: int
    kind: Ints
    nodes: Ints
    first_row: Ints
    first_block: Ints
    place: Ints
    block_row: Ints
    block_node: Ints
    pairs: Ints
    normal: SparsityPattern = field(repr=False)

    @classmethod
    def of(cls, table: ConstraintTable, n: int) -> "Topology":
        """Find all places for constraints between n nodes."""
        row, node, first_block = _touched(table, n)
        k, m = table.multipliers, int(table.first_row[-1])
        row_start, block_node, place = sorted_places((m, n + k), row, node)
        block_row = np.repeat(np.arange(m), np.diff(row_start))
        by_node = np.argsort(block_node, kind="stable")
        start = np.searchsorted(block_node[by_node], np.arange(n + k + 1))
        pairs = jacobian.pairs_of_blocks(start, by_node)
        normal = analyse(m, block_row[pairs[:, 0]], block_row[pairs[:, 1]])
        return cls(
            n, k, m, table.kind, table.nodes, table.first_row, first_block, place,
            block_row, block_node, pairs, normal,
        )  # fmt: skip

    def layout(self, constant: Floats, scale: Floats) -> jacobian.JacobianLayout:
        """The same with the numbers of one structure: constants (q,), units (m,)."""
        return jacobian.JacobianLayout(
            self.n, self.kind, self.nodes, constant, self.first_row, self.first_block,
            self.place, self.block_row, self.block_node, self.pairs, scale,
        )  # fmt: skip


_living: WeakValueDictionary[tuple[int, bytes, bytes], Topology] = WeakValueDictionary()


def topology_of(table: ConstraintTable, n: int) -> Topology:
    """The topology of constraints between n nodes: one for as long as one is used."""
    content = n, table.kind.tobytes(), table.nodes.tobytes()
    topology = _living.get(content)
    if topology is None:
        topology = _living[content] = Topology.of(table, n)
    return topology


def with_multiplier(kind: Ints, nodes: Ints, n: int) -> Ints:
    """(q, 7) nodes of each constraint; in column LAMBDA the place of its multiplier."""
    lam = n + np.cumsum(kind == ConstraintKind.PAR) - 1
    return np.insert(nodes, LAMBDA, lam, axis=1)


def _touched(table: ConstraintTable, n: int) -> tuple[Ints, Ints, Ints]:
    """Row and node of each gradient of `rows.evaluate`; where a constraint begins."""
    own = with_multiplier(table.kind, table.nodes, n)
    width = np.array([len(touched) for touched in TOUCHES])
    first = starts((ROWS * width)[table.kind])
    row, node = np.empty((2, first[-1]), dtype=np.int64)
    for kind, touched in enumerate(TOUCHES):
        chosen = np.flatnonzero(table.kind == kind)
        local = np.arange(ROWS[kind] * width[kind])
        at = first[chosen][:, None] + local
        row[at] = table.first_row[chosen][:, None] + local // width[kind]
        node[at] = np.tile(own[chosen][:, touched], ROWS[kind])
    return row, node, first
