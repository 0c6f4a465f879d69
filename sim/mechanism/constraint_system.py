"""The constraints of a structure as one sparse system, eqs. (2)-(4) and (8) of [dJ23].

The topology of a structure is which rows touch which nodes. It gives the places of all
entries of J and J J^T, which depend on the kinds and nodes of the constraints, and on
no length. So they are found once for all structures that differ in lengths alone: those
of a design, of a calibration, or of a part in another unit.

At each configuration only values change.

So it is with K, the matrix of a Newton step. K is made of 3 x 3 blocks, one for each
pair of nodes that share a row; a multiplier lambda counts as a node with one unknown.
It is the Hessian of an augmented Lagrangian:

    K = W + sum_i y_i Hess c_i + mu I + sum_i rho_i grad c_i grad c_i^T

W is the curvature of the objective, y the Lagrange multipliers of the constraints (the
forces that they carry; the paper's multipliers lambda belong to z), mu a shift. With
mu = 0 K is the Hessian of

    f(z) + y.c(z) + 1/2 sum_i rho_i c_i(z)^2     where c(z) = 0,

of which Nocedal and Wright, Numerical Optimization (2006), sect. 17.3, show that with
large enough rho it is positive definite just where the Hessian of the Lagrangian is so
along the constraints: the inertia of K proves a minimum, dependent rows do no harm, and
y needs no unknown of its own.
"""

from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.core.numba_kernels import kernel
from sim.linalg.sparse import (
    Factor,
    SparsityPattern,
    analyse,
    elimination_order,
    factorise,
    sorted_places,
)
from sim.mechanism import constraints, jacobian
from sim.mechanism.constraints import (
    CURVED,
    DEGREE,
    LAMBDA,
    ROWS,
    TOUCHES,
    ConstraintKind,
    ConstraintTable,
    CurvedBlocks,
    add_second_derivatives,
    starts,
)
from sim.mechanism.jacobian import JacobianLayout
from sim.mechanism.object_cache import once_per_owner
from sim.mechanism.shape_measures import characteristic_length
from sim.mechanism.structure import Structure


@dataclass(frozen=True, eq=False)
class Topology:
    """What structures share that have the same constraints between the same nodes.

    Attributes
    ----------
    k, m : numbers of multipliers and rows
    layout : its constants and scales, which are those of one structure, are zero
    normal : sparsity pattern of J J^T
    """

    k: int
    m: int
    layout: JacobianLayout
    normal: SparsityPattern

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
        layout = JacobianLayout(
            n, table.kind, table.nodes, np.zeros(len(table)), table.first_row,
            first_block, place, block_row, block_node, pairs, np.zeros(m),
        )  # fmt: skip
        return cls(k, m, layout, normal)


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


ROUNDING = 1e-15  # of a row, over its scale


@dataclass(frozen=True, eq=False)
class ConstraintSystem:
    """The constraints of a structure, c(z) = 0, with their unit lengths.

    Attributes
    ----------
    topology : shared by all structures that differ in lengths alone
    layout : what compiled loops read of both
    """

    table: ConstraintTable
    topology: Topology
    layout: JacobianLayout

    @property
    def n(self) -> int:
        """Nodes."""
        return self.layout.n

    @property
    def k(self) -> int:
        """Multipliers lambda."""
        return self.topology.k

    @property
    def m(self) -> int:
        """Rows."""
        return self.topology.m

    @property
    def unknowns(self) -> int:
        """Coordinates and multipliers."""
        return 3 * self.n + self.k

    @property
    def normal(self) -> SparsityPattern:
        """Of J J^T."""
        return self.topology.normal

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

    def rounding(self, y: Floats) -> float:
        """Of y.c: each row is known to the last digits of its scale."""
        return ROUNDING * float(np.abs(y) @ self.scale)


@dataclass(frozen=True, eq=False)
class LinearConstraints:
    """The constraints at one configuration.

    Attributes
    ----------
    c : (m,) residuals
    B : (blocks, 3) blocks of the Jacobian
    residual : the largest, dimensionless
    """

    system: ConstraintSystem
    c: Floats
    B: Floats
    residual: float

    def times(self, dz: Floats) -> Floats:
        """J dz, (m,)."""
        out = np.empty(self.system.m)
        jacobian.times(self.system.layout, self.B, dz, out)
        return out

    def transpose_times(self, y: Floats) -> Floats:
        """J^T y, (n + k, 3)."""
        out = np.zeros((self.system.n + self.system.k, 3))
        jacobian.add_transpose_times(self.system.layout, self.B, y, 1.0, out)
        return out

    def factorise(self) -> Factor:
        """L D L^T of J J^T; dependent rows are dropped."""
        values = np.empty(len(self.system.layout.pairs))
        jacobian.products(self.system.layout.pairs, self.B, values)
        return factorise(self.system.normal, values)


@once_per_owner
def system_of(structure: Structure) -> ConstraintSystem:
    """The constraints of a structure; made once, and dropped with it."""
    return system_with(structure, structure.constraints)


