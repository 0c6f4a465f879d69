"""The directory of a finished origami run, as figures and FOLD files read it."""

from pathlib import Path

import numpy as np
import pandas as pd

from analysis.figures.origami_runs import OrigamiRun
from pipeline.results.shown import Row, key_of_run
from pipeline.store.files import read_json
from pipeline.terminal.errors import InputError


def read_origami(label: str, directory: Path) -> OrigamiRun:
    """Read what `morphtrack simulate` wrote for an origami case."""
    try:
        arrays = np.load(directory / "steps.npz", allow_pickle=False)
        table = pd.read_csv(directory / "steps.csv")
    except OSError as error:
        raise InputError(
            f"{directory} has no steps ({error.strerror}): give a finished run"
        ) from error
    names = ("x", "contact_force", "support_force", "triangles", "triangle_panel")
    for name in names:
        if name not in arrays:
            raise InputError(
                f"{directory}/steps.npz has no array {name}: is it an origami run?"
            )
    pattern = read_json(directory / "pattern.fold")
    return OrigamiRun(
        label,
        key_of_run(directory),
        arrays["x"],
        arrays["contact_force"],
        arrays["support_force"],
        arrays["triangles"],
        arrays["triangle_panel"],
        len(pattern["faces_vertices"]),
        table,
    )


def read_row(row: Row) -> OrigamiRun:
    """The run behind one row of a figure."""
    return read_origami(row.label, row.simulated)


def read_two(rows: list[Row]) -> tuple[OrigamiRun, OrigamiRun]:
    """A run with contact and one without, in this order."""
    if len(rows) != 2:
        raise InputError(
            f"{len(rows)} rows: give a case with contact, then the same without"
        )
    return read_row(rows[0]), read_row(rows[1])
