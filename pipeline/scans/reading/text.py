"""XYZ, TXT, CSV, ASC and PTS: one point a line; separator and header are found.

A decimal comma is never guessed: it must be chosen, and is refused otherwise.
"""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from pipeline.scans.reading import ptx, rows
from pipeline.scans.reading.rows import Layout
from pipeline.scans.reading.source import (
    BINARY,
    Choices,
    Fault,
    ScanFileError,
    Source,
    shown,
)

HEADER_LINES = 1000  # a longer header is no header
SAMPLE_LINES = 20  # that decide what the separator means
AXIS_NAME = re.compile(  # x, x_mm, x [mm], xcoord, but not x1
    r"([xyz])(?:$|[^a-z0-9]|(?:coord(?:inate)?|pos(?:ition)?)(?:$|[^a-z0-9]))"
)
# Points:0 as ParaView writes it, Point X, coord_x, position.x
POINT_NAME = re.compile(
    r"(?:points?|coord|coordinates?|pos|position|vertex)[ _.:-]*([xyz012])$"
)
NUMBERED = 5  # lines at least that show points to be numbered
DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+$")


@dataclass
class _Start:
    """What stands before the first point."""

    lines: int = 0
    count: int | None = None  # a count of points, as PTS files begin with
    comments: list[str] = field(default_factory=list)
    layout: Layout | None = None
    named: bool = False  # whether a header says which columns are x, y and z


def read(path: Path, size: int, choices: Choices) -> list[Source]:
    """Points of a text file; their columns by name where a header names them.

    A file of several scans, each begun by its count of points (PTS) or by its grid and
    pose (PTX), gives each by itself.
    """
    _check_text(path)
    head = rows.head(path, HEADER_LINES + SAMPLE_LINES)
    if path.suffix.lower() == ".ptx" or ptx.begins(head):
        return ptx.read(path, choices)
    start = _start(head, choices)
    if start.layout is None:
        raise _no_points(path, head, choices)
    sample = head[start.lines : start.lines + SAMPLE_LINES]
    _refuse_ambiguous(path, sample, start)
    _refuse_numbered(path, sample, start)
    if start.count is not None:
        return _counted(path, start, choices)
    blocks = rows.points(path, start.layout, choices, skip=start.lines)
    most = size // 6 + 1  # "1 2 3\n"
    return [Source("text", blocks, most, None, tuple(start.comments))]


def _counted(path: Path, start: _Start, choices: Choices) -> list[Source]:
    """The scans of a file in which each begins with its count."""
    marks = rows.counts(path)
    if not marks:
        raise ScanFileError(
            Fault.FORMAT,
            path,
            f"its count of points begins with {start.count}",
            "export the scan again",
        )
    ends = [(mark.start, mark.line) for mark in marks[1:]] + [(None, None)]
    assert start.layout is not None  # the caller has found the first point
    found = []
    for mark, (stop, last) in zip(marks, ends, strict=True):
        inside = stop or path.stat().st_size
        held = (last - mark.line - 1) if last else (inside - mark.end) // 6 + 1
        skip = start.lines - mark.line if mark is marks[0] else 0
        blocks = rows.points(
            path, start.layout, choices, offset=mark.end, stop=stop, skip=skip,
            first=mark.line + 1,
        )  # fmt: skip
        blocks = rows.promised(path, blocks, mark.value, choices)
        held = max(held, 0) if choices.salvage else min(max(held, 0), mark.value)
        comments = tuple(start.comments)
        found.append(Source("text", blocks, held, mark.value, comments))
    return found


def _check_text(path: Path) -> None:
    with path.open("rb") as file:
        data = file.read(1 << 16)
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        problem = "is UTF-16 text"
        raise ScanFileError(Fault.FORMAT, path, problem, "save it as UTF-8")
    found = BINARY.search(data)
    if found:
        raise ScanFileError(
            Fault.FORMAT,
            path,
            f"is no text: byte {found.group()!r} at offset {found.start()}",
            "export the scan as UTF-8 text, or give the file its format's name",
        )


def _start(head: list[str], choices: Choices) -> _Start:
    start = _Start()
    for line in head[:HEADER_LINES]:
        text = line.strip()
        if rows.holds_point(text, Layout()):
            found = _layout(text, start.comments, choices)
            if found is not None:
                start.layout, start.named = found
                return start
        if text.isascii() and text.isdigit() and start.count is None:
            start.count = int(text[:15])
        elif text:
            start.comments.append(text.lstrip("#/ "))
        start.lines += 1
    return start


