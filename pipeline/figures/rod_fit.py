"""Parameters of rods fitted to measured series."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from analysis.figures.fits import ShownFit, fitted_series
from pipeline.results.shown import DrawnFigure, Row, key_of_run
from pipeline.terminal.errors import InputError

TABLES = ("curves", "measurements", "parameters", "errors")


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A row a fit: runs of cases such as beam_fit."""
    shown = [_read(row.label, row.simulated) for row in rows]
    tables = {
        name: pd.concat(
            [getattr(one, name).assign(fit=one.label) for one in shown],
            ignore_index=True,
        )
        for name in TABLES
    }
    return DrawnFigure(fitted_series(shown), tables, [one.key for one in shown])


def _read(label: str, directory: Path) -> ShownFit:
    missing = [n for n in TABLES if not (directory / f"{n}.csv").is_file()]
    if missing:
        raise InputError(f"{directory} has no {missing[0]}.csv: run a case of fits")
    found = {name: pd.read_csv(directory / f"{name}.csv") for name in TABLES}
    return ShownFit(label, key_of_run(directory), **found)
