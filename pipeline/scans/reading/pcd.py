"""PCD of the Point Cloud Library: ascii, binary and binary_compressed."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pipeline.scans.reading import lzf, records, rows
from pipeline.scans.reading.source import (
    Choices,
    Fault,
    ScanFileError,
    Source,
    number_of,
    shown,
)
from sim.arrays import Floats

HEADER_BYTES = 1 << 16
KINDS = {"F": "f", "I": "i", "U": "u"}
SIZES = {"F": (4, 8), "I": (1, 2, 4, 8), "U": (1, 2, 4, 8)}
AXES = ("x", "y", "z")


def read(path: Path, size: int, choices: Choices) -> Source:
    """Points of the fields x, y and z."""
    header, offset, length, comments = _header(path)
    count = number_of(header.get("POINTS", [""])[0], path, "POINTS")
    if count == 0:
        raise ScanFileError(
            Fault.EMPTY, path, "the header promises 0 points", "export the scan again"
        )
    dtype = _record(path, header)
    encoding = header["DATA"][0]
    if encoding == "binary":
        held = records.whole_records(
            path, size - offset, dtype.itemsize, count, choices
        )
        blocks = records.blocks(path, offset, dtype, held, AXES)
    elif encoding == "binary_compressed":
        held = count
        lengths = _lengths(path, size, offset, count * dtype.itemsize)
        blocks = _compressed(path, lengths, offset, dtype, count)
    elif encoding == "ascii":
        held = records.whole_records(path, size - offset + 1, 6, count, choices)
        blocks = _ascii(path, header, offset, length, count, choices)
    else:
        raise _wrong(path, f"its DATA is {shown(encoding)}")
    return Source(
        f"pcd {encoding}", blocks, held, count, comments, viewpoint=_viewpoint(header)
    )


def _wrong(path: Path, problem: str) -> ScanFileError:
    return ScanFileError(
        Fault.FORMAT, path, problem, "is it a PCD point cloud? export it again"
    )


def _header(path: Path) -> tuple[dict[str, list[str]], int, int, tuple[str, ...]]:
    """Entries, bytes and lines of the header, and its comments."""
    entries: dict[str, list[str]] = {}
    comments: list[str] = []
    length = 0
    with path.open("rb") as file:
        while "DATA" not in entries:
            line = file.readline(HEADER_BYTES)
            length += 1
            if not line.endswith(b"\n") or file.tell() > HEADER_BYTES:
                raise _wrong(path, f"has no DATA line before offset {file.tell()}")
            text = line.decode("latin-1").strip()
            if text.startswith("#"):
                comments.append(text.lstrip("# "))
            elif text:
                name, *values = text.split()
                if name in entries or not values:
                    raise _wrong(path, f"header line {length} is {shown(text)}")
                entries[name] = values
        return entries, file.tell(), length, tuple(comments)


def _record(path: Path, header: dict[str, list[str]]) -> np.dtype[np.void]:
    names = header.get("FIELDS", [])
    sizes, kinds = header.get("SIZE", []), header.get("TYPE", [])
    counts = header.get("COUNT", ["1"] * len(names))
    if not len(names) == len(sizes) == len(kinds) == len(counts):
        raise _wrong(path, "its FIELDS, SIZE, TYPE and COUNT differ in length")
    fields = []
    for index, (name, size, kind, many) in enumerate(
        zip(names, sizes, kinds, counts, strict=True)
    ):
        width, number = number_of(size, path, "SIZE"), number_of(many, path, "COUNT")
        if kind not in KINDS or width not in SIZES[kind] or not 0 < number <= 1 << 16:
            raise _wrong(path, f"field {shown(name)} has no known type")
        if name in AXES and number != 1:
            raise _wrong(path, f"field {name} has COUNT {number}")
        title = name if name in AXES else f"{index} {name}"  # fillers repeat "_"
        fields.append((title, f"<{KINDS[kind]}{width}", (number,)))
    found = [title for title, _, _ in fields if title in AXES]
    if sorted(found) != list(AXES):
        raise _wrong(path, "its FIELDS have no single x, y and z")
    return np.dtype(
        [(t, k) if t in AXES else (t, k, n) for t, k, n in fields]  # scalar x, y, z
    )


def _viewpoint(header: dict[str, list[str]]) -> tuple[float, float, float] | None:
    """Where the scanner stood, unless it is the origin that every writer puts there."""
    try:
        x, y, z = (float(text) for text in header.get("VIEWPOINT", [])[:3])
    except ValueError:
        return None
    return (x, y, z) if any((x, y, z)) and np.isfinite([x, y, z]).all() else None


def _ascii(
    path: Path,
    header: dict[str, list[str]],
    offset: int,
    length: int,
    count: int,
    choices: Choices,
) -> Iterator[Floats]:
    many = [int(text) for text in header.get("COUNT", ["1"] * len(header["FIELDS"]))]
    starts = np.concatenate([[0], np.cumsum(many)])
    x, y, z = (int(starts[header["FIELDS"].index(axis)]) for axis in AXES)
    layout = rows.Layout(columns=(x, y, z))
    blocks = rows.points(
        path, layout, choices, offset=offset, first=length + 1, limit=count
    )
    return rows.promised(path, blocks, count, choices)


def _compressed(
    path: Path,
    lengths: tuple[int, int],
    offset: int,
    dtype: np.dtype[np.void],
    count: int,
) -> Iterator[Floats]:
    """Fields stored one after the other, packed together with LZF."""
    packed, unpacked = lengths
    data = np.memmap(path, dtype=np.uint8, mode="r", offset=offset + 8, shape=(packed,))
    plain = lzf.unpack(data, unpacked)
    if plain is None:
        raise _wrong(path, f"its compressed data at offset {offset + 8} is damaged")
    assert dtype.fields is not None  # a record type, made by _record
    for start in range(0, count, records.BLOCK):
        stop = min(start + records.BLOCK, count)
        block = np.empty((stop - start, 3))
        with np.errstate(invalid="ignore"):
            for axis, name in enumerate(AXES):
                kind, before = dtype.fields[name][:2]
                field = plain[before * count : before * count + kind.itemsize * count]
                block[:, axis] = field.view(kind)[start:stop]
        yield block


def _lengths(path: Path, size: int, offset: int, needed: int) -> tuple[int, int]:
    """Packed and unpacked size of the data, bytes; `needed` is what its points take."""
    with path.open("rb") as file:
        file.seek(offset)
        data = file.read(8)
    packed, unpacked = (int.from_bytes(data[i : i + 4], "little") for i in (0, 4))
    if len(data) < 8 or size - offset - 8 < packed:
        raise ScanFileError(
            Fault.TRUNCATED,
            path,
            f"its compressed data has {max(size - offset - 8, 0)} of {packed} bytes",
            "export the scan again, uncompressed if it happens again",
        )
    if unpacked != needed:
        raise _wrong(path, f"its points need {needed} bytes, not {unpacked}")
    if unpacked > packed * lzf.LARGEST_RATIO:
        raise _wrong(path, f"{packed} bytes cannot unpack to {unpacked}")
    return packed, unpacked
