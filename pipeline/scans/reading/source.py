"""What every format reader answers with, and the error they all raise."""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from sim.arrays import Floats, Ints

BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")  # bytes that no text holds


class Fault(Enum):
    """Why a scan file is refused; the value is the code its message starts with."""

    MISSING = "E-MISSING"  # no such file, or not readable
    EMPTY = "E-EMPTY"  # no byte, or no point
    FORMAT = "E-FORMAT"  # not what its name or header says
    TRUNCATED = "E-TRUNCATED"  # fewer points than the header promises
    DECIMAL = "E-DECIMAL"  # decimal commas where points were expected, or reverse
    NONFINITE = "E-NONFINITE"  # mostly NaN or infinite
    UNIT = "E-UNIT"  # no unit, or another one than the file declares
    RANGE = "E-RANGE"  # coordinates that no scanner delivers
    MEMORY = "E-MEMORY"  # needs more memory than there is


class ScanFileError(ValueError):
    """A scan file that is refused: code, file, what is wrong, remedy, on one line."""

    def __init__(self, fault: Fault, path: Path, problem: str, remedy: str) -> None:
        super().__init__(f"{fault.value} {path}: {problem}: {remedy}")
        self.fault = fault

    @property
    def code(self) -> str:
        """The code of the fault, for example E-EMPTY."""
        return self.fault.value


@dataclass(frozen=True)
class Choices:
    """What the reader is told about a file, because no file says it reliably."""

    decimal_comma: bool = False
    salvage: bool = False  # keep the good rows of a damaged file


@dataclass(frozen=True, eq=False)
class Source:
    """A file whose header was understood and whose size was checked."""

    format: str
    blocks: Iterator[Floats]  # (m, 3) each, in the file's unit; NaN where unreadable
    count: int | None = None  # rows to expect at most, where the header tells
    promised: int | None = None  # rows the header promises
    comments: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    viewpoint: tuple[float, float, float] | None = None  # in the file's unit
    gaps: bool = False  # rows without a point are nothing that was lost
    # (m, 3) rows of the corners of a mesh's triangles, to be asked after all blocks
    faces: Callable[[], Ints] | None = None


def shown(text: str, length: int = 40) -> str:
    """`text` as it may stand in a message: short, printable, on one line."""
    text = text if len(text) <= length else text[: length - 3] + "..."
    return ascii(text)


def file_size(path: Path) -> int:
    """Bytes in a file that can be read and has any.

    Raises
    ------
    ScanFileError
        E-MISSING, E-EMPTY, or E-FORMAT for something that is no regular file.
    """
    if path.is_symlink() and not path.exists():
        raise ScanFileError(
            Fault.MISSING, path, "is a link to no file", "give the path of a scan"
        )
    if not path.exists():
        raise ScanFileError(
            Fault.MISSING, path, "there is no such file", "give the path of a scan"
        )
    if not path.is_file():
        raise ScanFileError(
            Fault.FORMAT, path, "is no regular file", "give the path of a scan"
        )
    if not os.access(path, os.R_OK):
        raise ScanFileError(
            Fault.MISSING, path, "may not be read", "change its permissions"
        )
    size = path.stat().st_size
    if size == 0:
        raise ScanFileError(
            Fault.EMPTY, path, "the file has 0 bytes", "export the scan again"
        )
    _check_written(path, size)
    return size


def _check_written(path: Path, size: int) -> None:
    """Refuse a file of which most was never written, as broken copies leave behind."""
    with path.open("rb") as file:
        at = there = 0
        try:
            while at < size and there < size / 2:
                data = os.lseek(file.fileno(), at, os.SEEK_DATA)
                at = os.lseek(file.fileno(), data, os.SEEK_HOLE)
                there += at - data
        except OSError:  # no data after `at`, or no such question on this system
            pass
        else:
            return
        if at and there < size / 2:
            raise ScanFileError(
                Fault.TRUNCATED,
                path,
                f"of its {size} bytes only {there} were ever written",
                "copy the file again",
            )


def number_of(text: str, path: Path, what: str) -> int:
    """The count that a header writes as `text`."""
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise ScanFileError(
            Fault.FORMAT,
            path,
            f"{what} is {shown(text)}, not a number of points",
            "export the scan again",
        )
    return int(text)
