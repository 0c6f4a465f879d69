"""Writes C3D files from the format's description, for the tests of the reader."""

import struct

import numpy as np

from sim.arrays import Floats


def c3d_parameter(
    name: str, group: int, kind: int, sizes: list[int], raw: bytes
) -> bytes:
    body = struct.pack("<bB", kind, len(sizes)) + bytes(sizes) + raw + b"\0"
    head = struct.pack("<bb", len(name), group) + name.encode()
    return head + struct.pack("<h", 2 + len(body)) + body


def _group(name: str, number: int) -> bytes:
    head = struct.pack("<bb", len(name), -number) + name.encode()
    return head + struct.pack("<h", 3) + b"\0"


def c3d_file(
    places: Floats,
    names: list[str],
    *,
    rate: float = 100.0,
    unit: str = "mm",
    scale: float = -1.0,
    analog: int = 0,
    processor: int = 84,
    more: bytes = b"",
) -> bytes:
    """The bytes of a file; places (f, m, 3) in `unit`, nan where a marker was lost.

    Parameters
    ----------
    more : further parameters, of which the last of a name counts
    """
    frames, markers = places.shape[:2]
    width = max(map(len, names))
    labels = "".join(name.ljust(width) for name in names).encode()
    parameters = b"\0\0\2" + bytes([processor]) + _group("POINT", 1)
    parameters += c3d_parameter("UNITS", 1, -1, [len(unit)], unit.encode())
    parameters += c3d_parameter("LABELS", 1, -1, [width, markers], labels)
    parameters += c3d_parameter("FRAMES", 1, 2, [], struct.pack("<h", frames))
    parameters += more + b"\0\0"
    assert len(parameters) <= 1024
    header = struct.pack(
        "<BBHHHHHfHHf", 2, 0x50, markers, analog, 1, frames, 10, scale, 4, 0, rate
    )
    real = scale < 0
    lost = np.isnan(places).any(axis=2)
    words = np.zeros((frames, 4 * markers + analog), "<f4" if real else "<i2")
    stored = np.where(lost[..., None], 0.0, places) / (1.0 if real else scale)
    fourth = np.where(lost, -1.0, 0.0)[..., None]
    block = np.concatenate([stored, fourth], axis=2).reshape(frames, -1)
    words[:, : 4 * markers] = block if real else np.round(block)
    words[:, 4 * markers :] = 7
    return header.ljust(512, b"\0") + parameters.ljust(1024, b"\0") + words.tobytes()
