"""LAS and LAZ, by laspy: points as integers with a scale and an offset."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pipeline.scans.reading.optional import held_points, package, unreadable
from pipeline.scans.reading.source import Choices, ScanFileError, Source
from sim.arrays import Floats

BLOCK = 1 << 20  # points


def read(path: Path, size: int, choices: Choices) -> Source:
    """Points of a LAS or LAZ file."""
    laspy = package("laspy", path)
    if path.suffix.lower() == ".laz":
        package("lazrs", path)
    try:
        with laspy.open(path) as file:
            promised = int(file.header.point_count)
            version = str(file.header.version)
    except Exception as error:
        raise unreadable(path, "LAS", error) from error
    count = held_points(path, size, promised)
    blocks = _blocks(path, count, choices)
    return Source(f"las {version}", blocks, count, count)


def _blocks(path: Path, promised: int, choices: Choices) -> Iterator[Floats]:
    read = 0
    try:
        with package("laspy", path).open(path) as file:
            for points in file.chunk_iterator(BLOCK):
                read += len(points)
                if read > promised:
                    raise ValueError("more points than promised")
                yield np.column_stack([points.x, points.y, points.z]).astype(np.float64)
        if read < promised:
            raise EOFError(f"{read} of {promised} points")
    except ScanFileError:
        raise
    except Exception as error:
        if not (choices.salvage and read):
            raise unreadable(path, "LAS", error) from error
