"""Reading an archive of others: refused before anything of it is unpacked or written.

E-FORMAT   no archive of this kind
E-PATH     a name that climbs out of the folder it is unpacked into or that not every
           system has, a link, or two members that cannot both be there
E-SIZE     more than there is room for, or than is read: see the limits below
E-DIGEST   a file that is not the one whose digest it carries
"""

import errno
import hashlib
import json
import shutil
import stat
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit
from zipfile import BadZipFile

from pipeline.crate.member_names import climbs_out, fault_of_all, fault_of_name
from pipeline.store.digests import DIGESTS
from pipeline.store.files import check_ends
from pipeline.terminal.errors import InputError, one_line

METADATA = "ro-crate-metadata.json"
DATA_TYPES = {"File", "Dataset"}
RUNS = "results/runs/"
UNNAMED = {METADATA, "ro-crate-preview.html"}  # files that have no digest

# What an archive says of its sizes is judged before a byte of it is unpacked; what
# unpacks to more than it says is no whole archive. The runs of the shipped workflow are
# 2,500 files of 220 MB; text of tables and records shrinks to a tenth.
MEMBERS = 200_000
UNPACKED = 100_000_000_000  # bytes
RATIO = 100  # bytes unpacked for each of the archive
RECORD = 16_000_000  # bytes of a JSON file: some 20 times that is held when it is read
TABLE = 32_000_000  # bytes of a table
DIGEST_LISTS = 64_000_000  # bytes of all lists of digests together
DAMAGED = (BadZipFile, EOFError, RuntimeError, zlib.error)
UNPACKING = "unpacking..."  # no member's name, which ends in no dot
PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others take what they ask for


@contextmanager
def opened(archive: Path) -> Iterator[zipfile.ZipFile]:
    """The archive, once its names and its description are sound."""
    with opened_zip(archive) as file:
        _check_description(archive, file)
        yield file


