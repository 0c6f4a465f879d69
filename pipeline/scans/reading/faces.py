"""The triangles of mesh files; polygons are cut into fans."""

from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.scans.reading import rows
from pipeline.scans.reading.source import Choices, Fault, ScanFileError, shown
from sim.arrays import Ints

CORNERS = ("vertex_indices", "vertex_index")


class List(NamedTuple):
    """A list property of a PLY file."""

    name: str
    place: int  # how many scalar properties come before it
    length: str  # numpy types
    item: str


class FaceProperties(NamedTuple):
    """What a face of a PLY file is made of."""

    kinds: tuple[str, ...]  # numpy types of its scalar properties
    lists: tuple[List, ...]  # one of them of corners, others as of texture

    @property
    def fields(self) -> list["str | List"]:
        """Scalars and lists as they follow each other."""
        found: list[str | List] = []
        for k, kind in enumerate((*self.kinds, "")):
            found += [one for one in self.lists if one.place == k]
            found += [kind] if kind else []
        return found

    def ordered(self, order: str) -> "FaceProperties":
        """The same with the byte order."""
        lists = (
            one._replace(length=order + one.length, item=order + one.item)
            for one in self.lists
        )
        return FaceProperties(tuple(order + kind for kind in self.kinds), tuple(lists))


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
    path: Path, offset: int, skip: int, count: int, row: FaceProperties, salvage: bool
) -> Ints:
    """Of the ascii lines after `skip` others."""
    found: list[tuple[int, int, int]] = []
    read = 0
    for block in rows.blocks(path, offset):
        lines = [line for line in block.lines if line.strip()]
        for line in lines[skip : skip + count - read]:
            corners = _corners_of(line.split(), row)
            if corners is None and not salvage:
                raise _no_face(path, f"face {read}", line)
            found += _fan(corners or [])
            read += 1
        skip = max(skip - len(lines), 0)
    _check_count(path, read, count, salvage)
    return _array(found)


def _corners_of(words: list[str], row: FaceProperties) -> list[int] | None:
    """Of one line; None where it ends before them, or holds other things."""
    at = 0
    try:
        for field in row.fields:
            many = int(words[at]) if isinstance(field, List) else 0
            if isinstance(field, List) and field.name in CORNERS:
                corners = [int(word) for word in words[at + 1 : at + 1 + many]]
                return corners if len(corners) == many else None
            at += 1 + many
    except (ValueError, IndexError):
        pass
    return None


def of_records(
    path: Path, offset: int, count: int, row: FaceProperties, salvage: bool
) -> Ints:
    """Of the binary records from `offset` on."""
    data = np.fromfile(path, np.uint8, offset=offset)
    record = _record(data, row)
    if record is not None:
        held = min(len(data) // record.itemsize, count)
        found = data[: held * record.itemsize].view(record)
        lengths = [name for name in record.names or () if name.startswith("length ")]
        if held == count and all((found[n] == found[n][0]).all() for n in lengths):
            corners = next(name for name in CORNERS if name in (record.names or ()))
            return _fans(found[corners].astype(np.int64))
    return _one_by_one(path, data.tobytes(), count, row, salvage)


MOST_SIDES = 64  # of a polygon


def _record(data: NDArray[np.uint8], row: FaceProperties) -> np.dtype[Any] | None:
    """A face with lists as long as those of the first; None where that is none."""
    fields: list[Any] = []
    for k, field in enumerate(row.fields):
        if isinstance(field, str):
            fields.append((f"other {k}", field))
            continue
        at, size = np.dtype(fields).itemsize, np.dtype(field.length).itemsize
        if len(data) < at + size:
            return None
        many = int(data[at : at + size].view(field.length)[0])
        least = 3 if field.name in CORNERS else 0
        if not least <= many <= 2 * MOST_SIDES:
            return None
        name = field.name if field.name in CORNERS else f"items {k}"
        fields += [(f"length {k}", field.length), (name, field.item, (many,))]
    return np.dtype(fields)


def _one_by_one(
    path: Path, data: bytes, count: int, row: FaceProperties, salvage: bool
) -> Ints:
    """Faces of different numbers of sides."""
    fields = [
        (
            np.dtype(field if isinstance(field, str) else field.length),
            None if isinstance(field, str) else np.dtype(field.item),
            isinstance(field, List) and field.name in CORNERS,
        )
        for field in row.fields
    ]
    found: list[tuple[int, int, int]] = []
    at = read = 0
    while read < count:
        corners: list[int] = []
        for first, item, wanted in fields:
            start = at + first.itemsize
            if item is not None and start <= len(data):
                many = max(int(np.frombuffer(data, first, 1, at)[0]), 0)
                at, start = start, start + many * item.itemsize
                if wanted and start <= len(data):
                    corners = np.frombuffer(data, item, many, at).tolist()
            at = start
        if at > len(data):
            break
        found += _fan(corners)
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
