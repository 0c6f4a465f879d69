"""Panels of a measured set: one test along something, single values, many at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.figures.style import (
    FAINT,
    SCANNED,
    SCANNED_EDGE,
    SIMULATED,
    TARGET,
    size,
)
from sim.arrays import Floats

LETTERS = 20  # of a line above or below a panel
FITTED_COLOUR, PREDICTED_COLOUR = TARGET, SIMULATED


@dataclass(frozen=True, eq=False)
class Look:
    """What panels of one set have in common.

    Parameters
    ----------
    fitted : records that the fit used
    k : coverage factor of the verdicts
    """

    fitted: frozenset[str]
    k: float

    def colour(self, record: str) -> str:
        """Of what was predicted of a record."""
        return FITTED_COLOUR if record in self.fitted else PREDICTED_COLOUR

    def marker(self, record: str) -> dict[str, Any]:
        """Of what was measured of it."""
        fitted = record in self.fitted
        return {
            "marker": "s" if fitted else "o",
            "mfc": "white" if fitted else SCANNED,
            "color": SCANNED_EDGE,
        }


@dataclass(frozen=True, eq=False)
class Series:
    """What one panel shows.

    Parameters
    ----------
    names : of records as they are printed; of "" that of the whole panel
    aim : largest acceptable error
    lines : records of a panel of single values, from above
    left_out : rows of records as those of other groups predict them
    half_measured, half_predicted : half the difference of two branches, about the
        quantity, if there is one

    Measured rows and those left out may have a column `margin`, the largest acceptable
    error of each, where it is not `aim`.
    """

    quantity: str
    unit: str
    along: str
    names: Mapping[str, str]
    measured: pd.DataFrame
    prediction: pd.DataFrame
    aim: float
    half_measured: pd.DataFrame = field(default_factory=pd.DataFrame)
    half_predicted: pd.DataFrame = field(default_factory=pd.DataFrame)
    lines: Sequence[str] = ()
    left_out: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def first(self) -> pd.DataFrame:
        """The prediction of its first record; repeats of one test have the same."""
        rows = self.prediction
        own: pd.DataFrame = rows[rows["record"] == rows["record"].iloc[0]]
        return own

    def head(self, look: Look) -> str:
        """Whose panel it is, what it was for, and how it ended."""
        first = str(self.prediction["record"].iloc[0])
        what = "fitted" if first in look.fitted else "predicted"
        whose = _folded(f"{self.names['']}:")
        if self.measured.empty:
            return f"{whose}\n{what},\nnot yet measured"
        error = _rms(self.measured["E"])
        met = "within" if error <= self.aim else "beyond"
        inside = self.measured["inside95"].mean()
        aim = f"{met} {self.aim:.2g}{_after(self.unit)}"
        said = f"{whose}\n{what}, {inside:.0%} inside,\nrms $E$ {error:.2g},\n{aim}"
        apart = self._told("left out", self.left_out, below=True)
        return f"{said}\n{apart}" if apart else said

    def heads(self, look: Look) -> str:
        """How a panel of single values ended: a line for each part that it has."""
        of_fit = self.measured["record"].isin(list(look.fitted))
        parts = {
            "predicted": self.measured[~of_fit],
            "fitted": self.measured[of_fit],
            "left out": self.left_out,
        }
        told = [self._told(what, rows) for what, rows in parts.items()]
        awaited = set(self.prediction["record"]) - set(self.measured["record"])
        if awaited:
            told.append(f"{len(awaited)} predicted,\nnot yet measured")
        return "\n".join(line for line in told if line)

    def _told(self, what: str, rows: pd.DataFrame, below: bool = False) -> str:
        """Share inside and rms of E against its aim; nothing where there are no rows.

        Below a head that gives unit and aim, a word says whether it is met.
        """
        if rows.empty:
            return ""
        inside, error = rows["inside95"].mean(), _rms(rows["E"])
        aim = _rms(rows["margin"]) if "margin" in rows else self.aim
        said = f"{what}: {inside:.0%} inside,\nrms $E$ {error:.2g}"
        if below:
            return f"{said}, {'within' if error <= aim else 'beyond'}"
        against = f"{aim:.2g}{_after(self.unit)}"
        room = len(f"rms E {error:.2g} < {against}") <= LETTERS + 1
        met = r"$\leq$" if error <= aim else "$>$"
        return f"{said}{' ' if room else chr(10)}{met} {against}"


def curves(panels: list[Axes], of: Series, look: Look, _: bool) -> str:
    """The series of a test with its band, E below; both branches where there are.

    Returns
    -------
    its title
    """
    top, low = panels[0], panels[-1]
    own = of.first
    colour = look.colour(str(own["record"].iloc[0]))
    top.fill_between(own["at"], own["low"], own["high"], color=colour, alpha=0.25, lw=0)
    top.plot(own["at"], own["value"], color=colour)
    _branches(top, own, of.half_predicted, "value", {"color": colour, "lw": 0.6})
    for record, rows in of.measured.groupby("record", sort=False):
        dots = {**look.marker(str(record)), "ls": "", "ms": 1.6, "mew": 0.4}
        every = max(1, len(rows) // 30)
        some = rows.iloc[::every]
        top.errorbar(
            some["at"], some["measured"], some["u_measured"], elinewidth=0.5, **dots
        )
        faint = {"color": SCANNED_EDGE, "lw": 0.5, "ls": ":"}
        _branches(top, rows, of.half_measured, "measured", faint)
        _residuals(low, rows, look)
    unit = _unit(of.unit)
    _label(panels, of, f"{_words(of.quantity)} ({unit})", f"$E$ ({unit})")
    return of.head(look)


def _branches(
    panel: Axes,
    mean: pd.DataFrame,
    half: pd.DataFrame,
    column: str,
    look: dict[str, Any],
) -> None:
    """The two branches of which `mean` is the mean."""
    if half.empty:
        return
    both = mean.merge(half, on=["record", "at"], suffixes=("", "_half"))
    for way in (1, -1):
        panel.plot(both["at"], both[column] + way * both[f"{column}_half"], **look)


def _residuals(panel: Axes, rows: pd.DataFrame, look: Look) -> None:
    """E with the band of k u_val."""
    wide = look.k * rows["u_val"]
    panel.fill_between(rows["at"], -wide, wide, color=FAINT, alpha=0.2, lw=0)
    panel.plot(rows["at"], rows["E"], color=look.colour(rows["record"].iloc[0]), lw=0.8)
    panel.axhline(0.0, color=FAINT, lw=0.5)


def rms_of_many(panels: list[Axes], of: Series, look: Look, _: bool) -> str:
    """Over the quantities of a family: rms of E and half width; over u_val below.

    Returns
    -------
    its title
    """
    top, low = panels[0], panels[-1]
    colour = look.colour(str(of.first["record"].iloc[0]))
    top.fill_between(*_by_place(of.first, "half_width"), color=colour, alpha=0.2, lw=0)
    for record, rows in of.measured.groupby("record", sort=False):
        at, E = _by_place(rows, "E")
        dots = {**look.marker(str(record)), "ls": "-", "lw": 0.4, "ms": 2.0, "mew": 0.4}
        top.plot(at, E, **dots)
        colour = look.colour(str(record))
        low.plot(at, E / _by_place(rows, "u_val")[1], color=colour, lw=0.8)
    top.axhline(of.aim, color=FAINT, lw=0.6, ls="--")
    if low is not top:
        low.axhline(look.k, color=FAINT, lw=0.6, ls="--")
    for panel in panels:
        panel.set_ylim(bottom=0)
    what = f"{_words(of.quantity)}:\nrms $E$ ({_unit(of.unit)})"
    _label(panels, of, what, "$E/u_{val}$ (-)")
    return of.head(look)


def _label(panels: list[Axes], of: Series, upper: str, lower: str) -> None:
    """Axes of a panel, and of the one below it, if there is one."""
    panels[0].set_ylabel(upper)
    panels[-1].set_xlabel(_axis(of.along))
    for low in panels[1:]:
        low.set_ylabel(lower)
        low.set_xlim(panels[0].get_xlim())
        panels[0].tick_params(labelbottom=False)


def one_values(panels: list[Axes], of: Series, look: Look, names: bool) -> str:
    """A line a record; of several quantities of one unit, less what was predicted.

    Returns
    -------
    its title
    """
    (panel,) = panels
    panel.use_sticky_edges = False
    key = ["record", "quantity", "at"]
    both = of.prediction.merge(of.measured, on=key, how="left")
    records = list(of.lines)
    each = both["quantity"].nunique()
    several = each > 1
    places: dict[tuple[str, str], float] = {}
    for k, row in enumerate(both.to_dict("records")):
        record = str(row["record"])
        line = records.index(record) + (k % each) / each - (each - 1) / (2 * each)
        places[record, str(row["quantity"])] = line
        base = row["value"] if several else 0.0
        wide, colour = row["high"] - row["low"], look.colour(record)
        panel.barh(
            line, wide, 0.7 / each, left=row["low"] - base, color=colour, alpha=0.25
        )
        panel.plot(row["value"] - base, line, "|", color=colour, ms=6)
        if np.isfinite(row["measured"]):
            dots = {**look.marker(record), "ms": 2.5, "mew": 0.5, "elinewidth": 0.5}
            panel.errorbar(row["measured"] - base, line, xerr=row["u_measured"], **dots)
    panel.set_yticks(range(len(records)), [])
    if names:
        lines = [of.names.get(name, name) for name in records]
        panel.set_yticks(range(len(records)), lines, fontsize=size(6.0))
    panel.set_ylim(len(records) - 0.4, -0.6)
    less = " less the predicted" if several else ""
    for row in of.left_out.to_dict("records"):
        line = places[str(row["record"]), str(row["quantity"])]
        at = row["measured"] - row["predicted"] if several else row["predicted"]
        panel.plot(at, line, "x", color=PREDICTED_COLOUR, ms=2.5, mew=0.6)
    said = f"{_words(of.quantity)}{less} ({_unit(of.unit)})"
    panel.set_xlabel(_folded(said))
    return of.heads(look)


def _folded(text: str) -> str:
    """In lines that a panel has room for."""
    return "\n".join(wrap(text, LETTERS))


def _words(name: str) -> str:
    """A name of a quantity as it is printed."""
    return name.replace("_", " ")


def _unit(unit: str) -> str:
    """A unit as it is printed: of numbers, "-"."""
    return "-" if unit in ("", "1") else unit


def _after(unit: str) -> str:
    """A unit behind a value; nothing behind a number."""
    return "" if unit in ("", "1") else f" {unit}"


def _axis(along: str) -> str:
    """What a quantity changes along, with its unit: "closing (mm)"."""
    name, comma, unit = along.partition(", ")
    said = unit.replace("C", "\N{DEGREE SIGN}C") if unit == "C" else unit
    return f"{name} ({said})" if comma else along or "place (-)"


def _rms(x: "pd.Series[float]") -> float:
    return float(np.sqrt(np.mean(np.square(x))))


def _by_place(rows: pd.DataFrame, column: str) -> tuple[Floats, Floats]:
    """Places, and the rms of a column at each."""
    mean = rows.groupby("at")[column].apply(_rms)
    return mean.index.to_numpy(np.float64), mean.to_numpy(np.float64)
