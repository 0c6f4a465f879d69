"""The form of balls: errors of degree 2, which a fitted centre cannot take up.

Errors that reach over a ball are a field on its surface. Its part of degree 0 is the
radius, its part of degree 1 shifts the centre and is seen by nothing on one ball. What
lies beside it is seen: the radii of all balls, and the five surface harmonics of
degree 2. With heights e, weights w of the biweight and rows b of (u, 1, degree 2)

    q = (A^-1 sum w e b)[4:],   A = sum w b b^T

and C its covariance from sums over small cells, q^T C^-1 q / 5 is one in the mean where
errors do not reach beyond a cell, and their ratio of variances where they do.
"""

import numpy as np

from analysis.spheres.cells import cells
from analysis.spheres.judge import SphereCandidate
from analysis.spheres.thresholds import BIWEIGHT, SHARED
from sim.arrays import Floats

UNKNOWNS = 9  # centre, radius and the five of degree 2
DEGREE_2 = 5


def form_ratio(c: SphereCandidate, x: Floats) -> float | None:
    """The ratio of one ball; None where it shows too few cells.

    Parameters
    ----------
    c : a fitted sphere
    x : (k, 3) the points of the fit where it saw them, less its centre, mm
    """
    u = x / np.linalg.norm(x, axis=1)[:, None]
    e = c.fit.height[c.fit.used]
    w = (1.0 - (e / (BIWEIGHT.tukey * c.fit.scale)) ** 2) ** 2
    b = _harmonics(u)
    wb = w[:, None] * b
    A = wb.T @ b
    if np.linalg.eigvalsh(A)[0] <= 1e-9 * A[3, 3]:
        return None
    found = np.linalg.solve(A, wb.T @ e)
    score = wb * (e - b @ found)[:, None]
    cell = cells(x, np.zeros(3), BIWEIGHT.clusters)
    number = 6 * BIWEIGHT.clusters**2
    sums = np.array([np.bincount(cell, column, number) for column in score.T]).T
    seen = int((np.bincount(cell, minlength=number) > 0).sum())
    if seen < SHARED.cells * UNKNOWNS:
        return None
    bread = np.linalg.inv(A)
    C = (bread @ (sums.T @ sums) @ bread)[4:, 4:] * (seen / (seen - UNKNOWNS))
    q = found[4:]
    return float(q @ np.linalg.solve(C, q)) / DEGREE_2


def _harmonics(u: Floats) -> Floats:
    """(k, 9) rows of degree 1, 0 and 2 at unit vectors u (k, 3)."""
    x, y, z = u.T
    two = [x * y, y * z, x * z, x * x - y * y, 3 * z * z - 1]
    return np.column_stack([x, y, z, np.ones(len(u)), *two])
