"""Legacy VTK: points and faces, ascii or binary, versions up to 5.1.

Five parts: a version, a title, ASCII or BINARY (big endian), a DATASET, and sections
that begin with their name and counts. Of PolyData POINTS and POLYGONS are read, of an
UNSTRUCTURED_GRID POINTS and the CELLS that are triangles, polygons or quadrilaterals,
of other data sets POINTS alone. (VTK User's Guide, "VTK File Formats".)
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pipeline.scans.reading import records
from pipeline.scans.reading.faces import MOST_SIDES
from pipeline.scans.reading.source import (
    Choices,
    Fault,
    ScanFileError,
    Source,
    number_of,
    shown,
)
from sim.arrays import Floats, Ints

BEGINS = b"# vtk DataFile Version "
LINE_BYTES = 1 << 12  # of a header line at most
TEXT_BYTES = 1 << 20  # of numbers read at a time
WIDTHS = {"float": ">f4", "double": ">f8"}
SECTIONS = ("VERTICES", "LINES", "POLYGONS", "TRIANGLE_STRIPS", "CELLS")
FACES = (5, 7, 9)  # types of cells: triangle, polygon, quadrilateral
NO_FACES = (0, 1, 2, 3, 4)  # the same: none, vertices and lines
AXES = ("x", "y", "z")
MOST_SKIPPED = 64  # lines of metadata


@dataclass(frozen=True)
class _Opened:
    """What the lines before the points say.

    Parameters
    ----------
    offset : of the first point, bytes
    """

    version: float
    binary: bool
    data: str
    count: int
    kind: str
    offset: int
    title: str


def read(path: Path, size: int, choices: Choices) -> Source:
    """Points of a legacy file; with polygons or cells that are faces, a mesh."""
    said = _header(path)
    if said.binary:
        record = np.dtype([(axis, WIDTHS[said.kind]) for axis in AXES])
        held = records.whole_records(
            path, size - said.offset, record.itemsize, said.count, choices
        )
        blocks = records.blocks(path, said.offset, record, held, AXES)
    else:
        held = records.whole_records(
            path, size - said.offset + 1, 6, said.count, choices
        )
        blocks = _ascii(path, said, held, choices)
    return Source(
        f"vtk {'binary' if said.binary else 'ascii'}",
        blocks,
        held,
        said.count,
        (said.title,),
        faces=(lambda: _faces(path, size, said, choices))
        if said.data in ("POLYDATA", "UNSTRUCTURED_GRID")
        else None,
    )


def _wrong(path: Path, problem: str) -> ScanFileError:
    return ScanFileError(
        Fault.FORMAT, path, problem, "write it as legacy VTK (.vtk), or as PLY"
    )


def _line(file: BinaryIO) -> str:
    """The next line that is not blank; "" at the end."""
    while line := file.readline(LINE_BYTES):
        if line.strip():
            return line.decode("latin-1").strip()
    return ""


def _header(path: Path) -> _Opened:
    with path.open("rb") as file:
        begins = file.readline(LINE_BYTES)
        if not begins.startswith(BEGINS):
            raise _wrong(path, f"begins with {shown(begins[:40].decode('latin-1'))}")
        try:
            version = float(begins[len(BEGINS) :])
        except ValueError:
            version = 0.0
        title = file.readline(LINE_BYTES).decode("latin-1").strip()
        kind, data = _line(file).upper(), _line(file).upper().split()
        if kind not in ("ASCII", "BINARY") or data[:1] != ["DATASET"]:
            raise _wrong(path, "has no ASCII or BINARY and no DATASET after its title")
        words = _line(file).split()
        for _ in range(MOST_SKIPPED):  # of a grid, its dimensions
            if words[:1] == ["POINTS"] or not words:
                break
            words = _line(file).split()
        if len(words) != 3 or words[0] != "POINTS" or words[2] not in WIDTHS:
            raise _wrong(path, f"has {shown(' '.join(words))} where POINTS should be")
        count = number_of(words[1], path, "POINTS")
        return _Opened(
            version, kind == "BINARY", data[-1], count, words[2], file.tell(), title
        )


def _ascii(path: Path, said: _Opened, held: int, choices: Choices) -> Iterator[Floats]:
    """Points of numbers that stand as many on a line as the writer liked."""
    left = 3 * held
    kept = np.empty(0)
    with path.open("rb") as file:
        file.seek(said.offset)
        while left:
            found_here = numbers(file, left)
            left -= len(found_here)
            kept = np.concatenate([kept, found_here])
            whole = len(kept) - len(kept) % 3
            if whole:
                yield kept[:whole].reshape(-1, 3)
            kept = kept[whole:]
            if not len(found_here):
                break
    found = said.count - (left + 2) // 3
    if left and not choices.salvage:
        raise ScanFileError(
            Fault.TRUNCATED,
            path,
            f"the header promises {said.count} vertices, the file holds {found} of "
            "them",
            "export the scan again, or keep the good ones with --salvage",
        )


def numbers(file: BinaryIO, most: int) -> Floats:
    """Up to `most` of the next numbers of text; none where something else stands."""
    start = file.tell()
    data = file.read(TEXT_BYTES)
    cut = max(data.rfind(b" "), data.rfind(b"\n"))
    if cut >= 0 and len(data) == TEXT_BYTES:
        data = data[:cut]
    words = data.split(None, most)[:most]
    found = []
    for word in words:
        try:
            found.append(np.nan if b"_" in word else float(word))
        except ValueError:
            break
    whole = len(words) < most and len(found) == len(words)
    rest = [] if whole else data.split(None, len(found))[len(found) :]
    file.seek(start + len(data) - sum(map(len, rest)))
    return np.array(found)


def _faces(path: Path, size: int, said: _Opened, choices: Choices) -> Ints:
    """(m, 3) triangles of the polygons; none where there are none."""
    try:
        return _polygons(path, size, said)
    except (ValueError, IndexError) as error:
        if choices.salvage:
            return np.empty((0, 3), np.int64)
        raise _wrong(path, f"has faces that cannot be read ({error})") from error


def _polygons(path: Path, size: int, said: _Opened) -> Ints:
    with path.open("rb") as file:
        file.seek(said.offset)
        _taken(file, 3 * said.count, WIDTHS[said.kind], said, size)
        while words := _line(file).split():
            if words[0] == "METADATA":
                while file.readline(LINE_BYTES).strip():
                    pass
                continue
            if words[0] not in SECTIONS or len(words) != 3:
                break
            cells, corners = _cells(file, int(words[1]), int(words[2]), said, size)
            if words[0] == "CELLS":
                kinds = _kinds(file, len(cells) - 1, said, size)
                return fans(cells, corners, kinds)
            if words[0] == "POLYGONS":
                return fans(cells, corners)
    return np.empty((0, 3), np.int64)


def _cells(
    file: BinaryIO, first: int, second: int, said: _Opened, size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each cell begins and the last ends (m + 1,), and all corners."""
    if said.version >= 5:
        parts = []
        for count in (first, second):
            word = _line(file).split()[1]
            kind = ">i8" if word.endswith("64") else ">i4"
            parts.append(indices(_taken(file, count, kind, said, size)))
        return parts[0], parts[1]
    flat = indices(_taken(file, second, ">i4", said, size))
    starts, at = [0], 0
    for _ in range(first):
        at += 1 + int(flat[at])
        starts.append(at)
    bounds = np.array(starts)
    if at != second or (np.diff(bounds) < 1).any():
        raise ValueError(f"{first} cells do not fill {second} numbers")
    corners = np.delete(flat, bounds[:-1])
    return bounds - np.arange(first + 1), corners


