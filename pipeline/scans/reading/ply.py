"""PLY: ascii and binary of either byte order, with any extra properties, and faces."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pipeline.scans.reading import faces, records, rows
from pipeline.scans.reading.source import (
    Choices,
    Fault,
    ScanFileError,
    Source,
    number_of,
    shown,
)
from sim.arrays import Floats, Ints

MAGIC = b"ply"
HEADER_BYTES = 1 << 20  # a longer header is no header
TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1",
    "short": "i2", "int16": "i2", "ushort": "u2", "uint16": "u2",
    "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4",
    "float": "f4", "float32": "f4", "double": "f8", "float64": "f8",
}  # fmt: skip
BYTE_ORDER = {"binary_little_endian": "<", "binary_big_endian": ">", "ascii": "="}
AXES = ("x", "y", "z")


@dataclass
class _Element:
    name: str
    count: int
    properties: dict[str, str] = field(default_factory=dict)  # name -> numpy type
    lists: list[faces.List] = field(default_factory=list)


@dataclass
class _Header:
    format: str = ""
    elements: list[_Element] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    lines: int = 0
    bytes: int = 0


def read(path: Path, size: int, choices: Choices) -> Source:
    """Points of the vertex element."""
    header = _header(path)
    vertex, before = _vertex(path, header)
    body = _ascii if header.format == "ascii" else _binary
    blocks, count = body(path, size, header, vertex, before, choices)
    return Source(
        f"ply {header.format}",
        blocks,
        count,
        vertex.count,
        tuple(header.comments),
        faces=_faces(path, header, before, choices) if count == vertex.count else None,
    )


def _faces(
    path: Path, header: _Header, before: list[_Element], choices: Choices
) -> Callable[[], Ints] | None:
    """What reads the faces that follow the vertices, if there are any."""
    skipped = header.elements[: len(before) + 1]
    face = next(iter(header.elements[len(skipped) :]), None)
    if face is None or face.name != "face" or face.count == 0:
        return None
    if sum(one.name in faces.CORNERS for one in face.lists) != 1:
        raise _wrong(path, "its faces have no list of their corners, or several")
    kept = choices.salvage
    row = faces.FaceProperties(tuple(face.properties.values()), tuple(face.lists))
    if header.format == "ascii":
        lines = sum(element.count for element in skipped)
        return lambda: faces.of_text(path, header.bytes, lines, face.count, row, kept)
    order = BYTE_ORDER[header.format]
    offset = header.bytes + sum(e.count * _record(e, order).itemsize for e in skipped)
    return lambda: faces.of_records(path, offset, face.count, row.ordered(order), kept)


def _wrong(path: Path, problem: str) -> ScanFileError:
    return ScanFileError(
        Fault.FORMAT, path, problem, "is it a PLY point cloud? export it again"
    )


def _header(path: Path) -> _Header:
    header = _Header()
    with path.open("rb") as file:
        if file.readline(8).strip() != MAGIC:
            file.seek(0)
            start = file.read(8)
            raise _wrong(path, f"begins with {start!r} at offset 0, not with 'ply'")
        header.lines = 1
        while True:
            line = file.readline(HEADER_BYTES)
            header.lines += 1
            if not line.endswith(b"\n") or file.tell() > HEADER_BYTES:
                raise _wrong(path, f"has no end_header before offset {file.tell()}")
            text = line.decode("latin-1").strip()
            if text == "end_header":
                break
            _header_line(path, header, text)
        header.bytes = file.tell()
    if not header.format:
        raise _wrong(path, "its header has no format line")
    return header


def _header_line(path: Path, header: _Header, text: str) -> None:
    match text.split():
        case []:
            return
        case ["comment" | "obj_info", *_]:
            header.comments.append(text.partition(" ")[2])
        case ["format", name, _] if name in BYTE_ORDER and not header.format:
            header.format = name
        case ["element", name, count]:
            what = f"the count of element {shown(name)}"
            header.elements.append(_Element(name, number_of(count, path, what)))
        case ["property", "list", first, second, name] if (
            header.elements and first in TYPES and second in TYPES
        ):
            last = header.elements[-1]
            last.lists.append(
                faces.List(name, len(last.properties), TYPES[first], TYPES[second])
            )
        case ["property", kind, name] if (
            header.elements
            and kind in TYPES
            and (name := _lower_axis(name)) not in header.elements[-1].properties
        ):
            header.elements[-1].properties[name] = TYPES[kind]
        case _:
            raise _wrong(path, f"header line {header.lines} is {shown(text)}")


def _lower_axis(name: str) -> str:
    """X, Y and Z are x, y and z."""
    return name.lower() if name.lower() in AXES else name


def _vertex(path: Path, header: _Header) -> tuple[_Element, list[_Element]]:
    """The vertex element, and the elements stored before it."""
    names = [element.name for element in header.elements]
    if names.count("vertex") != 1:
        raise _wrong(path, f"has {names.count('vertex')} vertex elements, not one")
    index = names.index("vertex")
    vertex = header.elements[index]
    missing = [axis for axis in AXES if axis not in vertex.properties]
    if missing:
        raise _wrong(path, f"its vertices have no property {', '.join(missing)}")
    if any(element.lists for element in header.elements[: index + 1]):
        raise _wrong(path, "has list properties in or before its vertices")
    if vertex.count == 0:
        raise ScanFileError(
            Fault.EMPTY, path, "the header promises 0 points", "export the scan again"
        )
    return vertex, header.elements[:index]


def _record(element: _Element, order: str) -> np.dtype[np.void]:
    return np.dtype([(n, order + kind) for n, kind in element.properties.items()])


def _binary(
    path: Path,
    size: int,
    header: _Header,
    vertex: _Element,
    before: list[_Element],
    choices: Choices,
) -> tuple[Iterator[Floats], int]:
    order = BYTE_ORDER[header.format]
    skipped = sum(e.count * _record(e, order).itemsize for e in before)
    offset = header.bytes + skipped
    dtype = _record(vertex, order)
    count = records.whole_records(
        path, size - offset, dtype.itemsize, vertex.count, choices
    )
    return records.blocks(path, offset, dtype, count, AXES), count


def _ascii(
    path: Path,
    size: int,
    header: _Header,
    vertex: _Element,
    before: list[_Element],
    choices: Choices,
) -> tuple[Iterator[Floats], int]:
    names = list(vertex.properties)
    shortest = 2 * len(names)  # a digit and a separator a number
    available = size - header.bytes - sum(2 * element.count for element in before) + 1
    count = records.whole_records(path, available, shortest, vertex.count, choices)
    x, y, z = (names.index(axis) for axis in AXES)
    blocks = rows.points(
        path,
        rows.Layout(columns=(x, y, z)),
        choices,
        offset=header.bytes,
        skip=sum(element.count for element in before),
        first=header.lines + 1,
        limit=count,
    )
    return rows.promised(path, blocks, vertex.count, choices), count
