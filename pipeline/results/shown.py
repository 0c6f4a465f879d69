"""What a figure is drawn from, and what drawing it yields."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from pipeline.store.files import read_json


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
    moving : texts of SVG files that play, by name
    said : what the template of the caption names beside what its runs found
    """

    figure: Figure
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    moving: dict[str, str] = field(default_factory=dict)
    said: dict[str, Any] = field(default_factory=dict)


def key_of_run(directory: Path | None) -> str:
    """The key of the run in `directory`; "" where it was made by hand."""
    if directory is None or not (directory / "run.json").is_file():
        return ""
    return str(read_json(directory / "run.json").get("key", ""))
