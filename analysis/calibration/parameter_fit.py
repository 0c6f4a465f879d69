"""Parameters of a model from measurements, with what they are worth.

    chi2(p) = sum over the fit part of ((y_i - f_i(p)) / u_i)^2

is lowered by the method of Levenberg and Marquardt with the model's own derivatives J.
The covariance of the parameters is C = (J^T U^-2 J)^-1; where the residuals are larger
than the stated u explain (probability below `CHANCE`), or where no u is stated, times
chi2 / (m - P). A parameter whose u is as large as itself is not determined by the
measurements, and reported by name; so is one that changes nothing, or only together
with others. What was held out says what the fit is worth.

What a fit is worth shows against baselines (`errors_with_baselines`). The baselines
are the parameters the fit began with, and the mean of the fit part: a model that
predicts held-out measurements no better than those is worth nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import chdtrc

from analysis.comparison.compare_series import FITTED, rms
from sim.core.arrays import Bools, Floats
from sim.core.options import NotConvergedError

Model = Callable[[Floats], tuple[Floats, Floats]]  # p -> f (m,), df/dp (m, P)

CHANCE = 0.01
SETTLED = 1e-6  # expected fall of chi2, in units of chi2 / (m - P)
EXACT = 1e-9  # relative step after which nothing changes
NULL = 1e-7  # singular value of J that is none, relative to the largest
FARTHEST = 0.5  # relative step
FIRST, HARDEST = 1e-3, 1e8  # damping


class FitStop(Enum):
    """Why a fit ended."""

    SETTLED = "converged"  # no step would move a parameter by 1/1000 of its u
    EXACT = "exact"  # the model passes through the measurements


@dataclass(frozen=True, eq=False)
class Measurements:
    """Measurements (m,).

    Attributes
    ----------
    u : standard uncertainties, all positive, or all 0 where none is known
    used : those of the fit part
    """

    value: Floats
    u: Floats
    used: Bools

    def __post_init__(self) -> None:
        known = self.u > 0.0
        if known.any() and not known.all():
            k = int(np.argmin(known))
            raise ValueError(
                f"measurement {k} has u = 0, others u > 0: give u for all or none"
            )

    @property
    def weight(self) -> Floats:
        """1 / u, or 1 where none is known."""
        return np.ones_like(self.u) if (self.u == 0.0).any() else 1.0 / self.u

    @property
    def stated(self) -> bool:
        return bool((self.u > 0.0).all())

    def refuse_fewer_than(self, names: Sequence[str]) -> None:
        """Refuse measurements that cannot tell so many parameters."""
        have, need = int(self.used.sum()), len(names) + (not self.stated)
        if have < need:
            why = "" if self.stated else ", and one more because no u is given"
            raise ValueError(
                f"the fit part has {have} measurement{'s' * (have != 1)} for "
                f"{len(names)} parameters ({', '.join(names)}){why}: mark more rows as "
                "fit, or fit fewer"
            )


class FitStep(NamedTuple):
    """One set of parameters.

    Attributes
    ----------
    p : (P,)
    predicted, slope : (m,), (m, P) of all measurements, those held out too
    chi2 : of the fit part
    """

    s: int
    p: Floats
    predicted: Floats
    slope: Floats
    chi2: float
    stop: FitStop | None


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a fit says of P parameters.

    Attributes
    ----------
    u : (P,) standard uncertainties, inf where there is none
    covariance, correlation : (P, P) of those determined, nan elsewhere
    dof : m - P
    enlarged : factor on u, 1 where the stated u explain the residuals
    determined : (P,)
    predicted_u : (m,) of the model's values, from the parameters
    """

    u: Floats
    covariance: Floats
    correlation: Floats
    dof: int
    enlarged: float
    determined: Bools
    predicted_u: Floats


def fit(
    model: Model,
    start: Floats,
    data: Measurements,
    *,
    positive: Bools,
    max_steps: int = 50,
    blurred: float = 0.0,
) -> Iterator[FitStep]:
    """Yield ever better parameters, those given first.

    Parameters
    ----------
    start : (P,) none of them 0, since their sizes are the scales of the steps
    positive : (P,) those that make sense above 0 only
    blurred : expected fall of chi2 that slopes by differences cannot tell from none,
        in units of the fall by one standard uncertainty: chi2 / (m - P), and at least 1
        where u is stated. Where a step then finds nothing better, the fit has settled
    """
    values, damping = start.astype(np.float64), FIRST
    predicted, slope = model(values)
    dof = max(int(data.used.sum()) - len(start), 1)
    for s in range(max_steps + 1):
        scale = np.maximum(np.abs(values), 1e-3 * np.abs(start))
        r, A = _weighted(predicted, slope, scale, data)
        near = _Linearised.of(r, A)
        stop = near.stop(dof)
        yield FitStep(s, values, predicted, slope, near.chi2, stop)
        if stop is not None:
            return
        while True:
            moved = values + scale * near.step(damping)
            found = _tried(model, moved, positive)
            if found is not None and _chi2(found[0], data) < near.chi2:
                break
            if near.fall <= blurred * max(near.chi2 / dof, float(data.stated)):
                yield FitStep(s, values, predicted, slope, near.chi2, FitStop.SETTLED)
                return
            damping *= 10.0
            if damping > HARDEST:
                raise NotConvergedError(
                    f"no change of the parameters lowers chi2 = {near.chi2:.4g} "
                    "although its gradient does not vanish: start closer",
                    best=values,
                )
        damping = max(damping / 30.0, 1e-12)
        values, (predicted, slope) = moved, found
    raise NotConvergedError(
        f"chi2 = {near.chi2:.4g} can still fall by {near.fall:.1g} after {max_steps} "
        "steps: raise max_steps, or start closer",
        best=values,
    )


