"""Writes what a C3D file holds to standard output, as .npz; `c3d` runs it."""

import re
import sys
from contextlib import suppress
from pathlib import Path

import ezc3d
import numpy as np

DERIVED = "(ANGLES|FORCES|MOMENTS|POWERS|SCALARS)"  # what is no place of a marker
MEMORY, PER_BYTE = 4 << 30, 50  # bytes that may be taken, and more by the file's size


def words(point: dict[str, dict[str, list[str]]], name: str) -> list[str]:
    """What POINT:NAME lists, and NAME2, NAME3 after it: each holds 255."""
    found = sorted((len(n), n) for n in point if re.fullmatch(rf"{name}\d*", n))
    return [str(word).strip() for _, n in found for word in point[n]["value"]]


if __name__ == "__main__":
    size = Path(sys.argv[1]).stat().st_size
    with suppress(ImportError, ValueError, OSError):  # not every system limits
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY + PER_BYTE * size,) * 2)
    file = ezc3d.c3d(sys.argv[1])
    point, data = file["parameters"]["POINT"], file["data"]
    first, last = np.fromfile(sys.argv[1], "<u2", 5)[3:].tolist()
    if last < 65535 and data["points"].shape[2] != last - first + 1:  # else unsaid
        sys.exit("the file is truncated")
    np.savez(
        sys.stdout.buffer,
        names=np.array(words(point, "LABELS"), dtype=np.str_),
        derived=np.array(words(point, DERIVED), dtype=np.str_),
        places=data["points"][:3].transpose(2, 1, 0),  # nan where lost
        unit=np.array("".join(words(point, "UNITS")[:1])),
        rate=np.array(file["header"]["points"]["frame_rate"]),
    )
