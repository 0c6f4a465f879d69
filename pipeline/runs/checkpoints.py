"""Arrays of a run: read back, and checkpoints from which a killed run continues.

checkpoint.npz is in the folder of a run that works: the arrays that every later
step depends on, and how many steps stood recorded with it. The next attempt at the
same key copies those steps and continues, to the same bits.
"""

import csv
import errno
import math
import struct
import time
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from zipfile import BadZipFile

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from pipeline.runs.atomic_files import replacing, sync
from pipeline.runs.run_directory import REMEDY, attempt_of
from pipeline.terminal import InputError, one_line

CHECKPOINT = "checkpoint.npz"
SHARE = 0.02  # of the time of a run, spent on checkpoints at the most
LEAST_SECONDS = 0.2  # between two of them

Arrays = Mapping[str, NDArray[Any]]


class Resumable(Protocol):
    """A recorder of a run that can go on from a step made before."""

    def arrays(self, step: Any) -> dict[str, NDArray[Any]]:
        """What is recorded of a step."""

    def state(self, step: Any) -> dict[str, NDArray[Any]]:
        """What every later step depends on; nothing, if no step is left."""


class Checkpoints:
    """Keeps the latest state of a run in a file, not too often."""

    def __init__(self, recorder: Resumable, out: Path) -> None:
        self._recorder = recorder
        self._path = out / CHECKPOINT
        self._due = time.monotonic()

    def keep(self, index: int, step: Any, recorded: int) -> None:
        """Keep the `index`-th step, with which `recorded` steps stand in the files."""
        start = time.monotonic()
        if start < self._due:
            return
        arrays = self._recorder.state(step)
        if arrays:
            place = {
                "index": np.array(index),
                "recorded": np.array(recorded),
                "names": np.array(list(self._recorder.arrays(step))),
            }
            with replacing(self._path) as temporary:
                with temporary.open("wb") as file:
                    np.savez(file, allow_pickle=False, **arrays, **place)
                sync(temporary.parent)  # the steps that it counts on, too
        now = time.monotonic()
        self._due = now + max(LEAST_SECONDS, (now - start) / SHARE)

    def drop(self) -> None:
        """The run is done: nothing is left to continue."""
        self._path.unlink(missing_ok=True)


@dataclass(frozen=True, eq=False)
class Earlier:
    """What a killed attempt left.

    Attributes
    ----------
    attempt : the name of its directory
    index : of the step at the checkpoint
    state : arrays of the checkpoint
    rows : numbers of the steps recorded up to it
    arrays : (steps, ...) their arrays
    """

    attempt: str
    index: int
    state: Arrays
    rows: list[dict[str, Any]]
    arrays: dict[str, NDArray[Any]]


def earlier_attempt(out: Path) -> Earlier | None:
    """The latest killed attempt at the run that works in `out`, if it can go on.

    Parameters
    ----------
    out : results/running/<key>.<attempt>
    """
    key, _, number = out.name.rpartition(".")
    if out.parent.name != "running" or not number.isdigit():
        return None  # a folder of somebody's choice
    failed = (out.parent.parent / "failed").glob(f"{key}.*")
    left = [d for d in failed if (d / CHECKPOINT).is_file()]
    for directory in sorted(left, key=attempt_of, reverse=True):
        try:
            return _read(directory)
        except (OSError, ValueError, KeyError, BadZipFile):
            continue  # damaged: the one before it, or from the start
    return None


def _read(directory: Path) -> Earlier:
    state = load_arrays(directory / CHECKPOINT)
    recorded, index = int(state.pop("recorded")), int(state.pop("index"))
    names = [str(name) for name in state.pop("names")]
    with (directory / "steps.csv").open(newline="", encoding="utf-8") as table:
        rows = [
            {name: _number(text) for name, text in row.items()}
            for row, _ in zip(csv.DictReader(table), range(recorded), strict=False)
        ]
    packed = directory / "steps.npz"  # where it had time to end its files
    arrays = (
        load_arrays(packed)
        if packed.is_file()
        else {name: np.load(directory / f"{name}.steps.npy") for name in names}
    )
    stored = {name: arrays[name] for name in names}
    if any(len(part) < recorded for part in (rows, *stored.values())):
        raise ValueError(f"{directory} has fewer steps than its checkpoint")
    return Earlier(directory.name, index, state, rows, stored)


def load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a .npz file that this program wrote."""
    with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
        return dict(file)


def _number(text: str) -> float | int | str:
    """What was written as `text`; it is written as the same text again."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


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
    return InputError(f"{path} has no arrays of a run ({one_line(error)}): {REMEDY}")


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
                raise ValueError(f"{entry.filename} is shorter than its shape {shape}")
