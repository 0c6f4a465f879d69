"""The CSV file of a measured series."""

from pathlib import Path

import pandas as pd

from analysis.validation.series import check_series
from pipeline.terminal.errors import InputError, one_line


def read_series(path: Path) -> pd.DataFrame:
    """quantity, at, value, u, part; lines that begin with # are remarks."""
    if not path.is_file():
        raise InputError(f"{path} does not exist: name a CSV file of measurements")
    try:
        return check_series(pd.read_csv(path, comment="#"), path.name)
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise InputError(f"{path.name} is no table: {one_line(error)}") from error
    except ValueError as error:
        raise InputError(str(error)) from error
