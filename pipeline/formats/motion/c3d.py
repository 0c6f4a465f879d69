"""C3D, the binary file of motion capture (the C3D File Format User Guide, 2021).

512-byte blocks: a header, a parameter section whose place the first byte tells, then
the frames. Coordinates are float32, or int16 times a scale; a negative fourth word
says that the marker was lost. Analogue samples between the frames are stepped over.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.formats.motion.track import METRES, Track, known_unit
from pipeline.terminal.errors import InputError
from sim.arrays import Floats

BLOCK = 512
MAGIC = 0x50
INTEL = 84  # the processor that wrote the numbers: little endian, IEEE
PROCESSORS = {85: "DEC", 86: "MIPS"}
READ = ("POINT:UNITS", "POINT:LABELS", "POINT:FRAMES")
WORDS = {-1: "S1", 1: "u1", 2: "<i2", 4: "<f4"}  # of a parameter's type


@dataclass(frozen=True)
class Header:
    """What the first block says of the frames.

    Attributes
    ----------
    analog : analogue samples a frame
    scale : of integers; negative where coordinates are float32
    start : first block of the frames
    """

    markers: int
    analog: int
    frames: int
    scale: float
    start: int
    rate: float


def read(path: Path) -> Track:
    """The markers of a C3D file; see pipeline.formats.motion.markers.read_motion."""
    data = path.read_bytes()
    if len(data) < 2 * BLOCK or data[1] != MAGIC:
        raise InputError(f"{path} is no C3D file: its second byte is not 0x50")
    try:
        parameters = _parameters(path, data)
        header = _header(data, parameters)
        names = tuple(map(str, parameters.get("POINT:LABELS", [])))[: header.markers]
    except (struct.error, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise InputError(
            f"{path} is damaged: its parameters break off or are of another kind"
        ) from error
    unit = str(parameters.get("POINT:UNITS", "")).strip()
    if not known_unit(unit):
        known = ", ".join(METRES)
        raise InputError(
            f"{path}: POINT:UNITS is {unit or 'missing'}: give one of {known}"
        )
    if not 0.0 < header.rate < np.inf:
        raise InputError(f"{path}: its frame rate is {header.rate:g} Hz: correct it")
    places = _places(path, data, header)
    if len(names) < header.markers:
        raise InputError(
            f"{path}: POINT:LABELS names {len(names)} of {header.markers} markers"
        )
    time = np.arange(header.frames) / header.rate
    return Track(time, names, places, unit)


def _header(data: bytes, parameters: Mapping[str, Any]) -> Header:
    """The header; where a count is too large for it, that of the parameters."""
    markers, analog, first, last, _, scale, start, _, rate = struct.unpack_from(
        "<HHHHHfHHf", data, 2
    )
    frames = last - first + 1
    stated = int(parameters.get("POINT:FRAMES", frames))
    if not np.isfinite(scale):
        raise ValueError("coordinates are scaled by no number")
    wraps = stated % 65536 == frames % 65536 or last == 65535
    return Header(markers, analog, stated if wraps else frames, scale, start, rate)


def _parameters(path: Path, data: bytes) -> dict[str, Any]:
    """GROUP:NAME and its value, of those that are read here."""
    at = (data[0] - 1) * BLOCK
    processor = data[at + 3]
    if processor != INTEL:
        who = PROCESSORS.get(processor, str(processor))
        raise InputError(
            f"{path}: its numbers are those of a {who} processor: export it again as "
            "Intel (little endian)"
        )
    at += 4
    groups: dict[int, str] = {}
    found: list[tuple[int, str, int]] = []
    while True:
        length, group = struct.unpack_from("<bb", data, at)
        if length == 0:
            break
        name = data[at + 2 : at + 2 + abs(length)].decode("ascii").upper()
        at += 2 + abs(length)
        (offset,) = struct.unpack_from("<h", data, at)
        if group < 0:
            groups[-group] = name
        else:
            found.append((group, name, at + 2))
        if offset <= 0:  # the last; one that led back would never end
            break
        at += offset
    places = {f"{groups.get(g, g)}:{name}": place for g, name, place in found}
    return {name: _value(data, places[name]) for name in READ if name in places}


def _value(data: bytes, at: int) -> Any:
    """A number, a word, a list or an array; words are stripped of blanks."""
    kind, dimensions = struct.unpack_from("<bB", data, at)
    sizes = list(data[at + 2 : at + 2 + dimensions])
    count = int(np.prod(sizes, dtype=np.int64)) if sizes else 1
    raw = np.frombuffer(data, WORDS[kind], count, at + 2 + dimensions)
    if kind != -1:
        return raw[0] if not sizes else raw
    width = sizes[0] if sizes else 1
    text = raw.tobytes().decode("latin-1")
    words = [text[i : i + width].strip(" \0") for i in range(0, len(text), width or 1)]
    return words if len(sizes) > 1 else "".join(words)


def _places(path: Path, data: bytes, header: Header) -> Floats:
    """(f, m, 3) in the file's unit, nan where a marker was lost."""
    real = header.scale < 0
    kind = np.dtype("<f4" if real else "<i2")
    width = 4 * header.markers + header.analog
    start = (header.start - 1) * BLOCK
    wanted = header.frames * width
    some = min(header.frames, header.start, width) > 0
    if not some or len(data) < start + wanted * kind.itemsize:
        raise InputError(
            f"{path} breaks off: {header.frames} frames of {width} words, from block "
            f"{header.start}, do not fit in its {len(data)} bytes: export it again"
        )
    frames = np.frombuffer(data, kind, wanted, start).reshape(header.frames, width)
    own = frames[:, : 4 * header.markers]
    words = own.reshape(header.frames, header.markers, 4)
    scale = 1.0 if real else header.scale
    places: Floats = words[:, :, :3].astype(np.float64) * scale
    lost = words[:, :, 3] < 0
    places[lost] = np.nan
    return places
