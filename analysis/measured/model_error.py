"""How wrong a model is: estimated on the records that were fitted, carried to others.

After Kennedy and O'Hagan (2001), what is measured is model + model error + noise, the
model error a normal process along `at`. Simpler than theirs in one respect: its mean is
not carried to other records, its second moment is. The predicted value then stays that
of the physical model, one column serves validation and prediction, and a model that is
wrong the same way everywhere gets an interval that says so rather than a correction
that hides it.

The departures of two records share the part SHARED of their variance: a model that is
wrong in one record is wrong in the next in much the same way. The standard deviation of
a family of quantities is the median of its posterior distribution, its prior a
half-Cauchy distribution with the family's aim as scale (Gelman 2006), the parameters
that are fitted integrated out.
"""

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from sim.core.arrays import Floats, Ints

SHARED = 0.5
SPAN = np.arange(-7.0, 6.25, 0.25)  # of log2 of the deviation over the aim, tried


class Departure(Enum):
    """How departures at two places of one record belong together."""

    CONSTANT = "constant"  # the same all along
    CURVE = "curve"  # alike over a length
    SCATTER = "scatter"  # not at all


@dataclass(frozen=True, eq=False)
class ModelError:
    """How wrong a model is in a family of quantities.

    Parameters
    ----------
    kind, length : how departures at two places belong together; of `at`
    relative : they are in proportion to the predicted value
    at, sd : (k,) standard deviation by place; one place where it is the same all along
    records : from which it was estimated
    """

    kind: Departure
    length: float
    relative: bool
    at: Floats
    sd: Floats
    records: int = 0

    def deviation(self, at: Floats, predicted: Floats) -> Floats:
        """(n,) standard deviation at places, in the quantity's unit."""
        sd = np.interp(at, self.at, self.sd)
        return np.asarray(sd * np.abs(predicted) if self.relative else sd)

    def covariance(self, at: Floats, record: Ints, predicted: Floats) -> Floats:
        """(n, n) of the departures of one quantity at places of several records."""
        sd = self.deviation(at, predicted)
        alike = correlation(self.kind, self.length, at)
        if self.kind is Departure.SCATTER:
            return np.diag(sd**2)
        same = np.where(record[:, None] == record, 1.0, SHARED)
        return np.asarray(alike * same * np.outer(sd, sd))


def correlation(kind: Departure, length: float, at: Floats) -> Floats:
    """(n, n) of departures at places of one record; Matern's, nu = 3/2, of a curve."""
    apart = np.abs(at[:, None] - at)
    if kind is Departure.CONSTANT:
        return np.ones_like(apart)
    if kind is Departure.SCATTER:
        return np.asarray((apart == 0).astype(np.float64))
    far = np.sqrt(3.0) * apart / length
    return np.asarray((1.0 + far) * np.exp(-far))


@dataclass(frozen=True, eq=False)
class Residuals:
    """Measured minus fitted values of one quantity.

    Parameters
    ----------
    e, u, at, predicted : (n,) residuals, standard uncertainties of the measured values
    record : (n,) number of the record
    slopes : (n, P) of the predicted values in the fitted parameters
    """

    e: Floats
    u: Floats
    at: Floats
    record: Ints
    predicted: Floats
    slopes: Floats


def estimate(
    residuals: list[Residuals], start: ModelError, aim: float, known: Floats
) -> ModelError:
    """The model error of a family with the deviation of its residuals.

    Parameters
    ----------
    start : says the kind
    aim : scale of its prior; of the predicted value if `start.relative`
    known : (P, P) what is known of the parameters from elsewhere: inverse covariance
    """
    records = len({int(k) for r in residuals for k in r.record})
    if start.kind is Departure.SCATTER and records:
        at, sd = _local_deviation(residuals, start)
        return replace(start, at=at, sd=sd, records=records)
    tried = aim * 2.0**SPAN
    logs = np.array([_log_posterior(residuals, start, s, aim, known) for s in tried])
    weight = np.exp(logs - logs.max())
    share = np.cumsum(weight) / weight.sum()
    median = float(np.exp(np.interp(0.5, share, np.log(tried))))
    return replace(start, at=np.zeros(1), sd=np.array([median]), records=records)


def _log_posterior(
    residuals: list[Residuals], kind: ModelError, sd: float, aim: float, known: Floats
) -> float:
    """Log density over log sd, of the restricted likelihood and the prior."""
    error = replace(kind, at=np.zeros(1), sd=np.array([sd]))
    information = known.copy()
    total = float(np.log(sd)) - float(np.log1p((sd / aim) ** 2))
    for r in residuals:
        V: Floats = np.diag(r.u**2) + error.covariance(r.at, r.record, r.predicted)
        L = whitening(V)
        white = solve_triangular(L, r.e, lower=True)
        total -= float(np.log(np.diag(L)).sum()) + 0.5 * float(white @ white)
        J = solve_triangular(L, r.slopes, lower=True)
        information += J.T @ J
    if len(information):
        total -= 0.5 * float(np.linalg.slogdet(information)[1])
    return total


def _local_deviation(
    residuals: list[Residuals], kind: ModelError
) -> tuple[Floats, Floats]:
    """By place, from residuals near it: sqrt of the mean e^2 - u^2, 0 or more."""
    e, u, at, predicted = (
        np.concatenate([getattr(r, name) for r in residuals])
        for name in ("e", "u", "at", "predicted")
    )
    scale = np.abs(predicted) if kind.relative else np.ones_like(e)
    square = (e**2 - u**2) / np.maximum(scale, 1e-300) ** 2
    places = np.unique(at)
    near = np.exp(-0.5 * ((places[:, None] - at) / kind.length) ** 2)
    mean = (near @ square) / near.sum(axis=1)
    return places, np.asarray(np.sqrt(np.maximum(mean, 0.0)))


def whitening(V: Floats) -> Floats:
    """(n, n) lower factor of a covariance; what is exact to rounding is made positive.

    Raises
    ------
    ValueError
        where the covariance is not positive
    """
    slack = 1e-12 * float(np.trace(V)) / max(len(V), 1)
    diagonal = np.diag(V) + slack
    if (diagonal > 0).all() and np.count_nonzero(V) == np.count_nonzero(np.diag(V)):
        return np.diag(np.sqrt(diagonal))
    try:
        return np.asarray(np.linalg.cholesky(V + slack * np.eye(len(V))))
    except np.linalg.LinAlgError as error:
        raise ValueError(
            "measured values have no uncertainty at all: state u of their quantity"
        ) from error


def inverse(A: Floats) -> Floats:
    """Of a symmetric positive matrix, (0, 0) too."""
    return np.asarray(cho_solve(cho_factor(A), np.eye(len(A)))) if len(A) else A.copy()