def system_with(structure: Structure, table: ConstraintTable) -> ConstraintSystem:
    """The same for other constraints between the nodes of a structure."""
    topology = topology_of(table, len(structure.r0))
    scale = _scale(table, characteristic_length(structure.r0))
    layout = topology.layout._replace(constant=table.constant, scale=scale)
    return ConstraintSystem(table, topology, layout)


def _scale(table: ConstraintTable, L: float) -> Floats:
    """(m,) unit of each residual: the paper leaves it open how to compare them."""
    size = L if L > 0.0 else 1.0
    scale = size ** DEGREE[table.kind].astype(np.float64)
    links = table.kind == ConstraintKind.DIST
    links &= table.constant > 0.0  # not those of a range
    scale[links] = table.constant[links]
    return np.repeat(scale, ROWS[table.kind])


def state(structure: Structure) -> Floats:
    """(n + k, 3) nodes and multipliers at the beginning."""
    lam = np.zeros((structure.constraints.multipliers, 3))
    lam[:, 0] = structure.lam0
    return np.concatenate([structure.r0, lam])


def linearise(
    system: ConstraintSystem, z: Floats, *, eliminate: bool = False
) -> LinearConstraints:
    """Residuals and Jacobian at z (n + k, 3).

    Parameters
    ----------
    eliminate : write the multipliers' rows without multipliers; the third of their
        rows is then zero
    """
    c, B = np.empty(system.m), np.empty((len(system.block_row), 3))
    constraints.evaluate(system.layout, z, eliminate, c, B)
    return LinearConstraints(system, c, B, jacobian.largest(system.layout, c))


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
    layout, size = topology.layout, topology.layout.n + topology.k
    row_start = np.searchsorted(layout.block_row, np.arange(topology.m + 1))
    p, q = _pairs_in_rows(row_start)
    node, own = layout.block_node, np.arange(size)
    start, lower, slot = sorted_places(
        (size, size),
        np.concatenate([node[p], own, ends.max(axis=1)]),
        np.concatenate([node[q], own, ends.min(axis=1)]),
    )
    upper = np.repeat(own, np.diff(start))
    keys, outer = upper * size + lower, np.column_stack([p, q, slot[: len(p)]])
    first, x, y = _curved_pairs(layout)
    slot = np.searchsorted(keys, np.maximum(x, y) * size + np.minimum(x, y))
    curved = CurvedBlocks(first, slot, np.sign(x - y))
    lower_part = np.tril(np.ones((3, 3), dtype=bool)) | (upper > lower)[:, None, None]
    diagonal = np.flatnonzero(upper == lower)
    entries = np.flatnonzero(lower_part).astype(np.int64)
    blocks = HessianBlocks(upper, lower, diagonal, outer, curved, entries)
    order = elimination_order(size, upper, lower)
    all_three = (3 * order[:, None] + np.arange(3)).ravel()
    factor = analyse(3 * size, *entries_of(blocks), order=all_three)
    return HessianPattern(blocks, factor)


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


def _curved_pairs(layout: JacobianLayout) -> tuple[Ints, Ints, Ints]:
    """Where each constraint's pairs of second derivatives begin, and their nodes."""
    kind, own = layout.kind, with_multiplier(layout.kind, layout.nodes, layout.n)
    first = starts(np.array([len(pairs) for pairs in CURVED])[kind])
    nodes = np.empty((first[-1], 2), dtype=np.int64)
    for each, pairs in enumerate(CURVED):
        chosen = np.flatnonzero(kind == each)
        local = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        at = first[chosen][:, None] + np.arange(len(local))
        nodes[at] = own[chosen][:, local]
    return first, nodes[:, 0], nodes[:, 1]


NO_BLOCKS = np.empty((0, 3, 3))


class HessianTerms(NamedTuple):
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


def factorise_newton(
    system: ConstraintSystem,
    pattern: HessianPattern,
    B: Floats,
    z: Floats,
    terms: HessianTerms,
) -> Factor:
    """L D L^T of K.

    Parameters
    ----------
    B : (blocks, 3) blocks of the Jacobian at `z` (n + k, 3)
    """
    values = assemble(system.layout, pattern.blocks, B, z, terms)
    return factorise(pattern.factor, values, drop=0.0)


def dense(pattern: HessianPattern, values: Floats) -> Floats:
    """All of K from the entries of its lower triangle."""
    row, col = entries_of(pattern.blocks)
    size = 3 * len(pattern.blocks.diagonal)
    K = np.zeros((size, size))
    K[row, col] = values
    K[col, row] = values
    return K


@kernel
def assemble(
    layout: JacobianLayout,
    blocks: HessianBlocks,
    B: Floats,
    z: Floats,
    terms: HessianTerms,
) -> Floats:
    """The entries of the lower triangle of K."""
    n = layout.n
    K = np.zeros((len(blocks.upper), 3, 3))
    if len(terms.blocks):
        K += terms.blocks
    _outer_products(blocks.outer, B, layout.block_row, terms.rho, K)
    if np.any(terms.y):
        add_second_derivatives(layout, blocks.curved, z, terms.y, K)
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
