"""The constraints of a structure as one sparse system, eqs. (2)-(4) and (8) of [dJ23].

The places of all entries are those of its topology; at each configuration only values
change.
"""

from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats, Ints
from sim.linear.sparse import Factor, SparsityPattern, factorise
from sim.morph.equations import jacobian, rows
from sim.morph.equations.topology import Topology, topology_of
from sim.morph.structure.constraints import (
    DEGREE,
    ROWS,
    ConstraintKind,
    ConstraintTable,
)
from sim.morph.structure.measures import characteristic_length
from sim.morph.structure.structure import Structure
from sim.once import once_per_owner

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
    layout: jacobian.JacobianLayout

    @property
    def n(self) -> int:
        """Nodes."""
        return self.topology.n

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
        return self.topology.block_row

    @property
    def block_node(self) -> Ints:
        return self.topology.block_node

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
    """The constraints of a structure; made once, and gone with it."""
    return system_with(structure, structure.constraints)


def system_with(structure: Structure, table: ConstraintTable) -> ConstraintSystem:
    """The same for other constraints between the nodes of a structure."""
    topology = topology_of(table, len(structure.r0))
    scale = _scale(table, characteristic_length(structure.r0))
    return ConstraintSystem(table, topology, topology.layout(table.constant, scale))


def _scale(table: ConstraintTable, L: float) -> Floats:
    """(m,) unit of each residual: the paper leaves it open how to compare them."""
    size = L if L > 0.0 else 1.0
    scale = size ** DEGREE[table.kind].astype(np.float64)
    links = (table.kind == ConstraintKind.DIST) & (
        table.constant > 0.0
    )  # not those of a range
    scale[links] = table.constant[links]
    repeated: Floats = np.repeat(scale, ROWS[table.kind])
    return repeated


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
    rows.evaluate(system.layout, z, eliminate, c, B)
    return LinearConstraints(system, c, B, jacobian.largest(system.layout, c))
