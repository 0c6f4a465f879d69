"""The arrays that a run left: steps.npz and the like, also of a folder of others."""

import errno
import math
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from pipeline.store.runs import REMEDY
from pipeline.terminal.errors import InputError, one_line

HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Arrays by name; no more memory is taken than the file is long.

    Raises
    ------
    InputError
        It is none that a run writes: compressed, pickled, or shorter than it says.
    """
    try:
        _check_sizes(path)
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):
            raise
        raise _none_of_a_run(path, error) from error
    except (
        *(ValueError, EOFError, RuntimeError, TypeError, SyntaxError, KeyError),
        *(zipfile.BadZipFile, struct.error),
    ) as error:
        raise _none_of_a_run(path, error) from error


def _none_of_a_run(path: Path, error: Exception) -> InputError:
    return InputError(f"{path} holds no arrays of a run ({one_line(error)}): {REMEDY}")


def _check_sizes(path: Path) -> None:
    """Refuse what unpacks to more than it is, and a header of more than is there."""
    with zipfile.ZipFile(path) as packed:
        entries = packed.infolist()
        whole = sum(entry.file_size for entry in entries)
        if any(e.compress_type for e in entries) or whole > path.stat().st_size:
            raise ValueError("it is compressed")
        for entry in entries:
            with packed.open(entry) as member:
                shape, _, kind = HEADERS[npy.read_magic(member)](member)
            if math.prod(shape) * kind.itemsize > entry.file_size:
                raise ValueError(f"{entry.filename} is shorter than its {shape}")
