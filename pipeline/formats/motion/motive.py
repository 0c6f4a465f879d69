"""The table of markers that OptiTrack's Motive exports (CSV, format 1.2 on).

Line 1 is of names and values in turn, Length Units among them. Below stand rows that
say of each column what it is (Type, Name, ID, and what is measured, Position), the last
of them Frame, Time (Seconds) and axes; then a frame a line. Only columns of the type
Marker are read: those of a Rigid Body Marker are where the body has it, not where it
was seen.
"""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pipeline.formats.motion.track import Track
from pipeline.terminal.errors import InputError

FIRST = "Format Version"  # with which such a file begins
UNITS = {"Meters": "m", "Centimeters": "cm", "Millimeters": "mm"}
MOST_HEADER = 20  # lines in which the row of axes is looked for


def read(path: Path) -> Track:
    """The markers of such a table; see pipeline.formats.motion.markers.read_motion."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no text: is it a table of Motive?") from error
    rows = list(csv.reader(text.splitlines()))
    stated = dict(zip(rows[0][::2], rows[0][1::2], strict=False))
    unit = stated.get("Length Units", "").strip()
    if unit not in UNITS:
        raise InputError(
            f"{path}: Length Units is {unit or 'missing'}: give one of "
            f"{', '.join(UNITS)}"
        )
    head = next((k for k, row in enumerate(rows[:MOST_HEADER]) if _is_axes(row)), 0)
    described = [row for row in rows[1 : head + 1] if any(row)]
    if len(described) < 4:
        raise InputError(
            f"{path} has no rows Type, Name and Frame: export it with its header"
        )
    columns = _markers(path, described)
    data = [row for row in rows[head + 1 :] if any(row)]
    width = len(rows[head])
    values = np.array([_frame(path, row, width) for row in data])
    values = values.reshape(-1, width)
    names = tuple(name for name, _ in columns)
    firsts = np.array([first for _, first in columns])
    places = values[:, firsts[:, None] + np.arange(3)]
    return Track(values[:, 1], names, places, UNITS[unit])


def _is_axes(row: Sequence[str]) -> bool:
    return len(row) > 1 and row[0] == "Frame" and row[1].startswith("Time")


def _markers(path: Path, rows: list[list[str]]) -> list[tuple[str, int]]:
    """Name and first of three columns of each marker.

    Parameters
    ----------
    rows : four or more that describe columns; of axes the last, of what is measured
        the next to last
    """
    *said, measured, axes = rows
    told = {row[1]: row for row in said if len(row) > 1}
    kinds, names = told.get("Type", said[0]), told.get("Name", said[1])
    width = min(len(kinds), len(names), len(measured), len(axes))
    found = [
        (names[k].strip(), k)
        for k in range(2, width - 2)
        if axes[k : k + 3] == ["X", "Y", "Z"]
        and kinds[k : k + 3] == ["Marker"] * 3
        and measured[k : k + 3] == ["Position"] * 3
    ]
    if not found:
        raise InputError(
            f"{path} has no column of the type Marker: export it with Markers"
        )
    return found


def _frame(path: Path, row: Sequence[str], count: int) -> list[float]:
    """A frame as numbers; empty cells, which mean a lost marker, as nan."""
    cells = [cell.strip() for cell in row]
    cells += [""] * (count - len(cells))
    if any(cells[count:]):
        raise InputError(f"{path}, frame {cells[0]}: more coordinates than markers")
    try:
        return [float(cell) if cell else float("nan") for cell in cells[:count]]
    except ValueError as error:
        raise InputError(f"{path}, frame {cells[0]}: {error}: correct it") from error
