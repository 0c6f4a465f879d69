"""Measured records beside their prediction, what was fitted told apart.

Small multiples: a panel a test where a quantity changes along something, below it
E = predicted - measured with the band of k u_val in which validation expects it; a
panel a quantity where it has one value, with a line a test; the rms over its quantities
where a family has many.
"""

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures.measured_panels import (
    Look,
    Series,
    curves,
    one_values,
    rms_of_many,
)
from analysis.figures.style import FAINT, FULL_WIDTH, RC, provenance

COLUMNS, LONE_COLUMNS = 3, 4  # of panels of a test, and of single values
UPPER, LOWER, HEADS = 1.15, 0.5, 0.55  # inches: a panel, the residuals below, titles
LEAST = 1.2  # inches of a row of panels of single values
LINE = 0.14  # inches of a record in a panel of single values
LETTERS = 170  # of a line at the foot


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
    """

    name: str
    unit: str
    along: str
    measured: pd.DataFrame
    prediction: pd.DataFrame
    aim: float
    verdicts: Mapping[str, str] = field(default_factory=dict)
    about: str = ""

    @property
    def kind(self) -> Callable[..., None]:
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


def measured_set(of: ShownSet) -> Figure:
    """Rows of panels, quantity by quantity; what they mean stands above them."""
    look = Look(of.fitted, of.k)
    rows = [row for block in blocks(of) for row in _rows(block, of)]
    size = (FULL_WIDTH, sum(height for height, _ in rows) + 1.0)
    with rc_context(RC):
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.add_gridspec(len(rows), 1, height_ratios=[h for h, _ in rows])
        for at, (_, row) in enumerate(rows):
            kind = [row for _, row in rows if row[0][0] is rows[at][1][0][0]]
            columns, ratios = max(map(len, kind)), (UPPER, LOWER)
            inner = grid[at, 0].subgridspec(2, columns, height_ratios=ratios)
            for k, (draw, series) in enumerate(row):
                whole = draw is one_values or series.measured.empty
                places = [inner[:, k]] if whole else [inner[0, k], inner[1, k]]
                panels = [figure.add_subplot(place) for place in places]
                draw(panels, series, look, k == 0)
        figure.suptitle(f"{of.title}\n{_key(of)}", size=6.5)
        figure.supxlabel(_foot(of), size=5.5, color=FAINT)
    return figure


Cell = tuple[Callable[[list[Axes], Series, Look, bool], None], Series]


def blocks(of: ShownSet) -> list[list[ShownFamily]]:
    """Families of one quantity, in one unit; then all that have one value a test."""
    lone: list[ShownFamily] = []
    found: dict[tuple[str, str], list[ShownFamily]] = {}
    for family in (family for family in of.families if not family.about):
        own = found.setdefault((family.quantity, family.unit), [])
        (lone if family.kind is one_values else own).append(family)
    return [own for own in [*found.values(), lone] if own]


def _rows(
    block: Sequence[ShownFamily], of: ShownSet
) -> Iterator[tuple[float, list[Cell]]]:
    """Height, and panels, of every row of a block."""
    lone = block[0].kind is one_values
    cells = list(_values(block, of) if lone else _tests(block, of))
    height, columns = UPPER + LOWER + HEADS, COLUMNS
    if lone:
        height = max(HEADS + LINE * len(cells[0][1].lines), LEAST)
        columns = LONE_COLUMNS
    for k in range(0, len(cells), columns):
        yield height, cells[k : k + columns]


def _values(block: Sequence[ShownFamily], of: ShownSet) -> Iterator[Cell]:
    """A panel for each quantity of one value, of all families that have it."""
    alike: dict[tuple[str, str], list[ShownFamily]] = {}
    for family in block:
        alike.setdefault((family.quantity, family.unit), []).append(family)
    every = [record for family in block for record in family.prediction["record"]]
    lines = list(dict.fromkeys(every))
    for (quantity, unit), own in alike.items():
        measured, prediction = (
            pd.concat([f.measured for f in own]),
            pd.concat([f.prediction for f in own]),
        )
        names, aim = short_names(list(of.groups)), own[0].aim
        shown = Series(quantity, unit, "", names, measured, prediction, aim)
        yield one_values, replace(shown, lines=lines)


def _tests(block: Sequence[ShownFamily], of: ShownSet) -> Iterator[Cell]:
    """A panel for each test: predicted, fitted, then those not yet measured."""
    found = []
    about = [f for f in of.families if f.about == block[0].quantity]
    names = short_names(list(dict.fromkeys(of.groups.values())))
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
            found.append((order, (family.kind, series)))
    yield from (cell for _, cell in sorted(found, key=lambda one: one[0]))


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Names without the words that all of them have."""
    words = [name.replace("|", "_").split("_") for name in names]
    shared = set(words[0]).intersection(*words) if len(words) > 1 else set()
    kept = [" ".join(w for w in own if w not in shared) for own in words]
    return {n: short or n for n, short in zip(names, kept, strict=True)}


def _key(of: ShownSet) -> str:
    return (
        "Blue: predicted; grey: fitted. Points: measured, with u; open where fitted. "
        "Bands and bars: 95 %.\nBelow: E = predicted - measured and "
        f"{of.k:g} u_val. Lines about a mean: both branches."
    )


def _foot(of: ShownSet) -> str:
    told = "; ".join(
        f"{family.name} ({part}) {verdict}"
        for family in of.families
        for part, verdict in family.verdicts.items()
    )
    lines = textwrap.wrap(f"Verdicts of validation: {told or 'none yet'}.", LETTERS)
    return "\n".join([*lines, of.caption, provenance(of.runs, False)])
