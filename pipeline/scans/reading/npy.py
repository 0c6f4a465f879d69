"""NPY arrays of numpy, three columns or more."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy_format

from pipeline.scans.reading import records
from pipeline.scans.reading.source import Choices, Fault, ScanFileError, Source, shown
from sim.arrays import Floats

COLUMNS = 1 << 10  # more of them are no points
HEADERS = {
    (1, 0): npy_format.read_array_header_1_0,
    (2, 0): npy_format.read_array_header_2_0,
}


def read(path: Path, size: int, choices: Choices) -> Source:
    """The first three columns of an (n, 3 or more) array of numbers."""
    shape, by_column, kind, offset = _header(path)
    if kind.kind not in "fiu" or kind.itemsize > 8:
        raise _wrong(path, f"holds {shown(str(kind))}, not real numbers")
    if len(shape) != 2 or shape[0] < 0 or not 3 <= shape[1] <= COLUMNS:
        raise _wrong(path, f"has shape {shown(str(shape))}, not (n, 3)")
    promised, columns = map(int, shape)  # numpy takes True for 1
    record = np.dtype([(str(i), kind) for i in range(columns)])
    if by_column:  # a file that is cut short lacks all z
        choices = Choices()
    count = records.whole_records(
        path, size - offset, record.itemsize, promised, choices
    )
    if by_column:
        blocks = _of_columns(path, offset, kind, count)
    else:
        blocks = records.blocks(path, offset, record, count, ("0", "1", "2"))
    return Source("npy", blocks, count, promised)


def _of_columns(
    path: Path, offset: int, kind: np.dtype[Any], count: int
) -> Iterator[Floats]:
    """The points of an array that is stored column by column."""
    with path.open("rb") as file:
        for start in range(0, count, records.BLOCK):
            block = np.empty((min(records.BLOCK, count - start), 3))
            for axis in range(3):
                file.seek(offset + kind.itemsize * (axis * count + start))
                block[:, axis] = np.fromfile(file, kind, len(block))
            yield block


def _wrong(path: Path, problem: str) -> ScanFileError:
    return ScanFileError(
        Fault.FORMAT, path, problem, "save an (n, 3) array of numbers with numpy.save"
    )


def _header(path: Path) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, whether stored by column, type and offset of the numbers, by numpy."""
    try:
        with path.open("rb") as file, warnings.catch_warnings(action="ignore"):
            return *HEADERS[npy_format.read_magic(file)](file), file.tell()
    except Exception as error:  # numpy parses the header as Python source
        raise _wrong(path, "has no readable NPY header at offset 0") from error
