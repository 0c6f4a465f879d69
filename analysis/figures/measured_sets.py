"""Measured records beside their prediction, what was fitted told apart.

Small multiples: a panel a test where a quantity changes along something, below it
E = predicted - measured with the band of k u_val in which validation expects it; a
panel a quantity where it has one value, with a line a test; the rms over its quantities
where a family has many.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, product
from string import ascii_lowercase
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from analysis.figures.measured_panels import (
    FITTED_COLOUR,
    PREDICTED_COLOUR,
    Look,
    Series,
    curves,
    one_values,
    rms_of_many,
)
from analysis.figures.sheet import PanelGrid, sheet
from analysis.figures.style import (
    A_LETTER_MM,
    FAINT,
    SCANNED,
    SCANNED_EDGE,
    legend_below,
    own_ranges,
    page,
    provenance,
    put_letter,
    say_below,
    size,
    styled,
)

WIDTH = 43.0  # mm of a panel
HEIGHT = 60.0  # mm of a panel and the residuals below
LEAST, HEAD = 48.0, 32.0  # mm of a panel of single values, and of its title and axis
LAYOUTS = 3
PARTS = ("predicted", "fitted", "left out")
VALUES = 32.0  # mm of a panel of single values beside the names of its lines
LINE = 3.2  # mm of a record in a panel of single values


@dataclass(frozen=True, eq=False)
class ShownFamily:
    """One family of quantities.

    Parameters
    ----------
    measured : rows of measured.csv that belong to it
    prediction : rows of prediction.csv that belong to it
    along : what `at` is, with its unit
    aim : largest acceptable error
    verdicts : by part, fitted or predicted
    about : the quantity about which this is half the difference of two branches
    left_out : rows of left_out.csv that belong to it
    aims : by part, rms of what is acceptable of it, where that is not `aim`
    """

    name: str
    unit: str
    along: str
    measured: pd.DataFrame
    prediction: pd.DataFrame
    aim: float
    verdicts: Mapping[str, str] = field(default_factory=dict)
    about: str = ""
    left_out: pd.DataFrame = field(default_factory=pd.DataFrame)
    aims: Mapping[str, float] = field(default_factory=dict)

    def judged(self, fitted: frozenset[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Rows measured and left out, each with the margin of its part."""
        of_fit = self.measured["record"].isin(list(fitted))
        by = {part: self.aims.get(part, self.aim) for part in PARTS}
        margin = np.where(of_fit, by["fitted"], by["predicted"])
        apart = self.left_out.assign(margin=by["left out"])
        return self.measured.assign(margin=margin), apart

    @property
    def kind(self) -> Callable[..., str]:
        """How it is drawn."""
        rows = self.prediction
        places = rows.groupby(["record", "quantity"], sort=False)["at"].nunique()
        if rows.empty or int(places.max()) == 1:
            return one_values
        return rms_of_many if self.several else curves

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


@dataclass(frozen=True, eq=False)
class ShownSet:
    """A measured set.

    Parameters
    ----------
    fitted : records that the fit used
    groups : what each record is a repeat of: those of one group share a panel
    k : coverage factor of the verdicts
    runs : (what, key) of the runs shown
    """

    name: str
    title: str
    families: Sequence[ShownFamily]
    fitted: frozenset[str]
    groups: Mapping[str, str]
    k: float
    runs: Sequence[tuple[str, str]]
    caption: str

    @property
    def along(self) -> bool:
        """Whether anything measured has an error along something, drawn below it."""
        known = (f for f in self.families if len(f.measured) and not f.about)
        return any(f.kind is not one_values for f in known)

    @property
    def drawn(self) -> dict[str, str]:
        """Groups of the records that have a prediction here."""
        there = {name for f in self.families for name in f.prediction["record"]}
        return {name: group for name, group in self.groups.items() if name in there}


