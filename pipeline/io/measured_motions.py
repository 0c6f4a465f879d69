"""Measured motions and series: markers in time from CSV, Motive and C3D.

CSV has a column time_s and, for each marker, NAME_x_m, NAME_y_m and NAME_z_m (or _cm,
_mm): the name of the column states the unit, which is never guessed. Tables of Motive
and C3D files state theirs. An empty cell, or a point that a file marks as lost, is nan
here; that marker counts in the other frames. So is a frame at 0, 0, 0 of a marker that
is elsewhere in others: many programs write lost frames so.

Line 1 of a table of Motive (CSV, format 1.2 on) has names and values in turn, Length
Units among them. Rows that describe the columns follow (Type, Name, ID, and the
measured quantity, Position), the last of them Frame, Time (Seconds) and axes; then a
frame a line. Only columns of the type Marker are read: a Rigid Body Marker is where the
body model puts it, not where it was seen.
"""

import csv
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.comparison.compare_series import HELD_OUT, check_series
from analysis.measured.prediction_verdicts import COORDINATE
from pipeline.io.reader_interface import not_installed
from pipeline.io.record_files import a_table, header_of, numbers, read_columns
from pipeline.runs.atomic_files import check_ends
from pipeline.terminal import InputError, nearest, no_such, refusing
from sim.core.arrays import Floats

METRES = {"m": 1.0, "cm": 0.01, "mm": 0.001}  # of each unit that a file may state


MOTIVE_BEGINS = "Format Version"
AXES_BEGIN = "Frame,Time"  # of the last row of a header
MOTIVE_UNITS = {"Meters": 1.0, "Centimeters": 0.01, "Millimeters": 0.001}  # m
MOST_HEADER = 20  # lines in which the row of axes is looked for


