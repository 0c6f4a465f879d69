"""Mobility: [dJ23], Methods, Mobility, eqs. (7) to (10).

The rank is that of J itself, by reflections, not of J J^T, in which a singular value
of 1e-6 would be lost (`sim.linear.orthogonal`).
"""

from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats, Ints
from sim.convergence import NotConvergedError
from sim.linear.orthogonal import SparseRows, column_pivots
from sim.morph.equations.projection import admissible, satisfy_constraints
from sim.morph.equations.system import (
    LinearConstraints,
    linearise,
    state,
    system_of,
)
from sim.morph.mobility.units import in_own_unit, own_unit
from sim.morph.structure.measures import characteristic_length, rigid_motions
from sim.morph.structure.structure import Structure

DEPENDENT = 1e-10  # of a row, what is left of it beside those before it
LARGEST = 3000  # unknowns whose modes are taken from a dense null space


@dataclass(frozen=True, eq=False)
class Mobility:
    """How a structure can move.

    Attributes
    ----------
    nodes, multipliers, rows : n, k and m
    rank : of the Jacobian
    redundant : rows that say nothing new, given the rows before them in elimination
    """

    nodes: int
    multipliers: int
    rows: int
    rank: int
    redundant: Ints

    @property
    def naive(self) -> int:
        """f = 3 n - m of the paper, with the multipliers counted as unknowns."""
        return 3 * self.nodes + self.multipliers - self.rows

    @property
    def mobility(self) -> int:
        """Independent motions, to first order."""
        return 3 * self.nodes + self.multipliers - self.rank


def mobility(structure: Structure, z: Floats | None = None) -> Mobility:
    """Rank and redundant rows, without a dense matrix.

    Parameters
    ----------
    z : (n + k, 3) state, the initial one unless given
    """
    unit, n = own_unit(structure), len(structure.r0)
    made = in_own_unit(structure)
    system = system_of(made)
    if z is None:
        z = state(made)
    elif unit != 1.0:
        z = np.concatenate([z[:n] / unit, z[n:]])
    dropped = np.flatnonzero(_independence(linearise(system, z)) == 0.0)
    rank = system.m - len(dropped)
    return Mobility(system.n, system.k, system.m, rank, dropped)


def _independence(linear: LinearConstraints) -> Floats:
    """(m,) share of each row that those eliminated before it do not say; 0: none."""
    system = linear.system
    number = (3 * system.block_node[:, None] + np.arange(3)).ravel()
    at = np.flatnonzero(linear.B.ravel())
    at = at[np.argsort(number[at], kind="stable")]
    unknowns = np.arange(3 * (system.n + system.k) + 1)
    columns = SparseRows(
        np.searchsorted(number[at], unknowns),
        np.repeat(system.block_row, 3)[at],
        linear.B.ravel()[at],
    )
    return column_pivots(system.normal.fronts, columns, DEPENDENT)


def modes(structure: Structure) -> Floats:
    """(f, n, 3) independent motions of the nodes, U of eq. (9), each of unit length.

    They are ordered by how much of a rigid motion they are, the most rigid last.
    """
    structure = in_own_unit(structure)
    motions = _motions(structure, state(structure), mobility(structure).rank)
    U = _ordered(motions, structure.r0)
    U /= np.maximum(np.linalg.norm(U, axis=1, keepdims=True), 1e-300)
    shaped: Floats = U.reshape(-1, len(structure.r0), 3)
    return shaped


def _motions(structure: Structure, z: Floats, rank: int) -> Floats:
    """(f, 3n) independent motions of the nodes at the state z, from a dense null space.

    Together with the change of their multipliers they are orthonormal.
    """
    system = system_of(structure)
    unknowns = 3 * system.n + system.k
    if unknowns > LARGEST:
        raise ValueError(
            f"the structure has {unknowns} unknowns: modes are drawn of structures "
            f"with {LARGEST} at most"
        )
    linear = linearise(system, z)
    J = np.delete(unit_rows(linear), _unused(system.n, system.k), axis=1)
    _, _, rows = np.linalg.svd(J)
    motions: Floats = rows[rank:, : 3 * system.n]
    return motions


def _ordered(U: Floats, r: Floats) -> Floats:
    """U turned so that the most rigid motions are last."""
    rigid = rigid_motions(r)
    turned: Floats = np.linalg.eigh(U @ rigid @ rigid.T @ U.T).eigenvectors.T @ U
    return turned


def unit_rows(linear: LinearConstraints) -> Floats:
    """(m, 3n + 3k) the Jacobian, dense, its rows of unit length."""
    J = dense_rows(linear)
    J /= np.maximum(np.linalg.norm(J, axis=1, keepdims=True), 1e-300)
    return J


def dense_rows(linear: LinearConstraints) -> Floats:
    """(m, 3n + 3k) the Jacobian, dense."""
    system = linear.system
    blocks = np.zeros((system.m, system.n + system.k, 3))
    np.add.at(blocks, (system.block_row, system.block_node), linear.B)
    return blocks.reshape(system.m, 3 * (system.n + system.k))


def nearby_mobility(structure: Structure, seed: int = 0) -> int | None:
    """Mobility at a generic configuration close by; None if there is none.

    Where it differs from the mobility at the initial configuration, that one is
    special (a flat parallelogram, a dead centre), and some of its first-order motions
    lead nowhere.
    """
    structure = in_own_unit(structure)
    system, z = system_of(structure), state(structure)
    L = characteristic_length(structure.r0)
    noise = np.random.default_rng(seed).normal(size=structure.r0.shape)
    dz = admissible(system, z, noise)
    size = 0.02 * L / max(float(np.abs(dz).max()), 1e-300)
    try:
        near = satisfy_constraints(system, z + size * dz, tolerance=1e-12)
    except NotConvergedError:
        return None
    return mobility(structure, near).mobility


def _unused(n: int, k: int) -> Ints:
    """Columns of a state that hold no unknown."""
    second = 3 * n + 3 * np.arange(k) + 1
    return np.concatenate([second, second + 1])
