"""Readers of formats that need a package beside the others."""

from importlib import import_module
from pathlib import Path
from typing import Any

from pipeline.scans.reading.source import Fault, ScanFileError

LEAST_BYTES = 1.0  # that a point takes, however well it is packed


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
        raise ScanFileError(
            Fault.FORMAT,
            path,
            f"{path.suffix.upper()[1:]} files are read by the package {name}, which is "
            "not installed",
            "run make formats (pip: the extra morphtrack[formats]), or export the scan "
            "as PLY",
        ) from error


def held_points(path: Path, size: int, promised: int) -> int:
    """How many points a file of packed points may hold, if it can be that many."""
    if promised > size / LEAST_BYTES:
        raise ScanFileError(
            Fault.TRUNCATED,
            path,
            f"promises {promised} points in {size} bytes",
            "copy the file again, or export it again",
        )
    if promised == 0:
        raise ScanFileError(
            Fault.EMPTY, path, "the header promises 0 points", "export the scan again"
        )
    return promised


def unreadable(path: Path, kind: str, error: Exception) -> ScanFileError:
    """What a package could not read."""
    return ScanFileError(
        Fault.FORMAT,
        path,
        f"cannot be read as {kind} ({type(error).__name__})",
        "is it damaged? export it again, or as PLY",
    )