def read_motive(path: Path) -> "MarkerMotion":
    """The markers of such a table; see pipeline.io.measured_motions.read_motion."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not text: is it a CSV of Motive?") from error
    rows = list(csv.reader(text.splitlines()))
    stated = dict(zip(rows[0][::2], rows[0][1::2], strict=False))
    unit = stated.get("Length Units", "").strip()
    if unit not in MOTIVE_UNITS:
        raise InputError(
            f"{path}: Length Units is {unit or 'missing'}: give one of "
            f"{', '.join(MOTIVE_UNITS)}"
        )
    lines = [",".join(row) for row in rows[:MOST_HEADER]]
    head = next((k for k, line in enumerate(lines) if line.startswith(AXES_BEGIN)), 0)
    described = [row for row in rows[1 : head + 1] if any(row)]
    if len(described) < 4:
        raise InputError(
            f"{path} has no rows Type, Name and Frame: export it with its header"
        )
    columns = _marker_columns(path, described)
    frames = {k: row for k, row in enumerate(rows) if k > head and any(row)}
    used = [1, *(first + k for _, first in columns for k in range(3))]
    cells = [[*row, *[""] * len(rows[head])] for row in frames.values()]
    table = pd.DataFrame(
        [[row[k].strip() for k in used] for row in cells],
        index=[line - 1 for line in frames],
        columns=[f"{rows[head][k]} of column {k + 1}" for k in used],
    )
    values = numbers(table, path, gaps=True).to_numpy()
    places = values[:, 1:].reshape(len(values), -1, 3)
    names = tuple(name for name, _ in columns)
    return MarkerMotion(path, values[:, 0], names, places * MOTIVE_UNITS[unit])


def _marker_columns(path: Path, rows: list[list[str]]) -> list[tuple[str, int]]:
    """Name and first of three columns of each marker.

    Parameters
    ----------
    rows : four or more that describe columns, at last the measured quantity and axes
    """
    *labels, measured, axes = rows
    by_label = {row[1]: row for row in labels if len(row) > 1}
    kinds, names = by_label.get("Type", labels[0]), by_label.get("Name", labels[1])
    width = min(len(kinds), len(names), len(measured), len(axes))
    found = [
        (names[k].strip(), k)
        for k in range(2, width - 2)
        if axes[k : k + 3] == ["X", "Y", "Z"]
        and kinds[k : k + 3] == ["Marker"] * 3
        and measured[k : k + 3] == ["Position"] * 3
    ]
    if not found:
        raise InputError(f"{path} has no column of type Marker: export it with Markers")
    return found


C3D_READER = Path(__file__).with_name("c3d_reader.py")


def read_c3d(path: Path) -> "MarkerMotion":
    """The markers of a C3D file; see pipeline.io.measured_motions.read_motion."""
    if find_spec("ezc3d") is None:
        raise InputError(f"{path}: {not_installed('C3D', 'ezc3d', 'export CSV')}")
    words = [sys.executable, "-P", str(C3D_READER), str(path)]
    env = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # each takes memory
    try:
        made = subprocess.run(
            words, env=env, capture_output=True, timeout=60, check=True
        )
    except subprocess.SubprocessError as error:
        problem = f"{path} cannot be read as C3D: is it damaged? export it again"
        raise InputError(problem) from error
    with np.load(BytesIO(made.stdout)) as file:
        names, derived, places = file["names"], file["derived"], file["places"]
        unit, rate = str(file["unit"]), float(file["rate"])
    many = places.shape[1]
    if unit not in METRES or not 0.0 < rate < np.inf or len(names) < many:
        raise InputError(
            f"{path}: units {unit or 'missing'}, frame rate {rate:g} Hz, {len(names)} "
            f"of {many} markers named: export it with m, cm or mm, a frame rate, and a "
            "name for every marker"
        )
    places[(places == 0.0).all(axis=2)] = np.nan  # lost frames are often filled so
    own = np.flatnonzero(~np.isin(names[:many], derived))
    time = np.arange(len(places)) / rate
    markers = tuple(map(str, names[own]))
    return MarkerMotion(path, time, markers, places[:, own] * METRES[unit])


TIME = "time_s"
COLUMN = re.compile(r"(?P<marker>.+)_(?P<axis>[xyz])_(?P<unit>\w+)")
HEAD = 1000  # bytes, in which a table says what exported it
UNEVEN = 0.5  # of the usual step, by which a step may be longer or shorter


@dataclass(frozen=True, eq=False)
class MarkerMotion:
    """Markers in time.

    Attributes
    ----------
    time : (f,) s, rising in even steps
    names : of the m markers
    places : (f, m, 3) m, nan where a marker was lost
    """

    path: Path
    time: Floats
    names: tuple[str, ...]
    places: Floats

    def marker(self, name: str) -> Floats:
        """(k, 3) one marker in the frames that see it, m; refused where none does."""
        if name not in self.names:
            raise no_such(f"{self.path} has no marker", name, self.names)
        if self.names.count(name) > 1:
            raise InputError(
                f"{self.path} has {self.names.count(name)} markers of the name "
                f"{name!r}: rename all but one"
            )
        found: Floats = self.places[:, self.names.index(name)]
        seen = np.isfinite(found).all(axis=1)
        if not seen.any():
            raise InputError(
                f"{self.path}: marker {name} is lost in all {len(found)} frames from "
                f"{self.time[0]:g} to {self.time[-1]:g} s: choose other times, or "
                "remove the marker"
            )
        return found[seen]


def read_motion(path: Path) -> MarkerMotion:
    """The markers of a CSV or C3D file.

    Raises
    ------
    InputError
        for a file that is missing or damaged, states no unit or one that is not known,
        or whose times do not rise in even steps
    """
    if not path.is_file():
        remedy = nearest(path, "give a file of marker motion")
        raise InputError(f"{path} does not exist: {remedy}")
    reader = {".csv": read_csv, ".c3d": read_c3d}.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path}: markers are read from .csv, .c3d: export one")
    motion = reader(path)
    if not motion.names:
        raise InputError(f"no frame of {path} has a marker: export it with markers")
    check_even(motion.time, path)
    zero = (motion.places == 0.0).all(axis=2)
    motion.places[zero & ~zero.all(axis=0)] = np.nan
    return motion


def check_even(time: Floats, path: Path) -> None:
    """Refuse times that do not rise in even steps: frames were lost, or added."""
    if len(time) < 2:
        raise InputError(f"{path}: a motion needs two or more frames, not {len(time)}")
    if not np.isfinite(time).all():
        row = int(np.argmax(~np.isfinite(time)))
        raise InputError(f"{path}, frame {row + 1}: the time is not finite: correct it")
    with np.errstate(over="ignore", invalid="ignore"):  # of times near 1e308
        steps = np.diff(time)
        usual = float(np.median(steps))
        odd = ~(np.abs(steps - usual) <= UNEVEN * abs(usual))
    if usual <= 0 or odd.any():
        row = int(np.argmax(odd)) if usual > 0 else int(np.argmin(steps))
        raise InputError(
            f"{path}: after frame {row + 1} the time jumps from {time[row]:g} to "
            f"{time[row + 1]:g} s (usual step {usual:g} s): give frames without gaps"
        )


def read_csv(path: Path) -> MarkerMotion:
    """A table with a column of times and three of each marker, or as exported."""
    check_ends(path)
    with path.open("rb") as file:
        first = file.read(HEAD).decode("utf-8-sig", "replace").split(",")[0].split("\n")
    begins = next((line.strip() for line in first if line.strip()), "")
    if begins == MOTIVE_BEGINS:
        return read_motive(path)
    header = header_of(path)
    if TIME not in header:
        raise InputError(f"{path} has no column {TIME}: give times in seconds there")
    units, names = _markers(path, [c for c in header if c != TIME])
    cells = [f"{n}_{axis}_{units[n]}" for n in names for axis in "xyz"]
    table = read_columns(path, [TIME, *cells])
    values = numbers(table, path, gaps=True).to_numpy()
    scale = np.repeat([METRES[units[n]] for n in names], 3)
    places = (values[:, 1:] * scale).reshape(len(values), len(names), 3)
    return MarkerMotion(path, values[:, 0], names, places)


def _markers(
    path: Path, columns: Sequence[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Unit by marker, and the markers in their order."""
    units: dict[str, str] = {}
    for column in columns:
        match = COLUMN.fullmatch(column)
        if match is None or match["unit"] not in METRES:
            known = ", ".join(f"_{unit}" for unit in METRES)
            raise InputError(
                f"{path}: the column {column} does not end in an axis and a unit: name "
                f"it as tip_x_m; units are {known}"
            )
        if units.setdefault(match["marker"], match["unit"]) != match["unit"]:
            raise InputError(f"{path}: marker {match['marker']} has two units: use one")
    for name, unit in units.items():
        for axis in "xyz":
            if f"{name}_{axis}_{unit}" not in columns:
                raise InputError(f"{path}: marker {name} has no {axis}: add a column")
    return units, tuple(units)


