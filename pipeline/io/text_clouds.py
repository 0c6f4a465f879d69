"""Points as text: XYZ, TXT, CSV, ASC, PTS and PTX.

A decimal comma is never guessed: it must be chosen, and is refused otherwise.

In PTX a scan is ten lines, then a line a cell: columns; rows; the scanner's place and
its three axes; a matrix of four lines that takes (x, y, z, 1) as a row into the common
frame. A cell of zeros is a ray that came back from nowhere.
"""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from pipeline.io import block_reader
from pipeline.io.block_reader import Count, Layout
from pipeline.io.reader_interface import (
    AGAIN,
    BINARY,
    Choices,
    ScanFile,
    ScanFileError,
    Source,
    shown,
)
from sim.core.arrays import Floats

WIDTHS = (1, 1, 3, 3, 3, 3, 4, 4, 4, 4)  # numbers in the lines before the first cell
RIGID = 1e-3  # how far the rotation of a pose may be from one


def begins_ptx(head: list[str]) -> bool:
    """Whether the first lines of a text are those of a PTX scan."""
    try:
        rows = [[float(word) for word in line.split()] for line in head[: len(WIDTHS)]]
    except ValueError:
        return False
    return len(head) > len(WIDTHS) and tuple(map(len, rows)) == WIDTHS


def read_ptx(file: ScanFile) -> list[Source]:
    """Every scan of the file in the common frame, with the scanner's place."""
    marks = block_reader.counts(file)
    starts = [a for a, b in pairwise(marks) if b.line == a.line + 1]
    if not starts or len(marks) != 2 * len(starts) or starts[0] is not marks[0]:
        raise _wrong(file, 1, "must be a column count, and line 2 a row count")
    stops = [*(mark.start for mark in starts[1:]), file.size]
    return [
        _scan(file, columns, down, stop)
        for columns, down, stop in zip(starts, marks[1::2], stops, strict=True)
    ]


def _wrong(file: ScanFile, line: int, problem: str) -> ScanFileError:
    return file.refused("FORMAT", f"line {line} {problem}", f"{AGAIN}, as PTX")


def _scan(file: ScanFile, columns: Count, down: Count, stop: int) -> Source:
    pose, cells = _pose(file, columns), columns.value * down.value
    skip = len(WIDTHS) - 2
    blocks, held = _after(file, down, (stop, skip, cells), Layout())
    x, y, z = (float(value) for value in pose[3])
    placed = _placed(blocks, pose)
    return Source("ptx", placed, held, cells, viewpoint=(x, y, z), gaps=True)


def _after(
    file: ScanFile, mark: Count, where: tuple[int, int, int], layout: Layout
) -> tuple[Iterator[Floats], int]:
    """The points behind a count, and how many to expect.

    Parameters
    ----------
    where : byte at which they end, lines to skip before them, points that are promised
    """
    stop, skip, count = where
    line = mark.line + 1
    blocks = block_reader.points(
        file, layout, offset=mark.end, stop=stop, skip=skip, first=line
    )
    held = max(stop - mark.end, 0) // 6 + 1  # "0 0 0\n"
    expected = held if file.salvage else min(held, count)
    return block_reader.promised(file, blocks, count), expected


def _pose(file: ScanFile, start: Count) -> Floats:
    """(4, 3): a rotation over a translation; points are rows to its left."""
    head = block_reader.head(file, len(WIDTHS), start.start)
    if not begins_ptx([*head, ""]):
        raise _wrong(file, start.line, "does not start a PTX header of ten lines")
    matrix = np.array([line.split() for line in head[6:]], dtype=np.float64)
    rotation = matrix[:3, :3]
    wrong = np.abs(rotation @ rotation.T - np.eye(3)).max()
    ends = np.array_equal(matrix[:, 3], [0.0, 0.0, 0.0, 1.0])
    if not (wrong < RIGID and ends and np.linalg.det(rotation) > 0):
        raise _wrong(file, start.line + 6, "starts a pose that is not a rigid motion")
    return matrix[:, :3]


def _placed(blocks: Iterator[Floats], pose: Floats) -> Iterator[Floats]:
    for block in blocks:
        hit = block[block.any(axis=1)]
        yield hit @ pose[:3] + pose[3]


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
    """What comes before the first point."""

    lines: int = 0
    count: int | None = None  # a count of points, as PTS files begin with
    comments: list[str] = field(default_factory=list)
    layout: Layout | None = None
    named: bool = False  # whether a header says which columns are x, y and z


