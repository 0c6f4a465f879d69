"""Panels of a measured set: tests along something, a line a record, what held."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from analysis.comparison.compare_series import rms
from analysis.figures import style
from sim.core.arrays import Floats

SHORT = 12  # letters of a line of the label of a panel
FITTED_COLOUR, PREDICTED_COLOUR = style.TARGET, style.SIMULATED
TABLES = ("measured", "prediction", "left_out")  # of a family, by record
MIDDLE = (0.025, 0.25, 0.75, 0.975)  # of errors: bars hold 95 % and 50 % of them
SEEN = 1.4  # times the largest error, or the aim, that panels of errors reach
FEW = 4  # marks beyond which only powers of ten are
MARKS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
CHANCE: dict[str, Any] = {
    "fc": "none", "ec": style.FAINT, "hatch": "//////", "lw": 0.0, "alpha": 0.5,
}  # fmt: skip
AIM: dict[str, Any] = {"color": style.FAINT, "ls": "--", "lw": 0.6}
APART: dict[str, Any] = {"color": PREDICTED_COLOUR, "marker": "x", "ls": ""}
HELD: dict[str, Any] = {"color": "black", "marker": "D", "ls": ""}


@dataclass(frozen=True, eq=False)
class Look:
    """What panels of one set have in common.

    Parameters
    ----------
    fitted : records that the fit used
    k : coverage factor of the verdicts
    letters : of a line above a panel
    """

    fitted: frozenset[str]
    k: float
    letters: int = 20

    def colour(self, record: str) -> str:
        """Of what was predicted of a record."""
        return FITTED_COLOUR if record in self.fitted else PREDICTED_COLOUR

    def marker(self, record: str) -> dict[str, Any]:
        """Of what was measured of it."""
        fitted = record in self.fitted
        return {
            "marker": "s" if fitted else "o",
            "mfc": "white" if fitted else style.SCANNED,
            "color": style.SCANNED_EDGE,
        }


@dataclass(frozen=True, eq=False)
class ShownFamily:
    """One family of quantities.

    Parameters
    ----------
    measured : rows of measured.csv that belong to it
    prediction : rows of prediction.csv that belong to it
    along : what `at` is, with its unit
    aim : largest acceptable error
    verdicts : rows of verdict.csv, one a part: fitted, predicted, left out
    about : the quantity about which this is half the difference of two branches
    left_out : rows of left_out.csv that belong to it
    half_measured, half_predicted : half the difference of two branches, about it

    As panels show it, measured rows and those left out have a column `margin`: the
    largest acceptable error of each.
    """

    name: str
    unit: str
    along: str
    measured: pd.DataFrame
    prediction: pd.DataFrame
    aim: float
    verdicts: pd.DataFrame = field(default_factory=pd.DataFrame)
    about: str = ""
    left_out: pd.DataFrame = field(default_factory=pd.DataFrame)
    half_measured: pd.DataFrame = field(default_factory=pd.DataFrame)
    half_predicted: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def lone(self) -> bool:
        """Whether it has one value a record and quantity."""
        rows = self.prediction
        places = rows.groupby(["record", "quantity"], sort=False)["at"].nunique()
        return rows.empty or int(places.max()) == 1

    @property
    def several(self) -> bool:
        """Whether it has more than one quantity."""
        return len(set(self.prediction["quantity"])) > 1

    @property
    def quantity(self) -> str:
        """The name of its one quantity, or its own."""
        if self.several or self.prediction.empty:
            return self.name
        return str(self.prediction["quantity"].iloc[0])

    def of(self, records: Sequence[str]) -> "ShownFamily":
        """Its rows of some records."""
        tables = {name: getattr(self, name) for name in TABLES}
        own = {n: t[t["record"].isin(records)] for n, t in tables.items() if len(t)}
        return replace(self, **own)

    def shown(
        self, fitted: frozenset[str], halves: Sequence["ShownFamily"] = ()
    ) -> "ShownFamily":
        """What panels show of it, every error with the margin of its part."""
        aims = {row["part"]: row["aim"] for row in self.verdicts.to_dict("records")}
        of_fit = self.measured["record"].isin(list(fitted))
        by = [aims.get(part, self.aim) for part in ("fitted", "predicted")]
        nothing = [self.prediction[:0]]
        return replace(
            self,
            measured=self.measured.assign(margin=np.where(of_fit, *by)),
            half_measured=pd.concat([f.measured for f in halves] or nothing),
            half_predicted=pd.concat([f.prediction for f in halves] or nothing),
            left_out=self.left_out.assign(margin=aims.get("left out", self.aim)),
        )


@dataclass(frozen=True, eq=False)
class Test:
    """One test, or several that nothing was measured of yet.

    Parameters
    ----------
    shown : quantities of one unit along the same
    many : a family of many quantities, whose errors stand below
    """

    name: str
    shown: Sequence[ShownFamily]
    many: ShownFamily | None = None

    @property
    def first(self) -> ShownFamily:
        """The one that says whose it is."""
        return self.shown[0] if self.shown else self.families[0]

    @property
    def families(self) -> list[ShownFamily]:
        """All of them."""
        return [*self.shown, *([self.many] if self.many else [])]

    @property
    def awaited(self) -> bool:
        """Whether nothing of it was measured."""
        return all(one.measured.empty for one in self.families)


@dataclass(frozen=True, eq=False)
class Lines:
    """One quantity, or one family of them, with a value a record.

    Parameters
    ----------
    lines : records from above
    names : as they are printed
    """

    of: ShownFamily
    lines: Sequence[str]
    names: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Unfitted:
    """Distances of a model of which nothing is fitted, and those of the one fitted.

    Parameters
    ----------
    aim : largest acceptable distance at every place
    rows, fitted : record, group, at, rms
    """

    name: str
    unit: str
    along: str
    aim: float
    rows: pd.DataFrame
    fitted: pd.DataFrame

    def worst(self) -> dict[str, float]:
        """The largest distance at any place, by group."""
        return {
            str(group): float(_by_place(own, "rms")[1].max())
            for group, own in self.rows.groupby("group", sort=False)
        }

    @property
    def met(self) -> str:
        """In how many groups the aim is met everywhere."""
        worst = self.worst().values()
        return f"met in {sum(far <= self.aim for far in worst)} of {len(worst)}"


@dataclass(frozen=True, eq=False)
class Held:
    """How families ended: quantity, part, rms_E, rms_u_val, aim, coverage, verdict.

    Parameters
    ----------
    awaited : families that nothing was measured of
    """

    rows: pd.DataFrame
    awaited: Sequence[str]


def draw_test(panels: Sequence[Axes], of: Test, look: Look) -> str:
    """The series of a test with their bands; their errors below, if there are any.

    Returns
    -------
    its title
    """
    top, low = panels[0], panels[-1]
    for one in of.shown:
        _series(top, one, look)
        if low is not top and of.many is None:
            _errors(low, one, look)
    if of.many is not None:
        _spread(low, of.many, look)
    label = ", below ".join(_words(one.quantity) for one in of.shown)
    if of.shown:
        top.set_ylabel("\n".join(wrap(f"{label} ({_unit(of.first.unit)})", SHORT)))
    panels[-1].set_xlabel("\n".join(wrap(_axis(of.first.along), look.letters)))
    top.xaxis.set_major_locator(MaxNLocator(4))
    low.xaxis.set_major_locator(MaxNLocator(4))
    if low is not top:
        top.tick_params(labelbottom=False)
        low.set_xlim(top.get_xlim())
    whose = str(of.first.prediction["record"].iloc[0])
    what = "fitted" if whose in look.fitted else "predicted"
    what += ", not yet measured" if of.awaited else ""
    return "\n".join(wrap(f"{of.name}, {what}", look.letters))


def _series(panel: Axes, of: ShownFamily, look: Look) -> None:
    """What was predicted, with its band; what was measured; both branches."""
    curves = of.prediction.drop_duplicates(["at", "value"])
    for record, own in curves.groupby("record", sort=False):
        colour = look.colour(str(record))
        panel.fill_between(
            own["at"], own["low"], own["high"], color=colour, alpha=0.25, lw=0
        )
        panel.plot(own["at"], own["value"], color=colour)
        branch: dict[str, Any] = {"color": colour, "lw": 0.6}
        _branches(panel, own, of.half_predicted, "value", branch)
    for record, rows in of.measured.groupby("record", sort=False):
        dots = {**look.marker(str(record)), "ls": "", "ms": 1.6, "mew": 0.4}
        some = rows.iloc[:: max(1, len(rows) // 30)]
        panel.errorbar(
            some["at"], some["measured"], some["u_measured"], elinewidth=0.5, **dots
        )
        faint = {"color": style.SCANNED_EDGE, "lw": 0.5, "ls": ":"}
        _branches(panel, rows, of.half_measured, "measured", faint)


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


def _errors(panel: Axes, of: ShownFamily, look: Look) -> None:
    """E with the band of k u_val, its aim, and E of the same records left out."""
    for record, rows in of.measured.groupby("record", sort=False):
        wide = look.k * rows["u_val"]
        panel.fill_between(rows["at"], -wide, wide, **CHANCE)
        panel.plot(rows["at"], rows["E"], color=look.colour(str(record)), lw=0.8)
    margin, each = rms(of.measured["margin"]), [of.measured["E"].abs()]
    apart = of.left_out if len(of.left_out) else of.measured[:0]
    for _, rows in apart.groupby("record", sort=False):
        panel.plot(rows["at"], rows["E"], color=PREDICTED_COLOUR, lw=0.5)
        each.append(rows["E"].abs())
    _aims(panel, margin)
    reach = SEEN * max(margin, *(float(one.max()) for one in each))
    panel.set_ylim(-reach, reach)
    panel.yaxis.set_major_locator(MaxNLocator(2))
    panel.set_ylabel(f"$E$ ({_unit(of.unit)})")


def _spread(panel: Axes, of: ShownFamily, look: Look) -> None:
    """Errors of many quantities: how they scatter, in their band, and what is aimed at.

    Of records left out of their fit where there are such, or else as measured.
    """
    apart = of.left_out if len(of.left_out) else of.measured
    rows = apart if len(apart) else of.prediction
    at, wide = _by_place(rows, "half_width")
    of_fit = look.colour(str(of.prediction["record"].iloc[0]))
    colour = PREDICTED_COLOUR if len(of.left_out) else of_fit
    panel.fill_between(at, -wide, wide, color=colour, alpha=0.25, lw=0)
    if len(apart):
        each = [own["E"] for _, own in apart.groupby("at")]
        shares = np.array([np.quantile(own, MIDDLE) for own in each])
        panel.vlines(at, shares[:, 0], shares[:, 3], color=colour, lw=0.6)
        panel.vlines(at, shares[:, 1], shares[:, 2], color=colour, lw=2.0)
    _aims(panel, of.aim)
    panel.set_ylabel(f"$E$ ({_unit(of.unit)})")


def _aims(panel: Axes, aim: float) -> None:
    """No error, and what is aimed at to both sides of it."""
    panel.axhline(0.0, color=style.FAINT, lw=0.5)
    for side in (1, -1):
        panel.axhline(side * aim, **AIM)


def draw_lines(panel: Axes, of: Lines, look: Look, names: bool) -> str:
    """Errors of each record on a line, in its interval; its value, if it has one.

    Returns
    -------
    its title
    """
    each, prediction = of.of, of.of.prediction
    panel.use_sticky_edges = False
    panel.xaxis.set_major_locator(MaxNLocator(3))
    alone = not each.several
    for record, rows in prediction.groupby("record", sort=False):
        line, wide = of.lines.index(str(record)), rms(rows["half_width"])
        colour = look.colour(str(record))
        panel.barh(line, 2 * wide, 0.7, left=-wide, color=colour, alpha=0.25, lw=0)
        if alone:
            value = style.number(float(rows["value"].iloc[0]), 3)
            panel.text(
                1.03, line, value, transform=panel.get_yaxis_transform(), va="center",
                fontsize=style.size(6.0),
            )  # fmt: skip
    apart = each.left_out["record"].to_list() if len(each.left_out) else []
    for row in each.measured.to_dict("records"):
        record = str(row["record"])
        low = of.lines.index(record) + 0.18 * (record in apart)
        dots = {**look.marker(record), "ms": 2.2, "mew": 0.5, "elinewidth": 0.5}
        panel.errorbar(row["E"], low, xerr=row["u_measured"] if alone else 0, **dots)
        for side in (1, -1):
            panel.plot(side * row["margin"], low, "|", color=style.FAINT, ms=4, mew=0.6)
    for row in each.left_out.to_dict("records"):
        high = of.lines.index(str(row["record"])) - 0.18
        panel.plot(row["E"], high, **APART, ms=2.5, mew=0.6)
    panel.axvline(0.0, color=style.FAINT, lw=0.5)
    shown = [of.names.get(name, name) for name in of.lines] if names else []
    panel.set_yticks(range(len(of.lines)), shown or [""] * len(of.lines))
    panel.tick_params(axis="y", labelsize=style.size(6.0))
    panel.set_ylim(len(of.lines) - 0.4, -0.6)
    panel.set_xlabel(f"$E$ ({_unit(each.unit)})")
    every = [_words(name) for name in each.prediction["quantity"].unique()]
    of_all = f": {every[0]} to {every[-1]}" if len(every) > 1 else ""
    what = "\n".join(wrap(_words(each.quantity) + of_all, look.letters))
    return f"{what}\nnot yet measured" if each.measured.empty else what


def draw_unfitted(panel: Axes, of: Unfitted, look: Look) -> str:
    """Both distances along something, marks by group for nothing fitted, with the aim.

    Returns
    -------
    its title
    """
    marks = dict(zip(of.rows["group"].unique(), cycle("os^vD<>"), strict=False))
    for group, mark in marks.items():
        own = of.fitted[of.fitted["group"] == group]
        colour = look.colour(str(own["record"].iloc[0]))
        panel.plot(*_by_place(own, "rms"), color=colour, lw=0.6)
        dots: dict[str, Any] = {"marker": mark, "ms": 2.2, "mfc": "white", "mew": 0.5}
        first = _by_place(of.rows[of.rows["group"] == group], "rms")
        panel.plot(*first, label=group, color=PREDICTED_COLOUR, lw=0.6, **dots)
    panel.axhline(of.aim, **AIM)
    panel.set_ylim(0.0, 1.4 * max(of.aim, *of.worst().values()))
    panel.set(xlabel=_axis(of.along), ylabel=f"distance, rms ({_unit(of.unit)})")
    panel.legend(
        fontsize=style.size(6.0), ncols=len(marks), loc="upper center",
        columnspacing=0.6, handlelength=1.0, handletextpad=0.3, borderaxespad=0.1,
    )  # fmt: skip
    return f"{of.name}: predicted (marks), aim\n{of.met}; fitted (no marks)"


def draw_held(panel: Axes, of: Held, look: Look) -> str:
    """The rms of E over its aim, a line a family and part, and how each ended.

    Returns
    -------
    its title
    """
    names, answers = [], []
    for line, row in enumerate(of.rows.to_dict("records")):
        panel.plot(row["rms_E"] / row["aim"], line, **HELD, ms=2.8, zorder=3)
        names.append(f"{_words(row['quantity'])}, {row['part']}")
        met = "met" if row["rms_E"] <= row["aim"] else "missed"
        share = 100.0 * row["coverage"]
        answers.append(f"{met}, {share:.0f} %, {row['verdict']}")
    names += [f"{_words(name)}, predicted" for name in of.awaited]
    answers += ["not yet measured"] * len(of.awaited)
    panel.set_xscale("log")
    if len(of.rows):
        chance = look.k * of.rows["rms_u_val"] / of.rows["aim"]
        ratio = of.rows["rms_E"] / of.rows["aim"]
        left = 0.5 * min(chance.min(), ratio.min(), 1.0)
        panel.barh(range(len(chance)), chance - left, 0.7, left=left, **CHANCE)
        right = 1.5 * max(chance.max(), ratio.max(), 1.0)
        panel.set_xlim(left, right)
        marks = [mark for mark in MARKS if left < mark < right]
        if len(marks) > FEW:
            marks = [mark for mark in marks if np.log10(mark) % 1.0 == 0.0]
        panel.set_xticks(marks, [f"{mark:g}" for mark in marks])
        panel.set_xticks([], minor=True)
    panel.axvline(1.0, **AIM)
    panel.set_yticks(range(len(names)), names, fontsize=style.size(6.0))
    panel.set_ylim(len(names) - 0.4, -0.6)
    aside = panel.get_yaxis_transform()
    for line, text in enumerate(answers):
        look_of: dict[str, Any] = {"va": "center", "fontsize": style.size(6.0)}
        look_of["weight"] = "bold" if text.startswith("missed") else "normal"
        panel.text(1.02, line, text, transform=aside, **look_of)
    panel.set_xlabel("rms $E$ over its aim (-)")
    return "Outcome: aim, share in 95 % intervals,\nverdict of validation"


def _words(name: str) -> str:
    """A name of a quantity as it is printed."""
    return name.replace("_", " ")


def _unit(unit: str) -> str:
    """A unit as it is printed: of numbers, "-"; of temperatures, degrees."""
    printed = {"": "-", "1": "-", "C": "\N{DEGREE SIGN}C"}
    return printed.get(unit, unit)


def _axis(along: str) -> str:
    """What a quantity changes along, with its unit: "closing (mm)"."""
    name, comma, unit = along.partition(", ")
    return f"{name} ({_unit(unit)})" if comma else along or "place (-)"


def _by_place(rows: pd.DataFrame, column: str) -> tuple[Floats, Floats]:
    """Places, and the rms of a column at each."""
    mean = rows.groupby("at")[column].apply(rms)
    return mean.index.to_numpy(np.float64), mean.to_numpy(np.float64)
