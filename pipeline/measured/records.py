"""A measured set: its experiment, its records, their inputs and rows.

A class of pipeline.measured named by `model: {_target_: ...}` in
conf/measured/<set>.yaml. The frame calls, in this order: `inputs` for every record;
`predict`, as often as fit, slopes and refinement want; and only when all predictions
are written, `measured`. So `inputs` must read nothing that is to be predicted:
`FoundRecord.columns` reads the columns that are asked for and no others.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import dist
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from analysis.measured.fit_with_model_error import COLUMNS, Input, Posterior
from analysis.measured.model_error import Departure, ModelError
from analysis.measured.predicted_quantities import Predict, Quantities, RecordInputs
from analysis.measured.prediction import Families, Family, Numerics, predicted
from analysis.measured.prediction_verdicts import pooled_deviation
from pipeline.config.build_objects import build
from pipeline.config.config_files import checked
from pipeline.io.record_files import FoundRecord, find_records
from pipeline.measured.set_file import MeasuredSet
from pipeline.terminal import InputError, one_line
from sim.core.options import Checked, NotConvergedError


class Experiment(Checked, ABC):
    """A measured set; every method gives the same twice for the same arguments.

    Attributes
    ----------
    over : of values that are taken over the whole of a curve, by quantity, the curve:
        compared only where all of it is measured
    """

    over: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def inputs(self, record: FoundRecord) -> RecordInputs:
        """What is known of a record before it is compared.

        Raises
        ------
        InputError
            where the record cannot be predicted: it is then named with this reason
        """

    @abstractmethod
    def predict(
        self, parameters: Mapping[str, float], record: RecordInputs
    ) -> Quantities:
        """Every quantity of a record.

        Parameters
        ----------
        parameters : all inputs of conf/measured/<set>.yaml, fitted or not, by name

        Raises
        ------
        NotConvergedError
            where the solver finds no state
        """

    @abstractmethod
    def measured(self, record: FoundRecord, predicted: Quantities) -> Quantities:
        """The same quantities as measured, in the same unit, by the same extractor.

        Parameters
        ----------
        predicted : of this record, for sets whose places are compared after a rigid
            motion or whose nodes are found by continuity; others leave it alone
        """

    def refined(self) -> Self:
        """The same model with half the step; itself where nothing is discretised."""
        return self

    def placing(
        self, record: FoundRecord, predicted: Quantities
    ) -> Mapping[str, float | list[float]]:
        """How a record was laid on what is predicted of it, where that is a choice.

        Returns
        -------
        what was chosen, among what, and how well each choice fits
        """
        del record, predicted
        return {}


REFUSALS = (InputError, NotConvergedError, ValueError)  # of one record, not of all


@dataclass(frozen=True, eq=False)
class Records:
    """Records of one folder, as far as nothing measured was read.

    Parameters
    ----------
    found, inputs : by name
    refused : why a record cannot be predicted, by its name
    """

    found: Mapping[str, FoundRecord]
    inputs: Mapping[str, RecordInputs]
    refused: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class SetAtHand:
    """A measured set and the experiment that it names.

    Parameters
    ----------
    repeat_sd : between repeats of one test, by family; {} before it is known
    """

    of: MeasuredSet
    experiment: Experiment
    repeat_sd: Mapping[str, float] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Of the records that are shipped."""
        return Path(self.of.records.folder)

    @property
    def predict(self) -> Predict:
        """The model."""
        return self.experiment.predict

    @property
    def numerics(self) -> Numerics:
        """How the model is refined, which may have nothing to refine."""
        finer = self.experiment.refined()
        refined = None if finer is self.experiment else finer.predict
        return Numerics(refined, self.of.order)

    @property
    def inputs(self) -> list[Input]:
        """What the model needs, for the fit."""
        u = {n: np.inf if one.u is None else one.u for n, one in self.of.inputs.items()}
        return [
            Input(name, one.value, u[name], one.fitted, one.positive, self.of.reach)
            for name, one in self.of.inputs.items()
        ]

    @property
    def start(self) -> dict[str, float]:
        """Every input before the fit, by name."""
        return {name: one.value for name, one in self.of.inputs.items()}

    @property
    def errors(self) -> dict[str, ModelError]:
        """The model error of each family before the fit."""
        found = {}
        for name, one in self.of.quantities.items():
            e = one.model_error
            sd = np.array([one.aim / 2 if self.of.records.fitted else e.sd])
            kind = Departure(e.kind)
            found[name] = ModelError(kind, e.length, e.relative, np.zeros(1), sd)
        return found

    @property
    def aims(self) -> dict[str, float]:
        """Scale of each family's model error beforehand."""
        return {name: one.aim for name, one in self.of.quantities.items()}

    def families(self, words: Mapping[str, str]) -> Families:
        """The family of each quantity of a record, with what is known of it.

        Parameters
        ----------
        words : what the record says of itself
        """

        def family(quantity: str) -> Family:
            name, one = self.of.family(quantity, words)
            repeat_sd = self.repeat_sd.get(one.model_error_from or name, 0.0)
            at = one.at.places if one.at else None
            noise = repeat_sd, one.u
            return Family(
                name, one.unit, one.aim, one.relative, *noise, at, one.model_error_from
            )

        return family

    def distance(self, one: RecordInputs, fitted: Iterable[RecordInputs]) -> float:
        """Of a record from the nearest fitted one, along `distances` of the set."""
        unit = self.of.records.distances

        def place(of: RecordInputs) -> list[float]:
            return [of.numbers[name] / unit[name] for name in unit]

        return min((dist(place(one), place(other)) for other in fitted), default=0.0)

    def prediction(
        self, record: RecordInputs, after: Posterior, fitted: Iterable[RecordInputs]
    ) -> pd.DataFrame:
        """Rows of a record as of `analysis.measured.prediction.predicted`.

        Parameters
        ----------
        fitted : records that `after` is determined by
        """
        families, far = self.families(record.words), self.distance(record, fitted)
        inputs, numerics = self.inputs, self.numerics
        return predicted(self.predict, record, after, inputs, families, numerics, far)

    def is_fitted(self, record: str) -> bool:
        """Whether a record of the shipped folder is fitted."""
        pattern = self.of.records.fitted
        return bool(pattern) and re.fullmatch(pattern, record) is not None


