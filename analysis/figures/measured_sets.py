"""Measured records beside their prediction, what was fitted told apart.

A panel a test where quantities change along something, below it E = predicted -
measured; a panel a quantity where it has one value a record, with a line a record; and
last one that says of every quantity whether it held: error over aim, share of the rows
inside their intervals, verdict of validation.
"""

from collections.abc import Sequence
from dataclasses import replace
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
from analysis.figures.measured_panels import (
    AIM,
    APART,
    CHANCE,
    FITTED_COLOUR,
    HELD,
    PREDICTED_COLOUR,
    Held,
    Lines,
    Look,
    Series,
    Test,
    Unfitted,
    draw_held,
    draw_lines,
    draw_test,
    draw_unfitted,
)
from analysis.figures.set_words import foot
from analysis.figures.sheet import PanelGrid, sheet
from analysis.figures.shown_set import ShownFamily, ShownSet

WIDTH, HEIGHT = 36.0, 46.0  # mm of a panel, and with the errors below
ALONE, LOWEST = 38.0, 34.0  # mm of one without errors; of what held, at least
BESIDE, A_TITLE_MM = 21.0, 1.3  # mm beside a title; of its letters
BETWEEN = 9.0  # mm beside a title where the names of lines stand once
MARK = 43.0  # mm of an entry of the legend
LAYOUTS = 3
BOARD = 90.0  # mm of what held, where it fills two panels
VALUES, HEAD = 22.0, 13.0  # mm of a panel of lines without names; of title and axis
TITLED = 21.0  # mm of a title of two lines and of the axis
LINE = 2.6  # mm of a record in a panel of lines
MOST = 8  # tests that have a panel each, whether anything was measured of them or not
NOTHING = pd.DataFrame({"record": [], "family": []})


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
    below = (
        style.LINE_MM
        * (len(words) + len(runs))
        * style.A_LETTER_MM
        / style.page().room_mm
    )
    with style.styled():
        figure, groups = sheet(*grids, more=more, below=below + style.LINE_MM)
        letters = chain(ascii_lowercase, map("".join, product("a", ascii_lowercase)))
        for own, axes, grid in zip(cells, groups, grids, strict=True):
            for k, (ax, cell) in enumerate(zip(axes, own, strict=True)):
                own_look = replace(look, letters=_letters(own, grid))
                text = _drawn(ax, cell, own_look, k % grid.columns == 0)
                style.put_letter(ax, next(letters), text)
        style.legend_below(figure, marks)
        style.say_below(figure, of.runs, words)
        engine = figure.get_layout_engine()
        assert engine is not None
        for _ in range(LAYOUTS):  # what hangs below panels is measured before they are
            engine.execute(figure)
    return figure


def _drawn(ax: Axes, cell: Cell, look: Look, names: bool) -> str:
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


def _height(grids: Sequence[PanelGrid]) -> float:
    """mm of several blocks."""
    return sum(grid.height * grid.rows for grid in grids)


def _room(cells: Sequence[Cell]) -> PanelGrid:
    """Room for the panels of a block."""
    first = cells[0]
    if isinstance(first, Held | Unfitted):
        lines = [len(c.rows) + len(c.awaited) for c in cells if isinstance(c, Held)]
        height = max(LOWEST, 4.0 + HEAD + LINE * max(lines, default=0))
        return PanelGrid(len(cells), BOARD, height)
    if isinstance(first, Lines):
        side_by_side = max(1, int(_beside_names(first) / VALUES))
        height = TITLED + LINE * max(len(first.lines), 4)
        return PanelGrid(len(cells), WIDTH, height, most=min(4, side_by_side))
    errors = any(isinstance(cell, Test) and _has_errors(cell) for cell in cells)
    return PanelGrid(len(cells), WIDTH, HEIGHT if errors else ALONE)


