"""A measured and a simulated series: markers in time, force by displacement.

One table holds every measurement: `quantity` (what is measured, such as x_c or load),
`at` (time or displacement), `value`, its standard uncertainty `u` (0 where not stated)
and `part`: "fit" where a parameter was tuned on it, "held out" where none was.  Only
the held-out part says how well a simulation predicts.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sim.core.arrays import Bools, Floats

COLUMNS = ("quantity", "at", "value", "u", "part")
HELD_OUT, FITTED = "held out", "fit"


@dataclass(frozen=True)
class SeriesError:
    """How far a simulation is from one part of one quantity.

    Parameters
    ----------
    count : measurements compared
    bias, rms : of simulated minus measured, in the quantity's unit
    u : rms of the stated uncertainties
    baseline_rms : rms error of the baseline on the same measurements
    skill : 1 - (rms / baseline_rms)^2; above 0 means better than the baseline
    outside : measurements that the simulation does not reach
    """

    quantity: str
    part: str
    count: int
    bias: float
    rms: float
    u: float
    baseline_rms: float
    skill: float
    outside: int


def check_series(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The measurements in order, numbers as numbers; bad ones refused by their row.

    Parameters
    ----------
    name : of the table, for the message
    """
    for column in COLUMNS:
        if column not in table:
            raise ValueError(
                f"{name} has no column {column}: give {', '.join(COLUMNS)}"
            )
    if table.empty:
        raise ValueError(f"{name} has no measurement: add a row for each")
    sound = table[list(COLUMNS)].copy()
    for column in ("at", "value", "u"):
        numbers = pd.to_numeric(table[column], errors="coerce")
        wrong = np.flatnonzero(~np.isfinite(numbers.to_numpy(np.float64)))
        if len(wrong):
            bad = str(table[column].iloc[wrong[0]])
            raise ValueError(
                f"{name}, row {wrong[0] + 1}: {column} must be a finite number, not "
                f"{bad!r}"
            )
        sound[column] = numbers.astype(np.float64)
    if (sound["u"] < 0).any():
        row = int(np.argmax((sound["u"] < 0).to_numpy()))
        raise ValueError(
            f"{name}, row {row + 1}: u must be 0 (not known) or more, not "
            f"{sound['u'].iloc[row]:g}"
        )
    odd = sorted(set(sound["part"]) - {HELD_OUT, FITTED})
    if odd:
        raise ValueError(
            f"{name}: part is {odd[0]!r}: choose one of {FITTED!r}, {HELD_OUT!r}"
        )
    return sound.sort_values(["quantity", "at"], kind="stable", ignore_index=True)


def compare_series(
    measured: pd.DataFrame, simulated: pd.DataFrame, along: str
) -> list[SeriesError]:
    """Errors by quantity and part, and those of a baseline that knows the fit part
    only.

    The baseline is the mean of the fitted part, or of nothing better than the first
    measurement where no part was fitted: "it stays as it was".

    Parameters
    ----------
    measured : as of `check_series`
    simulated : steps of a run; holds a column for each quantity
    along : its column that `at` refers to, such as time
    """
    found = []
    for quantity, rows in measured.groupby("quantity", sort=True):
        at, value = simulated_curve(simulated, along, str(quantity))
        fitted = rows[rows["part"] == FITTED]
        before = float((fitted if len(fitted) else rows.iloc[:1])["value"].mean())
        for part, some in rows.groupby("part", sort=True):
            found.append(_error(str(quantity), str(part), some, at, value, before))
    return found


def with_simulated(
    measured: pd.DataFrame, simulated: pd.DataFrame, along: str
) -> pd.DataFrame:
    """Every measurement with what was simulated there; nan beyond the run."""
    tables = []
    for quantity, rows in measured.groupby("quantity", sort=True):
        at, value = simulated_curve(simulated, along, str(quantity))
        there = np.interp(rows["at"], at, value, left=np.nan, right=np.nan)
        tables.append(rows.assign(simulated=there))
    return pd.concat(tables, ignore_index=True)


def simulated_curve(
    simulated: pd.DataFrame, along: str, quantity: str
) -> tuple[Floats, Floats]:
    """The simulated curve (c,), its abscissa rising.

    Where the abscissa stands still, as the load does while a sheet is folded, the last
    row counts.  One that turns back has no value at a place, and is refused.
    """
    for column in (along, quantity):
        if column not in simulated:
            raise ValueError(
                f"the simulated steps have no column {column}: they have "
                f"{', '.join(map(str, simulated.columns))}"
            )
    at, value = simulated[[along, quantity]].to_numpy(np.float64).T
    last = np.append(np.diff(at) != 0, True)
    rows, at, value = np.flatnonzero(last), at[last], value[last]
    way = np.sign(np.diff(at))
    if len(way) and (way != way[0]).any():
        turn = int(np.argmax(way != way[0]))
        raise ValueError(
            f"{along} reverses at row {rows[turn] + 1} of the simulated steps "
            f"({at[turn]:g}): compare along another column"
        )
    return (at[::-1], value[::-1]) if len(way) and way[0] < 0 else (at, value)


def _error(
    quantity: str,
    part: str,
    rows: pd.DataFrame,
    at: Floats,
    value: Floats,
    before: float,
) -> SeriesError:
    where = rows["at"].to_numpy(np.float64)
    reached: Bools = (where >= at[0]) & (where <= at[-1])
    if not reached.any():
        raise ValueError(
            f"the simulation covers {at[0]:g} to {at[-1]:g}, but {quantity} ({part}) "
            "has no measurement in this range: simulate longer, or check the unit"
        )
    seen = rows["value"].to_numpy(np.float64)[reached]
    error = np.interp(where[reached], at, value) - seen
    own, base = rms(error), rms(before - seen)
    return SeriesError(
        quantity,
        part,
        int(reached.sum()),
        float(error.mean()),
        own,
        rms(rows["u"].to_numpy(np.float64)[reached]),
        base,
        1 - (own / base) ** 2 if base > 0 else float("nan"),
        int((~reached).sum()),
    )


def rms(x: "Floats | pd.Series[float]") -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(x**2)))