def _layout(
    line: str, header: list[str], choices: Choices
) -> tuple[Layout, bool] | None:
    """The first way to cut `line` that gives three numbers, and if they have names."""
    delimiters = (";", "\t", None) if choices.decimal_comma else (";", ",", "\t", None)
    for delimiter in delimiters:
        if delimiter is not None and delimiter not in line:
            continue
        named = _columns(header[-1] if header else "", delimiter)
        layout = Layout(delimiter, named or (0, 1, 2), choices.decimal_comma)
        if layout.point(line) is not None:
            return layout, named is not None
    return None


def _columns(names: str, delimiter: str | None) -> tuple[int, int, int] | None:
    """Columns called x, y and z, or points 0, 1 and 2."""
    cells = [name.strip().strip("\"'").lower() for name in names.split(delimiter)]
    for pattern in (AXIS_NAME, POINT_NAME):
        found: dict[str, int] = {}
        for column, match in enumerate(map(pattern.match, cells)):
            if match:
                found.setdefault(match.group(1), column)
        for axes in ("xyz", "012"):
            if set(axes) <= set(found):
                return (found[axes[0]], found[axes[1]], found[axes[2]])
    return None


def _no_points(path: Path, head: list[str], choices: Choices) -> ScanFileError:
    data = [line for line in head if rows.holds_point(line, Layout())]
    if not data:
        return ScanFileError(
            Fault.EMPTY, path, "holds no point", "export the scan again"
        )
    commas = [cell for cell in re.split(r"[;\s]+", data[-1].strip()) if cell]
    if not choices.decimal_comma and all(map(DECIMAL_COMMA.match, commas)):
        return ScanFileError(
            Fault.DECIMAL,
            path,
            f"writes decimal commas: {shown(data[-1])}",
            "say so with --decimal-comma",
        )
    number = head.index(data[-1]) + 1
    return ScanFileError(
        Fault.FORMAT,
        path,
        f"line {number} does not hold three numbers: {shown(data[-1])}",
        "export one point x y z a line",
    )


def _refuse_ambiguous(path: Path, sample: list[str], start: _Start) -> None:
    """Refuse lines that read as numbers in more than one way."""
    assert start.layout is not None  # the caller has found the first point
    data = [line for line in sample if rows.holds_point(line, start.layout)]
    if start.layout.decimal_comma:
        if any("." in line for line in data):
            raise ScanFileError(
                Fault.DECIMAL,
                path,
                f"writes decimal points: {shown(data[0])}",
                "leave out --decimal-comma",
            )
        return
    cells = [[c for c in start.layout.cells(line) if c] for line in data]
    whole = all(re.fullmatch(r"[-+]?\d+", cell) for row in cells for cell in row)
    even = all(len(row) >= 6 and len(row) % 2 == 0 for row in cells)
    if start.layout.delimiter == "," and whole and even:
        raise ScanFileError(
            Fault.DECIMAL,
            path,
            f"may hold decimal commas between commas: {shown(data[0])}",
            "separate the columns by semicolons or blanks",
        )


def _refuse_numbered(path: Path, sample: list[str], start: _Start) -> None:
    """Refuse first columns that number the points, unless a header calls one x.

    Such are one that counts, and one or two of whole numbers, as of rows and columns
    of a grid, before three or more of fractions.
    """
    assert start.layout is not None  # the caller has found the first point
    data = [line for line in sample if rows.holds_point(line, start.layout)]
    cells = [[c for c in start.layout.cells(line) if c] for line in data]
    columns = list(zip(*cells, strict=False))
    if start.named or len(data) < NUMBERED or len(columns) <= 3:
        return
    whole = [all(re.fullmatch(r"\d{1,15}", cell) for cell in one) for one in columns]
    first = whole.index(False) if False in whole else len(whole)
    varies = any(len(set(one)) > 1 for one in columns[:first])
    before = 0 < first < 3 and len(columns) >= first + 3 and varies
    said = ""
    if whole[0] and all(int(b) == int(a) + 1 for a, b in pairwise(columns[0])):
        said = f"its first column counts from {columns[0][0]}, as numbers of points do"
    elif before and not any(whole[first : first + 3]):
        said = f"whole numbers stand in its first column{'s' * (first > 1)}, as of rows"
    if said:
        raise ScanFileError(
            Fault.FORMAT,
            path,
            f"{said}: {shown(data[0])}",
            "write a first line that names the columns, as: number x y z",
        )
