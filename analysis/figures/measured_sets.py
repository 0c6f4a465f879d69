"""Measured records beside their prediction, what was fitted told apart.

A column a record where a quantity changes along something; one panel of all records
where it has one value; the rms over its quantities where a family has many. Below each,
E = predicted - measured with the band of k u_val, in which validation expects it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures.style import (
    FAINT,
    FULL_WIDTH,
    RC,
    SCANNED,
    SCANNED_EDGE,
    SIMULATED,
    TARGET,
    provenance,
)
from sim.arrays import Floats

MOST_COLUMNS = 6  # records of one family that are drawn side by side
FITTED_COLOUR, PREDICTED_COLOUR = TARGET, SIMULATED
Cells = tuple[Any, Any]  # of the panel and of the residuals below it
UPPER, LOWER = 2.0, 1.0  # heights of a panel and of the residuals below it


@dataclass(frozen=True, eq=False)
class ShownFamily:
    """One family of quantities.

    Parameters
    ----------
    measured : rows of measured.csv that belong to it
    prediction : rows of prediction.csv that belong to it
    along : what `at` is, with its unit
    verdict : what is printed above it
    """

    name: str
    unit: str
    along: str
    measured: pd.DataFrame
    prediction: pd.DataFrame
    verdict: str


@dataclass(frozen=True, eq=False)
class ShownSet:
    """A measured set.

    Parameters
    ----------
    fitted : records that the fit used
    k : coverage factor of the verdicts
    runs : (what, key) of the runs shown
    """

    name: str
    title: str
    families: Sequence[ShownFamily]
    fitted: frozenset[str]
    k: float
    runs: Sequence[tuple[str, str]]
    caption: str

    def colour(self, record: str) -> str:
        """Of what was predicted of a record."""
        return FITTED_COLOUR if record in self.fitted else PREDICTED_COLOUR


def measured_set(of: ShownSet) -> Figure:
    """Two rows of panels for each family: values, and E below."""
    heights = [h for _ in of.families for h in (UPPER, LOWER)]
    size = (FULL_WIDTH, 0.85 * sum(heights) + 1.0)
    with rc_context(RC):
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
        for k, family in enumerate(of.families):
            panels = kind_of(family)
            panels((grid[2 * k, 0], grid[2 * k + 1, 0]), family, of)
        figure.suptitle(of.title, size=8.0)
        figure.supxlabel(_foot(of), size=5.5, color=FAINT)
    return figure


def _foot(of: ShownSet) -> str:
    return (
        f"{of.caption}  Blue: predicted; grey: fitted.  Points: measured, with u; open "
        f"where fitted.  Bands: 95 %; below, {of.k:g} u_val.\n"
        f"{provenance(of.runs, False)}"
    )


def kind_of(family: ShownFamily) -> Callable[..., None]:
    """How a family is drawn."""
    rows = family.prediction
    places = rows.groupby(["record", "quantity"], sort=False)["at"].nunique()
    if rows.empty or int(places.max()) == 1:
        return _one_value_a_record
    return _rms_of_many if _several(rows) else _curves


def _several(rows: pd.DataFrame) -> bool:
    """Whether a family has more than one quantity."""
    return len(set(rows["quantity"])) > 1


def _curves(cells: Cells, family: ShownFamily, of: ShownSet) -> None:
    """A column a record: the series with its band, E below."""
    records = _chosen(family, of)
    tops = cells[0].subgridspec(1, len(records)).subplots(sharey=True, squeeze=False)[0]
    lows = cells[1].subgridspec(1, len(records)).subplots(sharey=True, squeeze=False)[0]
    for record, top, low in zip(records, tops, lows, strict=True):
        own = family.prediction[family.prediction["record"] == record]
        rows = family.measured[family.measured["record"] == record]
        colour = of.colour(record)
        top.fill_between(
            own["at"], own["low"], own["high"], color=colour, alpha=0.25, lw=0
        )
        top.plot(own["at"], own["value"], color=colour)
        top.set_title(record + ("" if len(rows) else ", not yet measured"), size=6)
        if len(rows):
            _points(top, rows["at"], rows["measured"], rows["u_measured"], record, of)
            _residuals(low, rows["at"], rows, of, colour)
        low.set_xlabel(family.along or "at")
    tops[0].set_ylabel(f"{family.name}, {family.unit}")
    lows[0].set_ylabel(f"E, {family.unit}")
    _say(tops[0], family)


def _chosen(family: ShownFamily, of: ShownSet) -> list[str]:
    """Records that are drawn, those first that were not fitted."""
    names = list(dict.fromkeys(family.prediction["record"]))
    return sorted(names, key=lambda name: name in of.fitted)[:MOST_COLUMNS]


def _one_value_a_record(cells: Cells, family: ShownFamily, of: ShownSet) -> None:
    """All records in one panel; several quantities less what was predicted."""
    top, low = (cell.subgridspec(1, 1).subplots() for cell in cells)
    top.use_sticky_edges = low.use_sticky_edges = False
    several = _several(family.prediction)
    key = ["record", "quantity", "at"]
    both = family.prediction.merge(family.measured, on=key, how="left")
    for at, row in enumerate(both.to_dict("records")):
        colour, value = of.colour(row["record"]), row["value"]
        base = value if several else 0.0
        low_end, wide = row["low"] - base, row["high"] - row["low"]
        top.bar(at, wide, 0.8, low_end, color=colour, alpha=0.25, lw=0)
        top.plot([at - 0.4, at + 0.4], [value - base] * 2, color=colour)
        if np.isfinite(row["measured"]):
            seen = [row["measured"] - base]
            _points(top, [at], seen, [row["u_measured"]], row["record"], of)
    rows = both.dropna(subset=["measured"])
    _residuals(low, rows.index.to_numpy(), rows, of, PREDICTED_COLOUR, steps=True)
    every = len(set(both["quantity"]))
    top.set_xticks([])
    low.set_xticks(
        np.arange(0, len(both), every) + (every - 1) / 2,
        [str(r) for r in both["record"].iloc[::every]],
        rotation=30,
        ha="right",
    )
    top.set_xlim(-0.7, len(both) - 0.3)
    low.set_xlim(-0.7, len(both) - 0.3)
    less = " less the predicted" if several else ""
    top.set_ylabel(f"{family.name}{less}, {family.unit}")
    low.set_ylabel(f"E, {family.unit}")
    _say(top, family)


def _rms_of_many(cells: Cells, family: ShownFamily, of: ShownSet) -> None:
    """Over the quantities of a family: rms of E beside the rms half width and u_val."""
    top, low = (cell.subgridspec(1, 1).subplots() for cell in cells)
    for record, rows in family.measured.groupby("record", sort=False):
        by = rows.groupby("at")
        fitted = record in of.fitted
        top.plot(
            *_rms(by, "E"), "s" if fitted else "o", color=SCANNED_EDGE,
            mfc="white" if fitted else SCANNED, ms=2.5,
        )  # fmt: skip
        top.plot(*_rms(by, "half_width"), color=of.colour(str(record)), lw=0.8)
        at, E = _rms(by, "E")
        low.plot(at, E / _rms(by, "u_val")[1], color=of.colour(str(record)), lw=0.8)
    low.axhline(of.k, color=FAINT, lw=0.6, ls="--")
    low.set_xlabel(family.along or "at")
    top.set_ylabel(f"{family.name}: rms of E, {family.unit}\n(line: half width)")
    low.set_ylabel("rms E / rms u_val")
    _say(top, family)


def _rms(by: Any, column: str) -> tuple[Floats, Floats]:
    """Places of a grouped table, and the rms of a column at each."""
    mean = by[column].apply(lambda x: float(np.sqrt(np.mean(np.square(x)))))
    return mean.index.to_numpy(np.float64), mean.to_numpy(np.float64)


def _points(panel: Axes, x: Any, y: Any, u: Any, record: str, of: ShownSet) -> None:
    fitted = record in of.fitted
    panel.errorbar(
        x, y, yerr=u, fmt="s" if fitted else "o", color=SCANNED_EDGE, ms=2.5,
        mfc="white" if fitted else SCANNED, elinewidth=0.6, capsize=1.0, lw=0,
    )  # fmt: skip


def _residuals(
    panel: Axes,
    x: Any,
    rows: pd.DataFrame,
    of: ShownSet,
    colour: str,
    steps: bool = False,
) -> None:
    """E with the band of k u_val."""
    wide = of.k * rows["u_val"].to_numpy(np.float64)
    if steps:
        panel.bar(x, 2 * wide, 0.8, -wide, color=FAINT, alpha=0.2, lw=0)
        panel.plot(x, rows["E"], "o", color=colour, ms=2.5)
    else:
        panel.fill_between(x, -wide, wide, color=FAINT, alpha=0.2, lw=0)
        panel.plot(x, rows["E"], color=colour, lw=0.8)
    panel.axhline(0.0, color=FAINT, lw=0.5)


def _say(panel: Axes, family: ShownFamily) -> None:
    """The verdict above a panel."""
    panel.text(
        0.0, 1.14, family.verdict, transform=panel.transAxes, size=5.5, color=FAINT,
        va="bottom",
    )  # fmt: skip
