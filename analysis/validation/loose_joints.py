"""Which rows of an overconstrained mechanism a print does not hold exactly.

A closed loop may say the same twice: Sarrus's linkage, Bennett's, Bricard's. With
errors in its lengths such rows contradict and the loop does not close; the nearest
structure that does close is of no use either, since most of them are locked. A real
print closes and still moves, because play and compliance of its joints give way where
the loop is held once too often. So one row of each dependency is left out. The others
hold exactly, with the errors drawn; the misfit goes into the row left out. A print
spreads it over its joints: how is not known here, and the covariance does not own up
to it.
"""

from dataclasses import replace

import numpy as np
from scipy.linalg import qr

from sim.arrays import Floats, Ints
from sim.morph.equations.system import linearise, state, system_of
from sim.morph.mobility.mobility import LARGEST, unit_rows
from sim.morph.mobility.units import in_own_unit
from sim.morph.structure.constraints import ROWS, ConstraintKind
from sim.morph.structure.structure import Structure

DEPENDENT = 1e-8  # singular value of J up to which rows depend, its rows of length 1
SHARE = 1e-6  # of a row in a dependency, from which it has part in it
LENGTHS_LAST = 1e-2  # weight of a length beside rows of joints, which give way first
GIVES_WAY = {ConstraintKind.DOT, ConstraintKind.TRIPLE, ConstraintKind.DIST}


def closing_with_errors(structure: Structure, way: Floats) -> Structure:
    """The structure with as many rows as a print with errors can satisfy.

    It has the same motions. Rows that depend on others in a single configuration alone
    (a flat start, a dead centre) stay: they depend at the start, the middle and the
    end of the way. So do dependencies that have no length in them, which errors of
    lengths do not break; where no other is there, the structure itself comes back, as
    does one with more than `LARGEST` unknowns.

    Parameters
    ----------
    way : (steps, n, 3) configurations of the structure without errors
    """
    if structure.r0.size + structure.constraints.multipliers > LARGEST:
        return structure
    places = (way[0], way[len(way) // 2], way[-1])
    found = (dependencies(structure, r) for r in places)
    y = min(found, key=lambda shares: shares.shape[1])
    table = structure.constraints
    rows = np.repeat(table.kind, ROWS[table.kind])
    lengths = rows == ConstraintKind.DIST
    if not (np.abs(y[lengths]) > SHARE).any():
        return structure
    held = np.ones(len(table), dtype=np.bool_)
    held[np.searchsorted(table.first_row, _left_out(y, rows), side="right") - 1] = False
    return replace(structure, constraints=table.only(held))


def dependencies(structure: Structure, r: Floats) -> Floats:
    """(m, d) orthonormal y with y J = 0 at the nodes r (n, 3); J has unit rows."""
    there = in_own_unit(replace(structure, r0=r))
    U, sizes, _ = np.linalg.svd(unit_rows(linearise(system_of(there), state(there))))
    rank = int(np.count_nonzero(sizes > DEPENDENT))
    y: Floats = U[:, rank:]
    return y


def _left_out(y: Floats, kinds: Ints) -> Ints:
    """One row of each dependency; rows of joints before lengths, never a held node."""
    weight = np.where(kinds == ConstraintKind.DIST, LENGTHS_LAST, 1.0)
    weight[~np.isin(kinds, list(GIVES_WAY))] = 0.0
    R, order = qr((weight[:, None] * y).T, mode="r", pivoting=True)
    enough = np.abs(np.diag(R)) > SHARE
    rows: Ints = order[: len(enough)][enough].astype(np.int64)
    return rows
