"""Measured records and their prediction, fitted ones marked.

A panel a test where quantities change along something, below it E = predicted -
measured; a panel a quantity where it has one value a record, with a line a record; and
last one that says of every quantity whether it held: error over aim, share of the rows
inside their intervals, verdict of validation.

A `ShownSet` is what the figure shows: families of quantities, records, names. `foot`
and `verdicts_in_words` are what captions say of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product, takewhile
from operator import itemgetter
from string import ascii_lowercase
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from analysis.figures import style
from analysis.figures.figure_interface import DrawnFigure, ShownRun
from analysis.figures.measured_panels import (
    AIM,
    APART,
    CHANCE,
    FITTED_COLOUR,
    HELD,
    PREDICTED_COLOUR,
    TABLES,
    Held,
    Lines,
    Look,
    ShownFamily,
    Test,
    Unfitted,
    draw_held,
    draw_lines,
    draw_test,
    draw_unfitted,
)
from analysis.figures.style import PanelGrid, sheet
from analysis.measured.prediction_verdicts import distances

HELD_IN_ONE = 12  # lines of what held that one panel has


@dataclass(frozen=True, eq=False)
class ShownSet:
    """A measured set.

    Parameters
    ----------
    fitted : records that the fit used
    groups : what each record is a repeat of: those of one group share a panel
    k : coverage factor of the verdicts
    runs : (what, key) of the runs shown
    inputs : names of those that were fitted
    unfitted : models of which nothing is fitted
    """

    families: Sequence[ShownFamily]
    fitted: frozenset[str]
    groups: Mapping[str, str]
    k: float
    runs: Sequence[tuple[str, str]]
    caption: str
    inputs: Sequence[str] = ()
    unfitted: Sequence[Unfitted] = ()

    @property
    def along(self) -> bool:
        """Whether anything measured has an error along something, shown below it."""
        known = (f for f in self.families if len(f.measured) and not f.about)
        return any(not f.lone for f in known)

    @property
    def records(self) -> list[str]:
        """Those that have a prediction here."""
        every = chain.from_iterable(f.prediction["record"] for f in self.families)
        return list(dict.fromkeys(every))

    @property
    def held(self) -> list[Held]:
        """How every family ended, in one panel or two."""
        rows = [
            f.verdicts.assign(quantity=f.name) for f in self.families if len(f.verdicts)
        ]
        awaited = [
            f.name for f in self.families if f.verdicts.empty and len(f.prediction)
        ]
        if not rows:
            return []
        whole = pd.concat(rows, ignore_index=True)
        half = -(-len(whole) // 2) if len(whole) > HELD_IN_ONE else len(whole)
        parts = [whole[:half], whole[half:]]
        return [Held(o, awaited * (k == 0)) for k, o in enumerate(parts) if len(o)]

    @property
    def names(self) -> dict[str, str]:
        """Of their groups, without the words that all of them have."""
        groups = {name: self.groups.get(name, name) for name in self.records}
        short = short_names(list(dict.fromkeys(groups.values())))
        return {name: short[group] for name, group in groups.items()}


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Names without the words that all of them have."""
    words = [name.replace("|", "_").split("_") for name in names]
    shared = set(words[0]).intersection(*words) if len(words) > 1 else set()
    rest = [" ".join(w for w in own if w not in shared) for own in words]
    return {n: short or n for n, short in zip(names, rest, strict=True)}


NAMED = 6  # tests, or inputs, that are named one by one in the caption


def roles(of: ShownSet) -> str:
    """What was fitted, on which tests, and what was predicted, for the caption."""
    there = {r for f in of.families for r in f.measured["record"]}
    fitted = [r for r in of.records if r in of.fitted]
    others = [r for r in of.records if r not in of.fitted]
    awaited = [r for r in others if r not in there]
    sentences = []
    if fitted:
        sentences.append(
            f"Fitted: {_counted(of.inputs, 'inputs')} on {_whose(of, fitted)}"
        )
    else:
        sentences.append("Nothing fitted")
    if seen := [r for r in others if r in there]:
        sentences.append(f"Predicted: {_whose(of, seen)}")
    if awaited:
        sentences.append(f"Predicted, not yet measured: {_whose(of, awaited)}")
    return ". ".join(sentences)


def _whose(of: ShownSet, records: Sequence[str]) -> str:
    """Tests of some records, and how many there are."""
    names = list(dict.fromkeys(of.names[record] for record in records))
    many = f"{len(records)} record{'s' * (len(records) > 1)}"
    return f"{', '.join(names)} ({many})" if len(names) <= NAMED else many


