"""The LZF compression that PCD files use: literal runs and back references."""

import numpy as np
from numpy.typing import NDArray

from sim.kernels import kernel

Bytes = NDArray[np.uint8]

LARGEST_RATIO = 88  # three bytes stand for at most 264


def unpack(data: Bytes, length: int) -> Bytes | None:
    """`length` bytes that `data` packs; None if it packs another number of bytes."""
    plain = np.empty(length, dtype=np.uint8)
    return plain if _unpack(data, plain) == length else None


@kernel
def _unpack(data: Bytes, plain: Bytes) -> int:
    """Fill `plain`; return how many bytes were written, -1 for damaged data."""
    i, o = 0, 0
    while i < data.size:
        control = int(data[i])
        i += 1
        if control < 32:  # a run of control + 1 literals
            run = control + 1
            if i + run > data.size or o + run > plain.size:
                return -1
            for k in range(run):
                plain[o + k] = data[i + k]
            i += run
        else:  # a copy of `run` bytes from `back` bytes ago
            run = control >> 5
            if run == 7 and i < data.size:
                run += int(data[i])
                i += 1
            if i >= data.size:
                return -1
            back = ((control & 31) << 8) + int(data[i]) + 1
            i += 1
            run += 2
            if back > o or o + run > plain.size:
                return -1
            for k in range(run):  # byte by byte: source and copy may overlap
                plain[o + k] = plain[o + k - back]
        o += run
    return o
