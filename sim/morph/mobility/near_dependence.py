"""Constraints that nearly depend on each other, and the forces that hang on it.

Two links in a line hold the node between them to first order not at all. Within a
residual eps of the rows it moves aside by sqrt(eps), where the Jacobian has full rank
and a singular value sigma of that size; a force across is then carried by tensions of
1/sigma, and they hang on where in the residual the node is: with rows of unit length
and lengths in L a configuration is known to eps / sigma along the weak motion, sigma
itself to as much, and a force to the share eps / sigma^2 of its part along the weak
combination w of rows, |w J| = sigma (Golub and Van Loan, Matrix Computations, 2013,
sect. 2.4: singular values move no farther than the matrix).

The weak combinations are found by inverse iteration of a few vectors with the factor of
J J^T, at the price of some solutions. Rows that the factor drops depend on others
wholly, and are redundant; they are left out here.
"""

from dataclasses import dataclass

import numpy as np

from sim.arrays import Bools, Floats
from sim.morph.equations.system import LinearConstraints, linearise, system_of
from sim.morph.mobility.units import in_own_unit, own_unit
from sim.morph.structure.constraints import ConstraintTable
from sim.morph.structure.structure import Structure

SURE = 1e-2  # share of a force that may hang on the residual
VECTORS = 6  # weak combinations that are sought at once
ITERATIONS = 12
NAMED = 0.1  # share of the largest in a combination from which a row is named


@dataclass(frozen=True, eq=False)
class NearDependence:
    """Combinations of rows that are almost zero.

    Attributes
    ----------
    singular_value : (q,) of J with rows of unit length, ascending; none is regular
    combinations : (q, m) unit vectors w, |w J| = singular value
    size : (m,) length of each row of J, by which a force is multiplied
    residual : of the constraints that configurations are held to
    """

    singular_value: Floats
    combinations: Floats
    size: Floats
    residual: float

    def __len__(self) -> int:
        return len(self.singular_value)

    def names(self, table: ConstraintTable) -> list[str]:
        """The constraints that the combinations are made of."""
        weights = np.abs(self.combinations)
        strong = weights >= NAMED * weights.max(axis=1, keepdims=True)
        rows = np.flatnonzero(strong.any(axis=0)).tolist()
        return list(dict.fromkeys(table.name_of_row(row) for row in rows))


def near_dependence(
    structure: Structure, z: Floats, residual: float
) -> NearDependence | None:
    """What makes forces hang on the residual at a state; None where nothing does.

    Parameters
    ----------
    z : (n + k, 3) state
    residual : of the constraints that it is held to, dimensionless
    """
    unit, n = own_unit(structure), len(structure.r0)
    if unit != 1.0:
        z = np.concatenate([z[:n] / unit, z[n:]])
    linear = linearise(system_of(in_own_unit(structure)), z)
    sizes, weak, length = _weakest(linear)
    few = np.flatnonzero(sizes**2 * SURE < residual)
    if not len(few):
        return None
    return NearDependence(sizes[few], weak[few], length, residual)


def undetermined(found: NearDependence | None, y: Floats) -> Bools:
    """(m,) rows of whose force more than `SURE` of the largest hangs on the residual.

    Parameters
    ----------
    y : (m,) forces of the rows, in any one unit
    """
    if found is None:
        return np.zeros(len(y), dtype=np.bool_)
    force, w = y * found.size, found.combinations
    share = np.minimum(1.0, found.residual / found.singular_value**2)
    parts = np.abs(w * (w @ force * share)[:, None]).sum(axis=0)
    unsure: Bools = parts > SURE * np.abs(force).max(initial=1e-300)
    return unsure


def warning(table: ConstraintTable, found: NearDependence | None) -> dict[str, str]:
    """What a run says of them, under the key `warning`; nothing where nothing is."""
    if found is None:
        return {}
    names = "; ".join(found.names(table))
    return {
        "warning": f"{names} nearly depend on each other (smallest singular value "
        f"{found.singular_value[0]:.1e}), as at a dead centre or in an infinitesimal "
        f"mechanism: forces along them hang on the residual of {found.residual:.0e} "
        "and are left out; near a dead centre a smaller residual tells them, in an "
        "infinitesimal mechanism only other lengths do"
    }


def _weakest(linear: LinearConstraints) -> tuple[Floats, Floats, Floats]:
    """The smallest singular values of the rows that are kept, their w and lengths."""
    m = linear.system.m
    squares = np.bincount(
        linear.system.block_row, np.square(linear.B).sum(axis=1), minlength=m
    )
    factor = linear.factorise()
    kept = squares > 0.0
    kept[factor.dropped] = False
    length = np.where(kept, np.sqrt(squares), 0.0)
    rows = np.flatnonzero(kept)
    count = min(VECTORS, len(rows))
    if not count:
        return np.empty(0), np.empty((0, m)), length
    over = np.zeros(m)
    over[rows] = length[rows]
    w = np.zeros((m, count))
    w[rows] = np.random.default_rng(0).normal(size=(len(rows), count))
    for _ in range(ITERATIONS):
        w = over[:, None] * factor.solve(over[:, None] * np.linalg.qr(w)[0])
    w = np.linalg.qr(w)[0]
    scaled = np.divide(w, over[:, None], out=np.zeros_like(w), where=kept[:, None])
    pulled = np.array([linear.transpose_times(s.copy()).ravel() for s in scaled.T])
    turn, sizes, _ = np.linalg.svd(pulled, full_matrices=False)
    return sizes[::-1], (w @ turn).T[::-1], length