def read_text(file: ScanFile) -> list[Source]:
    """Points of a text file; their columns by name where a header names them.

    A file of several scans, each begun by its count of points (PTS) or by its grid and
    pose (PTX), gives each by itself.
    """
    _check_text(file)
    head = block_reader.head(file, HEADER_LINES + SAMPLE_LINES)
    if file.path.suffix.lower() == ".ptx" or begins_ptx(head):
        return read_ptx(file)
    start = _start(head, file.choices)
    if start.layout is None:
        raise _no_points(file, head)
    sample = head[start.lines : start.lines + SAMPLE_LINES]
    data = [line for line in sample if block_reader.holds_point(line, start.layout)]
    _refuse_ambiguous(file, data, start.layout)
    if not start.named:
        _refuse_numbered(file, data, start.layout)
    if start.count is not None:
        return _counted(file, start, start.layout)
    blocks = block_reader.points(file, start.layout, skip=start.lines)
    most = file.size // 6 + 1  # "1 2 3\n"
    return [Source("text", blocks, most, None, tuple(start.comments))]


def _counted(file: ScanFile, start: _Start, layout: Layout) -> list[Source]:
    """The scans of a file in which each begins with its count."""
    marks = block_reader.counts(file)
    if not marks:
        problem = f"its count of points, {start.count}..., is too large"
        raise file.refused("FORMAT", problem)
    found, stops = [], [*(m.start for m in marks[1:]), file.size]
    for mark, stop in zip(marks, stops, strict=True):
        skip = start.lines - mark.line if mark is marks[0] else 0
        where = stop, skip, mark.value
        blocks, held = _after(file, mark, where, layout)
        comments = tuple(start.comments)
        found.append(Source("text", blocks, held, mark.value, comments))
    return found


def _check_text(file: ScanFile) -> None:
    with file.path.open("rb") as opened:
        data = opened.read(1 << 16)
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise file.refused("FORMAT", "is UTF-16 text", "save it as UTF-8")
    if found := BINARY.search(data):
        problem = f"is not text: byte {found.group()!r} at offset {found.start()}"
        remedy = "export the scan as UTF-8 text, or correct the file's suffix"
        raise file.refused("FORMAT", problem, remedy)


def _start(head: list[str], choices: Choices) -> _Start:
    start = _Start()
    for line in head[:HEADER_LINES]:
        text = line.strip()
        if block_reader.holds_point(text, Layout()):
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


def _no_points(file: ScanFile, head: list[str]) -> ScanFileError:
    data = [line for line in head if block_reader.holds_point(line, Layout())]
    if not data:
        return file.refused("EMPTY", "contains no point")
    commas = [cell for cell in re.split(r"[;\s]+", data[-1].strip()) if cell]
    if not file.choices.decimal_comma and all(map(DECIMAL_COMMA.match, commas)):
        problem = f"writes decimal commas: {shown(data[-1])}"
        return file.refused("DECIMAL", problem, "add the option --decimal-comma")
    number = head.index(data[-1]) + 1
    problem = f"line {number} does not hold three numbers: {shown(data[-1])}"
    return file.refused("FORMAT", problem, "give one point x y z per line")


def _refuse_ambiguous(file: ScanFile, data: list[str], layout: Layout) -> None:
    """Refuse lines that read as numbers in more than one way."""
    if layout.decimal_comma:
        if any("." in line for line in data):
            problem = f"uses decimal points: {shown(data[0])}"
            raise file.refused("DECIMAL", problem, "leave out --decimal-comma")
        return
    cells = [[c for c in layout.cells(line) if c] for line in data]
    whole = all(re.fullmatch(r"[-+]?\d+", cell) for row in cells for cell in row)
    even = all(len(row) >= 6 and len(row) % 2 == 0 for row in cells)
    if layout.delimiter == "," and whole and even:
        problem = (
            f"may have decimal commas, and commas between columns: {shown(data[0])}"
        )
        remedy = "separate the columns by semicolons or blanks"
        raise file.refused("DECIMAL", problem, remedy)


def _refuse_numbered(file: ScanFile, data: list[str], layout: Layout) -> None:
    """Refuse first columns that number the points.

    Such are one that counts, and one or two of whole numbers, as of rows and columns
    of a grid, before three or more of fractions.
    """
    cells = [[c for c in layout.cells(line) if c] for line in data]
    columns = list(zip(*cells, strict=False))
    if len(data) < NUMBERED or len(columns) <= 3:
        return
    whole = [all(re.fullmatch(r"\d{1,15}", cell) for cell in one) for one in columns]
    first = whole.index(False) if False in whole else len(whole)
    varies = any(len(set(one)) > 1 for one in columns[:first])
    before = 0 < first < 3 and len(columns) >= first + 3 and varies
    problem = ""
    if whole[0] and all(int(b) == int(a) + 1 for a, b in pairwise(columns[0])):
        problem = f"its first column counts from {columns[0][0]}, like point numbers"
    elif before and not any(whole[first : first + 3]):
        s = "s" * (first > 1)
        problem = f"whole numbers in its first column{s} look like row numbers"
    if problem:
        remedy = "write a first line that names the columns, as: number x y z"
        raise file.refused("FORMAT", f"{problem}: {shown(data[0])}", remedy)