def measured_set(of: ShownSet) -> Figure:
    """Panels quantity by quantity; what their marks mean stands below them."""
    look = Look(of.fitted, of.k)
    cells = [list(_cells(block, of)) for block in blocks(of)]
    with styled():
        figure, groups = sheet(*map(_panels, cells), more=30.0, continued=True)
        letters = chain(ascii_lowercase, map("".join, product("a", ascii_lowercase)))
        for own, axes in zip(cells, groups, strict=True):
            columns = _panels(own).columns
            for k, (ax, (draw, series)) in enumerate(zip(axes, own, strict=True)):
                whole = draw is one_values or series.measured.empty
                below = [] if whole else [ax.inset_axes((0.0, -0.55, 1.0, 0.42))]
                text = draw([ax, *below], series, look, k % columns == 0)
                put_letter(ax, next(letters), text)
        own_ranges([ax for ax in figure.findobj(Axes) if ax.axison])
        figure.suptitle(of.title, fontsize=size(7.0), wrap=True)
        legend_below(figure, _marks(of))
        runs = provenance(of.runs, synthetic=False)
        say_below(figure, runs, _foot(of))
        _laid_out(figure)
    return figure


def _laid_out(figure: Figure) -> None:
    """Room for panels that hang below others by a part of their height.

    The layout measures how far they reach before it sizes the panels: it is done until
    it has measured about the sizes that it gives.
    """
    engine = figure.get_layout_engine()
    assert engine is not None
    for _ in range(LAYOUTS):
        engine.execute(figure)


def _panels(cells: Sequence["Cell"]) -> PanelGrid:
    """Room for the panels of a block."""
    if cells[0][0] is one_values:
        lines, names = cells[0][1].lines, cells[0][1].names
        height = max(HEAD + LINE * len(lines), LEAST)
        named = A_LETTER_MM * max(len(names.get(line, line)) for line in lines)
        side_by_side = max(1, int((page().room_mm - named) / VALUES))
        return PanelGrid(len(cells), WIDTH, height, most=min(4, side_by_side))
    return PanelGrid(len(cells), WIDTH, HEIGHT)


def _marks(of: ShownSet) -> list[Line2D | Patch]:
    """What the lines, bands and points are that this set has."""
    families = of.families
    records = {r for f in families for r in f.measured["record"]}
    of_fit, others = records & of.fitted, records - of.fitted
    dots: dict[str, Any] = {"ls": "", "color": SCANNED_EDGE, "ms": size(3.5)}
    u = dots | {"marker": "o", "mfc": SCANNED, "label": "measured, with $u$"}
    fit = dots | {"marker": "s", "mfc": "white", "label": "measured, of the fit"}
    apart: dict[str, Any] = {
        "color": PREDICTED_COLOUR,
        "marker": "x",
        "ls": "",
        "ms": size(3.5),
    }
    bands = rf"$\pm\,{of.k:g}\,u_{{val}}$ of $E$"
    aim: dict[str, Any] = {"color": FAINT, "ls": "--", "lw": 0.6}
    aim["label"] = f"aim of rms $E$; {of.k:g} of $E/u_{{val}}$"
    branch: dict[str, Any] = {
        "color": SCANNED_EDGE,
        "ls": ":",
        "label": "measured branches",
    }
    left_out = any(f.kind is one_values and len(f.left_out) for f in families)
    either = "95 % of either" if of.fitted else "95 %"
    seen: list[tuple[bool, Line2D | Patch]] = [
        (True, Line2D([], [], color=PREDICTED_COLOUR, label="predicted")),
        (bool(of.fitted), Line2D([], [], color=FITTED_COLOUR, label="fitted")),
        (True, Patch(fc=PREDICTED_COLOUR, alpha=0.25, label=either)),
        (bool(others), Line2D([], [], **u)),
        (bool(of_fit), Line2D([], [], **fit)),
        (of.along, Patch(fc=FAINT, alpha=0.2, label=bands)),
        (any(f.kind is rms_of_many for f in families), Line2D([], [], **aim)),
        (any(f.about for f in families), Line2D([], [], **branch)),
        (left_out, Line2D([], [], **apart, label="left out of its fit")),
    ]
    return [mark for there, mark in seen if there]


Cell = tuple[Callable[[list[Axes], Series, Look, bool], str], Series]


