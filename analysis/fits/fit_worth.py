"""What a fit is worth: its parameters, and its errors beside those of baselines.

The baselines are the parameters the fit began with, and the mean of the fit part: a
model that predicts held-out measurements no better than those has learnt nothing.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.fits.parameter_fit import FitStep, Outcome
from analysis.validation.series import FITTED
from sim.arrays import Floats


def parameter_table(
    names: Sequence[str], nominal: Floats, last: FitStep, worth: Outcome
) -> pd.DataFrame:
    """A row a parameter: nominal, fitted, u, determined or not, correlations."""
    table = pd.DataFrame(
        {
            "parameter": list(names),
            "nominal": nominal,
            "value": last.p,
            "u": worth.u,
            "determined": np.where(worth.determined, "yes", "no"),
        }
    )
    for k, name in enumerate(names):
        table[f"correlation_{name}"] = worth.correlation[:, k]
    return table


def errors_beside_baselines(measurements: pd.DataFrame) -> pd.DataFrame:
    """A row for each part of each quantity.

    Parameters
    ----------
    measurements : quantity, value, u, part, and predictions nominal and fitted

    Returns
    -------
    quantity, part, count, u (rms of those stated), rms errors of the fit, of the
    nominal parameters and of the mean of the fit part, bias of the fit
    """
    rows = []
    for quantity, own in measurements.groupby("quantity", sort=True):
        fit_part = own[own["part"] == FITTED]
        mean = float((fit_part if len(fit_part) else own)["value"].mean())
        for part, some in own.groupby("part", sort=True):
            value = some["value"].to_numpy(np.float64)
            error = some["fitted"].to_numpy(np.float64) - value
            rows.append(
                {
                    "quantity": str(quantity),
                    "part": str(part),
                    "count": len(some),
                    "u": _rms(some["u"].to_numpy(np.float64)),
                    "rms": _rms(error),
                    "rms_nominal": _rms(some["nominal"].to_numpy(np.float64) - value),
                    "rms_mean": _rms(mean - value),
                    "bias": float(error.mean()),
                }
            )
    return pd.DataFrame(rows)


def _rms(x: Floats) -> float:
    return float(np.sqrt(np.mean(x**2)))
