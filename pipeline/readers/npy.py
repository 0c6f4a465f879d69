"""NPY arrays of numpy, three columns or more."""

from pathlib import Path

import numpy as np
from numpy.lib import format as numpy_format

from pipeline.readers import records
from pipeline.readers.source import Choices, Fault, ScanFileError, Source

COLUMNS = 1 << 10  # more of them are no points
MAGIC = b"\x93NUMPY"


def read(path: Path, size: int, choices: Choices) -> Source:
    """The first three columns of an (n, 3 or more) array of numbers."""
    shape, dtype, offset = _header(path)
    if dtype.kind not in "fiu" or dtype.itemsize > 8:
        raise _wrong(path, f"holds {dtype}, not real numbers")
    if len(shape) != 2 or not 3 <= shape[1] <= COLUMNS:
        raise _wrong(path, f"has shape {shape}, not (n, 3)")
    record = np.dtype([(str(i), dtype) for i in range(shape[1])])
    count = records.whole_records(
        path, size - offset, record.itemsize, shape[0], choices
    )
    blocks = records.blocks(path, offset, record, count, ("0", "1", "2"))
    return Source("npy", blocks, count, shape[0])


def _wrong(path: Path, problem: str) -> ScanFileError:
    return ScanFileError(
        Fault.FORMAT, path, problem, "save an (n, 3) array of numbers with numpy.save"
    )


def _header(path: Path) -> tuple[tuple[int, ...], np.dtype[np.generic], int]:
    readers = {
        (1, 0): numpy_format.read_array_header_1_0,
        (2, 0): numpy_format.read_array_header_2_0,
    }
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise _wrong(path, "is no NPY file: offset 0 lacks its mark")
        file.seek(0)
        try:
            version = numpy_format.read_magic(file)
            shape, columns_first, dtype = readers[version](file)
        except (ValueError, KeyError, SyntaxError, TypeError, EOFError):
            raise _wrong(path, "has no readable NPY header") from None
        if columns_first:
            raise _wrong(path, "is stored column by column")
        if any(length < 0 for length in shape):
            raise _wrong(path, f"has shape {shape}, not (n, 3)")
        return shape, dtype, file.tell()
