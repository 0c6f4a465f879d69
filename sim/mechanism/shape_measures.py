"""Numbers that describe a shape: eqs. (5), (6) and (13) of [dJ23]; extents.

E, S and L are defined here once.
"""

from contextlib import suppress

import numpy as np
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.distance import pdist

from sim.core.arrays import Floats

MANY = 200  # nodes from which the farthest pair is sought on the convex hull


def _root_mean_square(d: Floats) -> float:
    return float(np.sqrt(np.einsum("ij,ij->", d, d) / len(d)))


def characteristic_length(r0: Floats) -> float:
    """Spread of the initial nodes about their centroid, L of eq. (13).

    Parameters
    ----------
    r0 : (n, 3) initial node positions
    """
    return _root_mean_square(r0 - r0.mean(axis=0))


def distance_error(r: Floats, g: Floats, L: float) -> float:
    """Distance of the nodes from their goals, E of eq. (5).

    Parameters
    ----------
    r, g : (n, 3) node positions and their goals
    L : characteristic length, in the unit of `r`
    """
    return _root_mean_square(r - g) / L


def shape_factor(r: Floats, L: float) -> float:
    """Spread of the nodes about their centroid, S of eq. (6).

    Parameters
    ----------
    r : (n, 3) node positions
    L : characteristic length, in the unit of `r`
    """
    return _root_mean_square(r - r.mean(axis=0)) / L


def diameter(r: Floats) -> float:
    """The largest distance between two nodes."""
    if len(r) > MANY:
        with suppress(QhullError):  # flat: all of them
            r = r[ConvexHull(r).vertices]
    return float(pdist(r).max(initial=0.0))


def principal_extents(r: Floats) -> Floats:
    """(3,) edges of the box around the nodes along their principal axes."""
    d = r - r.mean(axis=0)
    axes = np.linalg.svd(d, full_matrices=False)[2]
    extents = np.zeros(3)
    extents[: len(axes)] = np.ptp(d @ axes.T, axis=0)
    return np.asarray(np.sort(extents)[::-1])


EYE = np.eye(3)
TURNS = np.cross(EYE[:, None], EYE).transpose(1, 2, 0).reshape(3, 9)  # about each axis


def rigid_motions(r: Floats) -> Floats:
    """(3n, 6) orthonormal motions of the whole; fewer where nodes are in line."""
    motions = np.empty((len(r), 3, 6))
    motions[..., :3] = EYE
    motions[..., 3:] = ((r - r.sum(axis=0) / len(r)) @ TURNS).reshape(-1, 3, 3)
    basis, sizes, _ = np.linalg.svd(motions.reshape(-1, 6), full_matrices=False)
    return np.asarray(basis[:, sizes > 1e-9 * sizes[0]])
