"""conf/measured/<set>.yaml, composed and checked: one measured set and its protocol.

What is fitted on which records, what is predicted for which, the quantities, and what
counts as agreement: all of it stands here before the first prediction is made.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from pipeline.config.config_files import CONF, checked, listed
from pipeline.config.hydra import composed_file
from pipeline.config.value_types import (
    AtLeastOne,
    Entry,
    NotNegative,
    Positive,
    Settings,
    Words,
)
from pipeline.io.record_files import Pattern, RecordSource, Texts
from pipeline.terminal import no_such
from sim.core.arrays import Floats

KIND = "measured"


class PlaceRange(Entry):
    """Places from `start` to `stop`, both among them, every `step`."""

    start: float
    stop: float
    step: Positive

    @model_validator(mode="after")
    def _leads_somewhere(self) -> "PlaceRange":
        if not self.start < self.stop:
            raise ValueError(f"stop must be above start {self.start}, not {self.stop}")
        return self

    @property
    def places(self) -> Floats:
        """(m,) rounded to a thousandth of a step, so that they print as written."""
        count = round((self.stop - self.start) / self.step)
        digits = 3 - int(np.floor(np.log10(self.step)))
        return np.round(self.start + self.step * np.arange(count + 1), digits)


class ModelErrorEntry(Entry):
    """Model error, estimated on the fitted records and applied to others.

    Attributes
    ----------
    kind : constant: one departure a record, and one that all share; curve: departures
        that change along `at` over `length`; scatter: each row has its own
    length : of `at` over which a curve's departures change
    relative : departures are in proportion to the predicted value
    sd : standard deviation where no record is fitted, from `sd_source`
    """

    kind: Literal["constant", "curve", "scatter"] = "constant"
    length: Positive = 1.0
    relative: bool = False
    sd: NotNegative = 0.0
    sd_source: str = ""

    @model_validator(mode="after")
    def _says_where_sd_is_from(self) -> "ModelErrorEntry":
        if self.sd and not self.sd_source:
            raise ValueError(f"sd is {self.sd}: give its source in sd_source")
        return self


class QuantityEntry(Entry):
    """A quantity, or several alike whose names match a pattern.

    Attributes
    ----------
    rows : pattern of the names in tables; the key itself where it is left out
    at : places at which it is compared; as the model gives them where left out
    along : what `at` is, with its unit, for axes of figures
    aim : largest acceptable error, in `unit`, or of the measured value if `relative`
    fitted : whether the fit uses it; a quantity derived from fitted ones need not be
    estimate_model_error : on the fitted records, though the fit does not use the
        quantity, since the thousand frames of a motion would outweigh everything else
    where : what a record must say of itself, such as its specimen, to belong here
    about : the quantity about which this is half the difference of two branches, with
        which figures show it
    model_error_from : the entry whose model error and repeats it has; its own if left
        out
    u : further standard uncertainty of the measured value, in `unit`, from `u_source`
    """

    unit: str
    aim: Positive
    relative: bool = False
    rows: Pattern = ""
    at: PlaceRange | None = None
    along: str = ""
    fitted: bool = True
    estimate_model_error: bool = False
    where: Texts = Field(default_factory=dict)
    about: str = ""
    model_error_from: str = ""
    u: NotNegative = 0.0
    u_source: str = ""
    model_error: ModelErrorEntry = Field(default_factory=ModelErrorEntry)

    @model_validator(mode="after")
    def _says_where_u_is_from(self) -> "QuantityEntry":
        if self.u and not self.u_source:
            raise ValueError(f"u is {self.u}: give its source in u_source")
        return self


class InputEntry(Entry):
    """A number that the model needs, the same for all records.

    Attributes
    ----------
    u : standard uncertainty; 0 where it is held; left out where nothing is known
        before the fit
    origin : measured, stated (by those who measured) or fitted (here)
    fitted : the fit changes it, from `value` and, where given, `u` as what is known
    positive : it makes sense above 0 only
    """

    value: float
    unit: str
    origin: Literal["measured", "stated", "fitted"]
    source: str
    u: NotNegative | None = None
    fitted: bool = False
    positive: bool = False

    @model_validator(mode="after")
    def _knows_what_it_draws(self) -> "InputEntry":
        if self.u is None and not self.fitted:
            raise ValueError("has no u: give u (0 for a constant), or `fitted: true`")
        if self.fitted and self.u == 0:
            raise ValueError("is fitted, but its u is 0: remove `u` or `fitted`")
        if self.fitted and self.value == 0 and self.u is None:
            raise ValueError(
                "is fitted from 0 without u: give u, the size of the first step"
            )
        return self


class RecordsEntry(Entry):
    """Which records there are.

    Attributes
    ----------
    folder : of the records that are shipped
    filename_patterns : how their files are called; the first that fits counts
    fitted : pattern of the names of the records that are fitted; "" fits none
    held_out : held-out records, predicted from these inputs before they are published;
        each is judged as soon as its file is there
    repeats : inputs in which tests of the same thing agree, such as mass and specimen;
        () where no test was repeated
    conditions : inputs in which records of one condition agree; they are left out
        together, so that none is predicted from its like; () leaves out one at a time
    distances : numbers of a record along which model error grows away from the fitted
        conditions, each with how far counts as one
    """

    folder: str
    filename_patterns: list[RecordSource] = Field(min_length=1)
    fitted: Pattern = ""
    held_out: dict[str, Texts] = Field(default_factory=dict)
    repeats: Words = ()
    conditions: Words = ()
    distances: dict[str, Positive] = Field(default_factory=dict)


class UnfittedEntry(Entry):
    """The same model with some inputs as given here and none fitted, for comparison.

    Attributes
    ----------
    inputs : values of some inputs; others are as before the fit
    of : the quantity whose distances are reported
    aim : largest acceptable rms distance at every place, in the quantity's unit
    """

    inputs: dict[str, float]
    of: str
    aim: Positive


class MeasuredSet(Entry):
    """One measured set.

    Attributes
    ----------
    title, source, licence : what was measured, by whom, under which licence
    model : `_target_` of an experiment of pipeline.measured, and its settings
    quantities : by name, in the order of tables and figures
    k : coverage factor of the verdicts
    order : in which the discretisation error falls with the step
    blurred : expected fall of chi2 that slopes cannot tell from none, 1 being that by
        one standard uncertainty: large where a model has kinks, such as snaps and slips
    reach : uncertainties below its first value that a fitted input may well go to
    variants_tried : models that were tried before this one, this one included
    unfitted : by name, models of which nothing is fitted
    """

    name: str
    title: str
    source: str
    licence: str
    records: RecordsEntry
    model: Settings
    quantities: dict[str, QuantityEntry]
    inputs: dict[str, InputEntry] = Field(default_factory=dict)
    k: Positive = 2.0
    order: Positive = 2.0
    blurred: Positive = 1e-3
    reach: Positive = 1.0
    variants_tried: AtLeastOne = 1
    unfitted: dict[str, UnfittedEntry] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _is_whole(self) -> "MeasuredSet":
        if "_target_" not in self.model:
            raise ValueError("model has no _target_: name a class of pipeline.measured")
        if not self.quantities:
            raise ValueError("quantities is empty: name the compared quantities")
        if any(one.fitted for one in self.inputs.values()) and not self.records.fitted:
            raise ValueError("inputs are fitted, but records.fitted is empty: list one")
        for entry in self.quantities.values():
            if entry.model_error_from and entry.model_error_from not in self.quantities:
                raise no_such(
                    "unknown quantity", entry.model_error_from, self.quantities
                )
        for model in self.unfitted.values():
            if model.of not in self.quantities:
                raise no_such("unknown quantity", model.of, self.quantities)
            for name in model.inputs.keys() - self.inputs:
                raise no_such("unknown input", name, self.inputs)
        return self

    def family(
        self, quantity: str, words: Mapping[str, str]
    ) -> tuple[str, QuantityEntry]:
        """The entry that a quantity of a record belongs to, and its name.

        Parameters
        ----------
        words : what the record says of itself
        """
        for name, entry in self.quantities.items():
            named = re.fullmatch(entry.rows or re.escape(name), quantity)
            if named and entry.where.items() <= words.items():
                return name, entry
        raise no_such("the set has no quantity", quantity, self.quantities)


def set_names() -> list[str]:
    """The sets that conf/measured holds."""
    return list(listed(KIND))


def set_file(name: str) -> Path:
    """The file of a set; refused where there is none."""
    if name not in set_names():
        raise no_such(f"{CONF / KIND} has no set", name, set_names())
    return CONF / KIND / f"{name}.yaml"


def read_set(name: str) -> MeasuredSet:
    """Compose and check conf/measured/<name>.yaml."""
    path = set_file(name)
    return checked(MeasuredSet, {"name": name, **composed_file(path)}, str(path))
