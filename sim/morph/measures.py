"""Numbers that describe a shape: eqs. (5), (6) and (13) of [dJ23]."""

import numpy as np

from sim.arrays import Floats


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
