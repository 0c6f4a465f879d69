"""Points in binary formats: PCD, NPY, LAS, LAZ and E57.

PCD is read here: Open3D 0.20 fills a cut ascii file with leftover memory, answers
damaged ones and mixed types with no point and no exception, and takes 0.5 s of CPU time
for 1.25 million packed points, where this takes 0.13.

The standard of E57 says metres; some programs write mm, so the unit is stated as of
others.
"""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pipeline.io import block_reader
from pipeline.io.reader_interface import (
    AGAIN,
    Choices,
    ScanFileError,
    Source,
    held_points,
    number_of,
    package,
    read_by_package,
    reading,
    refused,
    shown,
)
from sim.core.arrays import Floats
from sim.core.numba_kernels import kernel

Bytes = NDArray[np.uint8]

LARGEST_RATIO = 88  # three bytes stand for at most 264


def unpack_lzf(data: Bytes, length: int) -> Bytes | None:
    """`length` bytes that `data` packs; None if it packs another number of bytes."""
    plain = np.empty(length, dtype=np.uint8)
    return plain if _unpack(data, plain) == length else None


@kernel
def _unpack(data: Bytes, plain: Bytes) -> int:
    """Fill `plain`; return how many bytes were written, -1 for damaged data."""
    i, o = 0, 0
    while i < data.size:
        control = int(data[i])
        i += 1
        if control < 32:  # a run of control + 1 literals
            run = control + 1
            if i + run > data.size or o + run > plain.size:
                return -1
            for k in range(run):
                plain[o + k] = data[i + k]
            i += run
        else:  # a copy of `run` bytes from `back` bytes ago
            run = control >> 5
            if run == 7 and i < data.size:
                run += int(data[i])
                i += 1
            if i >= data.size:
                return -1
            back = ((control & 31) << 8) + int(data[i]) + 1
            i += 1
            run += 2
            if back > o or o + run > plain.size:
                return -1
            for k in range(run):  # byte by byte: source and copy may overlap
                plain[o + k] = plain[o + k - back]
        o += run
    return o


HEADER_BYTES = 1 << 16
KINDS = {"F": "f", "I": "i", "U": "u"}
SIZES = {"F": (4, 8), "I": (1, 2, 4, 8), "U": (1, 2, 4, 8)}
AXES = ("x", "y", "z")


def read_pcd(path: Path, size: int, choices: Choices) -> Source:
    """Points of the fields x, y and z."""
    header, offset, length, comments = _pcd_header(path)
    count = number_of(header.get("POINTS", [""])[0], path, "POINTS")
    dtype = _record(path, header)
    encoding, held = header["DATA"][0], count
    if encoding == "binary":
        held = block_reader.whole_records(
            path, size - offset, dtype.itemsize, count, choices
        )
        blocks = block_reader.record_blocks(path, offset, dtype, held, AXES)
    elif encoding == "binary_compressed":
        lengths = _lengths(path, size, offset, count * dtype.itemsize)
        blocks = _compressed(path, lengths, offset, dtype, count)
    elif encoding == "ascii":
        held = block_reader.whole_records(path, size - offset + 1, 6, count, choices)
        blocks = _ascii(path, header, offset, length, count, choices)
    else:
        raise _wrong_pcd(path, f"DATA {shown(encoding)} is not supported")
    return Source(
        f"pcd {encoding}", blocks, held, count, comments, viewpoint=_viewpoint(header)
    )


def _wrong_pcd(path: Path, problem: str) -> ScanFileError:
    return refused("FORMAT", path, problem, "is it a PCD point cloud? export it again")


def _pcd_header(path: Path) -> tuple[dict[str, list[str]], int, int, tuple[str, ...]]:
    """Entries, bytes and lines of the header, and its comments."""
    entries: dict[str, list[str]] = {}
    comments: list[str] = []
    length = 0
    with path.open("rb") as file:
        while "DATA" not in entries:
            line = file.readline(HEADER_BYTES)
            length += 1
            if not line.endswith(b"\n") or file.tell() > HEADER_BYTES:
                raise _wrong_pcd(path, f"has no DATA line before offset {file.tell()}")
            text = line.decode("latin-1").strip()
            if text.startswith("#"):
                comments.append(text.lstrip("# "))
            elif text:
                name, *values = text.split()
                if name in entries or not values:
                    problem = "repeats a name" if values else "has no value"
                    raise _wrong_pcd(
                        path, f"header line {length} {problem}: {shown(text)}"
                    )
                entries[name] = values
        return entries, file.tell(), length, tuple(comments)


