"""PTX: scans as grids of points in the scanner's frame, each with the scanner's pose.

A scan is ten lines, then a line a cell: columns; rows; the scanner's place and its
three axes; a matrix of four lines that takes (x, y, z, 1) as a row into the common
frame. A cell of zeros is a ray that came back from nowhere.
"""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from pipeline.scans.reading import rows
from pipeline.scans.reading.rows import Count, Layout
from pipeline.scans.reading.source import Choices, Fault, ScanFileError, Source
from sim.arrays import Floats

WIDTHS = (1, 1, 3, 3, 3, 3, 4, 4, 4, 4)  # numbers in the lines before the first cell
RIGID = 1e-3  # how far the rotation of a pose may be from one


def begins(head: list[str]) -> bool:
    """Whether the first lines of a text are those of a PTX scan."""
    return len(head) > len(WIDTHS) and all(
        len(numbers) == width and all(map(_is_number, numbers))
        for numbers, width in zip(map(str.split, head), WIDTHS, strict=False)
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def read(path: Path, choices: Choices) -> list[Source]:
    """Every scan of the file in the common frame, with the scanner's place."""
    marks = rows.counts(path)
    starts = [a for a, b in pairwise(marks) if b.line == a.line + 1]
    if not starts or len(marks) != 2 * len(starts) or starts[0] is not marks[0]:
        raise _wrong(path, 1, "does not begin a scan with its columns and its rows")
    stops = [*(mark.start for mark in starts[1:]), path.stat().st_size]
    return [
        _scan(path, columns, down, stop, choices)
        for columns, down, stop in zip(starts, marks[1::2], stops, strict=True)
    ]


def _wrong(path: Path, line: int, problem: str) -> ScanFileError:
    return ScanFileError(
        Fault.FORMAT, path, f"line {line} {problem}", "export the scan as PTX again"
    )


def _scan(
    path: Path, columns: Count, down: Count, stop: int, choices: Choices
) -> Source:
    pose = _pose(path, columns)
    skip = len(WIDTHS) - 2
    cells = columns.value * down.value
    blocks = rows.points(
        path, Layout(), choices, offset=down.end, stop=stop, skip=skip,
        first=down.line + 1,
    )  # fmt: skip
    held = (stop - down.end) // 6 + 1  # "0 0 0\n"
    x, y, z = (float(value) for value in pose[3])
    return Source(
        "ptx",
        _placed(rows.promised(path, blocks, cells, choices), pose),
        held if choices.salvage else min(held, cells),
        cells,
        viewpoint=(x, y, z),
        gaps=True,
    )


def _pose(path: Path, start: Count) -> Floats:
    """(4, 3): a rotation over a translation; points are rows to its left."""
    head = rows.head(path, len(WIDTHS), start.start)
    if not begins([*head, ""]):
        raise _wrong(path, start.line, "does not begin the ten lines of a scan")
    matrix = np.array([line.split() for line in head[6:]], dtype=np.float64)
    rotation = matrix[:3, :3]
    wrong = np.abs(rotation @ rotation.T - np.eye(3)).max()
    ends = np.array_equal(matrix[:, 3], [0.0, 0.0, 0.0, 1.0])
    if not (wrong < RIGID and ends and np.linalg.det(rotation) > 0):
        raise _wrong(path, start.line + 6, "begins a matrix that is no rigid motion")
    return matrix[:, :3]


def _placed(blocks: Iterator[Floats], pose: Floats) -> Iterator[Floats]:
    for block in blocks:
        hit = block[block.any(axis=1)]
        yield hit @ pose[:3] + pose[3]
