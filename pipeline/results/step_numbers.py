"""The numbers of a run by step."""

import csv
from contextlib import suppress
from pathlib import Path

import numpy as np

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
    with path.open(newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    found = {}
    for name, cells in zip(names, zip(*rows, strict=True), strict=False):
        with suppress(ValueError):  # words
            found[name] = np.array([float(cell or "nan") for cell in cells])
    return found