def _record(path: Path, header: dict[str, list[str]]) -> np.dtype[np.void]:
    names = header.get("FIELDS", [])
    sizes, kinds = header.get("SIZE", []), header.get("TYPE", [])
    counts = header.get("COUNT", ["1"] * len(names))
    if not len(names) == len(sizes) == len(kinds) == len(counts):
        raise _wrong_pcd(path, "its FIELDS, SIZE, TYPE and COUNT differ in length")
    fields = []
    for index, (name, size, kind, many) in enumerate(
        zip(names, sizes, kinds, counts, strict=True)
    ):
        width, number = number_of(size, path, "SIZE"), number_of(many, path, "COUNT")
        if kind not in KINDS or width not in SIZES[kind] or not 0 < number <= 1 << 16:
            raise _wrong_pcd(path, f"field {shown(name)} has no known type")
        if name in AXES and number != 1:
            raise _wrong_pcd(path, f"field {name} has COUNT {number}, not 1")
        title = name if name in AXES else f"{index} {name}"  # fillers repeat "_"
        fields.append((title, f"<{KINDS[kind]}{width}", (number,)))
    found = [title for title, _, _ in fields if title in AXES]
    if sorted(found) != list(AXES):
        raise _wrong_pcd(path, "its FIELDS must name x, y and z once each")
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
    layout = block_reader.Layout(columns=(x, y, z))
    blocks = block_reader.points(
        path, layout, choices, offset=offset, first=length + 1, limit=count
    )
    return block_reader.promised(path, blocks, count, choices)


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
    plain = unpack_lzf(data, unpacked)
    if plain is None:
        raise _wrong_pcd(path, f"its compressed data at offset {offset + 8} is damaged")
    assert dtype.fields is not None  # a record type, made by _record
    for start in range(0, count, block_reader.RECORDS_AT_ONCE):
        stop = min(start + block_reader.RECORDS_AT_ONCE, count)
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
        problem = (
            f"its compressed data has {max(size - offset - 8, 0)} of {packed} bytes"
        )
        remedy = f"{AGAIN}, uncompressed if it happens again"
        raise refused("TRUNCATED", path, problem, remedy)
    if unpacked != needed:
        raise _wrong_pcd(path, f"its points need {needed} bytes, not {unpacked}")
    if unpacked > packed * LARGEST_RATIO:
        raise _wrong_pcd(path, f"{packed} bytes cannot unpack to {unpacked}")
    return packed, unpacked


COLUMNS = 1 << 10  # more of them are no points
HEADERS = {
    (1, 0): npy_format.read_array_header_1_0,
    (2, 0): npy_format.read_array_header_2_0,
}


def read_npy(path: Path, size: int, choices: Choices) -> Source:
    """The first three columns of an (n, 3 or more) array of numbers."""
    shape, by_column, kind, offset = _npy_header(path)
    if kind.kind not in "fiu" or kind.itemsize > 8:
        raise _wrong_npy(path, f"holds {shown(str(kind))}, not real numbers")
    if len(shape) != 2 or shape[0] < 0 or not 3 <= shape[1] <= COLUMNS:
        raise _wrong_npy(path, f"has shape {shown(str(shape))}, not (n, 3)")
    promised, columns = map(int, shape)  # numpy takes True for 1
    if by_column:  # a file that is cut short lacks all z
        choices = Choices()
    count = block_reader.whole_records(
        path, size - offset, kind.itemsize * columns, promised, choices
    )
    order: Literal["C", "F"] = "F" if by_column else "C"
    table = np.memmap(path, kind, "r", offset, (count, columns), order)
    return Source("npy", _npy_blocks(table), count, promised)


def _npy_blocks(table: NDArray[Any]) -> Iterator[Floats]:
    """The first three columns, some rows at a time."""
    for start in range(0, len(table), block_reader.RECORDS_AT_ONCE):
        with np.errstate(invalid="ignore"):  # signalling NaNs of damaged files
            block = table[start : start + block_reader.RECORDS_AT_ONCE, :3].astype(
                np.float64
            )
        yield block


def _wrong_npy(path: Path, problem: str) -> ScanFileError:
    remedy = "save an (n, 3) array of numbers with numpy.save"
    return refused("FORMAT", path, problem, remedy)