class _Linearised(NamedTuple):
    """The fit part about one set of parameters, by the singular values of A.

    Those that are none are left out.

    Attributes
    ----------
    sizes, across : (k,), (k, P) singular values and right singular vectors
    along : (k,) the residual along the left ones
    """

    chi2: float
    sizes: Floats
    across: Floats
    along: Floats

    @classmethod
    def of(cls, r: Floats, A: Floats) -> "_Linearised":
        left, sizes, across = np.linalg.svd(A, full_matrices=False)
        known = sizes > NULL * max(float(sizes.max(initial=0.0)), 1e-300)
        left, sizes, across = left[:, known], sizes[known], across[known]
        return cls(float(r @ r), sizes, across, left.T @ r)

    @property
    def fall(self) -> float:
        """What the undamped step would take off chi2 if the model were linear."""
        return float(self.along @ self.along)

    def stop(self, dof: int) -> FitStop | None:
        """Why no further step is worth while, if so."""
        undamped = self.across.T @ (self.along / self.sizes)
        if float(np.abs(undamped).max(initial=0.0)) <= EXACT:
            return FitStop.EXACT
        return FitStop.SETTLED if self.fall <= SETTLED * self.chi2 / dof else None

    def step(self, damping: float) -> Floats:
        """(P,) the damped step, relative to the scales, no longer than FARTHEST."""
        sizes = self.sizes
        shrunk = sizes * self.along / (sizes**2 + damping * sizes[0] ** 2)
        move: Floats = self.across.T @ shrunk
        return move * min(1.0, FARTHEST / max(float(np.abs(move).max()), 1e-300))


def _chi2(predicted: Floats, data: Measurements) -> float:
    r = ((data.value - predicted) * data.weight)[data.used]
    return float(r @ r)


def _tried(
    model: Model, values: Floats, positive: Bools
) -> tuple[Floats, Floats] | None:
    """The model there; None where it has no value."""
    if not (values[positive] > 0.0).all():
        return None
    try:
        return model(values)
    except NotConvergedError:
        return None


def _weighted(
    predicted: Floats, slope: Floats, scale: Floats, data: Measurements
) -> tuple[Floats, Floats]:
    """Residuals of the fit part by u, and how they fall with relative changes."""
    w = data.weight[data.used]
    r = (data.value - predicted)[data.used] * w
    return r, slope[data.used] * scale * w[:, None]


def outcome(step: FitStep, data: Measurements, *, vague: float = 1.0) -> Outcome:
    """What the parameters of the last step are worth.

    Parameters
    ----------
    vague : u, relative to the value, from which a parameter counts as not determined
    """
    P = len(step.p)
    scale = np.abs(step.p)
    r, A = _weighted(step.predicted, step.slope, scale, data)
    chi2, sizes, across, _ = _Linearised.of(r, A)
    dof = len(r) - P
    chance = float(chdtrc(dof, chi2)) if data.stated and dof > 0 else float("nan")
    enlarged = 1.0
    if dof > 0 and not chance >= CHANCE:
        enlarged = float(np.sqrt(chi2 / dof))
    seen = np.square(across).sum(axis=0) > 1.0 - 1e-6  # nothing of it changes nothing
    part = across / sizes[:, None]
    covariance = enlarged**2 * (part.T @ part)
    relative = np.where(seen, np.sqrt(np.diag(covariance)), np.inf)
    determined = relative < vague
    both = np.outer(seen, seen)
    known = np.where(both, covariance, np.nan)
    spread = np.where(seen, relative, 1.0)
    predicted = (step.slope * scale) @ part.T * enlarged
    return Outcome(
        u=scale * relative,
        covariance=known * np.outer(scale, scale),
        correlation=known / np.outer(spread, spread),
        dof=dof,
        enlarged=enlarged,
        determined=determined,
        predicted_u=np.linalg.norm(predicted, axis=1),
    )


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


def errors_with_baselines(measurements: pd.DataFrame) -> pd.DataFrame:
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
                    "u": rms(some["u"].to_numpy(np.float64)),
                    "rms": rms(error),
                    "rms_nominal": rms(some["nominal"].to_numpy(np.float64) - value),
                    "rms_mean": rms(mean - value),
                    "bias": float(error.mean()),
                }
            )
    return pd.DataFrame(rows)
