"""What is predicted of a record, its uncertainty by source, and its interval.

    u_num    discretisation: by the model with half the step, as ASME V&V 20 has it
    u_input  inputs that are held and uncertain values of the record, through the model
    u_fit    what noise and prior leave of the fitted inputs
    u_model  model error: what it does to the fit, and its own departure
    u_noise  a measured value about the mean of many: noise, and repeats of a test

Validation uses the first three, the 95 % interval all five. Model error is estimated
from few records, so it is taken times the quantile of Student's t with as many degrees
of freedom as there were records; the others times that of the normal distribution. At
fitted conditions an interval is never wider than it would be of use: `Family.widest`.
Away from them model error grows in proportion to distance, and nothing bounds it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from analysis.measured.fit_with_model_error import Input, Posterior
from analysis.measured.predicted_quantities import (
    Predict,
    QuantitySeries,
    RecordInputs,
    Values,
    picked,
    slope,
    values_at,
)
from sim.core.arrays import Floats, Ints

SURE = 0.95
SOURCES = ("u_num", "u_input", "u_fit", "u_model", "u_noise")
COLUMNS = ("record", "quantity", "at", "value", *SOURCES, "half_width", "low", "high")
SAFETY = 1.25  # of the grid convergence index where the order is known
SHIFTED = 1.15  # from that index to a standard uncertainty, ASME V&V 20 sect. 2-4


@dataclass(frozen=True, eq=False)
class Family:
    """Quantities that are alike: one entry of a set, known before it is predicted.

    Parameters
    ----------
    aim : largest acceptable error, in `unit` or of the value if `relative`
    repeat_sd : pooled standard deviation between repeats of a test, 0 where none was
    u : further standard uncertainty of a measured value
    at : (m,) where they are compared; None: where the model gives them
    errors_from : the family whose model error they have; their own if left out
    """

    name: str
    unit: str
    aim: float
    relative: bool = False
    repeat_sd: float = 0.0
    u: float = 0.0
    at: Floats | None = None
    errors_from: str = ""

    def margin(self, value: Floats) -> Floats:
        """(n,) the aim in the quantity's unit."""
        return self.aim * (np.abs(value) if self.relative else np.ones(len(value)))

    @property
    def noise(self) -> float:
        """Standard deviation of a measured value about what a model can predict."""
        return float(np.hypot(self.repeat_sd, self.u))

    def widest(self, value: Floats) -> Floats:
        """(n,) half width at most: three repeat deviations or twice the aim."""
        return np.maximum(3.0 * self.repeat_sd, 2.0 * self.margin(value))

    @property
    def error_family(self) -> str:
        """The family that their model error and repeats were estimated with."""
        return self.errors_from or self.name

    def of(self, series: QuantitySeries) -> QuantitySeries:
        """A series at the places where it is compared."""
        return series if self.at is None else series.on(self.at)


Families = Callable[[str], Family]  # the family of a quantity, of one record


@dataclass(frozen=True)
class Numerics:
    """How the discretisation of a model is judged.

    Parameters
    ----------
    refined : the same model with half the step; None where nothing is discretised
    order : in which the discretisation error falls
    """

    refined: Predict | None = None
    order: float = 2.0


def predicted(
    predict: Predict,
    record: RecordInputs,
    after: Posterior,
    inputs: Sequence[Input],
    families: Families,
    numerics: Numerics,
    distance: float = 0.0,
) -> pd.DataFrame:
    """The rows of one record: COLUMNS.

    Where inputs moved by u leave a quantity without a value, its interval is from the
    others, and attrs["note"] says how many.

    Parameters
    ----------
    distance : of the record from the nearest fitted condition
    """
    now = after.inputs
    on = {
        name: families(name).of(series) for name, series in predict(now, record).items()
    }
    at = [(name, one.at) for name, one in on.items() if len(one.at)]
    middle, own = (
        np.concatenate([getattr(on[name], what) for name, _ in at] or [np.zeros(0)])
        for what in ("value", "u")
    )
    values = values_at(predict, at)
    J = np.column_stack(
        [
            slope(values, now, record, middle, i.name, i.step).each
            for i in inputs
            if i.name in after.fitted
        ]
        or [np.zeros((len(middle), 0))]
    )
    through, missing, tried = _linear(values, record, middle, after, J)
    table = pd.DataFrame(
        {
            "record": record.name,
            "quantity": np.repeat([n for n, _ in at], [len(a) for _, a in at]),
            "at": np.concatenate([a for _, a in at] or [np.zeros(0)]),
            "value": middle,
            "u_num": _discretisation(at, now, record, middle, numerics),
            "u_input": np.sqrt(through + own**2),
            "u_fit": _root(J, after.noise),
        }
    )
    found = with_intervals(table, _root(J, after.model), after, families, distance)
    found.attrs["note"] = _note(table["quantity"].tolist(), missing, tried)
    return found