def _kinds(file: BinaryIO, count: int, said: _Opened, size: int) -> Ints:
    """(m,) types of the cells."""
    if _line(file).split() != ["CELL_TYPES", str(count)]:
        raise ValueError(f"no CELL_TYPES of {count} cells follow")
    return indices(_taken(file, count, ">i4", said, size))


def indices(numbers: NDArray[Any]) -> Ints:
    """The same numbers; raises ValueError for one that is no index."""
    wrong = (numbers != np.rint(numbers)) | (np.abs(numbers) > 2.0**53)
    if wrong.any():
        raise ValueError(f"{numbers[wrong][0]:g} is no index")
    return numbers.astype(np.int64)


def _taken(
    file: BinaryIO, count: int, kind: str, said: _Opened, size: int
) -> NDArray[np.float64]:
    """The next `count` numbers."""
    width = np.dtype(kind).itemsize if said.binary else 2
    if not 0 <= count * width <= size - file.tell() + 1:
        raise ValueError(f"{count} numbers are promised")
    if said.binary:
        return np.fromfile(file, kind, count).astype(np.float64)
    parts: list[Floats] = []
    while (left := count - sum(map(len, parts))) > 0:
        parts.append(numbers(file, left))
        if not len(parts[-1]):
            raise ValueError(f"{left} of {count} numbers are missing")
    return np.concatenate([np.empty(0), *parts])


def fans(
    bounds: NDArray[np.int64],
    corners: NDArray[np.int64],
    kinds: NDArray[np.int64] | None = None,
) -> Ints:
    """Polygons as triangles (t, 3).

    Raises ValueError where corners lead nowhere or a cell is no face, vertex or line.

    Parameters
    ----------
    bounds : (m + 1,) where each polygon begins, and the last one ends
    corners : of all polygons
    kinds : (m,) VTK's types of cells; None where all are polygons
    """
    sides = np.diff(bounds)
    if kinds is not None:
        strange = sorted(set(kinds.tolist()) - {*FACES, *NO_FACES})
        if strange or len(kinds) != len(sides):
            raise ValueError(
                f"cells of type {strange or '?'}: in ParaView, Extract Surface and "
                "Triangulate leave triangles"
            )
        sides = np.where(np.isin(kinds, FACES), sides, 0)
    if (sides < 0).any() or (bounds < 0).any() or (bounds > len(corners)).any():
        raise ValueError("offsets that lead nowhere")
    if (sides > MOST_SIDES).any():
        raise ValueError(f"one of {sides.max()} sides, {MOST_SIDES} are read")
    found = [np.empty((0, 3), np.int64)]
    for many in np.unique(sides[sides >= 3]).tolist():
        at = bounds[:-1][sides == many]
        for k in range(1, many - 1):
            found.append(np.column_stack([corners[at + j] for j in (0, k, k + 1)]))
    return np.concatenate(found)
