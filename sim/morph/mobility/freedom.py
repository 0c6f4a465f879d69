"""How free a configuration is: singular values, and motions of the whole."""

import numpy as np

from sim.arrays import Floats
from sim.morph.equations.system import LinearConstraints
from sim.morph.mobility.mobility import unit_rows
from sim.morph.structure.measures import rigid_motions


def motions_of_the_whole(linear: LinearConstraints, r: Floats) -> Floats:
    """(3n, 0 to 6) orthonormal rigid motions that the constraints allow."""
    rigid = rigid_motions(r)
    rest = np.zeros((linear.system.k, 3))
    moved = [
        linear.times(np.vstack([motion.reshape(-1, 3), rest])) for motion in rigid.T
    ]
    rate = np.array(moved).T / linear.system.scale[:, None]
    sizes, across = np.linalg.svd(rate, full_matrices=True)[1:]
    free = np.append(sizes, np.zeros(len(across) - len(sizes))) <= 1e-9
    allowed: Floats = rigid @ across[free].T
    return allowed


def singular_values(linear: LinearConstraints) -> Floats:
    """Of the Jacobian with rows of unit length, descending."""
    return np.asarray(np.linalg.svd(unit_rows(linear), compute_uv=False))


def counted(sizes: Floats) -> int:
    """How many singular values are not rounding."""
    return int(np.count_nonzero(sizes > 1e-8))
