"""PLY: ascii and binary of either byte order, with any extra properties, and faces."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.io import block_reader
from pipeline.io.block_reader import AXES
from pipeline.io.reader_interface import ScanFile, ScanFileError, Source, shown
from sim.core.arrays import Floats, Ints

MAGIC = b"ply"
HEADER_BYTES = 1 << 20  # a longer header is no header
TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1",
    "short": "i2", "int16": "i2", "ushort": "u2", "uint16": "u2",
    "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4",
    "float": "f4", "float32": "f4", "double": "f8", "float64": "f8",
}  # fmt: skip
BYTE_ORDER = {"binary_little_endian": "<", "binary_big_endian": ">", "ascii": "="}
CORNERS = ("vertex_indices", "vertex_index")
MOST_SIDES = 64  # of a polygon


class Property(NamedTuple):
    """A number of a record, or a list of numbers after its length.

    Attributes
    ----------
    kind, length : numpy types of a number and of a list's length, "" for a number
    """

    name: str
    kind: str
    length: str = ""


@dataclass
class _Element:
    name: str
    count: int
    properties: list[Property] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return [one.name for one in self.properties]

    @property
    def has_lists(self) -> bool:
        return any(one.length for one in self.properties)

    def record(self, order: str) -> np.dtype[np.void]:
        """Of an element without lists."""
        return np.dtype([(one.name, order + one.kind) for one in self.properties])


@dataclass
class _Header:
    format: str = ""
    elements: list[_Element] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    lines: int = 0
    bytes: int = 0


def read_ply(file: ScanFile) -> Source:
    """Points of the vertex element."""
    header = _header(file)
    before, vertex, after = _around_vertices(file, header.elements)
    order, skip = BYTE_ORDER[header.format], sum(one.count for one in before)
    start = header.bytes
    blocks: Iterator[Floats]
    if header.format == "ascii":
        shortest = 2 * len(vertex.names)  # a digit and a separator a number
        count = file.whole_records(start + 2 * skip - 1, shortest, vertex.count)
        x, y, z = (vertex.names.index(axis) for axis in AXES)
        blocks = block_reader.points(
            file, block_reader.Layout(columns=(x, y, z)), offset=start, skip=skip,
            first=header.lines + 1, limit=count,
        )  # fmt: skip
        blocks = block_reader.promised(file, blocks, vertex.count)
    else:
        start += sum(one.count * one.record(order).itemsize for one in before)
        record = _vertex_record(file, start, order, vertex)
        count = file.whole_records(start, record.itemsize, vertex.count)
        blocks = block_reader.record_blocks(file.path, start, record, count)
        start += vertex.count * record.itemsize
    triangles: Callable[[], Ints] | None = None
    face = after[0] if after and count == vertex.count else None
    if face is not None and face.name == "face" and face.count:
        if sum(one.name in CORNERS for one in face.properties if one.length) != 1:
            raise _wrong(file, "its faces must have exactly one list of vertices")
        if header.format == "ascii":
            skip += vertex.count
            triangles = partial(_text_triangles, file, start, skip, face)
        else:
            triangles = partial(_record_triangles, file, start, order, face)
    comments = tuple(header.comments)
    return Source(
        f"ply {header.format}", blocks, count, vertex.count, comments, faces=triangles
    )


AGAIN = "is it a PLY point cloud? export it again"
FIRST = "export it with the vertices first, and their x, y and z first"


def _wrong(file: ScanFile, problem: str, remedy: str = AGAIN) -> ScanFileError:
    return file.refused("FORMAT", problem, remedy)


def _header(of: ScanFile) -> _Header:
    header = _Header()
    with of.path.open("rb") as file:
        if file.readline(8).strip() != MAGIC:
            file.seek(0)
            start = file.read(8)
            raise _wrong(of, f"begins with {start!r} at offset 0, not with 'ply'")
        header.lines = 1
        while True:
            line = file.readline(HEADER_BYTES)
            header.lines += 1
            if not line.endswith(b"\n") or file.tell() > HEADER_BYTES:
                raise _wrong(of, f"has no end_header before offset {file.tell()}")
            text = line.decode("latin-1").strip()
            if text == "end_header":
                break
            _header_line(of, header, text)
        header.bytes = file.tell()
    if not header.format:
        raise _wrong(of, "its header has no format line")
    return header


def _header_line(file: ScanFile, header: _Header, text: str) -> None:
    known = header.elements[-1].properties if header.elements else None
    match text.split():
        case []:
            return
        case ["comment" | "obj_info", *_]:
            header.comments.append(text.partition(" ")[2])
        case ["format", name, _] if name in BYTE_ORDER and not header.format:
            header.format = name
        case ["element", name, count]:
            what = f"the count of element {shown(name)}"
            header.elements.append(_Element(name, file.number_of(count, what)))
        case ["property", "list", length, kind, name] if (
            known is not None and length in TYPES and kind in TYPES
        ):
            known.append(Property(name, TYPES[kind], TYPES[length]))
        case ["property", kind, name] if (
            known is not None
            and kind in TYPES
            and (name := _lower_axis(name)) not in header.elements[-1].names
        ):
            known.append(Property(name, TYPES[kind]))
        case _:
            raise _wrong(file, f"header line {header.lines} is wrong: {shown(text)}")


def _lower_axis(name: str) -> str:
    """X, Y and Z are x, y and z."""
    return name.lower() if name.lower() in AXES else name


def _around_vertices(
    file: ScanFile, elements: list[_Element]
) -> tuple[list[_Element], _Element, list[_Element]]:
    """What is stored before the vertices, they themselves, and what follows."""
    names = [element.name for element in elements]
    if names.count("vertex") != 1:
        raise _wrong(file, f"has {names.count('vertex')} vertex elements, not one")
    at = names.index("vertex")
    missing = [axis for axis in AXES if axis not in elements[at].names]
    if missing:
        raise _wrong(file, f"its vertices have no property {', '.join(missing)}")
    if any(element.has_lists for element in elements[:at]):
        raise _wrong(file, "stores lists, such as faces, before its vertices", FIRST)
    lists = [k for k, one in enumerate(elements[at].properties) if one.length]
    if lists and lists[0] < max(map(elements[at].names.index, AXES)):
        raise _wrong(file, "its vertices have a list before x, y or z", FIRST)
    return elements[:at], elements[at], elements[at + 1 :]


def _vertex_record(
    file: ScanFile, start: int, order: str, vertex: _Element
) -> np.dtype[np.void]:
    """Of one vertex; lists among its properties must all be as long as the first."""
    if not vertex.has_lists:
        return vertex.record(order)
    data = np.fromfile(file.path, np.uint8, offset=start)
    record = _like_the_first(data, order, vertex)
    if record is not None and _all_alike(data, record, vertex.count):
        return record
    raise _wrong(
        file, "its vertices have lists of different lengths",
        "export it as ascii PLY, or without these lists",
    )  # fmt: skip


def _all_alike(data: NDArray[np.uint8], record: np.dtype[Any], count: int) -> bool:
    """Whether there are so many records, and all their lists as long as the first."""
    if len(data) < record.itemsize * count:
        return False
    found = data[: count * record.itemsize].view(record)
    lengths = [name for name in record.names or () if name.startswith("length ")]
    return all((found[name] == found[name][0]).all() for name in lengths)


def _text_triangles(file: ScanFile, offset: int, skip: int, face: _Element) -> Ints:
    """Of the ascii lines after `skip` others."""
    found: list[tuple[int, int, int]] = []
    read = 0
    for block in block_reader.text_blocks(file, offset):
        lines = [line for line in block.lines if line.strip()]
        for line in lines[skip : skip + face.count - read]:
            corners = _corners_of(line.split(), face)
            if corners is None and not file.salvage:
                raise no_face(file, f"face {read}", line)
            found += fan(corners or [])
            read += 1
        skip = max(skip - len(lines), 0)
    return _counted(file, found, read, face.count)


def _corners_of(words: list[str], face: _Element) -> list[int] | None:
    """Of one line; None where it ends before them, or holds other things."""
    at = 0
    with suppress(ValueError, IndexError):
        for one in face.properties:
            many = int(words[at]) if one.length else 0
            if one.length and one.name in CORNERS:
                corners = [int(word) for word in words[at + 1 : at + 1 + many]]
                return corners if len(corners) == many else None
            at += 1 + many
    return None


def _record_triangles(file: ScanFile, offset: int, order: str, face: _Element) -> Ints:
    """Of the binary records from `offset` on."""
    data = np.fromfile(file.path, np.uint8, offset=offset)
    record = _like_the_first(data, order, face)
    if record is not None and _all_alike(data, record, face.count):
        found = data[: face.count * record.itemsize].view(record)
        corners = found["corners"].astype(np.int64)
        sides = range(1, corners.shape[1] - 1)
        return np.concatenate([corners[:, [0, k, k + 1]] for k in sides])
    return _one_by_one(file, data.tobytes(), order, face)


def _like_the_first(
    data: NDArray[np.uint8], order: str, face: _Element
) -> np.dtype[Any] | None:
    """A record with lists as long as those of the first; None where that is none."""
    fields: list[Any] = []
    for k, one in enumerate(face.properties):
        if not one.length:
            name = one.name if one.name in AXES else f"other {k}"
            fields.append((name, order + one.kind))
            continue
        at, size = np.dtype(fields).itemsize, np.dtype(one.length).itemsize
        if len(data) < at + size:
            return None
        many = int(data[at : at + size].view(order + one.length)[0])
        least, name = (3, "corners") if one.name in CORNERS else (0, f"items {k}")
        if not least <= many <= 2 * MOST_SIDES:
            return None
        fields.append((f"length {k}", order + one.length))
        fields.append((name, order + one.kind, (many,)))
    return np.dtype(fields)


def _one_by_one(file: ScanFile, data: bytes, order: str, face: _Element) -> Ints:
    """Faces of different numbers of sides."""
    found: list[tuple[int, int, int]] = []
    at = read = 0
    while read < face.count:
        corners: list[int] = []
        for one in face.properties:
            many, width = 1, np.dtype(one.kind).itemsize
            if one.length and at < len(data):
                size = np.dtype(one.length).itemsize
                length = np.frombuffer(
                    data[at : at + size].ljust(size, b"\0"), order + one.length
                )
                many, at = max(int(length[0]), 0), at + size
            end = at + many * width
            if one.length and one.name in CORNERS and end <= len(data):
                corners = np.frombuffer(data[at:end], order + one.kind).tolist()
            at = end
        if at > len(data):
            break
        found += fan(corners)
        read += 1
    return _counted(file, found, read, face.count)


def _counted(
    file: ScanFile, found: list[tuple[int, int, int]], read: int, count: int
) -> Ints:
    """The triangles as an array; refused where faces are missing."""
    if read < count and not file.salvage:
        raise file.cut_short(count, "faces", read)
    return array_of(found)


def no_face(file: ScanFile, where: str, line: str) -> ScanFileError:
    """A line of a face that holds none."""
    problem = f"{where} is not a face: {shown(line)}"
    remedy = "export the mesh again, or keep the good faces with --salvage"
    return file.refused("FORMAT", problem, remedy)


def fan(corners: list[int]) -> list[tuple[int, int, int]]:
    """A polygon as triangles."""
    return [(corners[0], a, b) for a, b in pairwise(corners[1:])]


def array_of(triangles: list[tuple[int, int, int]]) -> Ints:
    """(m, 3)."""
    return np.array(triangles, dtype=np.int64).reshape(-1, 3)
