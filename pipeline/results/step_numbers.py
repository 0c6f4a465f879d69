"""The numbers of a run by step."""

import csv
from contextlib import suppress
from pathlib import Path

import numpy as np

from pipeline.store.runs import REMEDY
from pipeline.terminal.errors import InputError, one_line
from sim.arrays import Floats


def step_numbers(directory: Path) -> dict[str, Floats]:
    """(steps,) each column of steps.csv that holds numbers; an empty cell is NaN.

    Parameters
    ----------
    directory : of a finished run; one without steps.csv has no numbers
    """
    path = directory / "steps.csv"
    if not path.is_file():
        return {}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            names, *rows = csv.reader(file)
        columns = list(zip(*rows, strict=True))
    except (ValueError, csv.Error) as error:
        raise InputError(
            f"{path} is no table of steps ({one_line(error)}): {REMEDY}"
        ) from error
    found = {}
    for name, cells in zip(names, columns, strict=False):
        with suppress(ValueError):  # words
            found[name] = np.array([float(cell or "nan") for cell in cells])
    return found