def read_series(path: Path) -> pd.DataFrame:
    """quantity, at, value, u, part; lines that begin with # are remarks.

    A file with a column time_s has one more for each coordinate, such as tip_x_mm, and
    empty cells where a marker was lost; all of it counts as held out, u as not stated.
    """
    if not path.is_file():
        remedy = nearest(path, "name a CSV file of measurements")
        raise InputError(f"{path} does not exist: {remedy}")
    with refusing(ValueError), a_table(path):
        table = pd.read_csv(path, comment="#", skipinitialspace=True)
        if TIME in table:
            table = _of_markers(path)
        elif "quantity" not in table:
            raise ValueError(
                f"{path.name} has no column time_s or quantity: give time_s, tip_x_mm, "
                "tip_y_mm, ..., or quantity, at, value, u, part"
            )
        return check_series(table, path.name)


def _of_markers(path: Path) -> pd.DataFrame:
    """A row for each coordinate at each time."""
    header = header_of(path)
    for column in header:
        if column != TIME and not COORDINATE.fullmatch(column):
            raise ValueError(
                f"{path.name}: the column {column} is not a coordinate: name it as "
                "tip_x_mm, or give quantity, at, value, u, part"
            )
    table = numbers(read_columns(path, header), path, gaps=True)
    rows = table.melt(TIME, var_name="quantity").dropna(subset=["value"])
    return rows.rename(columns={TIME: "at"}).assign(u=0.0, part=HELD_OUT)


FASTEST = 100.0  # m/s2, which no marker on rubber exceeds; 20 in shipped records
LOOSE = 1e-3  # m, by which a marker may be lost at any rate of frames


def refuse_gaps(path: Path, time: Floats, shortest: float, longest: float) -> None:
    """Refuse times out of order, and steps that are too long or too short.

    Parameters
    ----------
    time : (n,) s
    shortest, longest : limits of a step, in frames
    """
    steps = np.diff(time)
    frame = float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else 0.0
    odd = (steps <= 0.0) | (steps < shortest * frame) | (steps > longest * frame)
    if odd.any():
        k = int(np.argmax(odd))
        remedy = "give each time once, in order"
        if steps[k] > 0.0:
            remedy = f"other steps are {frame:g} s: fill the gap, or start after it"
        raise InputError(
            f"{path}, row {k + 3}: time_s goes from {time[k]:g} to {time[k + 1]:g}: "
            f"{remedy}"
        )


def refuse_stray(path: Path, time: Floats, places: Mapping[str, Floats]) -> None:
    """Refuse a marker that leaves its path for a frame, or jumps.

    Parameters
    ----------
    time : (n,) s, even
    places : (n, 3) of each marker, m
    """
    most = max(0.5 * FASTEST * float(np.median(np.diff(time))) ** 2, LOOSE)
    for name, r in places.items():
        away = np.linalg.norm(np.diff(r, n=2, axis=0), axis=1) / 2.0
        k, off = _stray(away)
        if away.max() > most:
            raise InputError(
                f"{path}, row {k + 2}: {name} is {off:.3g} m off its neighbouring "
                f"samples at {time[k]:g} s: correct or interpolate this sample"
            )


def _stray(away: Floats) -> tuple[int, float]:
    """The sample that is off most, and by how much, m.

    One in the middle is half as far off in the triples before and after its own; the
    first and the last are in one triple alone, at its end.

    Parameters
    ----------
    away : (n - 2,) m, of the middle one of each three from the mean of the others
    """
    k = int(np.argmax(away))
    for end, neighbour, sample in ((0, 1, 0), (len(away) - 1, -2, len(away) + 1)):
        if k == end and away[neighbour] < 0.25 * away[k]:
            return sample, 2.0 * float(away[k])
    return k + 1, float(away[k])
