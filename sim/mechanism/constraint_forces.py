"""Forces of the constraints: at a configuration on the way, and at the end of a morph.

On the way to the goals the forces y of the constraints balance grad f as well as they
can, by least squares; what they leave is the gradient along the constraints, a
measure of how far the end is.

At a stationary point of f = 1/2 sum_j |r_j - g_j|^2 on c(z) = 0 the forces y of the
constraints balance the pull towards the goals,

    grad f + J^T y = 0.

If every leading node hangs on its goal by a spring of stiffness one, y are the forces
that the constraints carry; a link of length l in tension carries 2 l y. [dJ23] leaves
forces out and names them as a next step (Discussion).

A constraint with the constant k reads c = h(z) - k, so that f changes by df/dk = -y_k.
With f = 1/2 n L^2 E^2, and L held at its initial value,

    d(E^2)/dk = -2 y_k / (n L^2);

for a link k = l^2. E itself has no derivative at E = 0.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from sim.core.arrays import Bools, Floats, Ints
from sim.linalg.sparse_ldl import Factor
from sim.mechanism import jacobian_pattern
from sim.mechanism.constraint_system import (
    HessianPattern,
    LinearConstraints,
    linearise,
    system_of,
)
from sim.mechanism.constraints import ROWS, ConstraintKind
from sim.mechanism.shape_measures import characteristic_length
from sim.mechanism.structure import Structure


@dataclass(frozen=True, eq=False)
class MorphConfiguration:
    """A configuration on the constraints.

    Attributes
    ----------
    z : (n + k, 3) state
    g : (n, 3) goals
    linear : the constraints there
    """

    z: Floats
    g: Floats
    linear: LinearConstraints


@dataclass(frozen=True, eq=False)
class ConstraintForces:
    """What the constraints carry at a configuration.

    Attributes
    ----------
    linear : the constraints there
    normal : factor of J J^T
    y : (m,) forces that balance grad f best
    gradient : (n + k, 3) what they leave, the gradient along the constraints
    """

    linear: LinearConstraints
    normal: Factor
    y: Floats
    gradient: Floats

    @cached_property
    def size(self) -> float:
        """Root mean square of the gradient over the nodes, the case's unit."""
        squares = inner(self.gradient, self.gradient)
        return float(np.sqrt(squares / self.linear.system.n))


@dataclass(frozen=True, eq=False)
class ObstacleTerms:
    """Further rows and pairs, with their own forces: see `sim.mechanism.obstacles`.

    Attributes
    ----------
    linear : the constraints with the further rows as the last ones
    pattern : of K with rows and pairs
    y, rho : (q,) forces of the further rows, and how these grow
    node, slopes : (p, 4), (p, 4, 3) nodes of the pairs, and slopes of their potential
    curvature, convex : (p, 12, 12) of each pair, and a part that is never negative
    """

    linear: LinearConstraints
    pattern: HessianPattern
    y: Floats
    rho: Floats
    node: Ints
    slopes: Floats
    curvature: Floats
    convex: Floats

    def push(self) -> Floats:
        """(n + k, 3) gradient of what makes the forces."""
        rows = np.zeros(self.linear.system.m)
        rows[len(rows) - len(self.y) :] = self.y
        total = self.linear.transpose_times(rows)
        np.add.at(total, self.node, self.slopes)
        return total

    def pushes(self) -> csr_array:
        """(contacts, 3n) the slopes of each potential of its own in r."""
        system, q, count = self.linear.system, len(self.y), len(self.node)
        own = np.flatnonzero(system.block_row >= system.m - q)
        bound = system.block_row[own] - (system.m - q)
        of_bounds = self.y[bound, None] * self.linear.B[own]
        slopes = np.concatenate([of_bounds, self.slopes.reshape(-1, 3)])
        row = np.append(bound, q + np.repeat(np.arange(count), 4))
        node = np.append(system.block_node[own], self.node.ravel())
        columns = 3 * node[:, None] + np.arange(3)
        places = np.repeat(row, 3), columns.ravel()
        shape = (int(row.max(initial=-1)) + 1, 3 * system.n)
        return csr_array((slopes.ravel(), places), shape=shape)


def constraint_forces(
    point: MorphConfiguration, contacts: ObstacleTerms | None = None
) -> ConstraintForces:
    """The constraint forces at `point`: the least squares of grad f + J^T y."""
    linear, n = point.linear, point.linear.system.n
    gradient = np.zeros_like(point.z)
    gradient[:n] = point.z[:n] - point.g
    if contacts is not None:
        gradient += contacts.push()
    return ConstraintForces(linear, *balanced(linear, gradient))


def inner(a: Floats, b: Floats) -> float:
    """Sum of a b without BLAS, whose threads cost more than they gain here."""
    return float(np.einsum("i,i->", a.ravel(), b.ravel()))


def balanced(
    linear: LinearConstraints, gradient: Floats, soft: Bools | None = None
) -> tuple[Factor, Floats, Floats]:
    """Factor of J J^T, forces y that balance a gradient best, and what they leave.

    Parameters
    ----------
    soft : (m,) rows that share their force where they are dependent, as in doubled
        chains; without any, one of them has none
    """
    layout, normal = linear.system.layout, linear.factorise(soft)
    y, left = np.zeros(linear.system.m), gradient.copy()
    for _ in range(2 if soft is None else 4):  # more remove what the first has left
        dy = normal.solve(linear.times(left))
        jacobian_pattern.add_transpose_times(layout, linear.B, dy, -1.0, left)
        y -= dy
    return normal, y, left


@dataclass(frozen=True, eq=False)
class Reactions:
    """What the constraints carry where nodes rest as close to their goals as they can.

    Attributes
    ----------
    y : (m,) forces of the rows, zero for rows that depend on others
    tension : (links,) force in each link, positive when it is stretched
    on_nodes : (n, 3) force of the constraints on each node, -J^T y
    sensitivity : (m,) d(E^2)/d(constant) of each row
    gradient : rms / L of what they do not balance: zero at a stationary point
    redundant : rows that depend on others; with any, the forces are not the only ones
    """

    y: Floats
    tension: Floats
    on_nodes: Floats
    sensitivity: Floats
    gradient: float
    redundant: Ints


def reactions(
    structure: Structure, z: Floats, g: Floats, contacts: ObstacleTerms | None = None
) -> Reactions:
    """Forces at the state z (n + k, 3) with the goals g (n, 3).

    Parameters
    ----------
    contacts : of bodies in contact there
    """
    system = system_of(structure)
    L = characteristic_length(structure.r0)
    forces = constraint_forces(MorphConfiguration(z, g, linearise(system, z)), contacts)
    y, linear = forces.y, forces.linear
    links = np.repeat(system.table.kind == ConstraintKind.DIST, ROWS[system.table.kind])
    tension: Floats = 2.0 * np.sqrt(system.scale[links]) * y[links]
    return Reactions(
        y=y,
        tension=tension,
        on_nodes=-linear.transpose_times(y)[: system.n],
        sensitivity=-2.0 * y / (system.n * L**2),
        gradient=forces.size / L,
        redundant=forces.normal.dropped,
    )