def at_hand(config: Mapping[str, Any]) -> SetAtHand:
    """The set that a plain configuration describes; refused where it is not sound."""
    name = str(config.get("name", "a set"))
    of = checked(MeasuredSet, dict(config), f"conf/measured/{name}.yaml")
    experiment: Experiment = build(of.model, "model")
    return SetAtHand(of, experiment)


def listed_records(
    of: MeasuredSet, folder: Path
) -> tuple[list[FoundRecord], dict[str, str]]:
    """The records of a folder, and why some listed files are none.

    An example of a form is its first shipped file, or its own name.
    """
    examples = []
    for form in of.records.filename_patterns:
        there = sorted((Path(of.records.folder) / form.within).glob("*"))
        names = [*(path.name for path in there), form.files.replace("\\", "")]
        examples += [name for name in names if re.fullmatch(form.files, name)][:1]
    return find_records(folder, of.records.filename_patterns, examples)


def read_inputs(at: SetAtHand, found: Mapping[str, FoundRecord]) -> Records:
    """Inputs of records; those that have none are refused by name."""
    inputs: dict[str, RecordInputs] = {}
    refused: dict[str, str] = {}
    for name, record in found.items():
        if record.broken:
            refused[name] = record.broken
            continue
        try:
            inputs[name] = at.experiment.inputs(record)
        except REFUSALS as error:
            refused[name] = one_line(error)
    return Records(found, inputs, refused)


