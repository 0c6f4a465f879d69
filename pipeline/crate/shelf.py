"""Runs that people share: runs/<key>.<files>.zip in a folder or an object store.

What comes from a shelf is trusted as far as its bytes: a list that the project holds,
conf/results.json, says by key what each run contained when it was pushed, pictures and
run.json too, by the digest of its SHA256SUMS. The first digits of that are in the name:
who makes a run once more puts it beside the one that another list means.
"""

import hashlib
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pipeline.crate.reading import DIGEST_LISTS, check_room, opened_zip, read_whole
from pipeline.store.attempts import publish
from pipeline.store.digests import DIGESTS, digests_in, edits, recorded_digests
from pipeline.store.files import read_json, write_json
from pipeline.store.keys import KEY_LENGTH, file_digest, key_of
from pipeline.store.receipts import content_digest
from pipeline.store.runs import RESULTS, run_record
from pipeline.terminal.errors import InputError, one_line

LISTING = Path("conf/results.json")
FORM = 2  # of the list
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
        scheme, colons, place = address.partition("://")
        if not (place if colons else scheme).strip(" :") or (
            "::" in address and not colons
        ):
            raise InputError(
                f"{address!r} is no address: name a folder, or one that fsspec knows, "
                "such as s3://bucket/paper"
            )
        with self._reached():
            try:
                self._files, root = fsspec.core.url_to_fs(address)
                self._runs = f"{root.rstrip('/')}/runs" if root else "runs"
                self._there = self._names()
            except OSError:
                raise
            except Exception as error:  # each kind of address has its own
                said = one_line(error)
                raise InputError(f"{address} cannot be reached: {said}") from error

    def _names(self) -> set[str]:
        """What lies there, asked for by no pattern: [1] is a folder's name like any."""
        try:
            found = self._files.ls(self._runs, detail=False)
        except (FileNotFoundError, NotADirectoryError):
            return set()
        return {Path(str(path)).name for path in found}

    @property
    def is_empty(self) -> bool:
        """Whether no run was there when it was reached."""
        return not self._there

    def has(self, key: str, files: str) -> bool:
        """Whether a run is there whose SHA256SUMS has the digest `files`."""
        return _packed_name(key, files) in self._there

    def put(self, directory: Path) -> int:
        """Pack a finished run; the bytes that it takes."""
        name = _packed_name(directory.name, file_digest(directory / DIGESTS))
        part = f"{self._runs}/.{name}.{os.getpid()}.part"
        with tempfile.TemporaryDirectory() as folder, self._reached():
            packed = _packed(directory, Path(folder) / "run.zip")
            self._files.makedirs(self._runs, exist_ok=True)
            try:
                self._files.put_file(str(packed), part)
                self._named(part, f"{self._runs}/{name}")
            except OSError:
                with suppress(OSError):
                    self._files.rm_file(part)
                raise
            self._there.add(name)
            return packed.stat().st_size

    def _named(self, part: str, name: str) -> None:
        """Give a whole file its name; a store that can but copy would by patterns."""
        from fsspec import AbstractFileSystem

        if type(self._files).mv is not AbstractFileSystem.mv:
            self._files.mv(part, name)
            return
        self._files.cp_file(part, name)
        self._files.rm_file(part)

    def take(
        self, key: str, listed: Mapping[str, str], results: Path = RESULTS
    ) -> Path:
        """Bring a run here, if it holds what the list says; its directory.

        Parameters
        ----------
        listed : what the list says of it

        Raises
        ------
        InputError
            if it is not there, not whole, or other than listed; then nothing is left
        """
        name = _packed_name(key, listed["files"])
        what = f"{self.address}: {name}"
        directory = results / "pulled" / f"{key}.{os.getpid()}"
        shutil.rmtree(directory.parent, ignore_errors=True)  # of a pull that was killed
        try:
            with tempfile.TemporaryDirectory() as folder:
                packed = Path(folder) / name
                try:
                    self._fetch(name, packed, what)
                    _unpack(packed, directory, listed["files"], what)
                except InputError as error:  # the copy is gone when it is read
                    said = str(error).replace(str(packed), what)
                    raise InputError(said) from error
            _check(directory, key, listed["content"], what)
            return publish(directory, results / "runs" / key)
        finally:
            shutil.rmtree(directory.parent, ignore_errors=True)

    def _fetch(self, name: str, packed: Path, what: str) -> None:
        """Copy a packed run to `packed`, if it is a file for which there is room."""
        place = f"{self._runs}/{name}"
        with self._reached(what):
            found = self._files.info(place)
            if found["type"] != "file":  # it may never end
                raise InputError(f"{what} is no file: do not trust it")
            check_room(packed, packed.parent.parent, found["size"] or 0)
            self._files.get_file(place, str(packed))

    @contextmanager
    def _reached(self, what: str = "") -> Iterator[None]:
        """What goes wrong on the way, in one line."""
        try:
            yield
        except OSError as error:
            where = what or self.address
            raise InputError(f"{where}: {error.strerror or error}") from error


def _packed_name(key: str, files: str) -> str:
    return f"{key}.{files[:KEY_LENGTH]}.zip"


def _packed(directory: Path, place: Path) -> Path:
    """Pack what a run left; pictures that were drawn beside it since stay here."""
    edited = edits(directory)
    if edited:
        raise InputError(
            f"{directory}: {edited[0]}: remove the folder, its run is made again when "
            "it is asked for"
        )
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as file:
        for name in sorted({DIGESTS, *recorded_digests(directory)}):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(entry, (directory / name).read_bytes())
    return place


def _other(what: str) -> InputError:
    return InputError(
        f"{what}: it holds other than {LISTING} says: do not trust it; where it is "
        "yours, remove it there and push again"
    )


def _unpack(packed: Path, directory: Path, files: str, what: str) -> None:
    """Unpack a run whose list of files is the one that is meant, and has no others."""
    with opened_zip(packed) as file:
        names = set(file.namelist())
        sums = b""
        if DIGESTS in names:
            sums = read_whole(packed, file, DIGESTS, DIGEST_LISTS)
        if hashlib.sha256(sums).hexdigest() != files:
            raise _other(what)
        if names != {DIGESTS, *digests_in(sums.decode())}:
            raise _other(what)
        check_room(packed, directory, sum(e.file_size for e in file.infolist()))
        directory.mkdir(parents=True)
        file.extractall(directory)


def _check(directory: Path, key: str, content: str, what: str) -> None:
    """Refuse what is not the run of a key, or not what was listed."""
    wrong = edits(directory)
    if wrong:
        raise InputError(f"{what}: {wrong[0]}: do not trust it")
    record = run_record(directory)
    if record["key"] != key or key_of(record.get("identity", {})) != key:
        raise InputError(f"{what}: its identity is another's: do not trust it")
    if content_digest(directory) != content:
        raise _other(what)


def read_listing(path: Path = LISTING) -> dict[str, dict[str, str]]:
    """What each run holds, by key: digests of its content, and of its SHA256SUMS."""
    if not path.is_file():
        raise InputError(f"there is no {path}: morphtrack store push DIR writes it")
    listed = read_json(path)
    try:
        if listed["form"] != FORM:
            raise ValueError(listed["form"])
        return {
            str(key): {part: str(run[part]) for part in ("content", "files")}
            for key, run in listed["runs"].items()
        }
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"{path} is no list of runs of form {FORM}: morphtrack store push DIR "
            "writes one"
        ) from error


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
        listed[key] = {
            "run": name,
            "content": content_digest(runs[key]),
            "files": file_digest(runs[key] / DIGESTS),
        }
    write_json(path, {"form": FORM, "runs": listed})
