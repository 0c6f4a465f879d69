"""NPY arrays of numpy, three columns or more."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pipeline.scans.reading import records
from pipeline.scans.reading.source import Choices, Fault, ScanFileError, Source, shown
from sim.arrays import Floats

COLUMNS = 1 << 10  # more of them are no points
MAGIC = b"\x93NUMPY"
LENGTH_BYTES = {1: 2, 2: 4}  # of the header's length, by format version
HEADER_BYTES = 1 << 16
# The header is Python source; what it may say here is little enough for a pattern.
HEADER = re.compile(
    r"\{'descr': (?P<kind>.{1,200}), 'fortran_order': (?P<order>True|False), "
    r"'shape': \((?P<shape>[0-9, ]*)\), \}\s*"
)
NUMBER = re.compile(r"'([<>|]?[fiu][1248])'")


def read(path: Path, size: int, choices: Choices) -> Source:
    """The first three columns of an (n, 3 or more) array of numbers."""
    header, offset = _header(path)
    kind = NUMBER.fullmatch(header["kind"])
    if kind is None or kind[1].endswith("f1"):
        raise _wrong(path, f"holds {shown(header['kind'])}, not real numbers")
    shape = [text for text in header["shape"].replace(" ", "").split(",") if text]
    if len(shape) != 2 or len(shape[1]) > 4 or not 3 <= int(shape[1]) <= COLUMNS:
        raise _wrong(path, f"has shape ({shown(header['shape'])}), not (n, 3)")
    promised = int(shape[0][:15])
    record = np.dtype([(str(i), kind[1]) for i in range(int(shape[1]))])
    if header["order"] == "True":  # a file that is cut short lacks all z
        room = size - offset
        records.whole_records(path, room, record.itemsize, promised, Choices())
        return Source(
            "npy", _of_columns(path, offset, kind[1], promised), promised, promised
        )
    count = records.whole_records(
        path, size - offset, record.itemsize, promised, choices
    )
    blocks = records.blocks(path, offset, record, count, ("0", "1", "2"))
    return Source("npy", blocks, count, promised)


def _of_columns(path: Path, offset: int, kind: str, count: int) -> Iterator[Floats]:
    """The points of an array that is stored column by column."""
    size = np.dtype(kind).itemsize
    with path.open("rb") as file:
        for start in range(0, count, records.BLOCK):
            block = np.empty((min(records.BLOCK, count - start), 3))
            for axis in range(3):
                file.seek(offset + size * (axis * count + start))
                block[:, axis] = np.fromfile(file, kind, len(block))
            yield block


def _wrong(path: Path, problem: str) -> ScanFileError:
    return ScanFileError(
        Fault.FORMAT, path, problem, "save an (n, 3) array of numbers with numpy.save"
    )


def _header(path: Path) -> tuple[re.Match[str], int]:
    """What the header says, and the offset of the numbers."""
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise _wrong(path, "is no NPY file: offset 0 lacks its mark")
        version = file.read(2)[:1]
        width = LENGTH_BYTES.get(version[0] if version else 0, 0)
        length = int.from_bytes(file.read(width), "little")
        text = file.read(min(length, HEADER_BYTES)).decode("latin-1")
        match = HEADER.fullmatch(text)
        if match is None:
            raise _wrong(path, "has no readable NPY header")
        return match, file.tell()