def blocks(of: ShownSet) -> list[list[ShownFamily]]:
    """Families of one quantity, in one unit; then all that have one value a test."""
    lone: list[ShownFamily] = []
    found: dict[tuple[str, str], list[ShownFamily]] = {}
    for family in (family for family in of.families if not family.about):
        own = found.setdefault((family.quantity, family.unit), [])
        (lone if family.kind is one_values else own).append(family)
    return [own for own in [*found.values(), lone] if own]


def _cells(block: Sequence[ShownFamily], of: ShownSet) -> Iterator[Cell]:
    """The panels of a block."""
    lone = block[0].kind is one_values
    yield from _values(block, of) if lone else _tests(block, of)


def _values(block: Sequence[ShownFamily], of: ShownSet) -> Iterator[Cell]:
    """A panel for each quantity of one value, of all families that have it."""
    alike: dict[tuple[str, str], list[ShownFamily]] = {}
    for family in block:
        alike.setdefault((family.quantity, family.unit), []).append(family)
    every = [record for family in block for record in family.prediction["record"]]
    lines = list(dict.fromkeys(every))
    for (quantity, unit), own in alike.items():
        judged, left_out = zip(*(f.judged(of.fitted) for f in own), strict=True)
        measured, apart = pd.concat(judged), pd.concat(left_out)
        prediction = pd.concat([f.prediction for f in own])
        names, aim = short_names(list(of.drawn)), own[0].aim
        shown = Series(quantity, unit, "", names, measured, prediction, aim)
        yield one_values, replace(shown, lines=lines, left_out=apart)


def _tests(block: Sequence[ShownFamily], of: ShownSet) -> Iterator[Cell]:
    """A panel for each test: predicted, fitted, then those not yet measured."""
    found = []
    about = [f for f in of.families if f.about == block[0].quantity]
    names = short_names(list(dict.fromkeys(of.drawn.values())))
    for family in block:
        rows = family.prediction
        groups = rows["record"].map(of.groups).fillna(rows["record"])
        for group, own in rows.groupby(groups, sort=False):
            records = list(own["record"].unique())
            seen = family.measured[family.measured["record"].isin(records)]
            order = 2 * seen.empty + (records[0] in of.fitted)
            halves = (
                pd.concat([f.measured for f in about] or [rows[:0]]),
                pd.concat([f.prediction for f in about] or [rows[:0]]),
            )
            series = Series(
                family.quantity, family.unit, family.along, {"": names[str(group)]},
                seen, own, family.aim, *halves,
            )  # fmt: skip
            if len(family.left_out):
                apart = family.left_out["record"].isin(records)
                series = replace(series, left_out=family.left_out[apart])
            found.append((order, (family.kind, series)))
    yield from (cell for _, cell in sorted(found, key=lambda one: one[0]))


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Names without the words that all of them have."""
    words = [name.replace("|", "_").split("_") for name in names]
    shared = set(words[0]).intersection(*words) if len(words) > 1 else set()
    kept = [" ".join(w for w in own if w not in shared) for own in words]
    return {n: short or n for n, short in zip(names, kept, strict=True)}


def verdicts_in_words(given: Iterable[tuple[str, str, str]]) -> str:
    """What the verdicts are of: of each, quantities whose parts are alike together.

    Parameters
    ----------
    given : quantity, part (fitted, left out, predicted) and verdict
    """
    parts: dict[tuple[str, str], list[str]] = {}
    for quantity, part, verdict in given:
        parts.setdefault((verdict, quantity.replace("_", " ")), []).append(part)
    alike: dict[str, dict[str, list[str]]] = {}
    for (verdict, quantity), own in parts.items():
        alike.setdefault(verdict, {}).setdefault(", ".join(own), []).append(quantity)
    return (
        "; ".join(
            f"{verdict}: " + ", ".join(f"{', '.join(q)} ({of})" for of, q in by.items())
            for verdict, by in alike.items()
        )
        or "none yet"
    )


def _foot(of: ShownSet) -> str:
    told = verdicts_in_words(
        (family.name, part, verdict)
        for family in of.families
        for part, verdict in family.verdicts.items()
    )
    more = "E = predicted - measured; its rms is held against the aim. "
    if any(family.about for family in of.families):
        more += "Lines about a mean: both branches. "
    return f"{more}Verdicts of validation: {told}. {of.caption}"
