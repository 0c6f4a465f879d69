"""Which coordinates to drive so that all motions of a mechanism are driven and held.

A (c, f) tells how f motions change c coordinates. Its rank is the number of motions
that any set of them can drive. A set S of as many coordinates drives them all where A_S
is regular, the better the larger its smallest singular value. Its condition is

    sigma_max(A) / sigma_min(A_S),

relative to all coordinates together, so that also a set of one can be badly placed: at
a dead centre a coordinate no longer tells the motion, and the condition has no bound.

Of few coordinates every set is tried, and the best is the best. Of many the set is that
of a QR factorisation with column pivoting (Golub 1965), which is good, and need not be
the best; `optimal` says which.
"""

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from scipy.linalg import qr

from sim.arrays import Floats, Ints

FEW = 5_000  # sets that are tried one by one
RANK = 1e-8  # singular value relative to the largest that counts as zero


@dataclass(frozen=True, eq=False)
class Drivers:
    """A set of coordinates that drives as many motions as any set can.

    Attributes
    ----------
    chosen : (rank,) ascending
    rank, motions : motions that are driven, and that there are
    condition : see above; inf where nothing is driven
    optimal : whether all sets have been tried
    """

    chosen: Ints
    rank: int
    motions: int
    condition: float
    optimal: bool


def choose(A: Floats, *, tolerance: float = RANK) -> Drivers:
    """The smallest set that drives what can be driven, as well placed as found.

    Parameters
    ----------
    A : (c, f) change of the coordinates in each motion
    tolerance : singular value relative to the largest below which nothing is driven
    """
    sizes, rows = _singular(A)
    rank = int(
        np.count_nonzero(sizes > tolerance * max(sizes.max(initial=0.0), 1e-300))
    )
    if rank == 0:
        return Drivers(np.empty(0, np.int64), 0, A.shape[1], np.inf, optimal=True)
    driven = A @ rows[:rank].T
    optimal = comb(len(A), rank) <= FEW
    if optimal:
        sets = [list(s) for s in combinations(range(len(A)), rank)]
        least = [np.linalg.svd(driven[s], compute_uv=False)[-1] for s in sets]
        best = sets[int(np.argmax(np.array(least) > (1.0 - 1e-9) * max(least)))]
    else:
        pivots = qr(driven.T, mode="r", pivoting=True)[1]
        best = sorted(pivots[:rank].tolist())
    chosen = np.array(best, dtype=np.int64)
    return Drivers(chosen, rank, A.shape[1], condition(A, chosen), optimal)


def condition(A: Floats, chosen: Ints) -> float:
    """sigma_max(A) / sigma_min(A_S) over the motions that A drives at all."""
    sizes, rows = _singular(A)
    rank = len(chosen)
    if rank == 0 or not sizes.max(initial=0.0) > 0.0:
        return np.inf
    least = np.linalg.svd(A[chosen] @ rows[:rank].T, compute_uv=False)[-1]
    return float(sizes[0] / least) if least > 0.0 else np.inf


def efforts(A: Floats, chosen: Ints, work: Floats) -> Floats:
    """(rank,) efforts of the drivers that balance forces, A_S^T tau + w = 0.

    Parameters
    ----------
    work : (f,) work of the forces in each motion; what no driver can hold is left out
    """
    found = np.linalg.lstsq(A[chosen].T, -work, rcond=None)[0]
    return np.asarray(found, dtype=np.float64)


def _singular(A: Floats) -> tuple[Floats, Floats]:
    """Singular values, the largest first, and the motions (f, f) they belong to."""
    if A.shape[1] == 0:
        return np.zeros(0), np.zeros((0, 0))
    found = np.linalg.svd(A, full_matrices=True)
    return found.S, found.Vh
