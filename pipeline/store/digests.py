"""The digests a run leaves of its files, and what has changed since.

SHA256SUMS in the directory of a run holds a line a file, run.json among them, as
`sha256sum --check SHA256SUMS` reads it.
"""

from pathlib import Path

from pipeline.store.files import write_text
from pipeline.store.keys import file_digest

DIGESTS = "SHA256SUMS"


def write_digests(directory: Path) -> None:
    """Leave SHA256SUMS of all files in `directory`, subfolders included."""
    files = [path for path in sorted(directory.rglob("*")) if path.is_file()]
    lines = [
        f"{file_digest(path)}  {path.relative_to(directory).as_posix()}\n"
        for path in files
    ]
    write_text(directory / DIGESTS, "".join(lines))


def recorded_digests(directory: Path) -> dict[str, str]:
    """SHA-256 by file name as the run left them; empty where it left none."""
    try:
        text = (directory / DIGESTS).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError, UnicodeDecodeError):
        return {}
    pairs = [line.partition("  ") for line in text.splitlines()]
    return {name: digest for digest, _, name in pairs if name}


def edits(directory: Path) -> list[str]:
    """What happened to the files of a run since it ended, a phrase each."""
    recorded = recorded_digests(directory)
    if not recorded:
        return [f"{DIGESTS} is missing"]
    return [
        f"{name} {'was edited' if (directory / name).is_file() else 'is gone'}"
        for name, digest in recorded.items()
        if not (directory / name).is_file() or file_digest(directory / name) != digest
    ]