def _npy_header(path: Path) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, whether stored by column, type and offset of the numbers, by numpy."""
    try:
        with path.open("rb") as file, warnings.catch_warnings(action="ignore"):
            return *HEADERS[npy_format.read_magic(file)](file), file.tell()
    except Exception as error:  # numpy parses the header as Python source
        raise _wrong_npy(path, "has no readable NPY header at offset 0") from error


LAS_BLOCK = 1 << 20  # points


def read_las(path: Path, size: int, choices: Choices) -> Source:
    """Points of a LAS or LAZ file."""
    laspy = package("laspy", path)
    if path.suffix.lower() == ".laz":
        package("lazrs", path)
    with reading(path, "LAS"), laspy.open(path) as file:
        promised, version = int(file.header.point_count), str(file.header.version)
    count = held_points(path, size, promised)
    blocks = read_by_package(path, "LAS", _las_blocks(path, count), choices)
    return Source(f"las {version}", blocks, count, count)


def _las_blocks(path: Path, promised: int) -> Iterator[Floats]:
    read = 0
    with package("laspy", path).open(path) as file:
        for points in file.chunk_iterator(LAS_BLOCK):
            read += len(points)
            if read > promised:
                raise ValueError("more points than promised")
            yield np.column_stack([points.x, points.y, points.z]).astype(np.float64)
    if read < promised:
        raise EOFError(f"{read} of {promised} points")


E57_BLOCK = 1 << 20  # points
SYSTEMS = {"cartesian": "XYZ", "spherical": ("Range", "Azimuth", "Elevation")}


def read_e57(path: Path, size: int, choices: Choices) -> list[Source]:
    """Every scan of the file in the common frame, with the scanner's place."""
    pye57 = package("pye57", path)
    with reading(path, "E57"):
        file = pye57.libe57.ImageFile(str(path), "r")
        scans = file.root()["data3D"]
        headers = [pye57.ScanHeader(scans[k]) for k in range(len(scans))]
        found = [_scan(path, size, file, header, choices) for header in headers]
    if not found:
        raise refused("EMPTY", path, "holds no scan")
    return found


def _scan(path: Path, size: int, file: Any, header: Any, choices: Choices) -> Source:
    count = held_points(path, size, int(header.point_count))
    there = [n for n, axes in SYSTEMS.items() if f"{n}{axes[0]}" in header.point_fields]
    if not there:
        raise refused("FORMAT", path, "a scan has no coordinates")
    posed = header.has_pose()
    turn = _rotation(path, header.rotation) if posed else np.eye(3)
    place = np.asarray(header.translation, np.float64) if posed else np.zeros(3)
    blocks = _e57_blocks(path, file, header, there[0])
    x, y, z = place.tolist()
    return Source(
        "e57",
        (b @ turn.T + place for b in read_by_package(path, "E57", blocks, choices)),
        count,
        count,
        viewpoint=(x, y, z) if posed else None,
        gaps=True,
    )


def _rotation(path: Path, quaternion: Floats) -> Floats:
    """(3, 3) of the quaternion w, x, y, z."""
    if not abs(np.linalg.norm(quaternion) - 1.0) < 1e-3:
        turn = np.round(quaternion, 3).tolist()
        raise refused("FORMAT", path, f"rotation {turn} is not a unit quaternion")
    return np.asarray(Rotation.from_quat(quaternion, scalar_first=True).as_matrix())


def _e57_blocks(path: Path, file: Any, header: Any, system: str) -> Iterator[Floats]:
    """Valid points in the scanner's frame, in the file's unit."""
    libe57 = package("pye57", path).libe57
    fields = [f"{system}{axis}" for axis in SYSTEMS[system]]
    kinds: dict[str, type] = dict.fromkeys(fields, np.float64)
    valid = f"{system}InvalidState"
    if valid in header.point_fields:
        kinds[valid] = np.int8
    arrays: dict[str, Any] = {
        name: np.empty(E57_BLOCK, kind) for name, kind in kinds.items()
    }
    buffers = libe57.VectorSourceDestBuffer()
    for name, array in arrays.items():
        buffers.append(
            libe57.SourceDestBuffer(file, name, array, E57_BLOCK, True, True)
        )
    reader = header.points.reader(buffers)
    while number := reader.read():
        block = np.column_stack([arrays[name][:number] for name in fields])
        if valid in arrays:
            block = block[arrays[valid][:number] == 0]
        yield block if system == "cartesian" else cartesian(block)


def cartesian(block: Floats) -> Floats:
    """(n, 3) of range, azimuth and elevation."""
    r, azimuth, elevation = block.T
    flat = r * np.cos(elevation)
    return np.column_stack(
        [flat * np.cos(azimuth), flat * np.sin(azimuth), r * np.sin(elevation)]
    )
