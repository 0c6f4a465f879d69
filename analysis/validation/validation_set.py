"""Several comparisons together: bias, scatter and coverage of the shape factor."""

from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats


@dataclass(frozen=True)
class SetSummary:
    """What the errors of a set of comparisons have in common.

    Parameters
    ----------
    count : number of comparisons
    bias : mean error, simulated minus scanned
    bias_u : standard error of that mean from the scatter; nan for one comparison
    scatter : standard deviation of the errors about their mean; nan for one
    coverage : share of errors within k u_val; about 0.95 if k = 2 and u_val is honest
    chi_square : mean square error in units of u_val; about 1 if u_val is honest
    """

    count: int
    bias: float
    bias_u: float
    scatter: float
    coverage: float
    chi_square: float


def summarise(error: Floats, u_val: Floats, k: float) -> SetSummary:
    """Summary of the errors (c,) with their uncertainties (c,)."""
    c = len(error)
    if c == 0:
        raise ValueError("there is no comparison to summarise: none has finished")
    if not (u_val > 0).all():
        worst = int(np.argmin(u_val))
        raise ValueError(
            f"comparison number {worst} has u_val = {u_val[worst]:g}: it must be "
            "positive"
        )
    scatter = float(np.std(error, ddof=1)) if c > 1 else float("nan")
    return SetSummary(
        c,
        float(error.mean()),
        scatter / float(np.sqrt(c)),
        scatter,
        float(np.mean(np.abs(error) <= k * u_val)),
        float(np.mean((error / u_val) ** 2)),
    )