def _counted(names: Sequence[str], what: str) -> str:
    """Names of a few; how many there are of more."""
    shown = ", ".join(name.replace("_", " ") for name in names)
    return shown if 0 < len(names) <= NAMED else f"{len(names)} {what}"


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


def foot(of: ShownSet) -> str:
    """What stands below the panels."""
    more = (
        "$E$ = predicted \N{MINUS SIGN} measured. The verdict is agrees if rms $E$ "
        rf"plus its uncertainty {of.k:g}$u_\mathrm{{val}}$ is within the aim, differs "
        "if rms $E$ exceeds this uncertainty, else inconclusive. "
    )
    if any(family.about for family in of.families):
        more += (
            "The two lines about a mean are its branches (loading and unloading); the "
            "quantity loop is half their difference. "
        )
    return more + of.caption


WIDTH, HEIGHT = 36.0, 46.0  # mm of a panel, and with the errors below
ALONE, LOWEST = 38.0, 34.0  # mm of one without errors; of what held, at least
MARGIN, A_TITLE_MM = 21.0, 1.3  # mm next to a title; of its letters
BETWEEN = 9.0  # mm next to a title where the names of lines stand once
MARK = 43.0  # mm of an entry of the legend
BOARD = 90.0  # mm of what held, where it fills two panels
VALUES, HEAD = 22.0, 13.0  # mm of a panel of lines without names; of title and axis
TITLED = 21.0  # mm of a title of two lines and of the axis
LINE = 2.6  # mm of a record in a panel of lines
MOST = 8  # tests that have a panel each, whether anything was measured of them or not
NOTHING = pd.DataFrame({"record": [], "family": [], "model": []})
NO_INPUTS = pd.DataFrame({"input": [], "unit": [], "fitted": []})


Cell = Test | Lines | Held | Unfitted


def measured_set(of: ShownSet) -> Figure:
    """Panels quantity by quantity; what their marks mean stands below them."""
    look = Look(of.fitted, of.k)
    held: list[Sequence[Cell]] = [list(of.unfitted), of.held]
    if style.page().room_mm >= 2.0 * BOARD:
        held = [[*of.unfitted, *of.held]]
    cells: list[Sequence[Cell]] = [*_tests(of), _lines(of), *held]
    cells = [own for own in cells if own]
    grids, marks = [_room(own) for own in cells], _marks(of)
    alone = sum(grid.count for grid in grids) == 1
    wide = style.WIDTHS_MM[0] if alone else style.page().room_mm
    rows = len(marks) / int(wide / MARK)
    more = max(40.0 if alone else 30.0, 16.0 + 4.0 * rows)
    runs, words = style.runs_line(of.runs), foot(of)
    lines = (len(words) + len(runs)) * style.A_LETTER_MM / style.page().room_mm
    with style.styled():
        figure, groups = sheet(*grids, more=more, below=style.LINE_MM * (lines + 1.0))
        letters = chain(ascii_lowercase, map("".join, product("a", ascii_lowercase)))
        for own, axes, grid in zip(cells, groups, grids, strict=True):
            for k, (ax, cell) in enumerate(zip(axes, own, strict=True)):
                own_look = replace(look, letters=_letters(own, grid))
                text = _draw(ax, cell, own_look, k % grid.columns == 0)
                style.put_letter(ax, next(letters), text)
        style.legend_below(figure, marks)
        style.say_below(figure, of.runs, words)
    return figure


def _draw(ax: Axes, cell: Cell, look: Look, names: bool) -> str:
    """Draw a panel; its title."""
    if isinstance(cell, Held):
        return draw_held(ax, cell, look)
    if isinstance(cell, Unfitted):
        return draw_unfitted(ax, cell, look)
    if isinstance(cell, Lines):
        return draw_lines(ax, cell, look, names)
    below = [] if not _has_errors(cell) else [ax.inset_axes((0.0, -0.55, 1.0, 0.42))]
    return draw_test([ax, *below], cell, look)


def _has_errors(test: Test) -> bool:
    """Whether errors stand below what is shown of a test."""
    return bool(test.shown) and (test.many is not None or not test.awaited)


