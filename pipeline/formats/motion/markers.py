"""Markers in time, whatever file they come in: metres, seconds, evenly sampled.

CSV has a column time_s and, for each marker, NAME_x_m, NAME_y_m and NAME_z_m (or _cm,
_mm): the unit stands in the name of the column and is never guessed. The tables that
Motive exports and C3D state theirs. A cell that is empty, or a point that a file marks
as lost, is nan here; that marker counts in the other frames.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from pipeline.formats.motion import c3d, motive
from pipeline.formats.motion.track import METRES, Track
from pipeline.formats.record_files import header_of, read_columns
from pipeline.store.files import check_ends
from pipeline.terminal.errors import InputError
from pipeline.terminal.names import no_such
from sim.arrays import Floats

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
                f"{self.time[0]:g} to {self.time[-1]:g} s: choose frames that see it, "
                "or leave the marker out"
            )
        return found[seen]

    @property
    def step(self) -> float:
        """s between two frames."""
        return float(np.median(np.diff(self.time)))


def read_motion(path: Path) -> MarkerMotion:
    """The markers of a CSV or C3D file.

    Raises
    ------
    InputError
        for a file that is missing or damaged, states no unit or one that is not known,
        or whose times do not rise in even steps
    """
    if not path.is_file():
        raise InputError(f"{path} does not exist: name a file of markers in time")
    reader = {".csv": read_csv, ".c3d": c3d.read}.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path}: markers are read from .csv, .c3d: export one")
    track = reader(path)
    if not track.names:
        raise InputError(f"{path} holds no marker: it has frames of nothing")
    check_even(track.time, path)
    scale = METRES[track.unit]
    return MarkerMotion(path, track.time, track.names, track.places * scale)


def check_even(time: Floats, path: Path) -> None:
    """Refuse times that do not rise in even steps: frames were lost, or added."""
    if len(time) < 2:
        raise InputError(f"{path} has {len(time)} frames: a motion needs two or more")
    if not np.isfinite(time).all():
        row = int(np.argmax(~np.isfinite(time)))
        raise InputError(f"{path}, frame {row + 1}: its time is no finite number")
    with np.errstate(over="ignore", invalid="ignore"):  # of times near 1e308
        steps = np.diff(time)
        usual = float(np.median(steps))
        odd = ~(np.abs(steps - usual) <= UNEVEN * abs(usual))
    if usual <= 0 or odd.any():
        row = int(np.argmax(odd)) if usual > 0 else int(np.argmin(steps))
        raise InputError(
            f"{path}: the time goes from {time[row]:g} s to {time[row + 1]:g} s after "
            f"frame {row + 1}, where {usual:g} s is usual: give frames without a gap"
        )


def read_csv(path: Path) -> Track:
    """A table with a column of times and three of each marker, or as exported."""
    check_ends(path)
    with path.open("rb") as file:
        first = file.read(HEAD).decode("utf-8-sig", "replace").split(",")[0].split("\n")
    begins = next((line.strip() for line in first if line.strip()), "")
    if begins == motive.FIRST:
        return motive.read(path)
    header = header_of(path)
    if TIME not in header:
        raise InputError(f"{path} has no column {TIME}: give times in seconds there")
    units, names = _markers(path, [c for c in header if c != TIME])
    cells = [f"{n}_{axis}_{units[n]}" for n in names for axis in "xyz"]
    table = read_columns(path, [TIME, *cells])
    values = table.apply(pd.to_numeric, errors="coerce").to_numpy(np.float64)
    words = table.to_numpy()
    bad = ~np.isfinite(values) & ~np.isin(words, ("", "nan", "NaN"))
    if bad.any():
        row, column = (int(k) for k in np.argwhere(bad)[0])
        raise InputError(
            f"{path}, row {row + 2}: {table.columns[column]} is "
            f"{words[row, column]!r}, which is no number: correct it, or leave it empty"
        )
    scale = np.repeat([METRES[units[n]] for n in names], 3)
    places = (values[:, 1:] * scale).reshape(len(values), len(names), 3)
    return Track(values[:, 0], names, places, "m")


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
                f"{path}: the column {column} does not end in an axis and a unit, such "
                f"as tip_x_m: end it in one of {known}"
            )
        if units.setdefault(match["marker"], match["unit"]) != match["unit"]:
            raise InputError(
                f"{path}: marker {match['marker']} has two units: give one"
            )
    for name, unit in units.items():
        for axis in "xyz":
            if f"{name}_{axis}_{unit}" not in columns:
                raise InputError(f"{path}: marker {name} has no {axis}: add a column")
    return units, tuple(units)
