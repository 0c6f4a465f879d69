"""Effect of printing errors on a morphed shape: a Monte Carlo through the solver.

Each sample is a print with other link lengths, whose shape the solver computes. The
covariance of these shapes is the input's part of the validation uncertainty. A
mechanism turns a small error of a link into a large, common error of all nodes far from
it.

A print cannot satisfy all rows of an overconstrained mechanism exactly
(`closing_with_errors`). The linkages of Sarrus, Bennett and Bricard have redundant
rows. With errors in the lengths these rows contradict each other and the loop does not
close. The nearest structure that closes is no substitute, since most such structures
are locked. A real print closes and still moves, because its joints have play and
compliance. So one row of each dependency is omitted. The others hold exactly, with
random errors, and the omitted row takes the misfit. A print distributes the misfit over
its joints in an unknown way; the covariance does not include this.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from scipy.linalg import qr

from analysis.alignment import align
from sim.core.arrays import Floats, Ints
from sim.core.options import NotConvergedError
from sim.mechanism.constraint_system import linearise, state, system_of
from sim.mechanism.constraints import ROWS, ConstraintKind
from sim.mechanism.mobility import LARGEST, in_own_unit, unit_rows
from sim.mechanism.structure import Structure

Solve = Callable[[Structure], Floats]


def printed_again(
    structure: Structure, length_sd: float, rng: np.random.Generator
) -> Structure:
    """The structure with every link and every side of a body a little off.

    Parameters
    ----------
    length_sd : of each length, in the structure's unit
    """
    table = structure.constraints
    links = table.kind == ConstraintKind.DIST
    length = np.sqrt(table.constant[links])
    constant = table.constant.copy()
    constant[links] = (length + rng.normal(0.0, length_sd, len(length))) ** 2
    return replace(structure, constraints=replace(table, constant=constant))


def draw_shapes(
    structure: Structure,
    solve: Solve,
    length_sd: float,
    draws: int,
    rng: np.random.Generator,
) -> Iterator[Floats | None]:
    """Yield the shape (n, 3) of each print; None where the solver found none.

    Parameters
    ----------
    solve : from a structure to its last configuration
    """
    for _ in range(draws):
        try:
            yield solve(printed_again(structure, length_sd, rng))
        except NotConvergedError:
            yield None


def shape_covariance(final: Floats, samples: Floats) -> Floats:
    """Mean square departure of sampled shapes from the nominal one, rigid motion
    removed.

    It is taken about the nominal shape, so it includes a shift of the mean.

    Parameters
    ----------
    final : (n, 3) nominal configuration
    samples : (draws, n, 3)

    Returns
    -------
    (3n, 3n) in the unit of `final` squared
    """
    if len(samples) < 2:
        raise ValueError(
            f"a covariance needs 2 or more shapes, not {len(samples)}: raise the "
            "number of draws, or lower the printing error until the solver converges"
        )
    departures = np.array([align(final, x).difference.ravel() for x in samples])
    return np.asarray(departures.T @ departures / len(departures))


def distance_covariance(
    final: Floats, samples: Floats, closest: Callable[[Floats], Floats]
) -> Floats:
    """Mean square change of what parts the nodes from their goals.

    Parameters
    ----------
    final : (n, 3) nominal configuration
    samples : (draws, n, 3)
    closest : goals of all nodes (n, 3)

    Returns
    -------
    (3n, 3n) in the unit of `final` squared
    """
    apart = final - closest(final)
    changes = np.array([(x - closest(x) - apart).ravel() for x in samples])
    return np.asarray(changes.T @ changes / len(changes))


DEPENDENT = 1e-8  # singular value of J up to which rows depend, its rows of length 1
SHARE = 1e-6  # of a row in a dependency, from which it has part in it
# weight of a length relative to rows of joints, which give way first
LENGTHS_LAST = 1e-2
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
    return np.asarray(U[:, rank:])


def _left_out(y: Floats, kinds: Ints) -> Ints:
    """One row of each dependency; rows of joints before lengths, never a held node."""
    weight = np.where(kinds == ConstraintKind.DIST, LENGTHS_LAST, 1.0)
    weight[~np.isin(kinds, list(GIVES_WAY))] = 0.0
    R, order = qr((weight[:, None] * y).T, mode="r", pivoting=True)
    enough = np.abs(np.diag(R)) > SHARE
    return np.asarray(order[: len(enough)][enough].astype(np.int64))
