"""The runs that a file is made of, in its sidecar and in the metadata of pictures.

A sidecar serves all files of one stem: dejong-3.trace.json those called dejong-3.pdf
and dejong-3.png.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from pipeline.runs.atomic_files import read_json, read_mapping, write_json
from pipeline.runs.run_keys import file_digest
from pipeline.terminal import InputError

SUFFIX = ".trace.json"
MOST_KEYS = 64  # in the metadata of a picture; the run or the study leads to all


@dataclass(frozen=True)
class Origin:
    """Where files come from.

    Parameters
    ----------
    keys : of the runs they show
    run : key of the run that wrote them, or "" where none did
    study : whose runs they show, or ""
    """

    keys: tuple[str, ...] = ()
    run: str = ""
    study: str = ""

    @property
    def all_keys(self) -> list[str]:
        """The run that wrote them and those they show, each once."""
        return list(dict.fromkeys(k for k in (self.run, *self.keys) if k))


def origin_text(origin: Origin) -> str:
    """An origin as a picture carries it in its metadata."""
    words = [f"run={origin.run}"] if origin.run else []
    words += [f"study={quote(origin.study)}"] if origin.study else []
    return " ".join([*words, *origin.keys[:MOST_KEYS]])


def origin_in(text: str) -> Origin:
    """The origin that `origin_text` wrote as `text`; of other text, nothing."""
    run = re.search(r"(?<!\S)run=([0-9a-f]{16})(?!\S)", text)
    study = re.search(r"(?<!\S)study=(\S+)", text)
    keys = re.findall(r"(?<!\S)[0-9a-f]{16}(?!\S)", text)
    return Origin(
        tuple(keys), run.group(1) if run else "", unquote(study[1]) if study else ""
    )


def sidecar_of(file: Path) -> Path:
    """Where the sidecar of a file is, whether it exists or not."""
    return file.with_name(file.stem + SUFFIX)


def write_sidecars(files: Iterable[Path], origin: Origin) -> None:
    """Leave a sidecar of finished files, one for each stem.

    What says the same already is left alone.
    """
    stems: dict[Path, dict[str, str]] = {}
    for file in files:
        stems.setdefault(sidecar_of(file), {})[file.name] = file_digest(file)
    for path, digests in stems.items():
        value = {
            "run": origin.run,
            "study": origin.study,
            "keys": list(origin.keys),
            "files": digests,
        }
        if read_mapping(path) != value:
            write_json(path, value)


def read_sidecar(file: Path) -> tuple[Origin, str] | None:
    """Origin and SHA-256 of `file` by its sidecar; None where it has none of its own.

    Raises
    ------
    InputError
        if what has the name of the sidecar is none
    """
    path = sidecar_of(file)
    if not path.is_file():
        return None
    value = read_json(path)
    try:
        digest = value["files"].get(file.name)
        origin = Origin(_words(value["keys"]), str(value["run"]), str(value["study"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path} is not a sidecar of a figure ({error}): remove it"
        ) from error
    return None if digest is None else (origin, str(digest))


def _words(value: Sequence[Any]) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError("keys is not a list")
    return tuple(str(word) for word in value)
