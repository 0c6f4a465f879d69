"""Detected spheres beside the true ones: how many, and the error of their shape."""

from typing import NamedTuple

import numpy as np
from scipy.spatial import KDTree

from analysis.spheres.detections import Picks
from sim.core.arrays import Floats

MATCHED = 1.5  # mm from a true centre


class Outcome(NamedTuple):
    """Spheres of one scan: true and false ones, the squared error of their shape."""

    nees: float  # a degree of freedom, over what the covariance states
    found: int
    false: int


def outcome(centres: Floats, picks: Picks) -> Outcome:
    """Detections of a scan beside the true centres (m, 3), mm."""
    if not picks.spheres:
        return Outcome(np.nan, 0, 0)
    apart, nearest = KDTree(centres).query(picks.centres)
    right = apart < MATCHED
    rows = (3 * np.flatnonzero(right)[:, None] + np.arange(3)).ravel()
    covariance = picks.covariance[np.ix_(rows, rows)]
    nees, _ = shape_error(picks.centres[right], centres[nearest[right]], covariance)
    return Outcome(nees, len(np.unique(nearest[right])), int((~right).sum()))


def shape_error(found: Floats, true: Floats, covariance: Floats) -> tuple[float, float]:
    """Normalised squared error and rms after the best rigid motion.

    Parameters
    ----------
    found, true : (m, 3) mm
    covariance : (3m, 3m) mm^2
    """
    m = len(true)
    arm = true - true.mean(axis=0)
    rigid = np.zeros((m, 3, 6))
    rigid[:, :, :3] = np.eye(3)
    for axis in range(3):
        rigid[:, :, 3 + axis] = np.cross(np.eye(3)[axis], arm)
    e, G = (found - true).ravel(), rigid.reshape(3 * m, 6)
    weight = np.linalg.inv(covariance)
    left = e - G @ np.linalg.solve(G.T @ weight @ G, G.T @ weight @ e)
    free = 3 * m - 6
    plain = e - G @ np.linalg.lstsq(G, e, rcond=None)[0]
    return float(left @ weight @ left) / free, float(np.sqrt(plain @ plain / free))
