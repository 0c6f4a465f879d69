"""Points in binary formats: PCD, NPY, LAS, LAZ and E57.

PCD is read here: Open3D 0.20 fills a cut ascii file with leftover memory, answers
damaged ones and mixed types with no point and no exception, and takes 0.5 s of CPU time
for 1.25 million packed points, where this takes 0.13.

The standard of E57 says metres; some programs write mm, so the unit is stated as of
others.
"""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pipeline.io import block_reader
from pipeline.io.block_reader import AXES
from pipeline.io.reader_interface import (
    AGAIN,
    Choices,
    ScanFile,
    ScanFileError,
    Source,
    package,
    shown,
)
from pipeline.runs.checkpoints import HEADERS
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


def read_pcd(file: ScanFile) -> Source:
    """Points of the fields x, y and z."""
    header, offset, length, comments = _pcd_header(file)
    count = file.number_of(header.get("POINTS", [""])[0], "POINTS")
    dtype = _record(file, header)
    encoding, held = header["DATA"][0], count
    if encoding == "binary":
        held = file.whole_records(offset, dtype.itemsize, count)
        blocks = block_reader.record_blocks(file.path, offset, dtype, held)
    elif encoding == "binary_compressed":
        lengths = _lengths(file, offset, count * dtype.itemsize)
        blocks = _compressed(file, lengths, offset, dtype, count)
    elif encoding == "ascii":
        held = file.whole_records(offset - 1, 6, count)
        blocks = block_reader.points(
            file, _ascii_layout(header), offset=offset, first=length + 1, limit=count
        )
        blocks = block_reader.promised(file, blocks, count)
    else:
        raise _wrong_pcd(file, f"DATA {shown(encoding)} is not supported")
    place = _viewpoint(header)
    return Source(f"pcd {encoding}", blocks, held, count, comments, viewpoint=place)


def _wrong_pcd(file: ScanFile, problem: str) -> ScanFileError:
    return file.refused("FORMAT", problem, "is it a PCD point cloud? export it again")


def _pcd_header(of: ScanFile) -> tuple[dict[str, list[str]], int, int, tuple[str, ...]]:
    """Entries, bytes and lines of the header, and its comments."""
    entries: dict[str, list[str]] = {}
    comments: list[str] = []
    length = 0
    with of.path.open("rb") as file:
        while "DATA" not in entries:
            line = file.readline(HEADER_BYTES)
            length += 1
            if not line.endswith(b"\n") or file.tell() > HEADER_BYTES:
                raise _wrong_pcd(of, f"has no DATA line before offset {file.tell()}")
            text = line.decode("latin-1").strip()
            if text.startswith("#"):
                comments.append(text.lstrip("# "))
            elif text:
                name, *values = text.split()
                if name in entries or not values:
                    problem = "repeats a name" if values else "has no value"
                    problem = f"header line {length} {problem}: {shown(text)}"
                    raise _wrong_pcd(of, problem)
                entries[name] = values
        return entries, file.tell(), length, tuple(comments)


def _record(file: ScanFile, header: dict[str, list[str]]) -> np.dtype[np.void]:
    names = header.get("FIELDS", [])
    sizes, kinds = header.get("SIZE", []), header.get("TYPE", [])
    counts = header.get("COUNT", ["1"] * len(names))
    if not len(names) == len(sizes) == len(kinds) == len(counts):
        raise _wrong_pcd(file, "its FIELDS, SIZE, TYPE and COUNT differ in length")
    fields = []
    for index, (name, size, kind, many) in enumerate(
        zip(names, sizes, kinds, counts, strict=True)
    ):
        width, number = file.number_of(size, "SIZE"), file.number_of(many, "COUNT")
        if kind not in KINDS or width not in SIZES[kind] or not 0 < number <= 1 << 16:
            raise _wrong_pcd(file, f"field {shown(name)} has an unknown type")
        if name in AXES and number != 1:
            raise _wrong_pcd(file, f"field {name} has COUNT {number}, not 1")
        title = name if name in AXES else f"{index} {name}"  # fillers repeat "_"
        fields.append((title, f"<{KINDS[kind]}{width}", (number,)))
    found = [title for title, _, _ in fields if title in AXES]
    if sorted(found) != list(AXES):
        raise _wrong_pcd(file, "its FIELDS must name x, y and z once each")
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