@contextmanager
def opened_zip(archive: Path) -> Iterator[zipfile.ZipFile]:
    """A ZIP file of others, once its names and sizes are sound."""
    check_ends(archive)
    try:
        with _table(archive) as file:
            for entry in file.infolist():
                _check_entry(archive, entry)
            _check_sizes(archive, file)
            _check_names(archive, fault_of_all(file.namelist()))
            yield file
    except FileNotFoundError as error:
        if archive.exists():  # another command moved the folder meanwhile
            raise
        raise InputError(
            f"{archive} does not exist: make archive writes one"
        ) from error
    # zipfile raises NotImplementedError for a version it does not know, and OSError for
    # a member that begins before the file.
    except (*DAMAGED, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise
        raise InputError(
            f"E-FORMAT {archive}: it is no whole ZIP archive ({error}): fetch it again"
        ) from error


def _table(archive: Path) -> zipfile.ZipFile:
    """A ZIP file whose table of contents can be read."""
    try:
        return zipfile.ZipFile(archive)
    except ValueError as error:  # a name in no encoding
        raise BadZipFile(one_line(error)) from error


def _check_entry(archive: Path, entry: zipfile.ZipInfo) -> None:
    if entry.compress_type not in PACKINGS:
        raise InputError(
            f"E-FORMAT {archive}: {entry.filename!r} is packed by method "
            f"{entry.compress_type}, of which 0 and 8 are read: pack it so"
        )
    for name in (entry.orig_filename, entry.filename):  # by its Unicode path, if any
        _check_names(archive, fault_of_name(name))
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise InputError(
            f"E-PATH {archive}: {entry.filename!r} is a link: do not trust it"
        )


def _check_names(archive: Path, fault: str) -> None:
    if fault:
        raise InputError(f"E-PATH {archive}: {fault}: do not trust it")


def _check_sizes(archive: Path, file: zipfile.ZipFile) -> None:
    """Refuse what would fill memory or a disk; nothing is unpacked for this."""
    entries = file.infolist()
    whole = sum(entry.file_size for entry in entries)
    lists = sum(e.file_size for e in entries if e.filename.endswith(f"/{DIGESTS}"))
    packed = archive.stat().st_size
    for what, value, most in (
        ("members", len(entries), MEMBERS),
        ("bytes unpacked", whole, UNPACKED),
        ("bytes unpacked for each of its own", whole // packed, RATIO),
        ("bytes of digests", lists, DIGEST_LISTS),
    ):
        if value > most:
            raise _too_large(archive, "it", value, what, most)


def _too_large(
    archive: Path, part: str, value: int, what: str, most: int
) -> InputError:
    return InputError(
        f"E-SIZE {archive}: {part} has {value:,} {what}, more than {most:,}: "
        "do not trust it"
    )


def read_whole(archive: Path, file: zipfile.ZipFile, name: str, most: int) -> bytes:
    """The content of a member that is no larger than `most` bytes.

    Read with its size given: else all that it unpacks to is held, whatever it says.
    """
    size = file.getinfo(name).file_size
    if size > most:
        raise _too_large(archive, name, size, "bytes", most)
    with file.open(name) as member:
        return member.read(size)


def read_record(archive: Path, file: zipfile.ZipFile, name: str) -> Any:
    """A JSON file of the archive; ValueError where it is none."""
    try:
        return json.loads(read_whole(archive, file, name, RECORD))
    except RecursionError as error:
        raise ValueError("it nests too deep") from error


def _check_description(archive: Path, file: zipfile.ZipFile) -> None:
    """What the description calls a file must be inside too, and of a run its list."""
    there = set(file.namelist())
    for entity in description(archive, file):
        given = entity.get("@type")
        kinds = set(map(str, given if isinstance(given, list) else [given]))
        name = str(entity.get("@id", ""))
        address = _address(archive, name)
        remote = address.scheme in {"http", "https"}
        if not kinds & DATA_TYPES or remote or name.startswith("#") or name == "./":
            continue
        if address.scheme or climbs_out(unquote(name)):
            raise InputError(
                f"E-PATH {archive}: {METADATA} names {name!r}, which climbs out of the "
                "archive: do not trust it"
            )
        is_run = name.startswith(RUNS) and name.endswith("/")
        for part in (DIGESTS, "run.json") if is_run else ("",):
            if f"{unquote(name)}{part}" not in there:
                raise _missing(archive, f"{unquote(name)}{part}")


def _missing(archive: Path, name: str) -> InputError:
    return InputError(f"E-DIGEST {archive}: {name} is missing: fetch the archive again")


def _address(archive: Path, name: str) -> SplitResult:
    try:
        return urlsplit(name)
    except ValueError as error:
        raise InputError(
            f"E-PATH {archive}: {METADATA} names {name!r}, no address ({error}): "
            "do not trust it"
        ) from error


def description(archive: Path, file: zipfile.ZipFile) -> list[dict[str, Any]]:
    """The entities of ro-crate-metadata.json."""
    try:
        whole = read_record(archive, file, METADATA)
        graph = whole.get("@graph") if isinstance(whole, dict) else None
        if not (isinstance(graph, list) and all(isinstance(e, dict) for e in graph)):
            raise ValueError("it has no @graph, a list of entities")
    except (KeyError, ValueError) as error:
        raise InputError(
            f"E-FORMAT {archive}: it is no RO-Crate ({METADATA}: {error}): "
            "make archive writes one"
        ) from error
    return graph


def check(archive: Path) -> int:
    """Compare every file with the digest that was written for it.

    Returns
    -------
    how many files have one
    """
    with opened(archive) as file:
        expected = set(_expected(archive, file))
        names = {name for name, _ in expected}
        _check_all_are_named(archive, file, names)
        for name, digest in sorted(expected):
            try:
                with file.open(name) as stream:
                    found = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
            except KeyError as error:
                raise _missing(archive, name) from error
            if found != digest:
                raise InputError(
                    f"E-DIGEST {archive}: {name} has SHA-256 {found[:16]}..., not "
                    f"{digest[:16]}...: fetch the archive again"
                )
    return len(names)


def _check_all_are_named(
    archive: Path, file: zipfile.ZipFile, expected: Collection[str]
) -> None:
    """Refuse a file without a digest; what lists digests has none."""
    for name in file.namelist():
        lists = name.startswith(RUNS) and name.endswith(f"/{DIGESTS}")
        if not (name in expected or name in UNNAMED or lists or name.endswith("/")):
            raise InputError(
                f"E-DIGEST {archive}: {name} has no digest: do not trust it"
            )


def _expected(archive: Path, file: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    for entity in description(archive, file):
        name = str(entity.get("@id", ""))
        if "sha256" in entity and not name.startswith("#"):
            yield unquote(name), str(entity["sha256"])
    for path in file.namelist():
        if path.startswith(RUNS) and path.endswith(f"/{DIGESTS}"):
            folder = path.removesuffix(DIGESTS)
            listed = read_whole(archive, file, path, DIGEST_LISTS)
            for line in listed.decode("utf-8", "replace").splitlines():
                digest, _, name = line.partition("  ")
                if climbs_out(name):
                    raise InputError(
                        f"E-PATH {archive}: {path} names {name!r}, which climbs out of "
                        "the archive: do not trust it"
                    )
                yield f"{folder}{name}", digest


def unpack(archive: Path, place: Path, *, bare: bool = False) -> int:
    """Unpack a checked archive into the new folder `place`.

    First into a folder within, which the same command takes out after a kill.

    Parameters
    ----------
    bare : leave results out, so that everything is made anew

    Returns
    -------
    how many files were written
    """
    part = place / UNPACKING
    if place.exists() and not (place.is_dir() and {*place.iterdir()} <= {part}):
        raise InputError(f"{place} is there already: name a new folder")
    check(archive)
    with opened(archive) as file:
        wanted = [
            entry
            for entry in file.infolist()
            if not (bare and entry.filename.startswith("results/"))
        ]
        check_room(archive, place, sum(entry.file_size for entry in wanted))
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        for entry in wanted:
            path = Path(file.extract(entry, part))
            if path.is_file() and _begins(path) == b"#!":
                path.chmod(0o755)  # a script; such archives keep no modes
    for path in sorted(part.iterdir(), key=lambda path: path.name == METADATA):
        path.rename(place / path.name)
    part.rmdir()
    return sum(not entry.is_dir() for entry in wanted)


def _begins(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(2)


def check_room(archive: Path, place: Path, size: int) -> None:
    """Refuse to unpack what the disk has no room for."""
    there = next(p for p in (place, *place.absolute().parents) if p.exists())
    free = shutil.disk_usage(there).free
    if size > free:
        raise InputError(
            f"E-SIZE {archive}: it unpacks to {size / 1e6:.0f} MB, and {there} has "
            f"{free / 1e6:.0f} MB left: make room"
        )
