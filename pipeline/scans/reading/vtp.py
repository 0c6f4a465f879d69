"""XML VTK: points and faces of PolyData or an UnstructuredGrid.

Arrays stand as text, in base64, or appended, and say their type and form. Binary ones
begin with their length in bytes, packed ones with the number of blocks, the size of a
block unpacked, that of the last (0 if it is whole), and the size of each packed; in
base64 the sizes of packed blocks are a code word of their own. Appended data follow an
underscore, at the offset that the array says. (Kitware,
VTK File Formats, "XML File Formats".)
"""

import base64
import io
import lzma
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import NDArray

from pipeline.scans.memory import available_bytes
from pipeline.scans.reading.source import (
    Choices,
    Fault,
    ScanFileError,
    Source,
    number_of,
    shown,
)
from pipeline.scans.reading.vtk import fans, indices, numbers
from sim.arrays import Floats, Ints

TYPES = {
    "Float32": "f4", "Float64": "f8", "Int8": "i1", "UInt8": "u1", "Int16": "i2",
    "UInt16": "u2", "Int32": "i4", "UInt32": "u4", "Int64": "i8", "UInt64": "u8",
}  # fmt: skip
PACKERS = {
    "": None,
    "vtkZLibDataCompressor": zlib.decompressobj,
    "vtkLZMADataCompressor": lzma.LZMADecompressor,
}
ORDERS = {"LittleEndian": "<", "BigEndian": ">"}
MOST_PACKED = 20  # numbers that a byte of a packed file holds at most
ROOM = 5  # times its size that the text of a file takes
BYTES_A_NUMBER = 24  # that reading takes
BLANKS = b" \t\r\n"
CELLS = {  # where cells stand, and what says how many
    "PolyData": ("Polys", "NumberOfPolys"),
    "UnstructuredGrid": ("Cells", "NumberOfCells"),
}
ENDED = (3, 5)  # codes of expat: no element found, unclosed token


@dataclass(frozen=True, eq=False)
class _Envelope:
    """What stands around the arrays.

    Parameters
    ----------
    appended : what follows the underscore, and whether it is base64
    """

    path: Path
    size: int
    kind: str
    pieces: list[ET.Element]
    order: str
    word: np.dtype[Any]
    packer: str
    appended: tuple[bytes, bool]


def read(path: Path, size: int, choices: Choices) -> Source:
    """Points of a file; with polygons or cells that are faces, a mesh."""
    said = _opened(path, size)
    counts = [_count(said, piece, "NumberOfPoints") for piece in said.pieces]
    polygons = any(_count(said, piece, CELLS[said.kind][1]) for piece in said.pieces)
    promised = sum(counts)
    if promised == 0:
        raise ScanFileError(
            Fault.EMPTY, path, "its pieces promise 0 points", "export the scan again"
        )
    _check_held(said, 3 * promised)
    return Source(
        "vtp" if said.kind == "PolyData" else "vtu",
        _points(said, counts, choices),
        promised,
        promised,
        faces=(lambda: _faces(said, counts, choices)) if polygons else None,
    )


def _opened(path: Path, size: int) -> _Envelope:
    _check_room(path, ROOM * size)
    head, mark, rest = path.read_bytes().partition(b"<AppendedData")
    root = _root(path, head + b"</VTKFile>" * bool(mark))
    kind = root.get("type", "")
    if root.tag != "VTKFile" or kind not in CELLS:
        what = f"holds {shown(kind or root.tag)}, and {' or '.join(CELLS)} is read"
        raise _wrong(path, what)
    order = ORDERS.get(root.get("byte_order", "LittleEndian"))
    word = TYPES.get(root.get("header_type", "UInt32"), "")
    if order is None or word not in ("u4", "u8"):
        raise _wrong(path, "says no byte order or no size of its headers")
    packer = root.get("compressor", "")
    if packer not in PACKERS:
        raise _wrong(path, f"is packed by {shown(packer)}; zlib and lzma are read")
    start, _, payload = rest.partition(b">")
    coded = b"base64" in start
    payload = payload.partition(b"_")[2]
    if coded:
        payload = payload.partition(b"<")[0].translate(None, BLANKS)
    pieces = root.findall(f"{kind}/Piece")
    dtype = np.dtype(order + word)
    return _Envelope(path, size, kind, pieces, order, dtype, packer, (payload, coded))


