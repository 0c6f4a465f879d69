"""Points as lines of text or as binary records, read in blocks of bounded size."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.io.reader_interface import AGAIN, ScanFile, ScanFileError, shown
from sim.core.arrays import Floats

BLOCK_BYTES = 1 << 24  # also the longest line
AXES = ("x", "y", "z")  # names of the fields of a point


SUSPECT = (b"#", b"/", b"\n\n", b"\n ", b"\n\t")  # begin a comment or a blank line


MARK = b"\xef\xbb\xbf"  # byte order mark of UTF-8
ALONE = re.compile(rb"^[ \t]*(\d{1,15})[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
MOST_SCANS = 10_000  # in one file, and lines that begin them


class Count(NamedTuple):
    """A line of one whole number alone."""

    value: int
    line: int
    start: int  # bytes into the file, of the number
    end: int  # of the next line


class Block(NamedTuple):
    """Some consecutive lines of a file."""

    lines: list[str]
    plain: bool  # certainly no blank line and no comment among them


@dataclass(frozen=True)
class Layout:
    """How a line of numbers is to be cut and which of its cells are x, y and z."""

    delimiter: str | None = None  # None: any run of blanks and tabs
    columns: tuple[int, int, int] = (0, 1, 2)
    decimal_comma: bool = False
    keyword: str = ""  # only lines that begin with this word hold points

    def cells(self, line: str) -> list[str]:
        """The cells of one line, decimal commas turned into points."""
        text = line.replace(",", ".") if self.decimal_comma else line
        return [cell.strip() for cell in text.split(self.delimiter)]

    def point(self, line: str) -> list[float] | None:
        """x, y, z of a line; None if it holds no three numbers."""
        cells = self.cells(line)
        if len(cells) <= max(self.columns):
            return None
        try:
            return [_number(cells[column]) for column in self.columns]
        except ValueError:
            return None


# what C libraries of Windows write for no number: 1.#QNAN, -1.#IND00, -nan(ind)
NO_NUMBER = re.compile(r"[-+]?(1\.#(QNAN|SNAN|IND|INF)0*|nan\((ind|snan)\))", re.I)


def _number(text: str) -> float:
    """Of a cell, in quotes or not; Fortran's exponents have a D."""
    text = text.strip("\"'")
    if "_" in text or not text.isascii():  # float() would take 1_000
        raise ValueError(text)
    if NO_NUMBER.fullmatch(text):
        return float("nan")
    return float(text.replace("D", "E").replace("d", "e"))


def text_blocks(
    file: ScanFile, offset: int = 0, stop: int | None = None
) -> Iterator[Block]:
    """Yield the lines from byte `offset` to `stop`, some megabytes at a time."""
    for data in _whole_lines(file, offset, stop):
        yield _split(data)


def _whole_lines(of: ScanFile, offset: int, stop: int | None) -> Iterator[bytes]:
    """The bytes of a file in blocks that end with a line; no byte order mark."""
    rest, left = b"", (of.size if stop is None else stop) - offset
    with of.path.open("rb") as file:
        file.seek(offset)
        while data := file.read(min(BLOCK_BYTES, left)):
            left -= len(data)
            cut = data.rfind(b"\n") + 1
            if cut == 0 and len(rest) + len(data) > BLOCK_BYTES:
                problem = f"has a line of more than {BLOCK_BYTES >> 20} MB"
                raise of.refused("FORMAT", problem, "export one point per line")
            if file.tell() == len(data):
                data, cut = data.removeprefix(MARK), max(cut - _marked(data), 0)
            if cut:
                yield rest + data[:cut]
                rest = b""
            rest += data[cut:]
    if rest:
        yield rest


def _marked(data: bytes) -> int:
    return len(MARK) if data.startswith(MARK) else 0


def counts(of: ScanFile) -> list[Count]:
    """The lines that hold one whole number alone: such a line begins each scan."""
    found: list[Count] = []
    with of.path.open("rb") as file:
        at, line = _marked(file.read(len(MARK))), 1
    for data in _whole_lines(of, 0, None):
        for match in ALONE.finditer(data):
            number = line + data.count(b"\n", 0, match.start(1))
            found.append(
                Count(int(match[1]), number, at + match.start(1), at + match.end())
            )
            if len(found) > MOST_SCANS:
                problem = f"has more than {MOST_SCANS} lines with only one number"
                raise of.refused("FORMAT", problem, "give one point x y z per line")
        at, line = at + len(data), line + data.count(b"\n")
    return found


def _split(data: bytes) -> Block:
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    text = data.decode("latin-1")
    plain = not any(sign in data for sign in SUSPECT) and data[:1] not in b" \t\n"
    return Block(text.removesuffix("\n").split("\n"), plain)