def _ascii_layout(header: dict[str, list[str]]) -> block_reader.Layout:
    """The cells of x, y and z in a line."""
    many = [int(text) for text in header.get("COUNT", ["1"] * len(header["FIELDS"]))]
    starts = np.concatenate([[0], np.cumsum(many)])
    x, y, z = (int(starts[header["FIELDS"].index(axis)]) for axis in AXES)
    return block_reader.Layout(columns=(x, y, z))


def _compressed(
    file: ScanFile,
    lengths: tuple[int, int],
    offset: int,
    dtype: np.dtype[np.void],
    count: int,
) -> Iterator[Floats]:
    """Fields stored one after the other, packed together with LZF."""
    packed, unpacked = lengths
    data = np.memmap(file.path, np.uint8, "r", offset + 8, (packed,))
    plain = unpack_lzf(data, unpacked)
    if plain is None:
        raise _wrong_pcd(file, f"its compressed data at offset {offset + 8} is damaged")
    assert dtype.fields is not None  # a record type, made by _record
    fields = [dtype.fields[axis][:2] for axis in AXES]
    whole = [plain[at * count :][: k.itemsize * count].view(k) for k, at in fields]
    for start in range(0, count, block_reader.RECORDS_AT_ONCE):
        stop = start + block_reader.RECORDS_AT_ONCE
        yield block_reader.stacked([axis[start:stop] for axis in whole])


def _lengths(of: ScanFile, offset: int, needed: int) -> tuple[int, int]:
    """Packed and unpacked size of the data, bytes; `needed` is what its points take."""
    with of.path.open("rb") as file:
        file.seek(offset)
        data = file.read(8)
    packed, unpacked = (int.from_bytes(data[i : i + 4], "little") for i in (0, 4))
    there = of.size - offset - 8
    if there < packed:
        problem = f"its compressed data has only {max(there, 0)} of {packed} bytes"
        remedy = f"{AGAIN}, uncompressed if it happens again"
        raise of.refused("TRUNCATED", problem, remedy)
    if unpacked != needed:
        raise _wrong_pcd(of, f"its points need {needed} bytes, not {unpacked}")
    if unpacked > packed * LARGEST_RATIO:
        raise _wrong_pcd(of, f"{packed} compressed bytes cannot hold {unpacked} bytes")
    return packed, unpacked


COLUMNS = 1 << 10  # more of them are no points


def read_npy(file: ScanFile) -> Source:
    """The first three columns of an (n, 3 or more) array of numbers."""
    shape, by_column, kind, offset = _npy_header(file)
    if kind.kind not in "fiu" or kind.itemsize > 8:
        raise _wrong_npy(file, f"contains {shown(str(kind))}, not real numbers")
    if len(shape) != 2 or shape[0] < 0 or not 3 <= shape[1] <= COLUMNS:
        raise _wrong_npy(file, f"has shape {shown(str(shape))}, not (n, 3)")
    promised, columns = map(int, shape)  # numpy takes True for 1
    if by_column:  # a file that is cut short lacks all z
        file = replace(file, choices=Choices())
    count = file.whole_records(offset, kind.itemsize * columns, promised)
    order: Literal["C", "F"] = "F" if by_column else "C"
    table = np.memmap(file.path, kind, "r", offset, (count, columns), order)
    return Source("npy", _npy_blocks(table), count, promised)


def _npy_blocks(table: NDArray[Any]) -> Iterator[Floats]:
    """The first three columns, some rows at a time."""
    for start in range(0, len(table), block_reader.RECORDS_AT_ONCE):
        block = table[start : start + block_reader.RECORDS_AT_ONCE, :3]
        with np.errstate(invalid="ignore"):  # signalling NaNs of damaged files
            points = block.astype(np.float64)
        yield points