def _root(path: Path, text: bytes) -> ET.Element:
    """The elements before the appended data; entities are none of VTK's."""
    if re.search(rb"<!(DOCTYPE|ENTITY)", text):
        raise _wrong(path, "declares entities, as no VTK file does")
    try:
        return ET.fromstring(text)
    except ET.ParseError as error:
        raise ScanFileError(
            Fault.TRUNCATED if error.code in ENDED else Fault.FORMAT,
            path,
            f"is no whole XML ({error})",
            "copy the file again, or export it again",
        ) from error


def _wrong(path: Path, problem: str) -> ScanFileError:
    return ScanFileError(
        Fault.FORMAT, path, problem, "write it as VTK PolyData (.vtp), or as PLY"
    )


def _count(said: _Envelope, piece: ET.Element, name: str) -> int:
    return number_of(piece.get(name, "0"), said.path, name)


def _check_held(said: _Envelope, promised: int) -> None:
    """Refuse what promises more numbers than the file can hold, packed or not."""
    if promised > said.size * (MOST_PACKED if said.packer else 1):
        raise ScanFileError(
            Fault.TRUNCATED,
            said.path,
            f"promises {promised} numbers in {said.size} bytes",
            "copy the file again, or export it again",
        )
    _check_room(said.path, BYTES_A_NUMBER * promised)


def _check_room(path: Path, need: int) -> None:
    there = available_bytes()
    if need > there:
        raise ScanFileError(
            Fault.MEMORY,
            path,
            f"reading it takes {need / 1e9:.1f} GB, {there / 1e9:.1f} GB are free",
            "export it as binary PLY, or use a larger machine",
        )


def _points(said: _Envelope, counts: list[int], choices: Choices) -> Iterator[Floats]:
    for piece, count in zip(said.pieces, counts, strict=True):
        array = piece.find("Points/DataArray")
        if array is None or array.get("NumberOfComponents") != "3":
            raise _wrong(said.path, "has a piece without an array of three coordinates")
        try:
            found = _numbers(said, array, 3 * count).astype(np.float64)
        except (ValueError, zlib.error, lzma.LZMAError) as error:
            raise _wrong(said.path, f"has points that are no numbers ({error})") from (
                error
            )
        whole = len(found) // 3
        if whole < count and not choices.salvage:
            raise ScanFileError(
                Fault.TRUNCATED,
                said.path,
                f"a piece promises {count} points, the file holds {whole} of them",
                "export the scan again, or keep the good ones with --salvage",
            )
        yield found[: 3 * whole].reshape(-1, 3)


def _faces(said: _Envelope, counts: list[int], choices: Choices) -> Ints:
    """(m, 3) triangles of the polygons of all pieces; none where there are none."""
    found, before = [np.empty((0, 3), np.int64)], 0
    try:
        for piece, count in zip(said.pieces, counts, strict=True):
            found.append(_polygons(said, piece) + before)
            before += count
    except (ValueError, IndexError, zlib.error, lzma.LZMAError) as error:
        if choices.salvage:
            return found[0]
        raise _wrong(said.path, f"has faces that cannot be read ({error})") from error
    return np.concatenate(found)