def _room(cells: Sequence[Cell]) -> PanelGrid:
    """Room for the panels of a block."""
    first = cells[0]
    if isinstance(first, Held | Unfitted):
        lines = [len(c.rows) + len(c.awaited) for c in cells if isinstance(c, Held)]
        height = max(LOWEST, 4.0 + HEAD + LINE * max(lines, default=0))
        return PanelGrid(len(cells), BOARD, height)
    if isinstance(first, Lines):
        side_by_side = max(1, int(_room_of_panels(first) / VALUES))
        height = TITLED + LINE * max(len(first.lines), 4)
        return PanelGrid(len(cells), WIDTH, height, most=min(4, side_by_side))
    errors = any(isinstance(cell, Test) and _has_errors(cell) for cell in cells)
    return PanelGrid(len(cells), WIDTH, HEIGHT if errors else ALONE)


def _room_of_panels(of: Lines) -> float:
    """mm that the names of lines leave."""
    named = max(len(of.names.get(one, one)) for one in of.lines)
    return style.page().room_mm - style.A_LETTER_MM * named


def _letters(cells: Sequence[Cell], grid: PanelGrid) -> int:
    """How many a line above a panel of a block may have."""
    first = cells[0]
    if isinstance(first, Lines):
        wide = _room_of_panels(first) / grid.columns - BETWEEN
    else:
        wide = style.page().room_mm / grid.columns - MARGIN
    return int(wide / A_TITLE_MM)


def _marks(of: ShownSet) -> list[Line2D | Patch]:
    """What the lines, bands and points are that this set has."""
    families = of.families
    records = {r for f in families for r in f.measured["record"]}
    of_fit, others = records & of.fitted, records - of.fitted
    big = style.size(3.5)
    dots: dict[str, Any] = {"ls": "", "color": style.SCANNED_EDGE, "ms": big}
    u = dots | {"marker": "o", "mfc": style.SCANNED, "label": "measured, with $u$"}
    fit = dots | {"marker": "s", "mfc": "white", "label": "measured, used in the fit"}
    chance = rf"$\pm\,{of.k:g}\,u_\mathrm{{val}}$ of $E$"
    dotted: dict[str, Any] = {"color": style.SCANNED_EDGE, "ls": ":"}
    bar: dict[str, Any] = {"ls": "", "marker": "|", "mew": 2.0}
    curves = any(not f.lone for f in families)
    lone = any(f.lone for f in families)
    many = [f.quantity for f in families if f.several and not f.lone]
    apart = any(len(f.left_out) for f in families)
    about = any(f.about for f in families)
    fitted = curves and bool(of.fitted)
    bars = f"95 and 50 % intervals of $E$: {', '.join(many)}"
    seen: list[tuple[bool, Line2D | Patch]] = [
        (curves, Line2D([], [], color=PREDICTED_COLOUR, label="predicted")),
        (fitted, Line2D([], [], color=FITTED_COLOUR, label="fitted")),
        (True, Patch(fc=PREDICTED_COLOUR, alpha=0.25, label="95 %, predicted")),
        (bool(of_fit), Patch(fc=FITTED_COLOUR, alpha=0.25, label="95 %, fitted")),
        (bool(others), Line2D([], [], **u)),
        (bool(of_fit), Line2D([], [], **fit)),
        (apart and lone, Line2D([], [], **APART, ms=big, label="left out")),
        (bool(many), Line2D([], [], **bar, color=PREDICTED_COLOUR, label=bars)),
        (bool(records), Patch(**CHANCE, label=chance)),
        (bool(records), Line2D([], [], **AIM, label="aim of rms $E$")),
        (about, Line2D([], [], **dotted, label="both branches")),
        (bool(records), Line2D([], [], **HELD, ms=style.size(3.0), label="rms $E$")),
    ]
    return [mark for there, mark in seen if there]


def _tests(of: ShownSet) -> list[list[Test]]:
    """A panel for each test: predicted, fitted, then those not yet measured.

    Quantities of one unit share it, and errors of a family of many stand below them.
    """
    found: dict[str, list[tuple[int, Test]]] = {}
    curves = [f for f in of.families if not f.lone and not f.about]
    panels = _panels(of, curves)
    for name in dict.fromkeys(panels.values()):
        records = [r for r, panel in panels.items() if panel == name]
        own = [_of_test(f, of, records) for f in curves]
        own = [one for one in own if len(one.prediction)]
        many = [one for one in own if one.several]
        for unit in dict.fromkeys(one.unit for one in own):
            shown = [one for one in own if one.unit == unit and one not in many]
            below = next((one for one in many if one.unit == unit), None)
            test = Test(name, shown, below)
            order = 2 * test.awaited + (records[0] in of.fitted)
            same = found.setdefault(f"{test.first.quantity} in {unit}", [])
            same.append((order, test))
    return [
        block
        for own in found.values()
        for block in _blocks([test for _, test in sorted(own, key=itemgetter(0))])
    ]


