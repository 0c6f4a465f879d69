"""The table of markers that Vicon's Nexus exports (CSV).

Sections that begin with their name, Trajectories that of markers, end with a blank
line. In it follow frames per second, names (each over three columns, after that of its
subject and a colon), Frame, Sub Frame and axes, units, and a frame a line.
"""

import csv
from pathlib import Path

import numpy as np

from pipeline.formats.motion.track import METRES, Track, frame_numbers, text_lines
from pipeline.terminal.errors import InputError

SECTION = "Trajectories"
SECTIONS = {SECTION, "Devices", "Joints", "Segments", "Model Outputs", "Events"}
HEADER = ["Frame", "Sub Frame"]


def read(path: Path) -> Track:
    """The markers of such a table; see pipeline.formats.motion.markers.read_motion."""
    rows = [
        [cell.strip() for cell in row]
        for row in csv.reader(text_lines(path, "a table of Nexus"))
    ]
    begin = next((k for k, row in enumerate(rows) if row[:1] == [SECTION]), None)
    if begin is None:
        raise InputError(f"{path} has no section {SECTION}: export it with that")
    end = next((k for k in range(begin, len(rows)) if not any(rows[k])), len(rows))
    rate, labels, axes, units = [*rows[begin + 1 : end], [], [], [], []][:4]
    if axes[:2] != HEADER:
        raise InputError(
            f"{path}: {SECTION} has no row Frame, Sub Frame, X, Y, Z: export it again"
        )
    firsts = [k for k in range(2, len(labels)) if labels[k]]
    names = tuple(labels[k].rpartition(":")[2] for k in firsts)
    if any(axes[k : k + 3] != ["X", "Y", "Z"] for k in firsts):
        raise InputError(f"{path}: a marker has other columns than X, Y, Z")
    unit = {cell for cell in units if cell}
    if len(unit) != 1 or not unit <= METRES.keys():
        raise InputError(
            f"{path}: the unit is {', '.join(sorted(unit)) or 'missing'}: give one of "
            f"{', '.join(METRES)} throughout"
        )
    width = len(axes)
    values = np.array(
        [frame_numbers(path, row, width) for row in rows[begin + 5 : end]]
    )
    values = values.reshape(-1, width)
    time = (values[:, 0] - values[:1, 0]) / _rate(path, rate)
    places = values[:, np.array(firsts, int)[:, None] + np.arange(3)]
    return Track(time, names, places, unit.pop())


def _rate(path: Path, row: list[str]) -> float:
    """Frames per second."""
    try:
        rate = float("".join(row[:1]))
    except ValueError:
        rate = 0.0
    if not 0.0 < rate < np.inf:
        raise InputError(
            f"{path}: below {SECTION} stands {''.join(row[:1]) or 'nothing'}: give "
            "frames per second there"
        )
    return rate
