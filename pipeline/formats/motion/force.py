"""Force by displacement, as a testing machine writes it.

CSV with the columns time_s, position_mm and force_N (or _m, _cm; _kN, _mN): units stand
in the names of the columns and are never guessed. Which way the force counts is not in
the file; `ForceRecord.turned` counts both along one direction of loading, and refuses a
record whose force then does no work on what is loaded.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pipeline.formats.motion.track import METRES
from pipeline.formats.record_files import header_of, numbers, read_columns
from pipeline.terminal.errors import InputError
from sim.arrays import Floats

NEWTONS = {"N": 1.0, "kN": 1e3, "mN": 1e-3}
LONGEST = 1.0  # s without a sample, from which a record has a gap


@dataclass(frozen=True, eq=False)
class ForceRecord:
    """A force by displacement.

    Attributes
    ----------
    time : (n,) s, rising
    position : (n,) m
    force : (n,) N
    """

    path: Path
    time: Floats
    position: Floats
    force: Floats

    @property
    def work(self) -> float:
        """J done along the way, by the trapezoidal rule."""
        return float(np.trapezoid(self.force, self.position))

    def turned(self, position: float, force: float) -> "ForceRecord":
        """With positions and forces times 1 or -1, as a set states them.

        Raises
        ------
        InputError
            where the force then does work by itself: one of the signs is wrong. What
            is loaded and let go again takes work, or at least gives none.
        """
        found = replace(
            self, position=position * self.position, force=force * self.force
        )
        way = float(np.abs(np.diff(found.position)).sum())
        size = float(np.abs(found.force).max(initial=0.0))
        if found.work < -0.01 * way * size:
            raise InputError(
                f"{self.path}: its force does work by itself, {-found.work:.3g} J: "
                "turn the sign of the force, or of the position"
            )
        return found


def read_force(path: Path) -> ForceRecord:
    """A force by displacement.

    Raises
    ------
    InputError
        for a missing column, another unit, cells that are no numbers, times that do
        not rise or stand still for more than LONGEST
    """
    if not path.is_file():
        raise InputError(
            f"{path} does not exist: name a CSV file of force and position"
        )
    header = header_of(path)
    position, metres = _column(path, header, "position", METRES)
    force, newtons = _column(path, header, "force", NEWTONS)
    wanted = ["time_s", position, force]
    values = numbers(read_columns(path, wanted), path).to_numpy(np.float64)
    steps = np.diff(values[:, 0])
    if len(values) < 2 or (steps <= 0).any() or (steps > LONGEST).any():
        row = int(np.argmax((steps <= 0) | (steps > LONGEST))) if len(steps) else 0
        raise InputError(
            f"{path}, row {row + 2}: the time must rise, by at most {LONGEST:g} s from "
            "row to row: leave out what is before the gap, or after it"
        )
    return ForceRecord(
        path, values[:, 0], values[:, 1] * metres, values[:, 2] * newtons
    )


def _column(
    path: Path, header: list[str], what: str, units: dict[str, float]
) -> tuple[str, float]:
    """The column of a quantity and the size of its unit."""
    for column in header:
        match = re.fullmatch(rf"{what}_(\w+)", column)
        if match and match[1] in units:
            return column, units[match[1]]
    known = " or ".join(f"{what}_{unit}" for unit in units)
    raise InputError(f"{path} has no column {known}: its unit is never guessed")