def points(
    file: ScanFile,
    layout: Layout,
    *,
    offset: int = 0,
    stop: int | None = None,
    skip: int = 0,
    first: int = 1,
    limit: int | None = None,
) -> Iterator[Floats]:
    """Yield the points of the lines from `offset` to `stop`, `skip` lines left out.

    Blank lines and comment lines hold no point. A line that is neither is an error;
    with `salvage` it counts as a point of NaN.

    Parameters
    ----------
    first : number that messages give the line at `offset`
    limit : stop after so many points
    """
    left = np.inf if limit is None else limit
    for text, plain in text_blocks(file, offset, stop):
        block = text[skip:]
        start = first + min(skip, len(text))
        skip = max(skip - len(text), 0)
        first += len(text)
        data = block
        if layout.keyword or not plain:
            data = [line for line in block if holds_point(line, layout)]
        data = data[: int(min(left, len(data)))]
        left -= len(data)
        if data:
            yield _parse(file, data, layout, block, start)
        if left <= 0:
            return


def holds_point(line: str, layout: Layout) -> bool:
    """Whether a line claims to hold a point: it is neither blank nor a comment."""
    stripped = line.strip()
    if layout.keyword:
        return stripped[: len(layout.keyword) + 1].lower().split() == [layout.keyword]
    return bool(stripped) and not stripped.startswith(("#", "//"))


def _parse(
    file: ScanFile, data: list[str], layout: Layout, block: list[str], start: int
) -> Floats:
    text = [line.replace(",", ".") for line in data] if layout.decimal_comma else data
    try:
        cut, columns = layout.delimiter, layout.columns
        return np.loadtxt(text, delimiter=cut, usecols=columns, ndmin=2, comments=None)
    except ValueError:
        found = [layout.point(line) for line in data]
        if None in found and not file.salvage:
            raise _bad_line(file, layout, block, start) from None
        return np.array([p if p else [np.nan] * 3 for p in found])


def _bad_line(
    of: ScanFile, layout: Layout, block: list[str], start: int
) -> ScanFileError:
    bad = (
        (number, line)
        for number, line in enumerate(block, start)
        if holds_point(line, layout) and layout.point(line) is None
    )
    number, line = next(bad, (start, "an unreadable line"))
    salvage = "or keep the good lines with --salvage"
    with of.path.open("rb") as file:
        file.seek(-1, 2)
        whole = file.read(1) in b"\r\n"
    if number == start + len(block) - 1 and not whole:
        problem = f"its last line, {number}, is cut short: {shown(line)}"
        return of.refused("TRUNCATED", problem, f"{AGAIN}, {salvage}")
    problem = f"line {number} does not hold three numbers: {shown(line)}"
    return of.refused("FORMAT", problem, f"correct it, {salvage}")


def promised(file: ScanFile, parsed: Iterator[Floats], count: int) -> Iterator[Floats]:
    """Pass `parsed` blocks on, and see to it that they bring `count` points."""
    found = 0
    for block in parsed:
        found += len(block)
        if found > count and not file.salvage:
            problem = f"the header declares {count} points, but the file has more"
            remedy = f"{AGAIN}, or keep them all with --salvage"
            raise file.refused("FORMAT", problem, remedy)
        yield block
    if found < count and not (file.salvage and found):
        raise file.cut_short(count, "vertices", found)


def head(file: ScanFile, count: int, offset: int = 0) -> list[str]:
    """The first `count` lines of a text file, fewer where it ends before."""
    block = next(text_blocks(file, offset), Block([], True))
    return block.lines[:count]


RECORDS_AT_ONCE = 1 << 16  # points turned into float64 at a time: they stay in cache


def record_blocks(
    path: Path, offset: int, dtype: np.dtype[Any], count: int
) -> Iterator[Floats]:
    """Yield the points of `count` records that begin `offset` bytes into the file."""
    for records in records_of(path, offset, dtype, count):
        yield stacked([records[axis] for axis in AXES])


def records_of(
    path: Path, offset: int, dtype: np.dtype[Any], count: int
) -> Iterator[NDArray[Any]]:
    """Yield `count` records, a block in memory at a time."""
    with path.open("rb") as file:
        file.seek(offset)
        for start in range(0, count, RECORDS_AT_ONCE):
            yield np.fromfile(file, dtype, min(RECORDS_AT_ONCE, count - start))


def stacked(axes: Sequence[NDArray[Any]]) -> Floats:
    """(m, 3) float64 array of the numbers (m,) along each axis."""
    with np.errstate(invalid="ignore"):  # signalling NaNs of damaged files
        return np.stack(axes, axis=1, dtype=np.float64)
