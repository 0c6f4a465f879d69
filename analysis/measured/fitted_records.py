"""The records of a fit, and what a model predicts of them about some parameters."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.measured.model_error import ModelError
from analysis.measured.series import Predict, RecordInputs
from analysis.measured.slopes import own_slope, picked, slope, values_at
from sim.arrays import Floats, Ints

FINE = 0.1  # of an input's uncertainty, over which a fit takes slopes
BLIND = 2e-3  # of a value without one
COLUMNS = ("record", "quantity", "family", "at", "measured", "u")


@dataclass(frozen=True)
class Input:
    """A number that the model needs.

    Parameters
    ----------
    u : standard uncertainty; inf where nothing is known beforehand
    reach : standard uncertainties below `value` where the fit slows down, as it counts
        its steps relative to how far it is above that
    """

    name: str
    value: float
    u: float
    fitted: bool = False
    positive: bool = False
    reach: float = 1.0

    @property
    def scale(self) -> float:
        """What the fit counts its steps in."""
        return self.u if np.isfinite(self.u) and self.u > 0 else abs(self.value)

    @property
    def step(self) -> float:
        """Over which a fit takes slopes."""
        return FINE * self.u if np.isfinite(self.u) else BLIND * abs(self.value)


@dataclass(frozen=True, eq=False)
class FittedRecords:
    """The records of a fit and its rows: COLUMNS, in the order of records.

    Parameters
    ----------
    records : by name
    rows : record, quantity, family, at, measured, u
    """

    predict: Predict
    records: Mapping[str, RecordInputs]
    rows: pd.DataFrame

    def of(self, record: str) -> pd.DataFrame:
        """The rows of one record."""
        return self.rows[self.rows["record"] == record]

    def without(self, records: Collection[str]) -> "FittedRecords":
        """All others."""
        kept = {k: v for k, v in self.records.items() if k not in records}
        rows = self.rows[~self.rows["record"].isin(records)]
        return FittedRecords(self.predict, kept, rows)


def places_of(rows: pd.DataFrame) -> list[tuple[str, Floats]]:
    """Quantities and places of rows, in their order; each quantity in one piece."""
    return [
        (str(quantity), own["at"].to_numpy(np.float64))
        for quantity, own in rows.groupby("quantity", sort=False)
    ]


@dataclass(frozen=True, eq=False)
class Linear:
    """The fitted records about one set of parameters.

    Parameters
    ----------
    inputs : the value of each by name
    f : (n,) predicted values
    J : (n, P), S : (n, Q) slopes in fitted and held inputs
    own : (n, s) what each uncertain value of each record itself does, over its u
    """

    inputs: Mapping[str, float]
    f: Floats
    J: Floats
    S: Floats
    own: Floats


def predicted_and_slopes(
    of: FittedRecords, values: Mapping[str, float], steps: Mapping[str, float]
) -> tuple[Floats, Floats]:
    """f (n,) of all rows and its slopes (n, len(steps)) in some inputs."""
    f, J = [], []
    for name, record in of.records.items():
        places = places_of(of.of(name))
        at = values_at(of.predict, places)
        middle = picked(of.predict(values, record), places)
        f.append(middle)
        each = [
            slope(at, values, record, middle, k, over).each for k, over in steps.items()
        ]
        J.append(np.reshape(each, (len(steps), len(middle))).T)
    return np.concatenate(f), np.vstack(J)


def linear_about(
    of: FittedRecords, values: Mapping[str, float], inputs: Sequence[Input]
) -> Linear:
    """Predicted values with all slopes."""
    fitted = {i.name: i.step for i in inputs if i.fitted}
    held = {i.name: i.u for i in inputs if not i.fitted and i.u > 0}
    f, both = predicted_and_slopes(of, values, fitted | held)
    own = [np.zeros((len(f), 0))]
    for name, record in of.records.items():
        here = (of.rows["record"] == name).to_numpy()
        at = values_at(of.predict, places_of(of.of(name)))
        for value, u in record.u.items():
            if u > 0:
                column = np.zeros((len(f), 1))
                change = own_slope(at, values, record, f[here], value).change
                column[here, 0] = change
                own.append(column)
    P = len(fitted)
    return Linear(values, f, both[:, :P], both[:, P:], np.hstack(own))


def blocks(rows: pd.DataFrame) -> list[Ints]:
    """Rows of each quantity of a family: between them nothing is correlated."""
    apart = rows.groupby(["family", "quantity"], sort=False)
    return [np.asarray(i) for i in apart.indices.values()]


def numbered(rows: pd.DataFrame) -> Ints:
    """(n,) number of the record of each row."""
    return np.asarray(pd.factorize(rows["record"])[0], dtype=np.int64)


def model_covariance(
    rows: pd.DataFrame, f: Floats, errors: Mapping[str, ModelError]
) -> list[tuple[Ints, Floats]]:
    """K of each quantity's rows."""
    record, at = numbered(rows), rows["at"].to_numpy(np.float64)
    families = rows["family"].to_numpy()
    return [
        (i, errors[families[i[0]]].covariance(at[i], record[i], f[i]))
        for i in blocks(rows)
    ]
