"""What a figure is drawn from, and what drawing it yields."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from pipeline.store.runs import run_record
from pipeline.terminal.errors import InputError


@dataclass(frozen=True)
class Row:
    """Directories of the runs behind one row of a figure.

    Parameters
    ----------
    label : what the row is called: the comparison, or the case
    comparison, ingest : None where a figure shows a simulation alone
    """

    label: str
    simulated: Path
    comparison: Path | None = None
    ingest: Path | None = None


@dataclass(frozen=True)
class DrawnFigure:
    """A figure, the numbers it plots, and the keys of the runs it shows.

    Parameters
    ----------
    said : what the template of the caption names beside what its runs found
    """

    figure: Figure
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    said: dict[str, Any] = field(default_factory=dict)


def only_row(rows: Sequence[Row], what: str = "name one") -> Row:
    """The row of a figure that shows one run: which, or what to do."""
    if len(rows) != 1:
        raise InputError(f"this figure shows one run, not {len(rows)}: {what}")
    return rows[0]


def runs_shown(rows: Sequence[Row], *what: str) -> list[tuple[str, str]]:
    """(label, key) of each row of a figure that shows these runs in this order."""
    if len(rows) != len(what):
        raise InputError(
            f"this figure shows {len(what)} runs, not {len(rows)}: {', '.join(what)}"
        )
    return [(row.label, key_of_run(row.simulated)) for row in rows]


def table_with(column: str, directory: Path, name: str) -> pd.DataFrame:
    """A table of a run that must have a column."""
    path = directory / name
    if not path.is_file():
        raise InputError(f"{path} does not exist: give a run of another case")
    table = pd.read_csv(path)
    if column not in table:
        raise InputError(f"{path} has no column {column}: give the runs in their order")
    return table


def key_of_run(directory: Path | None) -> str:
    """The key of the run in `directory`; "" where it was made by hand."""
    if directory is None or not (directory / "run.json").is_file():
        return ""
    return str(run_record(directory).get("key", ""))