def _beside_names(of: Lines) -> float:
    """mm beside the names of lines."""
    named = max(len(of.names.get(one, one)) for one in of.lines)
    return style.page().room_mm - style.A_LETTER_MM * named


def _letters(cells: Sequence[Cell], grid: PanelGrid) -> int:
    """How many a line above a panel of a block may have."""
    first = cells[0]
    if isinstance(first, Lines):
        wide = _beside_names(first) / grid.columns - BETWEEN
    else:
        wide = style.page().room_mm / grid.columns - BESIDE
    return int(wide / A_TITLE_MM)


def _marks(of: ShownSet) -> list[Line2D | Patch]:
    """What the lines, bands and points are that this set has."""
    families = of.families
    records = {r for f in families for r in f.measured["record"]}
    of_fit, others = records & of.fitted, records - of.fitted
    dots: dict[str, Any] = {
        "ls": "",
        "color": style.SCANNED_EDGE,
        "ms": style.size(3.5),
    }
    u = dots | {"marker": "o", "mfc": style.SCANNED, "label": "measured, with $u$"}
    fit = dots | {"marker": "s", "mfc": "white", "label": "measured, of the fit"}
    chance = rf"$\pm\,{of.k:g}\,u_\mathrm{{val}}$ of $E$"
    dotted: dict[str, Any] = {"color": style.SCANNED_EDGE, "ls": ":"}
    upright: dict[str, Any] = {
        "ls": "",
        "marker": "|",
        "mew": 2.0,
        "color": PREDICTED_COLOUR,
    }
    curves = any(not f.lone for f in families)
    lone = any(f.lone for f in families)
    many = [f.quantity for f in families if f.several and not f.lone]
    apart = any(len(f.left_out) for f in families)
    bars = f"95 and 50 % of $E$ of {', '.join(many)}"
    seen: list[tuple[bool, Line2D | Patch]] = [
        (curves, Line2D([], [], color=PREDICTED_COLOUR, label="predicted")),
        (
            curves and bool(of.fitted),
            Line2D([], [], color=FITTED_COLOUR, label="fitted"),
        ),
        (True, Patch(fc=PREDICTED_COLOUR, alpha=0.25, label="95 %, predicted")),
        (bool(of_fit), Patch(fc=FITTED_COLOUR, alpha=0.25, label="95 %, fitted")),
        (bool(others), Line2D([], [], **u)),
        (bool(of_fit), Line2D([], [], **fit)),
        (apart and lone, Line2D([], [], **APART, ms=style.size(3.5), label="left out")),
        (bool(many), Line2D([], [], **upright, label=bars)),
        (bool(records), Patch(**CHANCE, label=chance)),
        (bool(records), Line2D([], [], **AIM, label="aim of rms $E$")),
        (
            any(f.about for f in families),
            Line2D([], [], **dotted, label="both branches"),
        ),
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
    less = _height([_room(own) for own in apart]) < _room(tests).rows * HEIGHT
    return apart if less else [tests]


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


def _of_test(family: ShownFamily, of: ShownSet, records: Sequence[str]) -> Series:
    """A family's rows of one test, and of what lies about it."""
    about = [f for f in of.families if f.about and f.about == family.quantity]
    return family.of(records).series(of.fitted, [f.of(records) for f in about])


def _lines(of: ShownSet) -> list[Lines]:
    """A panel for each quantity of one value, of all families that have it."""
    lone = [f for f in of.families if f.lone and not f.about and len(f.prediction)]
    lines = list(dict.fromkeys(r for f in lone for r in f.prediction["record"]))
    alike: dict[tuple[str, str], list[Series]] = {}
    for family in lone:
        own = alike.setdefault((family.quantity, family.unit), [])
        own.append(family.series(of.fitted))
    parts = ("measured", "prediction", "left_out")
    return [
        Lines(
            replace(
                own[0], **{p: pd.concat([getattr(s, p) for s in own]) for p in parts}
            ),
            lines,
            of.own_names,
        )
        for own in alike.values()
    ]