def _wrong_npy(file: ScanFile, problem: str) -> ScanFileError:
    remedy = "save an (n, 3) array of numbers with numpy.save"
    return file.refused("FORMAT", problem, remedy)


def _npy_header(of: ScanFile) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, whether stored by column, type and offset of the numbers, by numpy."""
    try:
        with of.path.open("rb") as file, warnings.catch_warnings(action="ignore"):
            return *HEADERS[npy.read_magic(file)](file), file.tell()
    except Exception as error:  # numpy parses the header as Python source
        raise _wrong_npy(of, "has no readable NPY header at offset 0") from error


LAS_BLOCK = 1 << 20  # points


def read_las(file: ScanFile) -> Source:
    """Points of a LAS or LAZ file."""
    path, laspy = file.path, package("laspy", file.path)
    if path.suffix.lower() == ".laz":
        package("lazrs", path)
    with file.reading("LAS"), laspy.open(path) as las:
        promised, version = int(las.header.point_count), str(las.header.version)
        scales = np.asarray(las.header.scales)
    if not (np.isfinite(scales) & (scales != 0.0)).all():
        k = int(np.argmin(np.isfinite(scales) & (scales != 0.0)))
        problem = f"its header states the scale {scales[k]:g} for {AXES[k]}"
        raise file.refused("FORMAT", problem, f"{AGAIN}, with a scale such as 0.0001")
    count = file.packed_points(promised)
    blocks = file.by_package("LAS", _las_blocks(path, count))
    return Source(f"las {version}", blocks, count, count)


def _las_blocks(path: Path, promised: int) -> Iterator[Floats]:
    read = 0
    with package("laspy", path).open(path) as file:
        for points in file.chunk_iterator(LAS_BLOCK):
            read += len(points)
            if read > promised:
                raise ValueError("the file has more points than its header declares")
            yield np.column_stack([points.x, points.y, points.z]).astype(np.float64)
    if read < promised:
        raise EOFError(f"the file has {read} of {promised} declared points")


E57_BLOCK = 1 << 20  # points
SYSTEMS = {"cartesian": "XYZ", "spherical": ("Range", "Azimuth", "Elevation")}


def read_e57(file: ScanFile) -> list[Source]:
    """Every scan of the file in the common frame, with the scanner's place."""
    pye57 = package("pye57", file.path)
    with file.reading("E57"):
        image = pye57.libe57.ImageFile(str(file.path), "r")
        scans = image.root()["data3D"]
        headers = [pye57.ScanHeader(scans[k]) for k in range(len(scans))]
        found = [_scan(file, image, header) for header in headers]
    if not found:
        raise file.refused("EMPTY", "contains no scan")
    return found


def _scan(file: ScanFile, image: Any, header: Any) -> Source:
    count = file.packed_points(int(header.point_count))
    there = [n for n, axes in SYSTEMS.items() if f"{n}{axes[0]}" in header.point_fields]
    if not there:
        remedy = f"{AGAIN}, with Cartesian coordinates"
        raise file.refused("FORMAT", "a scan has no coordinates", remedy)
    posed = header.has_pose()
    turn = _rotation(file, header.rotation) if posed else np.eye(3)
    place = np.asarray(header.translation, np.float64) if posed else np.zeros(3)
    blocks = file.by_package("E57", _e57_blocks(file.path, image, header, there[0]))
    placed = (block @ turn.T + place for block in blocks)
    x, y, z = place.tolist()
    viewpoint = (x, y, z) if posed else None
    return Source("e57", placed, count, count, viewpoint=viewpoint, gaps=True)


def _rotation(file: ScanFile, quaternion: Floats) -> Floats:
    """(3, 3) of the quaternion w, x, y, z."""
    if not abs(np.linalg.norm(quaternion) - 1.0) < 1e-3:
        turn = np.round(quaternion, 3).tolist()
        raise file.refused("FORMAT", f"rotation {turn} is not a unit quaternion")
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
