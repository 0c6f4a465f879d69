"""The constraints of a structure as one sparse system, eqs. (2)-(4) and (8) of [dJ23].

The places of all entries are found once; at each configuration only values change.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sim.arrays import Floats, Ints
from sim.morph import rows
from sim.morph.constraints import DEGREE, NODES, ROWS, Kind, Table
from sim.morph.measures import characteristic_length
from sim.morph.structure import Structure
from sim.sparse import Factor, Pattern, analyse, factorise


@dataclass(frozen=True, eq=False)
class System:
    """Where the entries of J and J J^T are.

    Attributes
    ----------
    n, k, m : numbers of nodes, multipliers and rows
    layout : the places of the entries of J
    normal : pattern of J J^T
    """

    table: Table
    n: int
    k: int
    m: int
    layout: rows.Layout
    normal: Pattern

    @property
    def block_row(self) -> Ints:
        return self.layout.block_row

    @property
    def block_node(self) -> Ints:
        return self.layout.block_node

    @property
    def scale(self) -> Floats:
        """(m,) what a residual is divided by: l^2 for a link, else a power of L."""
        return self.layout.scale


@dataclass(frozen=True, eq=False)
class Linear:
    """The constraints at one configuration.

    Attributes
    ----------
    c : (m,) residuals
    B : (blocks, 3) blocks of the Jacobian
    residual : the largest, dimensionless
    """

    system: System
    c: Floats
    B: Floats
    residual: float

    def times(self, dz: Floats) -> Floats:
        """J dz, (m,)."""
        out = np.empty(self.system.m)
        rows.times(self.system.layout, self.B, dz, out)
        return out

    def transpose_times(self, y: Floats) -> Floats:
        """J^T y, (n + k, 3)."""
        out = np.zeros((self.system.n + self.system.k, 3))
        rows.add_transpose_times(self.system.layout, self.B, y, 1.0, out)
        return out

    def factorise(self) -> Factor:
        """L D L^T of J J^T; dependent rows are dropped."""
        values = np.empty(len(self.system.layout.pairs))
        rows.products(self.system.layout.pairs, self.B, values)
        return factorise(self.system.normal, values)


@lru_cache(maxsize=1)
def system_of(structure: Structure) -> System:
    """Find the places of all entries of J and J J^T."""
    return system_with(structure, structure.constraints)


def system_with(structure: Structure, table: Table) -> System:
    """The same for other constraints between the nodes of a structure."""
    n = len(structure.r0)
    row, node, first_block = _touched(table, n)
    k, m = table.multipliers, int(table.first_row[-1])
    blocks, place = np.unique(row * (n + k) + node, return_inverse=True)
    block_row, block_node = np.divmod(blocks, n + k)
    by_node = np.argsort(block_node, kind="stable")
    start = np.searchsorted(block_node[by_node], np.arange(n + k + 1))
    pairs = rows.pairs_of_blocks(start, by_node)
    normal = analyse(m, block_row[pairs[:, 0]], block_row[pairs[:, 1]])
    scale = _scale(table, characteristic_length(structure.r0))
    layout = rows.Layout(
        n, table.kind, table.nodes, table.constant, table.first_row, first_block, place,
        block_row, block_node, pairs, scale,
    )  # fmt: skip
    return System(table, n, k, m, layout, normal)


def _touched(table: Table, n: int) -> tuple[Ints, Ints, Ints]:
    """Row and node of each gradient of `rows.evaluate`; where a constraint begins."""
    per_kind = np.array(rows.BLOCKS)
    first = np.concatenate([[0], np.cumsum(per_kind[table.kind])]).astype(np.int64)
    row = np.empty(first[-1], dtype=np.int64)
    node = np.empty(first[-1], dtype=np.int64)
    lam = n + np.cumsum(table.kind == Kind.PAR) - 1
    for kind in Kind:
        chosen = np.flatnonzero(table.kind == kind)
        per_row = per_kind[kind] // ROWS[kind]
        at = first[chosen][:, None] + np.arange(per_kind[kind])
        row[at] = table.first_row[chosen][:, None] + (
            np.arange(per_kind[kind]) // per_row
        )
        own = table.nodes[chosen][:, : NODES[kind]]
        if kind is Kind.PAR:
            own = np.column_stack([own, lam[chosen]])
        node[at] = np.tile(own, ROWS[kind])
    return row, node, first


def _scale(table: Table, L: float) -> Floats:
    """(m,) unit of each residual: the paper leaves it open how to compare them."""
    size = L if L > 0.0 else 1.0
    scale = size ** DEGREE[table.kind].astype(np.float64)
    links = (table.kind == Kind.DIST) & (table.constant > 0.0)  # not those of a range
    scale[links] = table.constant[links]
    repeated: Floats = np.repeat(scale, ROWS[table.kind])
    return repeated


def state(structure: Structure) -> Floats:
    """(n + k, 3) nodes and multipliers at the beginning."""
    lam = np.zeros((structure.constraints.multipliers, 3))
    lam[:, 0] = structure.lam0
    return np.concatenate([structure.r0, lam])


def linearise(system: System, z: Floats, *, eliminate: bool = False) -> Linear:
    """Residuals and Jacobian at z (n + k, 3).

    Parameters
    ----------
    eliminate : write the multipliers' rows without multipliers; the third of their
        rows is then zero
    """
    c, B = np.empty(system.m), np.empty((len(system.block_row), 3))
    rows.evaluate(system.layout, z, eliminate, c, B)
    return Linear(system, c, B, rows.largest(system.layout, c))
