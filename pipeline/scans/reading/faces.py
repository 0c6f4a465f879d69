"""The triangles of mesh files; polygons are cut into fans."""

from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.scans.reading import rows
from pipeline.scans.reading.source import Choices, Fault, ScanFileError, shown
from sim.arrays import Ints


class List(NamedTuple):
    """A list property of a PLY file."""

    name: str
    place: int  # how many scalar properties come before it
    length: str  # numpy types
    item: str

    def ordered(self, order: str) -> "List":
        """The same with the byte order."""
        return self._replace(length=order + self.length, item=order + self.item)


def of_obj(path: Path, choices: Choices) -> Ints:
    """Of the `f` lines; a negative corner counts back from the last vertex so far."""
    found: list[tuple[int, int, int]] = []
    vertices, number = 0, 0
    for block in rows.blocks(path):
        for line in block.lines:
            number += 1
            word, _, rest = line.strip().partition(" ")
            vertices += word == "v"
            if word == "f":
                corners = _corners(rest, vertices)
                if corners is not None:
                    found += _fan(corners)
                elif not choices.salvage:
                    raise _no_face(path, f"line {number}", line)
    return _array(found)


def _corners(text: str, vertices: int) -> list[int] | None:
    try:
        given = [int(word.partition("/")[0]) for word in text.split()]
    except ValueError:
        return None
    return [n - 1 if n > 0 else vertices + n for n in given]


def of_text(
    path: Path, offset: int, skip: int, count: int, place: int, salvage: bool
) -> Ints:
    """Of the ascii lines after `skip` others, the list after `place` numbers."""
    found: list[tuple[int, int, int]] = []
    read = 0
    for block in rows.blocks(path, offset):
        lines = [line for line in block.lines if line.strip()]
        for line in lines[skip : skip + count - read]:
            words = line.split()[place:]
            try:
                corners = [int(word) for word in words[1 : 1 + int(words[0])]]
                whole = len(corners) == int(words[0])
            except (ValueError, IndexError):
                whole = False
            if not whole and not salvage:
                raise _no_face(path, f"face {read}", line)
            found += _fan(corners) if whole else []
            read += 1
        skip = max(skip - len(lines), 0)
    _check_count(path, read, count, salvage)
    return _array(found)


def of_records(
    path: Path, offset: int, count: int, kinds: list[str], corners: List, salvage: bool
) -> Ints:
    """Of the binary records from `offset` on: `kinds` of scalars, and one list."""
    data = np.fromfile(path, np.uint8, offset=offset)
    size = np.dtype(corners.length).itemsize
    before = sum(np.dtype(kind).itemsize for kind in kinds[: corners.place])
    if len(data) >= before + size:
        sides = int(data[before : before + size].view(corners.length)[0])
        if 3 <= sides <= MOST_SIDES:
            record = _record(kinds, corners, sides)
            held = min(len(data) // record.itemsize, count)
            found = data[: held * record.itemsize].view(record)
            if held == count and (found["sides"] == sides).all():
                return _fans(found["corners"].astype(np.int64))
    return _one_by_one(path, data.tobytes(), count, kinds, corners, salvage)


MOST_SIDES = 64  # of a polygon


def _record(kinds: list[str], corners: List, sides: int) -> np.dtype[Any]:
    """A face of so many sides."""
    fields: list[Any] = [(f"other{k}", kind) for k, kind in enumerate(kinds)]
    own = [("sides", corners.length), ("corners", corners.item, (sides,))]
    return np.dtype([*fields[: corners.place], *own, *fields[corners.place :]])


def _one_by_one(
    path: Path, data: bytes, count: int, kinds: list[str], corners: List, salvage: bool
) -> Ints:
    """Faces of different numbers of sides."""
    first, item = np.dtype(corners.length), np.dtype(corners.item)
    widths = [np.dtype(kind).itemsize for kind in kinds]
    before, after = sum(widths[: corners.place]), sum(widths[corners.place :])
    found: list[tuple[int, int, int]] = []
    at = read = 0
    while read < count and at + before + first.itemsize <= len(data):
        sides = int(np.frombuffer(data, first, 1, at + before)[0])
        start = at + before + first.itemsize
        at = start + sides * item.itemsize + after
        if sides < 0 or at > len(data):
            break
        found += _fan(np.frombuffer(data, item, sides, start).tolist())
        read += 1
    _check_count(path, read, count, salvage)
    return _array(found)


def _check_count(path: Path, read: int, count: int, salvage: bool) -> None:
    if read < count and not salvage:
        raise ScanFileError(
            Fault.TRUNCATED,
            path,
            f"the header promises {count} faces, the file holds {read} of them",
            "export the mesh again, or keep the good ones with --salvage",
        )


def _no_face(path: Path, where: str, line: str) -> ScanFileError:
    return ScanFileError(
        Fault.FORMAT,
        path,
        f"{where} holds no corners of a face: {shown(line)}",
        "export the mesh again, or keep the good faces with --salvage",
    )


def _fan(corners: list[int]) -> list[tuple[int, int, int]]:
    """A polygon as triangles."""
    return [(corners[0], a, b) for a, b in pairwise(corners[1:])]


def _fans(corners: NDArray[np.int64]) -> Ints:
    """Polygons (m, sides) as triangles ((sides - 2) m, 3)."""
    sides = corners.shape[1]
    cut = [corners[:, [0, k, k + 1]] for k in range(1, sides - 1)]
    return np.concatenate(cut)


def _array(triangles: list[tuple[int, int, int]]) -> Ints:
    return np.array(triangles, dtype=np.int64).reshape(-1, 3)
