"""Read finished runs for figures, and draw a figure from them."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.figures.figure_interface import DrawnFigure, ShownRun, draw_with_runs
from pipeline.figures.figure_names import OF_SET, entry_of, module_of
from pipeline.io.structure_file import structure_file
from pipeline.runs.atomic_files import read_json
from pipeline.runs.checkpoints import load_arrays
from pipeline.runs.run_directory import record_or_empty
from pipeline.terminal import InputError, refusing

WORDS = dict.fromkeys(("record", "quantity", "model"), str)  # columns of tables


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


READERS: dict[str, Callable[[Path], Any]] = {
    ".csv": lambda path: pd.read_csv(path, dtype=WORDS),
    ".npz": load_arrays,
    ".npy": lambda path: np.load(path, mmap_mode="r", allow_pickle=False),
    ".json": read_json,
    ".fold": read_json,
}


def shown_run(label: str, directory: Path, remedy: str = "") -> ShownRun:
    """A finished run as figures see it; its files are read when they are asked for.

    Parameters
    ----------
    remedy : for a run that lacks a file
    """
    record = record_or_empty(directory)
    held: dict[str, Any] = {}

    def read(name: str, default: Any = None) -> Any:
        path = directory / name
        if name == "structure":
            return structure_file(str(directory / "structure.json"))
        if name not in held and not path.is_file():
            if default is None:
                raise InputError(f"{directory} has no {name}: {remedy}")
            return default
        if name not in held:
            held[name] = READERS[path.suffix](path)
        return held[name]

    config = record.get("config", {})
    key, result = str(record.get("key", "")), record.get("result", {})
    return ShownRun(label, key, read, result, config.get("case", config))


def draw(figure: str, rows: Sequence[Row]) -> DrawnFigure:
    """Draw a figure from finished runs.

    Raises
    ------
    InputError
        for other runs than it shows
    """
    entry = entry_of(figure)
    if entry.rows and len(rows) != len(entry.rows):
        many = "one run" if len(entry.rows) == 1 else f"{len(entry.rows)} runs"
        expected = ", ".join(entry.rows)
        raise InputError(f"this figure shows {many}, not {len(rows)}: {expected}")
    runs, keys = [], []
    for row, needs in zip(rows, cycle(entry.needs or [""]), strict=False):
        run = shown_run(row.label, row.simulated, entry.remedy)
        _check(run, needs, row.simulated, entry.remedy)
        if row.comparison and row.ingest:
            scan = [shown_run(row.label, one) for one in (row.ingest, row.comparison)]
            run = replace(run, spheres=scan[0], comparison=scan[1])
        runs.append(run)
        keys += [one.key for one in (run, run.spheres, run.comparison) if one]
    name = OF_SET if figure.startswith(OF_SET) else figure
    function = f"draw_{name.strip('-').replace('-', '_')}"
    with refusing(ValueError, place=figure):
        module = importlib.import_module(module_of(figure))
        made = draw_with_runs(getattr(module, function), runs)
    return replace(made, keys=tuple(filter(None, keys)))


def _check(run: ShownRun, needs: str, directory: Path, remedy: str) -> None:
    """Refuse a run that lacks what a figure shows."""
    for need in needs.split():
        file, _, name = need.partition(":")
        held = run.read(file)
        if name and name not in held:
            raise InputError(f"{directory}/{file} has no {name}: {remedy}")
