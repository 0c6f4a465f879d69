"""TRC, the text file of markers that OpenSim and Vicon Nexus exchange.

Line 1 begins with PathFileType; line 2 names and line 3 gives DataRate, NumFrames,
NumMarkers and Units; line 4 names the markers, each over three columns; line 5 the
axes; after an optional blank line every line is a frame: number, time, coordinates.
"""

from pathlib import Path

import numpy as np

from pipeline.formats.motion.track import (
    METRES,
    Track,
    frame_numbers,
    known_unit,
    text_lines,
)
from pipeline.terminal.errors import InputError

HEADER_LINES = 5


def read(path: Path) -> Track:
    """The markers of a TRC file; see pipeline.formats.motion.markers.read_motion."""
    lines = text_lines(path, "a TRC file")
    if len(lines) <= HEADER_LINES or not lines[0].startswith("PathFileType"):
        raise InputError(f"{path} is no TRC file: its first line is not PathFileType")
    stated = dict(zip(lines[1].split("\t"), lines[2].split("\t"), strict=False))
    unit = stated.get("Units", "").strip()
    if not known_unit(unit):
        known = ", ".join(METRES)
        raise InputError(f"{path}: Units is {unit or 'missing'}: give one of {known}")
    names = tuple(cell.strip() for cell in lines[3].split("\t")[2:] if cell.strip())
    rows = [line.split("\t") for line in lines[HEADER_LINES:] if line.strip()]
    _check_counts(path, stated, names, rows)
    width = 2 + 3 * len(names)
    values = np.array([frame_numbers(path, row, width) for row in rows]).reshape(
        -1, width
    )
    return Track(
        values[:, 1], names, values[:, 2:].reshape(len(rows), len(names), 3), unit
    )


def _check_counts(
    path: Path, stated: dict[str, str], names: tuple[str, ...], rows: list[list[str]]
) -> None:
    """Refuse a file that was cut, or whose header speaks of another one."""
    for key, count in (("NumMarkers", len(names)), ("NumFrames", len(rows))):
        said = stated.get(key, "").strip()
        if said and said != str(count):
            raise InputError(f"{path}: {key} is {said}, but the file holds {count}")
