"""Files that are whole or absent, or grow while a run writes, and are on the disk.

A rename may reach the disk before the content of what is renamed: a power cut then
leaves a finished run with empty files. So a folder is synced before it is called
finished, and the steps of a run before a checkpoint that counts on them.
"""

import csv
import ctypes
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from pipeline.terminal import InputError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file that takes the place of `path` when the block succeeds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with suppress(OSError):  # of a process of this number that was killed
        temporary.unlink(missing_ok=True)
    try:
        yield temporary
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text file whole."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any, *, compact: bool = False) -> None:
    """Write a JSON file whole; arrays become lists."""
    indent = None if compact else 1
    write_text(path, json.dumps(value, indent=indent, default=_plain) + "\n")


def write_table(path: Path, table: "pd.DataFrame") -> None:
    """Write a table as CSV, whole."""
    write_text(path, table.to_csv(index=False, lineterminator="\n"))


def write_arrays(path: Path, **arrays: Any) -> None:
    """Write arrays as .npz, whole."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def write_picture(path: Path, figure: "Figure") -> None:
    """Write a figure as PNG for the screen, whole."""
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", dpi=200)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def check_ends(path: Path) -> None:
    """Refuse a device or a pipe, which may never end; what is not there is not ours."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError(
            f"{path} is a device or a pipe, which may never end: give a file"
        )


def read_json(path: Path) -> Any:
    """Read a JSON file; an unreadable one is refused with its name."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # the second where it nests too deep
        raise InputError(f"{path} is not JSON: {error}") from error


def read_mapping(path: Path) -> dict[str, Any]:
    """Read a JSON file of names; empty where it is missing, damaged or another."""
    try:
        found = read_json(path)
    except InputError:
        return {}
    return found if isinstance(found, dict) else {}


def point_to(link: Path, directory: Path) -> None:
    """Make `link` a relative symbolic link to `directory`, as it may have been before.

    Raises
    ------
    InputError
        if something else is there, which would be lost
    """
    if link.exists() and not link.is_symlink():
        raise InputError(
            f"{link} must be a link to {directory}, but something else has its name: "
            "move it away, then run the same command again to resume"
        )
    relative = os.path.relpath(directory.absolute(), link.parent.absolute())
    with replacing(link) as temporary:
        temporary.symlink_to(relative, target_is_directory=True)


class _Growing:
    """A file that its first row opens."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[Any] | None = None

    def close(self) -> None:
        """Close the file, if any row was written."""
        if self._file is not None:
            self._file.close()


class GrowingTable(_Growing):
    """A CSV file that is a valid table after every row."""

    _columns: list[str]

    def append(self, row: Mapping[str, float | int | str]) -> None:
        """Add a row; the first one names the columns."""
        if self._file is None:
            self._file = self._path.open("w", newline="", encoding="utf-8")
            self._columns = list(row)
            self._write(self._columns)
        if list(row) != self._columns:
            raise ValueError(
                f"{self._path.name}: row has {list(row)}, not {self._columns}"
            )
        self._write([_cell(value) for value in row.values()])

    def _write(self, cells: list[Any]) -> None:
        assert self._file is not None  # opened by the first append
        csv.writer(self._file, lineterminator="\n").writerow(cells)
        self._file.flush()


def replace_columns(path: Path, columns: Mapping[str, Sequence[float]]) -> None:
    """Give columns of a CSV file other values; all else stays as it is written."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with replacing(path) as temporary, closing(GrowingTable(temporary)) as table:
        for row, *values in zip(rows, *columns.values(), strict=True):
            table.append(row | dict(zip(columns, values, strict=True)))


def _cell(value: Any) -> Any:
    """Shortest text that reads back as the same number."""
    return float(value) if isinstance(value, np.floating) else value


class GrowingArray(_Growing):
    """An .npy file that holds all rows appended so far, whenever it is read.

    Rows are written first and counted after, in a header in which numpy leaves room
    for the count to grow: a reader, or a kill between the two, sees whole rows only.
    """

    _shape: tuple[int, ...] = ()
    _dtype: np.dtype[Any] = np.dtype(float)
    _rows = 0

    def append(self, row: NDArray[Any]) -> None:
        """Add one row; the first one sets shape and type."""
        row = np.asarray(row, order="C")
        if self._file is None:
            self._file = self._path.open("wb")
            self._shape, self._dtype = row.shape, row.dtype
            self._write_header(self._file)
        if row.shape != self._shape:
            raise ValueError(
                f"{self._path.name}: row has shape {row.shape}, not {self._shape}"
            )
        self._file.seek(0, os.SEEK_END)
        self._file.write(row.astype(self._dtype, copy=False).tobytes())
        self._rows += 1
        self._file.seek(0)
        self._write_header(self._file)
        self._file.flush()

    def _write_header(self, file: IO[bytes]) -> None:
        described = {
            "descr": npy.dtype_to_descr(self._dtype),
            "fortran_order": False,
            "shape": (self._rows, *self._shape),
        }
        npy.write_array_header_1_0(file, described)


class StepWriter:
    """The steps of a run as they are made: steps.csv, and steps.npz at the end.

    Until `close`, each array of a step grows in `<name>.steps.npy`; a killed run
    leaves those, each complete up to its last whole step.

    Attributes
    ----------
    fixed : arrays of the run rather than of a step
    steps : how many were recorded
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.fixed: Mapping[str, NDArray[Any]] = {}
        self._table = GrowingTable(directory / "steps.csv")
        self._arrays: dict[str, GrowingArray] = {}
        self.steps = 0

    def append(
        self, numbers: Mapping[str, float], arrays: Mapping[str, NDArray[Any]]
    ) -> None:
        """Record one step."""
        for name, array in arrays.items():
            if name not in self._arrays:
                path = self._directory / f"{name}.steps.npy"
                self._arrays[name] = GrowingArray(path)
            self._arrays[name].append(np.asarray(array))
        self._table.append(numbers)
        self.steps += 1

    def close(self) -> None:
        """Pack the arrays into steps.npz."""
        self._table.close()
        for array in self._arrays.values():
            array.close()
        paths = {n: self._directory / f"{n}.steps.npy" for n in self._arrays}
        packed = {n: np.load(path, mmap_mode="r") for n, path in paths.items()}
        whole: dict[str, Any] = {**packed, **self.fixed}
        if whole:
            write_arrays(self._directory / "steps.npz", **whole)
        del packed, whole
        for path in paths.values():
            path.unlink()
        self._arrays = {}


def sync(folder: Path) -> None:
    """Return when all files below `folder` are on the disk, with their names.

    By one call for the whole file system where there is one (Linux): five times
    cheaper than one a file.
    """
    number = os.open(folder, os.O_RDONLY)
    try:
        if not _file_system(number):
            _each(folder)
    finally:
        os.close(number)


def _file_system(number: int) -> bool:
    """Sync the file system of an open folder; whether this machine can."""
    act = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if act is None:
        return False
    if act(number) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return True


def _each(folder: Path) -> None:
    for path in [*folder.rglob("*"), folder]:
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
