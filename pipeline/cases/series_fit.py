"""Parameters fitted to a measured series: what fits of rods and of arms share.

Derivatives by the parameters are central differences, of a relative step that is small
enough for motions of many swings and large enough for the tolerance of their steps.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.fits.fit_worth import errors_beside_baselines, parameter_table
from analysis.fits.parameter_fit import FitStep, Measurements, Outcome, fit, outcome
from analysis.validation.series import FITTED
from pipeline.cases.record import Arrays, Documents, Row, Summary, Tables
from pipeline.formats.series_file import read_series
from sim.arrays import Bools, Floats, Ints

CURVE = 400  # points of a drawn curve
STEP = 1e-4  # of a parameter, for differences
LEAST = 1e-3  # of its first value: its size where it comes near 0
BLURRED = 1e-3  # see `analysis.fits.parameter_fit.fit`


class SeriesFit(ABC):
    """A case that fits parameters to a series.

    Attributes
    ----------
    measured_path : CSV of quantity, at, value, u, part
    parameters : names of those to fit
    vague : relative u from which a parameter counts as not determined
    synthetic : whether the series was computed rather than measured
    """

    measured_path: str
    parameters: Sequence[str]
    vague: float
    max_steps: int
    synthetic: bool
    curve_points = CURVE

    @property
    @abstractmethod
    def nominal(self) -> Floats:
        """(P,) values with which the fit begins."""

    @property
    @abstractmethod
    def positive(self) -> Bools:
        """(P,) those that make sense above 0 only."""

    @abstractmethod
    def seen(self, values: Floats, which: Ints, at: Floats) -> Floats:
        """(m,) What would be measured.

        Parameters
        ----------
        which : (m,) number of the quantity, in the order of the alphabet
        at : (m,)
        """

    def predict(self, values: Floats, which: Ints, at: Floats) -> tuple[Floats, Floats]:
        """What would be measured, (m,), and its derivatives (m, P)."""
        steps = STEP * np.diag(np.maximum(np.abs(values), LEAST * np.abs(self.nominal)))
        slopes = [
            (self.seen(values + h, which, at) - self.seen(values - h, which, at))
            / (2.0 * h.sum())
            for h in steps
        ]
        return self.seen(values, which, at), np.column_stack(slopes)

    @property
    def named(self) -> list[str]:
        """The parameters, each once."""
        names = list(self.parameters)
        if isinstance(self.parameters, str):
            raise ValueError(f"parameters is {self.parameters!r}: give a list of names")
        if not names or len(set(names)) < len(names):
            raise ValueError(f"parameters are {names}: name one or more, each once")
        return names

    def refuse_early(self, counted: str) -> None:
        """A ValueError where something is measured before 0."""
        early = self.series["at"] < 0.0
        if early.any():
            row = int(np.argmax(early.to_numpy()))
            raise ValueError(
                f"{Path(self.measured_path).name}: {self.series['quantity'][row]} is "
                f"measured at {self.series['at'][row]:g} {counted} start at 0"
            )

    @cached_property
    def series(self) -> pd.DataFrame:
        return read_series(Path(self.measured_path))

    @cached_property
    def data(self) -> Measurements:
        numbers = self.series[["value", "u"]].to_numpy(np.float64)
        used = (self.series["part"] == FITTED).to_numpy(dtype=np.bool_)
        return Measurements(numbers[:, 0], numbers[:, 1], used)

    @cached_property
    def quantities(self) -> list[str]:
        return sorted(set(self.series["quantity"]))

    @cached_property
    def which(self) -> Ints:
        """(m,) the quantity of each measurement."""
        return np.searchsorted(self.quantities, self.series["quantity"].to_numpy(str))

    def steps(self) -> Iterator[FitStep]:
        at = self.series["at"].to_numpy(np.float64)
        yield from fit(
            lambda values: self.predict(values, self.which, at),
            self.nominal,
            self.data,
            positive=self.positive,
            max_steps=self.max_steps,
            blurred=BLURRED,
        )

    def recorder(self) -> "FitRecorder":
        return FitRecorder(self)

    def curves(self, values: Floats) -> pd.DataFrame:
        """Each quantity by `at`, with the nominal and with other parameters."""
        end = float(self.series["at"].max())
        at = np.tile(np.linspace(0.0, end, self.curve_points), len(self.quantities))
        which = np.repeat(np.arange(len(self.quantities)), self.curve_points)
        nominal = self.seen(self.nominal, which, at)
        fitted = self.seen(values, which, at)
        names = np.array(self.quantities)[which]
        columns = {"quantity": names, "at": at, "nominal": nominal, "fitted": fitted}
        return pd.DataFrame(columns)


@dataclass(eq=False)
class FitRecorder:
    """Records the parameters as they are found, and what they are worth.

    Attributes
    ----------
    baseline : (m,) what the nominal parameters predict
    """

    case: SeriesFit
    baseline: Floats = field(init=False)
    last: FitStep = field(init=False)

    def see(self, step: FitStep) -> None:
        if step.s == 0:
            self.baseline = step.predicted
        self.last = step

    def row(self, step: FitStep) -> Row:
        named = dict(zip(self.case.parameters, step.p.tolist(), strict=True))
        return {"step": step.s, "chi2": step.chi2, **named}

    def arrays(self, step: FitStep) -> Arrays:
        return {"predicted": step.predicted, "slope": step.slope}

    def progress(self, step: FitStep) -> str:
        return f"chi2 {step.chi2:.3g}"

    def documents(self) -> Documents:
        return {}

    def fixed_arrays(self) -> Arrays:
        return {}

    @cached_property
    def outcome(self) -> Outcome:
        """What the parameters are worth."""
        return outcome(self.last, self.case.data, vague=self.case.vague)

    @cached_property
    def measurements(self) -> pd.DataFrame:
        """Each measurement beside what the two sets of parameters say."""
        return self.case.series.assign(
            nominal=self.baseline,
            fitted=self.last.predicted,
            fitted_u=self.outcome.predicted_u,
        )

    def tables(self) -> Tables:
        case, last = self.case, self.last
        tables = {
            "parameters.csv": parameter_table(
                case.parameters, case.nominal, last, self.outcome
            ),
            "errors.csv": errors_beside_baselines(self.measurements),
            "measurements.csv": self.measurements,
            "curves.csv": case.curves(last.p),
        }
        return {
            file: [
                {str(name): value for name, value in row.items()}
                for row in table.assign(synthetic=case.synthetic).to_dict("records")
            ]
            for file, table in tables.items()
        }

    def summary(self) -> Summary:
        found, last, case = self.outcome, self.last, self.case
        numbers: Summary = {
            "stop": last.stop.value if last.stop is not None else "none",
            "steps": last.s,
            "chi2": last.chi2,
            "dof": found.dof,
            "u_enlarged": found.enlarged,
            "synthetic": case.synthetic,
        }
        unknown = []
        for k, name in enumerate(case.parameters):
            numbers[name] = float(last.p[k])
            if found.determined[k]:
                numbers[f"u_{name}"] = float(found.u[k])
            else:
                unknown.append(name)
        numbers["not_determined"] = ", ".join(unknown) or "none"
        for row in errors_beside_baselines(self.measurements).to_dict("records"):
            what = f"{row['quantity']}_{str(row['part']).replace(' ', '_')}"
            for name in ("rms", "rms_nominal", "rms_mean"):
                numbers[f"{name}_{what}"] = float(row[name])
        return numbers
