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

from sim.core.arrays import Bools, Floats, Ints
from sim.linalg.elimination_order import minimum_degree
from sim.linalg.sparse_ldl import (
    Factor,
    SparsityPattern,
    analyse,
    factorise,
    lower_places,
    sorted_places,
)
from sim.mechanism import constraints, jacobian_pattern
from sim.mechanism.constraints import (
    CURVED,
    DEGREE,
    LAMBDA,
    ROWS,
    TOUCHES,
    ConstraintKind,
    ConstraintTable,
    starts,
)
from sim.mechanism.jacobian_pattern import JacobianLayout
from sim.mechanism.object_cache import once_per_owner
from sim.mechanism.shape_measures import characteristic_length
from sim.mechanism.structure import Structure

SOFTNESS = 1e-13  # of a soft row, of its diagonal in J J^T


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
        pairs = by_node[np.column_stack(jacobian_pattern.pairs_in_runs(start))]
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


def with_multiplier(of: ConstraintTable | JacobianLayout, n: int) -> Ints:
    """(q, 7) nodes of each constraint; in column LAMBDA the place of its multiplier."""
    lam = n + np.cumsum(of.kind == ConstraintKind.PAR) - 1
    return np.insert(of.nodes, LAMBDA, lam, axis=1)


def _touched(table: ConstraintTable, n: int) -> tuple[Ints, Ints, Ints]:
    """Row and node of each gradient of `rows.evaluate`; where a constraint begins."""
    own = with_multiplier(table, n)
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
        jacobian_pattern.times(self.system.layout, self.B, dz, out)
        return out

    def transpose_times(self, y: Floats) -> Floats:
        """J^T y, (n + k, 3)."""
        out = np.zeros((self.system.n + self.system.k, 3))
        jacobian_pattern.add_transpose_times(self.system.layout, self.B, y, 1.0, out)
        return out

    def factorise(self, soft: Bools | None = None) -> Factor:
        """L D L^T of J J^T; of dependent rows, soft ones share, others are dropped.

        Parameters
        ----------
        soft : (m,)
        """
        pairs = self.system.layout.pairs
        values = np.empty(len(pairs))
        jacobian_pattern.products(pairs, self.B, values)
        if soft is None:
            return factorise(self.system.normal, values)
        own = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
        values[own] *= 1.0 + SOFTNESS * soft[self.system.block_row[pairs[own, 0]]]
        return factorise(self.system.normal, values, drop=0.1 * SOFTNESS)


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
    return LinearConstraints(system, c, B, jacobian_pattern.largest(system.layout, c))


NOT_CURVED = np.empty((0, 12, 12))


class CurvedTerms(NamedTuple):
    """Hess y.c, the sum of v (e_i e_j^T + e_j e_i^T), v = f y_row (x_head - x_tail).

    With x the numbers of a state, then 1 three times and 0 three times.
    """

    row: Ints
    f: Ints
    i: Ints
    j: Ints
    head: Ints
    tail: Ints


def curved_terms(layout: JacobianLayout, multipliers: int) -> CurvedTerms:
    """The terms of all constraints, in their order."""
    own, size = with_multiplier(layout, layout.n), layout.n + multipliers
    own = np.column_stack([own, np.tile([size, size + 1], (len(own), 1))])
    found = [np.empty((7, 0), dtype=np.int64)]
    for kind, terms in CURVED.items():
        row, a, i, b, j, f, head, tail, axis = np.array(terms).T
        at = np.flatnonzero(layout.kind == kind)[:, None]
        nodes = own[at[:, 0]]
        table = np.broadcast_arrays(
            at, layout.first_row[at] + row, f, 3 * nodes[:, a] + i,
            3 * nodes[:, b] + j, 3 * nodes[:, head] + axis, 3 * nodes[:, tail] + axis,
        )  # fmt: skip
        found.append(np.reshape(table, (7, -1)))
    every = np.concatenate(found, axis=1)
    return CurvedTerms(*every[1:, np.argsort(every[0], kind="stable")])


