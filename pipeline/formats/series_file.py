"""The CSV file of a measured series, or of markers in time."""

from pathlib import Path

import numpy as np
import pandas as pd

from analysis.measured.series_verdict import COORDINATE
from analysis.validation.series import HELD_OUT, check_series
from pipeline.formats.motion.markers import TIME
from pipeline.terminal.errors import InputError, one_line


def read_series(path: Path) -> pd.DataFrame:
    """quantity, at, value, u, part; lines that begin with # are remarks.

    A file with a column time_s has one more for each coordinate, such as tip_x_mm, and
    empty cells where a marker was lost; all of it counts as held out, u as not stated.
    """
    if not path.is_file():
        raise InputError(f"{path} does not exist: name a CSV file of measurements")
    try:
        table = pd.read_csv(path, comment="#", skipinitialspace=True)
        if TIME in table:
            table = _of_markers(table, path.name)
        elif "quantity" not in table:
            raise ValueError(
                f"{path.name} has no column time_s, beside such as tip_x_mm and "
                "tip_y_mm, and none quantity, beside at, value, u, part: give either"
            )
        return check_series(table, path.name)
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise InputError(f"{path.name} is no table: {one_line(error)}") from error
    except ValueError as error:
        raise InputError(str(error)) from error


def _of_markers(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """A row for each coordinate at each time."""
    found = table.drop(columns=TIME)
    for column in found:
        if not COORDINATE.fullmatch(str(column)):
            raise ValueError(
                f"{name}: the column {column} is no coordinate of a marker: name it "
                "as tip_x_mm, or give quantity, at, value, u, part"
            )
        cells = found[column]
        bad = pd.to_numeric(cells, errors="coerce").isna() & cells.notna()
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"{name}, row {row + 1}: {column} is {cells.iloc[row]!r}, which is no "
                "number: correct it, or leave it empty"
            )
    rows = table.melt(TIME, var_name="quantity").dropna(subset=["value"])
    return rows.rename(columns={TIME: "at"}).assign(u=0.0, part=HELD_OUT)
