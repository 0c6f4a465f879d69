"""A model whose fit is known in closed form: a line, slope times load plus offset."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.measured.fit_with_model_error import FittedRecords, Input
from analysis.measured.model_error import Departure, ModelError
from analysis.measured.predicted_quantities import Quantities, RecordInputs, curve
from analysis.measured.prediction import Family
from sim.core.arrays import Floats

AT = np.linspace(0.0, 1.0, 5)
NONE = ModelError(Departure.CONSTANT, 1.0, False, np.zeros(1), np.zeros(1))
FAMILY = Family("force", "N", aim=0.5)


def line(parameters: Mapping[str, float], record: RecordInputs) -> Quantities:
    """force = E load at + level, of a record with a load."""
    value = parameters["E"] * record.numbers["load"] * AT + parameters["level"]
    return {"force": curve(AT, value)}


def family(quantity: str) -> Family:
    assert quantity == "force"
    return FAMILY


def records(loads: Mapping[str, float], u_load: float = 0.0) -> dict[str, RecordInputs]:
    u = {"load": u_load} if u_load else {}
    return {name: RecordInputs(name, {"load": load}, u) for name, load in loads.items()}


def fitted(
    of: Mapping[str, RecordInputs], measured: Mapping[str, Floats], u: float
) -> FittedRecords:
    rows = [
        pd.DataFrame(
            {
                "record": name,
                "quantity": "force",
                "family": "force",
                "at": AT,
                "measured": measured[name],
                "u": u,
            }
        )
        for name in of
    ]
    return FittedRecords(line, of, pd.concat(rows, ignore_index=True))


def given(
    of: FittedRecords, inputs: Sequence[Input], aims: Mapping[str, float]
) -> FittedRecords:
    return replace(of, inputs=inputs, aims=aims)
