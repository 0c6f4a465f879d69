"""Runs that people share: runs/<key>.zip in a folder or an object store.

What comes from a shelf is trusted as far as its content: a list that the project holds,
conf/results.json, says by key what each run contained when it was pushed.
"""

import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pipeline.crate.reading import check_room, opened_zip
from pipeline.store.digests import DIGESTS, edits, recorded_digests
from pipeline.store.files import read_json, write_json
from pipeline.store.keys import key_of
from pipeline.store.receipts import content_digest
from pipeline.store.runs import RESULTS, run_record
from pipeline.terminal.errors import InputError

LISTING = Path("conf/results.json")
FORM = 1  # of the list
EPOCH = (1980, 1, 1, 0, 0, 0)  # ZIP's first day: equal runs pack to equal bytes


class Shelf:
    """A place that holds runs by key.

    Parameters
    ----------
    address : of a folder, or one that fsspec knows, such as s3://bucket/paper
    """

    def __init__(self, address: str) -> None:
        import fsspec

        self.address = address
        try:
            self._files, root = fsspec.core.url_to_fs(address)
        except (ValueError, ImportError) as error:
            raise InputError(f"{address} cannot be reached: {error}") from error
        self._runs = f"{root.rstrip('/')}/runs"

    def keys(self) -> set[str]:
        """The runs that are there."""
        with self._reached():
            found = self._files.glob(f"{self._runs}/*.zip")
        return {Path(str(path)).stem for path in found}

    def put(self, directory: Path) -> int:
        """Pack a finished run; the bytes that it takes."""
        place = f"{self._runs}/{directory.name}.zip"
        part = f"{self._runs}/.{directory.name}.{os.getpid()}.part"
        with tempfile.TemporaryDirectory() as folder, self._reached():
            packed = _packed(directory, Path(folder) / "run.zip")
            self._files.makedirs(self._runs, exist_ok=True)
            try:
                self._files.put_file(str(packed), part)
                self._files.mv(part, place)
            except OSError:
                with suppress(OSError):
                    self._files.rm_file(part)
                raise
            return packed.stat().st_size

    def take(self, key: str, content: str, results: Path = RESULTS) -> Path:
        """Bring a run here, if it holds what the list says; its directory.

        Parameters
        ----------
        content : digest of what it must hold

        Raises
        ------
        InputError
            if it is not there, not whole, or other than listed; then nothing is left
        """
        directory = results / "pulled" / f"{key}.{os.getpid()}"
        try:
            with tempfile.TemporaryDirectory() as folder:
                packed = Path(folder) / f"{key}.zip"
                with self._reached():
                    self._files.get_file(f"{self._runs}/{key}.zip", str(packed))
                _unpack(packed, directory)
            _check(directory, key, content, f"{self.address}: run {key}")
            place = results / "runs" / key
            place.parent.mkdir(parents=True, exist_ok=True)
            directory.rename(place)
            return place
        finally:
            shutil.rmtree(directory, ignore_errors=True)
            with suppress(OSError):
                directory.parent.rmdir()

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """What goes wrong on the way, in one line."""
        try:
            yield
        except OSError as error:
            raise InputError(f"{self.address}: {error.strerror or error}") from error


def _packed(directory: Path, place: Path) -> Path:
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(p for p in directory.rglob("*") if p.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(directory).as_posix(), EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(entry, path.read_bytes())
    return place


def _unpack(packed: Path, directory: Path) -> None:
    with opened_zip(packed) as file:
        directory.mkdir(parents=True)
        check_room(packed, directory, sum(e.file_size for e in file.infolist()))
        file.extractall(directory)


def _check(directory: Path, key: str, content: str, what: str) -> None:
    """Refuse what is not the run of a key, or not what was listed."""
    there = {p.relative_to(directory).as_posix() for p in directory.rglob("*")}
    files = {name for name in there if (directory / name).is_file()} - {DIGESTS}
    wrong = edits(directory)
    wrong += [
        f"{n} is not in {DIGESTS}" for n in files - {*recorded_digests(directory)}
    ]
    if wrong:
        raise InputError(f"{what}: {wrong[0]}: do not trust it")
    record = run_record(directory)
    if record["key"] != key or key_of(record.get("identity", {})) != key:
        raise InputError(f"{what}: its identity is another's: do not trust it")
    if content_digest(directory) != content:
        raise InputError(
            f"{what}: it holds other than {LISTING} says: do not trust it, or push "
            "again and commit that list"
        )


def read_listing(path: Path = LISTING) -> dict[str, str]:
    """Digests of what each run holds, by key."""
    if not path.is_file():
        raise InputError(f"there is no {path}: morphtrack store push DIR writes it")
    listed = read_json(path)
    runs = listed.get("runs") if isinstance(listed, dict) else None
    if not isinstance(runs, dict) or listed.get("form") != FORM:
        raise InputError(f"{path} is no list of runs of form {FORM}: push again")
    return {str(key): str(run["content"]) for key, run in runs.items()}


def write_listing(runs: Mapping[str, Path], path: Path = LISTING) -> None:
    """Say what each run holds, to be committed with conf.

    Parameters
    ----------
    runs : directories by key
    """
    listed: dict[str, Any] = {}
    for key in sorted(runs):
        record = run_record(runs[key])
        name = f"{record['step']} {record['name']}"
        listed[key] = {"run": name, "content": content_digest(runs[key])}
    write_json(path, {"form": FORM, "runs": listed})
