"""How the pull of a target changes as nodes move."""

import numpy as np

from sim.arrays import Bools, Floats
from sim.morph.targets.goals import Goals
from sim.morph.targets.protocol import Target, slopes_of

JUMP = 20.0  # of a nearest point, over the displacement that brings it about


def jumping(target: Target, r: Floats, g: Floats, h: float) -> Bools:
    """(p,) which nodes r (p, 3) have goals g that a displacement h makes jump."""
    moved = [target.closest(r + way * h * e) for e in np.eye(3) for way in (1.0, -1.0)]
    farthest = np.linalg.norm(np.stack(moved) - g, axis=2).max(axis=0)
    found: Bools = farthest > JUMP * h
    return found


def pull_curvature(target: Target, r: Floats, g: Floats, h: float) -> Floats:
    """(p, 3, 3) second derivative I - dg/dr of 1/2 |r - g|^2, symmetric.

    Parameters
    ----------
    r, g : (p, 3) nodes and their goals
    h : displacement of the differences that dg/dr is taken from, if it is not known
    """
    W = np.tile(np.eye(3), (len(r), 1, 1))
    known = slopes_of(target, r, g)
    if known is not None:
        W -= 0.5 * (known + known.transpose(0, 2, 1))
    elif not isinstance(target, Goals):  # given goals stay where they are
        ahead = [target.closest(r + h * e) for e in np.eye(3)]
        slope = (np.stack(ahead, axis=-1) - g[:, :, None]) / h
        W -= 0.5 * (slope + slope.transpose(0, 2, 1))
    return W