def _note(quantities: Sequence[str], missing: Ints, tried: int) -> str:
    """How many runs of a quantity had no value, where some had none."""
    return "; ".join(
        f"{quantities[i]}: {missing[i]} of {tried} perturbed runs have no value; its "
        "interval uses the others"
        for i in np.flatnonzero(missing).tolist()
    )


def with_intervals(
    table: pd.DataFrame,
    from_fit: Floats,
    after: Posterior,
    families: Families,
    distance: float = 0.0,
) -> pd.DataFrame:
    """The rows with u_model, u_noise and the interval.

    Parameters
    ----------
    from_fit : (n,) what model error does to the values through the fit
    """
    model, noise, half = (np.zeros(len(table)) for _ in range(3))
    for quantity, rows in table.groupby("quantity", sort=False).indices.items():
        family = families(str(quantity))
        error = after.errors[family.error_family]
        at, value = (table[c].to_numpy(np.float64)[rows] for c in ("at", "value"))
        model[rows] = np.hypot(error.deviation(at, value), from_fit[rows])
        noise[rows] = family.noise
        first = table[["u_num", "u_input", "u_fit"]].to_numpy(np.float64)[rows]
        rest = np.square(first).sum(axis=1) + family.noise**2
        wide = quantile(error.records) ** 2 * model[rows] ** 2 + quantile(0) ** 2 * rest
        half[rows] = np.minimum(np.sqrt(wide), family.widest(value))
        if distance > 0.0:
            added = after.growth[family.error_family]
            far = distance * added.deviation(at, value)
            model[rows] = np.hypot(model[rows], far)
            # Its prior, a half-Cauchy distribution, is worth one degree of freedom.
            half[rows] = np.hypot(np.sqrt(wide), quantile(added.records + 1) * far)
    value = table["value"].to_numpy(np.float64)
    found = table.assign(u_model=model, u_noise=noise, half_width=half)
    return found.assign(low=value - half, high=value + half)[list(COLUMNS)]


def quantile(records: int) -> float:
    """Half the 95 % interval over its standard deviation; 0 records: that is known."""
    upper = 0.5 + SURE / 2
    return float(ndtri(upper) if records == 0 else stdtrit(records, upper))


def _root(J: Floats, covariance: Floats) -> Floats:
    """(n,) standard deviations of J x."""
    return np.asarray(
        np.sqrt(np.maximum(np.einsum("ni,ij,nj->n", J, covariance, J), 0))
    )


def _linear(
    values: Values, record: RecordInputs, middle: Floats, after: Posterior, J: Floats
) -> tuple[Floats, Ints, int]:
    """(n,) variance from held inputs, the fit going along, and the record's own.

    Returns
    -------
    the variance; (n,) how many moved inputs leave no value; of how many
    """
    total, missing = np.zeros(len(middle)), np.zeros(len(middle), dtype=np.int64)
    for k, (name, u) in enumerate(zip(after.held, after.u_held, strict=True)):
        one = slope(values, after.inputs, record, middle, name, float(u))
        total += (one.change - J @ after.gain[:, k] * u) ** 2 + one.bend**2 / 2
        missing += one.missing
    for name, u in record.uncertain.items():
        one = slope(values, after.inputs, record, middle, name, u, own=True)
        total += one.change**2 + one.bend**2 / 2
        missing += one.missing
    return total, missing, 2 * (len(after.held) + len(record.uncertain))


def _discretisation(
    at: Sequence[tuple[str, Floats]],
    now: Mapping[str, float],
    record: RecordInputs,
    middle: Floats,
    numerics: Numerics,
) -> Floats:
    """(n,) from what half the step changes: the grid convergence index over 1.15."""
    if numerics.refined is None or not len(middle):
        return np.zeros(len(middle))
    finer = picked(numerics.refined(now, record), at)
    return u_of_half_step(finer - middle, numerics.order)


def u_of_half_step(change: Floats, order: float) -> Floats:
    """(n,) u_num by what half the step changes, ASME V&V 20 sect. 2-4.

    Parameters
    ----------
    change : (n,) values with half the step less those with the whole
    order : in which the discretisation error falls
    """
    left = np.abs(change) / (1.0 - 2.0**-order)
    return np.asarray(SAFETY * left / SHIFTED)