def _blocks(tests: list[Test]) -> list[list[Test]]:
    """All in one; those without errors by themselves where that takes less height."""
    apart = [[t for t in tests if _has_errors(t) is there] for there in (True, False)]
    apart = [own for own in apart if own]
    height = sum(grid.height * grid.rows for grid in map(_room, apart))
    return apart if height < _room(tests).rows * HEIGHT else [tests]


def _panels(of: ShownSet, curves: Sequence[ShownFamily]) -> dict[str, str]:
    """Of each record the panel that it is in.

    Where tests are many, those of a family that are not yet measured share one.
    """
    rows = pd.concat([f.prediction.assign(family=f.name) for f in curves] or [NOTHING])
    first = rows.drop_duplicates("record").set_index("record")["family"]
    names = {str(record): of.names[str(record)] for record in first.index}
    if len(set(names.values())) <= MOST:
        return names
    seen = {r for f in of.families for r in f.measured["record"]}
    awaited = first[~first.index.isin(list(seen))]
    for _, own in awaited.groupby(awaited, sort=False):
        shared = _joined(
            list(dict.fromkeys(names[str(record)] for record in own.index))
        )
        names |= dict.fromkeys(map(str, own.index), shared)
    return names


def _joined(names: Sequence[str]) -> str:
    """Several names, with the words that all of them begin with once."""
    words = [name.split() for name in names]
    same = takewhile(lambda each: len(set(each)) == 1, zip(*words, strict=False))
    common = [each[0] for each in same]
    rest = [" ".join(own[len(common) :]) for own in words]
    return " ".join([*common, ", ".join(one for one in rest if one)]).strip()


def _of_test(family: ShownFamily, of: ShownSet, records: Sequence[str]) -> ShownFamily:
    """A family's rows of one test, and of what lies about it."""
    about = [f for f in of.families if f.about and f.about == family.quantity]
    return family.of(records).shown(of.fitted, [f.of(records) for f in about])


def _lines(of: ShownSet) -> list[Lines]:
    """A panel for each quantity of one value, of all families that have it."""
    lone = [f for f in of.families if f.lone and not f.about and len(f.prediction)]
    lines = list(dict.fromkeys(r for f in lone for r in f.prediction["record"]))
    alike: dict[tuple[str, str], list[ShownFamily]] = {}
    for family in lone:
        own = alike.setdefault((family.quantity, family.unit), [])
        own.append(family.shown(of.fitted))
    found, names = [], short_names(of.records)
    for own in alike.values():
        tables = {name: pd.concat([getattr(s, name) for s in own]) for name in TABLES}
        found.append(Lines(replace(own[0], **tables), lines, names))
    return found


def draw_measured(runs: Sequence[ShownRun]) -> DrawnFigure:
    """One set: a run of the step measured."""
    (run,) = runs
    document = run.read("verdict.json")
    measured, prediction = run.read("measured.csv"), run.read("prediction.csv")
    prediction = prediction[~prediction["record"].isin(list(document["refused"]))]
    apart = run.read("left_out.csv", measured.iloc[:0])
    apart = apart[apart["record"].isin(prediction["record"])]
    tables = (measured, prediction, apart)
    shown = ShownSet(
        [
            _family(one, tables, document)
            for one in document["families"]
            if one["records"]
        ],
        frozenset(document["fitted"]),
        dict(document["groups"]),
        float(document["k"]),
        [("compared", run.key), ("predicted", str(document["prediction"]["key"]))],
        _made(document, run.label),
        _fitted_inputs(run.read("parameters.csv", NO_INPUTS)),
        _unfitted(run.read("unfitted.csv", NOTHING), document, measured),
    )
    figures = {"measured": measured, "verdicts": pd.DataFrame(document["verdicts"])}
    words = _facts(document, prediction, measured) | {
        "left": len(apart) > 0,
        "roles": roles(shown),
        "valued": any(one.lone and not one.several for one in shown.families),
        "along": shown.along,
        "ended": len(shown.held),
        "unfitted": [_worst(one) for one in shown.unfitted],
    }
    return DrawnFigure(measured_set(shown), figures, words, runs=())


