"""How much more measurements scatter than their stated errors allow.

A covariance from the noise of one scan cannot see what is wrong with all of it:
misplaced views of a merged cloud, a scanner's own systematic error, a printer's
scale. Repeated scans show it, and so do lengths that are known.
"""

import numpy as np
from scipy.optimize import brentq

from sim.arrays import Floats, Ints


def excess_sd(values: Floats, sds: Floats) -> float:
    """Return the sd t that repeated values show beyond their stated ones.

    The t of Paule and Mandel: with w = 1 / (sd^2 + t^2) and the weighted mean,

        sum w (value - mean)^2 = n - 1

    and t = 0 where the stated errors are enough.

    Parameters
    ----------
    values : (n,) repeated measurements of one thing
    sds : (n,) their stated standard deviations, in the same unit
    """
    if len(values) < 2:
        raise ValueError(
            f"scatter needs two or more measurements, not {len(values)}: scan again"
        )

    def surplus(t: float) -> float:
        w = 1 / (sds**2 + t**2)
        mean = (w * values).sum() / w.sum()
        return float((w * (values - mean) ** 2).sum()) - (len(values) - 1)

    if surplus(0.0) <= 0:
        return 0.0
    return float(brentq(surplus, 0.0, 10 * float(np.ptp(values))))


def registration_sd(
    centres: Floats, covariance: Floats, pairs: Ints, lengths: Floats
) -> float:
    """Return the sd a coordinate that known lengths show beyond the covariance.

    With d the measured minus the known length of each pair, v its variance from the
    covariance, and every centre displaced by s in each coordinate, sum d^2 /
    (v + 2 s^2) = n; s = 0 where the covariance is enough.

    Parameters
    ----------
    centres : (m, 3) mm
    covariance : (3 m, 3 m) of the centres, mm^2
    pairs : (n, 2) centres a known length apart
    lengths : (n,) mm
    """
    if not len(pairs):
        raise ValueError("no pair of spheres has a known length: give registration_mm")
    r = centres[pairs[:, 1]] - centres[pairs[:, 0]]
    measured = np.linalg.norm(r, axis=1)
    G = np.zeros((len(pairs), len(covariance)))
    for k, (i, j) in enumerate(pairs):
        G[k, 3 * j : 3 * j + 3] = r[k] / measured[k]
        G[k, 3 * i : 3 * i + 3] = -r[k] / measured[k]
    variance = np.einsum("ki,ij,kj->k", G, covariance, G)
    d = measured - lengths

    def surplus(s: float) -> float:
        return float((d**2 / (variance + 2 * s**2)).sum()) - len(d)

    if surplus(0.0) <= 0:
        return 0.0
    return float(brentq(surplus, 0.0, 10 * float(np.abs(d).max())))