def _polygons(said: _Envelope, piece: ET.Element) -> Ints:
    where, counted = CELLS[said.kind]
    many = _count(said, piece, counted)
    _check_held(said, many)
    arrays = {a.get("Name"): a for a in piece.findall(f"{where}/DataArray")}
    if not many:
        return np.empty((0, 3), np.int64)
    wanted = ["offsets", "connectivity", "types"][: 2 + (where == "Cells")]
    if not arrays.keys() >= set(wanted):
        raise ValueError(f"{', '.join(wanted)} are not all there")
    ends = indices(_numbers(said, arrays["offsets"], many))
    if len(ends) < many or (ends < 0).any():
        raise ValueError(f"{many} offsets are promised")
    _check_held(said, int(ends[-1]))
    corners = indices(_numbers(said, arrays["connectivity"], int(ends[-1])))
    kinds = None
    if where == "Cells":
        kinds = indices(_numbers(said, arrays["types"], many))
    return fans(np.insert(ends, 0, 0), corners, kinds)


def _numbers(said: _Envelope, array: ET.Element, count: int) -> NDArray[Any]:
    """The numbers of an array, `count` or fewer."""
    form = array.get("format", "ascii")
    if form == "ascii":
        return _written(array.text or "", count)
    kind = np.dtype(said.order + TYPES.get(array.get("type", ""), "V"))
    if kind.kind == "V":
        raise ValueError(f"type {shown(str(array.get('type')))}")
    if form == "binary":
        coded = (array.text or "").encode("ascii", "replace").translate(None, BLANKS)
        held = _content(said, coded, True, count * kind.itemsize)
    elif form == "appended":
        data, is_coded = said.appended
        at = number_of(array.get("offset", ""), said.path, "an offset")
        held = _content(said, memoryview(data)[at:], is_coded, count * kind.itemsize)
    else:
        raise ValueError(f"format {shown(form)}")
    return np.frombuffer(held, kind, len(held) // kind.itemsize)


def _written(text: str, count: int) -> Floats:
    """Of text, up to the first word that is no number."""
    parts, left = [np.empty(0)], count
    file = io.BytesIO(text.encode("ascii", "replace"))
    while left > 0:
        parts.append(numbers(file, left))
        left -= len(parts[-1])
        if not len(parts[-1]):
            break
    return np.concatenate(parts)


def _content(
    said: _Envelope, data: bytes | memoryview, coded: bool, expected: int
) -> bytes:
    """The bytes of a binary array, `expected` or fewer."""
    width = said.word.itemsize
    first = _taken(data, width, coded)
    if len(first) < width:
        return b""
    many = int(np.frombuffer(first, said.word)[0])
    if PACKERS[said.packer] is None:
        if many != expected:
            raise ValueError(f"{many} bytes are said, {expected} are promised")
        beyond = _end(width, coded)
        if coded and bytes(data[:beyond]).endswith(b"="):  # a code word of its own
            return _taken(data[beyond:], many, coded)
        return _taken(data, width + many, coded)[width:]
    if many > len(data):
        raise ValueError(f"{many} blocks are said")
    head = _taken(data, width * (3 + many), coded)
    if len(head) < width * (3 + many):
        return b""
    sizes = np.frombuffer(head, said.word).tolist()
    data = data[_end(width * (3 + many), coded) :]
    return _unpacked(said, _taken(data, sum(sizes[3:]), coded), sizes, expected)


def _unpacked(said: _Envelope, data: bytes, sizes: list[int], expected: int) -> bytes:
    """Blocks one after the other, none larger than its header says."""
    many, each, last = sizes[:3]
    whole = [each] * many
    if many and last:
        whole[-1] = last
    if sum(whole) != expected:
        raise ValueError(f"{sum(whole)} bytes are said, {expected} are promised")
    found, at = [], 0
    for size, packed in zip(whole, sizes[3:], strict=True):
        unpacker = PACKERS[said.packer]
        if not size or unpacker is None or at >= len(data):
            break
        found.append(unpacker().decompress(data[at : at + packed], size))
        at += packed
    return b"".join(found)


def _taken(data: bytes | memoryview, count: int, coded: bool) -> bytes:
    """The first bytes, fewer where there are fewer."""
    part = bytes(data[: _end(count, coded)])
    return base64.b64decode(part, validate=True)[:count] if coded else part


def _end(count: int, coded: bool) -> int:
    """Where so many bytes end; three of them are four letters."""
    return -(-count // 3) * 4 if coded else count