@dataclass(frozen=True, eq=False)
class HessianPattern:
    """Where the entries of K and of its factor are.

    Attributes
    ----------
    products : (2, o) numbers of the blocks of J whose products are entries
    curved : second derivatives of the constraints
    bent : the term of each entry that these make
    contacts, own : which numbers of the matrices of contacts, and of W, are entries
    rows, cols : (e,) of these entries; those of one place add up
    """

    products: Ints
    curved: CurvedTerms
    bent: Ints
    contacts: Ints
    own: Ints
    rows: Ints
    cols: Ints
    factor: SparsityPattern


@once_per_owner
def hessian_pattern_of(topology: Topology) -> HessianPattern:
    """The places of all entries of K; found once for a topology."""
    return hessian_pattern_with(topology, np.empty((0, 4), dtype=np.int64))


def hessian_pattern_with(topology: Topology, nodes: Ints) -> HessianPattern:
    """The same with a matrix for each four nodes (e, 4), as of contacts."""
    layout, size = topology.layout, topology.layout.n + topology.k
    p, q = jacobian_pattern.pairs_in_runs(
        np.searchsorted(layout.block_row, np.arange(topology.m + 1))
    )
    one, other = layout.block_node[p], layout.block_node[q]
    a, b = np.tril_indices(4, -1)
    order = minimum_degree(
        size, np.append(one, nodes[:, a]), np.append(other, nodes[:, b])
    )
    curved = curved_terms(layout, topology.k)
    contacts, own = coordinates(nodes), coordinates(np.arange(layout.n)[:, None])
    i, j = (np.stack(ends, axis=1).reshape(-1, 1) for ends in
            ((curved.i, curved.j), (curved.j, curved.i)))  # fmt: skip
    every = np.arange(3 * size)[:, None]
    places = [
        lower_places(contacts, contacts),
        lower_places(coordinates(one[:, None]), coordinates(other[:, None])),
        lower_places(i, j),
        lower_places(own, own),
        lower_places(every, every),
    ]
    rows, cols = (np.concatenate([place[side] for place in places]) for side in (0, 1))
    all_three = coordinates(order[:, None]).ravel()
    factor = analyse(3 * size, rows, cols, order=all_three)
    contact, product, bent, block, _ = (place.taken for place in places)
    pair, (a, b) = product // 9, np.divmod(product % 9, 3)
    products = np.stack([3 * p[pair] + a, 3 * q[pair] + b])
    return HessianPattern(
        products, curved, bent // 2, contact, block, rows, cols, factor
    )


def coordinates(nodes: Ints) -> Ints:
    """(e, 3k) numbers of the coordinates of nodes (e, k)."""
    numbers = 3 * nodes[:, :, None] + np.arange(3)
    return numbers.reshape(len(nodes), 3 * nodes.shape[1])


class HessianTerms(NamedTuple):
    """What K is made of.

    Attributes
    ----------
    W : (n, 3, 3) curvature of the distance to the goals
    y : (m,) forces of the constraints
    rho : (m,) weights of the constraints
    mu : shift
    contacts : (e, 12, 12) matrices of four nodes each
    """

    W: Floats
    y: Floats
    rho: Floats
    mu: float
    contacts: Floats = NOT_CURVED


def dense(pattern: HessianPattern, values: Floats) -> Floats:
    """All of K from the entries of its lower triangle."""
    K = np.zeros((pattern.factor.n, pattern.factor.n))
    np.add.at(K, (pattern.rows, pattern.cols), values)
    return K + np.tril(K, -1).T


def assemble(
    layout: JacobianLayout,
    pattern: HessianPattern,
    B: Floats,
    z: Floats,
    terms: HessianTerms,
) -> Floats:
    """The entries of the lower triangle of K."""
    one, other = pattern.products
    weighted = terms.rho[layout.block_row, None] * B
    curved, x = pattern.curved, np.append(z, np.repeat([1.0, 0.0], 3))
    bent = curved.f * terms.y[curved.row] * (x[curved.head] - x[curved.tail])
    diagonal = np.full_like(z, terms.mu)
    diagonal[layout.n :, 1:] = 1.0  # of a multiplier only the first number counts
    parts = (
        terms.contacts.ravel()[pattern.contacts],
        weighted.ravel()[one] * B.ravel()[other],
        bent[pattern.bent],
        terms.W.ravel()[pattern.own],
        diagonal.ravel(),
    )
    return np.concatenate(parts)
