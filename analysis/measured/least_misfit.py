"""Parameters where the weighted misfit of all fitted records is least."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.linalg import solve_triangular

from analysis.fits.parameter_fit import Measurements, fit
from analysis.measured.fitted_records import (
    FittedRecords,
    Input,
    model_covariance,
    predicted_and_slopes,
)
from analysis.measured.model_error import ModelError, whitening
from sim.arrays import Bools, Floats
from sim.convergence import NotConvergedError

BLURRED = 1e-3  # of chi2 / (m - P), a thirtieth of u: what differences cannot tell


def least_misfit(
    of: FittedRecords,
    values: Mapping[str, float],
    inputs: Sequence[Input],
    errors: Mapping[str, ModelError],
    blurred: float = BLURRED,
) -> dict[str, float]:
    """Values with the fitted inputs where the weighted misfit is least.

    Parameters
    ----------
    blurred : expected fall of chi2, in units of chi2 / (m - P), that slopes cannot tell
    """
    free = [i for i in inputs if i.fitted]
    if not free:
        return dict(values)
    u, y = (of.rows[c].to_numpy(np.float64) for c in ("u", "measured"))
    f, _ = predicted_and_slopes(of, values, {})
    whole = model_covariance(of.rows, f, errors)
    white = [(i, whitening(np.diag(u[i] ** 2) + K)) for i, K in whole]
    prior = [k for k, i in enumerate(free) if np.isfinite(i.u)]
    scale = np.array([i.scale for i in free])
    origin = np.array([i.value for i in free])
    # A fit's steps are relative, so no parameter may pass 0 on its way.
    shift = np.array([i.reach if np.isfinite(i.u) else 1.0 for i in free])

    def whitened(x: Floats) -> Floats:
        return np.concatenate([solve_triangular(L, x[i], lower=True) for i, L in white])

    def model(q: Floats) -> tuple[Floats, Floats]:
        """In units of `scale` about the values beforehand, plus `shift`."""
        p = origin + scale * (q - shift)
        now = {**values, **{i.name: v for i, v in zip(free, p, strict=True)}}
        f, J = predicted_and_slopes(of, now, {i.name: i.step for i in free})
        rows = np.eye(len(free))[prior] * (scale / [i.u for i in free])[None, :]
        believed = ((p - origin) / [i.u for i in free])[prior]
        return (
            np.concatenate([whitened(f), believed]),
            np.vstack([whitened(J * scale), rows]),
        )

    target = np.concatenate([whitened(y), np.zeros(len(prior))])
    data = Measurements(target, np.ones_like(target), np.ones(len(target), dtype=bool))
    start = shift + (np.array([values[i.name] for i in free]) - origin) / scale
    anywhere = np.zeros(len(free), dtype=np.bool_)
    guarded = _kept_positive(model, free, origin - scale * shift, scale)
    *_, last = fit(guarded, start, data, positive=anywhere, blurred=blurred)
    p = origin + scale * (last.p - shift)
    return {**values, **{i.name: float(v) for i, v in zip(free, p, strict=True)}}


def _kept_positive(
    model: Callable[[Floats], tuple[Floats, Floats]],
    free: Sequence[Input],
    zero: Floats,
    scale: Floats,
) -> Callable[[Floats], tuple[Floats, Floats]]:
    """The model, which has no value where what must be positive is not."""
    must: Bools = np.array([i.positive for i in free])

    def guarded(q: Floats) -> tuple[Floats, Floats]:
        p = zero + scale * q
        if (p[must] <= 0).any():
            raise NotConvergedError("a positive input is not", best=p)
        return model(q)

    return guarded
