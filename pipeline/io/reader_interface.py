"""What all readers of scans share: their answer, their error, optional packages."""

import math
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pipeline.terminal import nearest
from sim.core.arrays import Floats, Ints

BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")  # bytes that no text holds


class ScanFileError(ValueError):
    """A scan file that is refused, in one line: see `refused`.

    E-MISSING    no such file, or not readable
    E-EMPTY      no byte, or no point
    E-FORMAT     not what its name or header says
    E-TRUNCATED  fewer points than the header promises
    E-DECIMAL    decimal commas where points were expected, or reverse
    E-NONFINITE  mostly NaN or infinite
    E-UNIT       another unit than the file declares
    E-RANGE      coordinates that no scanner delivers
    E-MEMORY     needs more memory than there is
    """


AGAIN = "export the scan again"
LEAST_BYTES = 1.0  # that a point takes, however well it is packed


def refused(code: str, path: Path, problem: str, remedy: str = AGAIN) -> ScanFileError:
    """The error of a file: its code, the file, what is wrong, and what helps."""
    return ScanFileError(f"E-{code} {path}: {problem}: {remedy}")


@dataclass(frozen=True)
class Choices:
    """What a user states about a file, because no file says it reliably."""

    decimal_comma: bool = False
    salvage: bool = False  # keep the good rows of a damaged file


@dataclass(frozen=True)
class ScanFile:
    """A file that is there and has bytes, and what its user states about it."""

    path: Path
    size: int
    choices: Choices

    @property
    def salvage(self) -> bool:
        """Whether the good part of a damaged file is to be kept."""
        return self.choices.salvage

    def refused(self, code: str, problem: str, remedy: str = AGAIN) -> ScanFileError:
        """The error of this file; see `refused`."""
        return refused(code, self.path, problem, remedy)

    def cut_short(self, promised: int, what: str, held: int) -> ScanFileError:
        """Fewer of something than the header says."""
        problem = f"the header declares {promised} {what}, but the file has {held}"
        remedy = f"{AGAIN}, or keep the good ones with --salvage"
        return self.refused("TRUNCATED", problem, remedy)

    def number_of(self, text: str, what: str) -> int:
        """The count that a header writes as `text`."""
        if not (text.isascii() and text.isdigit() and len(text) <= 15):
            problem = f"{what} is {shown(text)}, not a number of points"
            raise self.refused("FORMAT", problem)
        return int(text)

    def whole_records(self, offset: int, size: int, promised: int) -> int:
        """Number of records to read: those promised, or with `salvage` those there.

        Parameters
        ----------
        offset, size : bytes before the first record, and of each
        promised : records, by the header
        """
        if promised == 0:
            raise self.refused("EMPTY", "the header declares 0 points")
        held = max(self.size - offset, 0) // size
        if held >= promised:
            return promised
        if self.salvage and held:
            return held
        raise self.cut_short(promised, "vertices", held)

    def packed_points(self, promised: int) -> int:
        """How many points the file may hold, if it can be so many, packed well."""
        if promised > self.size / LEAST_BYTES:
            problem = f"declares {promised} points, too many for {self.size} bytes"
            raise self.refused("TRUNCATED", problem, "copy or export it again")
        if promised == 0:
            raise self.refused("EMPTY", "the header declares 0 points")
        return promised

    @contextmanager
    def reading(self, kind: str) -> Iterator[None]:
        """Turn whatever a package raises into the error of a file it cannot read."""
        try:
            yield
        except ScanFileError:
            raise
        except Exception as error:
            raise self.refused(
                "FORMAT",
                f"cannot be read as {kind} ({type(error).__name__})",
                "is it damaged? export it again, or as PLY",
            ) from error

    def by_package(self, kind: str, blocks: Iterator[Floats]) -> Iterator[Floats]:
        """Pass on what a package reads; salvaged, up to where it fails."""
        found = False
        try:
            with self.reading(kind):
                for block in blocks:
                    yield block
                    found = True
        except ScanFileError:
            if not (self.salvage and found):
                raise


@dataclass(frozen=True, eq=False)
class Source:
    """A file whose header was understood and whose size was checked."""

    format: str
    blocks: Iterator[Floats]  # (m, 3) each, in the file's unit; NaN where unreadable
    count: int | None = None  # largest number of rows, where the header states it
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
    there, remedy = path.exists(), "give the path of a scan"
    if path.is_symlink() and not there:
        raise refused("MISSING", path, "is a broken link", remedy)
    if not there:
        raise refused("MISSING", path, "the file does not exist", nearest(path, remedy))
    if not path.is_file():
        raise refused("FORMAT", path, "is not a regular file", remedy)
    if not os.access(path, os.R_OK):
        raise refused("MISSING", path, "is not readable", "change its permissions")
    size = path.stat().st_size
    if size == 0:
        raise refused("EMPTY", path, "the file has 0 bytes")
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
            problem = f"only {there} of its {size} bytes were written"
            raise refused("TRUNCATED", path, problem, "copy the file again")


def not_installed(kind: str, name: str, instead: str) -> str:
    """The message for files of a kind whose package is missing."""
    return (
        f"{kind} files are read by the package {name}, which is not installed: run "
        f"make formats (pip: the extra morphtrack[formats]), or {instead}"
    )


def package(name: str, path: Path) -> Any:
    """A package of the extra `formats`.

    Raises
    ------
    ScanFileError
        where it is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        kind = path.suffix.upper()[1:]
        problem = not_installed(kind, name, "export the scan as PLY")
        raise ScanFileError(f"E-FORMAT {path}: {problem}") from error


MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")


def available_bytes(meminfo: Path = MEMINFO, cgroup: Path = CGROUP) -> float:
    """Memory that is free for this process; infinite where the system does not say."""
    return min(_of_machine(meminfo), _of_group(cgroup))


def check_memory(path: Path, need: float, what: str, remedy: str) -> None:
    """Refuse what takes more bytes than there are."""
    there = available_bytes()
    if need > there:
        problem = f"{what} needs {need / 1e9:.1f} GB, but {there / 1e9:.1f} GB are free"
        raise refused("MEMORY", path, problem, f"{remedy}, or use a larger machine")


def _of_machine(meminfo: Path) -> float:
    try:
        lines = meminfo.read_text(encoding="ascii").splitlines()
    except OSError:
        return math.inf
    found = [line.split() for line in lines if line.startswith("MemAvailable:")]
    return 1024.0 * float(found[0][1]) if found else math.inf


def _of_group(cgroup: Path) -> float:
    """What a container may still take; page cache it can give back counts as free."""
    try:
        limit = (cgroup / "memory.max").read_text(encoding="ascii").strip()
        used = float((cgroup / "memory.current").read_text(encoding="ascii"))
        stat = (cgroup / "memory.stat").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return math.inf
    if limit == "max":
        return math.inf
    cache = dict(zip(stat[::2], stat[1::2], strict=False)).get("inactive_file", "0")
    return max(float(limit) - used + float(cache), 0.0)
