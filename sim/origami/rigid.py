"""Rigid closure of a vertex: eq. (1.1) of [ZF19]."""

import numpy as np

from sim.arrays import Floats


def _about_x(angle: float) -> Floats:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def _about_z(angle: float) -> Floats:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def closure_error(sectors: Floats, folds: Floats) -> float:
    """Norm of R_1 R_2 ... R_n - I around a vertex.

    R_i folds about crease i and turns through the sector that follows it. The product
    is I where rigid panels close around the vertex; that is necessary for a rigid
    folding, not sufficient: panels may still pass through each other.

    Parameters
    ----------
    sectors : (n,) angle of the panel after each crease, rad
    folds : (n,) fold of each crease, rad, zero when flat, valleys positive
    """
    product = np.eye(3)
    for sector, fold in zip(sectors, folds, strict=True):
        product = product @ _about_x(fold) @ _about_z(sector)
    return float(np.linalg.norm(product - np.eye(3)))
