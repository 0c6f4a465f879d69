"""Binary points: records of fixed size, read in blocks."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.scans.reading.source import Choices, Fault, ScanFileError
from sim.arrays import Floats

BLOCK = 1 << 16  # points turned into float64 at a time: they stay in cache


def whole_records(
    path: Path, available: int, size: int, promised: int, choices: Choices
) -> int:
    """Number of records to read: those promised, or with `salvage` those there.

    Parameters
    ----------
    available : bytes from the first record to the end of the file
    size : bytes a record
    promised : records, by the header
    """
    held = max(available, 0) // size
    if promised == 0:
        raise ScanFileError(
            Fault.EMPTY, path, "the header promises 0 points", "export the scan again"
        )
    if held >= promised:
        return promised
    if choices.salvage and held:
        return held
    raise ScanFileError(
        Fault.TRUNCATED,
        path,
        f"the header promises {promised} vertices, the file holds {held} of them",
        "export the scan again, or keep the good ones with --salvage",
    )


def blocks(
    path: Path,
    offset: int,
    dtype: np.dtype[Any],
    count: int,
    fields: tuple[str, str, str],
) -> Iterator[Floats]:
    """Yield `fields` of `count` records that begin `offset` bytes into the file."""
    for records in records_of(path, offset, dtype, count):
        yield columns(records, fields)


def records_of(
    path: Path, offset: int, dtype: np.dtype[Any], count: int
) -> Iterator[NDArray[Any]]:
    """Yield `count` records, a block in memory at a time."""
    with path.open("rb") as file:
        file.seek(offset)
        for start in range(0, count, BLOCK):
            yield np.fromfile(file, dtype, min(BLOCK, count - start))


def columns(records: NDArray[Any], fields: tuple[str, str, str]) -> Floats:
    """(m, 3) float64 array of three fields of a structured array."""
    points = np.empty((len(records), 3))
    with np.errstate(invalid="ignore"):  # signalling NaNs of damaged files
        for axis, name in enumerate(fields):
            points[:, axis] = records[name]
    return points