def _facts(
    of: Mapping[str, Any], prediction: pd.DataFrame, measured: pd.DataFrame
) -> dict[str, Any]:
    """What the caption says of a set."""
    verdicts = [(r["quantity"], r["part"], r["verdict"]) for r in of["verdicts"]]
    records = set(prediction["record"])
    return {
        "title": of["title"],
        "source": of["source"],
        "k": float(of["k"]),
        "tried": of["variants_tried"],
        "records": len(records),
        "fitted": bool(of["fitted"]),
        "held": len(records - set(of["fitted"])),
        "verdicts": verdicts_in_words(verdicts),
        "awaited": _awaited(prediction, measured),
        "missed": _missed(of["verdicts"]),
    }


def _awaited(prediction: pd.DataFrame, measured: pd.DataFrame) -> list[str]:
    """What was predicted and has no measured value: records, or quantities of all."""
    records = set(prediction["record"]) - set(measured["record"])
    names = prediction["quantity"].str.replace("_[xyz]$", "", regex=True)
    of_some = prediction["record"].isin(set(measured["record"]))
    seen = set(measured["quantity"].str.replace("_[xyz]$", "", regex=True))
    quantities = sorted(set(names[of_some]) - seen)
    words = [f"{len(records)} records"] if records else []
    return words + [name.replace("_", " ") for name in quantities]


def _missed(verdicts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Quantities whose rms of E is beyond its aim, with both."""
    return [
        f"{row['quantity']} ({row['part']}), {row['rms_E']:.2g} for".replace("_", " ")
        + f" {row['aim']:.2g} {row['unit']}".removesuffix(" 1")
        for row in verdicts
        if row["rms_E"] > row["aim"]
    ]


def _unfitted(
    table: pd.DataFrame, document: Mapping[str, Any], measured: pd.DataFrame
) -> list[Unfitted]:
    """Models of which nothing is fitted, and the one compared."""
    groups, found = short_names(list(document["groups"].values())), []
    for name, rows in table.groupby("model", sort=False):
        own = document["unfitted"][name]
        family = next(f for f in document["families"] if f["name"] == own["of"])
        both = (
            t.assign(group=[groups[document["groups"][r]] for r in t["record"]])
            for t in (rows, distances(measured[_belongs(measured, family)]))
        )
        where = str(family["unit"]), str(family["along"]), float(own["aim"])
        found.append(Unfitted(str(name), *where, *both))
    return found


def _worst(of: Unfitted) -> str:
    """Its largest rms distance of each group, and whether its aim was met."""
    sizes = ", ".join(f"{group} {far:.2f}" for group, far in of.worst().items())
    return (
        f"{of.name[:1].upper()}{of.name[1:]}, nothing fitted (open marks): largest rms "
        f"distance {sizes} {of.unit}; aim {of.aim:g} {of.unit} {of.met}."
    )


def _fitted_inputs(table: pd.DataFrame) -> list[str]:
    """Names of the inputs that a fit found, without their units."""
    found = table[table["fitted"].astype(bool)]
    return [
        str(name).removesuffix(f"_{unit}")
        for name, unit in zip(found["input"], found["unit"], strict=True)
    ]


def _belongs(rows: pd.DataFrame, family: Mapping[str, Any]) -> "pd.Series[bool]":
    """Which rows are of a family."""
    named = rows["quantity"].str.fullmatch(str(family["rows"]))
    return named & rows["record"].isin(family["records"])


def _family(
    one: Mapping[str, Any], tables: Sequence[pd.DataFrame], document: Mapping[str, Any]
) -> ShownFamily:
    measured, prediction, left_out = (rows[_belongs(rows, one)] for rows in tables)
    own = [row for row in document["verdicts"] if row["quantity"] == one["name"]]
    words: Any = {name: str(one[name]) for name in ("name", "unit", "along", "about")}
    parts: Any = dict(zip(TABLES, (measured, prediction, left_out), strict=True))
    aim, verdicts = float(one["aim"]), pd.DataFrame(own)
    return ShownFamily(**words, aim=aim, verdicts=verdicts, **parts)


def _made(document: Mapping[str, Any], label: str) -> str:
    by = document["prediction"]
    when = "committed before" if by["committed"] else f"made for {label}"
    tried = document["variants_tried"]
    models = "one model was tried" if tried == 1 else f"{tried} models were tried"
    return f"Prediction {when}, SHA-256 {by['sha256'][:12]}; {models}."
