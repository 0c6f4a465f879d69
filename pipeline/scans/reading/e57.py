"""E57 (ASTM E2807), by pye57: scans, each in the scanner's frame with its pose.

Its standard says metres; some programs write mm, so the unit is stated as of others.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from pipeline.scans.reading.optional import held_points, package, unreadable
from pipeline.scans.reading.source import Choices, Fault, ScanFileError, Source
from sim.arrays import Floats

BLOCK = 1 << 20  # points
SYSTEMS = {"cartesian": "XYZ", "spherical": ("Range", "Azimuth", "Elevation")}


def read(path: Path, size: int, choices: Choices) -> list[Source]:
    """Every scan of the file in the common frame, with the scanner's place."""
    pye57 = package("pye57", path)
    try:
        file = pye57.libe57.ImageFile(str(path), "r")
        scans = file.root()["data3D"]
        headers = [pye57.ScanHeader(scans[k]) for k in range(len(scans))]
        found = [_scan(path, size, file, header, choices) for header in headers]
    except ScanFileError:
        raise
    except Exception as error:
        raise unreadable(path, "E57", error) from error
    if not found:
        raise ScanFileError(Fault.EMPTY, path, "holds no scan", "export the scan again")
    return found


def _scan(path: Path, size: int, file: Any, header: Any, choices: Choices) -> Source:
    count = held_points(path, size, int(header.point_count))
    system = next(
        (
            name
            for name, axes in SYSTEMS.items()
            if f"{name}{axes[0]}" in header.point_fields
        ),
        None,
    )
    if system is None:
        raise ScanFileError(
            Fault.FORMAT, path, "a scan has no coordinates", "export the scan again"
        )
    posed = header.has_pose()
    turn = _rotation(path, header.rotation) if posed else np.eye(3)
    place = np.asarray(header.translation, np.float64) if posed else np.zeros(3)
    blocks = _blocks(path, file, header, system, choices)
    x, y, z = place.tolist()
    return Source(
        "e57",
        (block @ turn.T + place for block in blocks),
        count,
        count,
        viewpoint=(x, y, z) if posed else None,
        gaps=True,
    )


def _rotation(path: Path, quaternion: Floats) -> Floats:
    """(3, 3) of the quaternion w, x, y, z."""
    if not abs(np.linalg.norm(quaternion) - 1.0) < 1e-3:
        raise ScanFileError(
            Fault.FORMAT,
            path,
            f"{np.round(quaternion, 3).tolist()} turns a scan, no unit quaternion",
            "export the scan again",
        )
    return np.asarray(Rotation.from_quat(quaternion, scalar_first=True).as_matrix())


def _blocks(
    path: Path, file: Any, header: Any, system: str, choices: Choices
) -> Iterator[Floats]:
    """Valid points in the scanner's frame, in the file's unit."""
    libe57 = package("pye57", path).libe57
    fields = [f"{system}{axis}" for axis in SYSTEMS[system]]
    kinds = dict.fromkeys(fields, np.float64)
    valid = f"{system}InvalidState"
    if valid in header.point_fields:
        kinds[valid] = np.int8  # type: ignore[assignment]
    arrays = {name: np.empty(BLOCK, kind) for name, kind in kinds.items()}
    buffers, read = libe57.VectorSourceDestBuffer(), 0
    for name, array in arrays.items():
        buffers.append(libe57.SourceDestBuffer(file, name, array, BLOCK, True, True))
    try:
        reader = header.points.reader(buffers)
        while number := reader.read():
            read += number
            block = np.column_stack([arrays[name][:number] for name in fields])
            if valid in arrays:
                block = block[arrays[valid][:number] == 0]
            yield block if system == "cartesian" else cartesian(block)
    except Exception as error:
        if not (choices.salvage and read):
            raise unreadable(path, "E57", error) from error


def cartesian(block: Floats) -> Floats:
    """(n, 3) of range, azimuth and elevation."""
    r, azimuth, elevation = block.T
    flat = r * np.cos(elevation)
    return np.column_stack(
        [flat * np.cos(azimuth), flat * np.sin(azimuth), r * np.sin(elevation)]
    )