def records_in(at: SetAtHand, folder: Path) -> Records:
    """The records of a folder, and what cannot be predicted among them."""
    found, odd = listed_records(at.of, folder)
    read = read_inputs(at, {record.name: record for record in found})
    return replace(read, refused={**read.refused, **odd})


def held_out_records(at: SetAtHand, there: Mapping[str, FoundRecord]) -> Records:
    """Records that the set names but that are not there."""
    absent = {
        name: FoundRecord(name, at.folder / f"{name}.csv", inputs)
        for name, inputs in at.of.records.held_out.items()
        if name not in there
    }
    return read_inputs(at, absent)


def measured_rows(
    at: SetAtHand, records: Records, predicted: Mapping[str, Quantities]
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Measured values of records that are predicted, and why some have none.

    Parameters
    ----------
    predicted : of each record

    Returns
    -------
    record, quantity, family, at, measured, u; and reasons by record, or by quantity
    of a record
    """
    tables: list[pd.DataFrame] = []
    refused: dict[str, str] = {}
    for name, own in predicted.items():
        try:
            found = at.experiment.measured(records.found[name], own)
            short = shortened(at, found, own)
            found = {key: one for key, one in found.items() if key not in short}
            tables.append(_rows(at, records, name, found))
            refused |= {f"{key} of {name}": why for key, why in short.items()}
        except REFUSALS as error:
            refused[name] = one_line(error)
    return stacked(tables, COLUMNS), refused


def stacked(tables: Iterable[pd.DataFrame], columns: Iterable[str]) -> pd.DataFrame:
    """All rows of tables, or none with these columns."""
    some = [table for table in tables if len(table)]
    empty = pd.DataFrame(columns=[*columns])
    return pd.concat(some, ignore_index=True) if some else empty


def fitted_rows(
    at: SetAtHand, predicted: Callable[[RecordInputs], Quantities]
) -> pd.DataFrame:
    """What was measured of the shipped records that are fitted."""
    own = records_in(at, at.folder)
    fitted = {n: predicted(one) for n, one in own.inputs.items() if at.is_fitted(n)}
    return measured_rows(at, own, fitted)[0]


def shortened(
    at: SetAtHand, found: Quantities, predicted: Quantities
) -> dict[str, str]:
    """Why values taken over a whole curve are not compared where part is measured."""
    over, why = at.experiment.over, {}
    for key in over.keys() & found.keys() & predicted.keys():
        there, of = (len(q[over[key]].at) for q in (found, predicted))
        if there < of:
            why[key] = (
                f"only {there} of {of} predicted points are measured: give a record of "
                "the full travel in both directions, or state its travel"
            )
    return why


def _rows(
    at: SetAtHand, records: Records, name: str, found: Quantities
) -> pd.DataFrame:
    """The measured rows of one record."""
    record, families = records.found[name], at.families(records.inputs[name].words)
    tables = []
    for quantity, series in found.items():
        family = families(quantity)
        on = family.of(series)
        words = record.name, quantity, family.error_family
        cells = *words, on.at, on.value, np.hypot(on.u, family.noise)
        tables.append(pd.DataFrame(dict(zip(COLUMNS, cells, strict=True))))
    if not tables:
        raise InputError(
            f"{record.path}: no quantity of {record.name} is measured: add one"
        )
    return pd.concat(tables, ignore_index=True)


def between_repeats(
    at: SetAtHand, records: Records, rows: pd.DataFrame
) -> dict[str, float]:
    """Pooled deviation between records that repeat one test, by family."""
    same = at.of.records.repeats
    if not same or rows.empty:
        return {}
    return pooled_deviation(rows, grouped(records.found, same))


def grouped(found: Mapping[str, FoundRecord], by: Sequence[str]) -> dict[str, str]:
    """What each record says of some inputs, by its name: alike in one group."""
    return {
        name: "|".join(record.inputs.get(k, "") for k in by)
        for name, record in found.items()
    }
