"""How much more measurements scatter than their stated errors allow.

A covariance from the noise of one scan cannot see what is wrong with all of it:
misplaced views of a merged cloud, a scanner's own systematic error, a printer's
scale. Repeated scans show it.
"""

import numpy as np
from scipy.optimize import brentq

from sim.arrays import Floats


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

    if not np.ptp(values) or surplus(0.0) <= 0:
        return 0.0
    return float(brentq(surplus, 0.0, 10 * float(np.ptp(values))))
