"""The numbers that a run left, by quantity: values, or digests of their bits."""

import csv
import fnmatch
import hashlib
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Quantities = dict[str, Any]

DIGITS = 32  # of a SHA-256, in hexadecimal: 128 bits
NO_NUMBERS = (".png", ".pdf", ".svg", ".html", ".log")
RECORDS = ("SHA256SUMS", "mlflow.json", "traceback.txt", "continued.json")
CAPTIONS = ("caption.md", "caption.tex")  # end with keys; their numbers are in tables
HEADER_ENDS = b"end_header\n"  # of a PLY file
TRACES = "*.trace.json"  # keys of runs, and digests of pictures

# What differs from one run to the next of the same code on the same machine: the run,
# the quantity, and why. Both are patterns of the shell.
NOT_REPRODUCED = (
    ("*/computing_time", "steps.csv:star_robot*", "CPU time over simulated time"),
    ("*/computing_time", "steps.npz:ratios", "the same as an array"),
    ("figure/huang-6", "huang-6-times.csv:ratio", "the same as drawn"),
    ("figure/huang-6", "huang-6-times.csv:most", "the slowest repeat as drawn"),
)


# Modules and commands as texts name them: pipeline.deviation, morphtrack deviation.
NAMED = re.compile(r"\b(?:(?:sim|analysis|pipeline)\.(?:\w+\.)*|morphtrack )(\w+)")


class NumbersError(Exception):
    """A file that cannot be read or written, in one line."""


def reproduced(label: str, quantity: str) -> bool:
    """Whether the quantity of the run `label` is the same each time it is made."""
    return not any(
        fnmatch.fnmatchcase(label, run) and fnmatch.fnmatchcase(quantity, what)
        for run, what, _ in NOT_REPRODUCED
    )


def digest(content: bytes) -> str:
    """The first digits of the SHA-256."""
    return hashlib.sha256(content).hexdigest()[:DIGITS]


def unmoved(text: str) -> str:
    """`text` with only the last name of a module or command: the others change."""
    return NAMED.sub(r"\1", text)


def canonical(value: Any) -> Any:
    """`value` with whole floats as integers and mappings sorted."""
    if isinstance(value, Mapping):
        return {str(k): canonical(value[k]) for k in sorted(value)}
    if isinstance(value, list):
        return [canonical(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def text_of(value: Any) -> str:
    """The one text of a value out of JSON."""
    return json.dumps(canonical(value), separators=(",", ":"))


def read_json(path: Path) -> Any:
    """A JSON document."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NumbersError(f"{path} cannot be read: {error}") from error


def quantities_of(directory: Path, keys: Iterable[str] = ()) -> Quantities:
    """Every number that the run in `directory` left.

    Parameters
    ----------
    keys : keys of runs, which become <run> in texts: they change with the code
    """
    found: Quantities = {}
    for path in sorted(p for p in directory.rglob("*") if p.is_file()):
        name = path.relative_to(directory).as_posix()
        if path.name == "run.json":
            found |= _of_record(read_json(path), name.removesuffix("run.json"), keys)
        elif _has_numbers(path):
            found |= {name + part: said for part, said in _of_file(path)}
    return found


def upstream(record: Mapping[str, Any]) -> Iterator[str]:
    """Keys of the runs that a run was made from."""
    for needed in record.get("needs", {}).values():
        yield from [needed] if isinstance(needed, str) else needed


def _has_numbers(path: Path) -> bool:
    return not (
        path.suffix in NO_NUMBERS
        or path.name in (*RECORDS, *CAPTIONS)
        or fnmatch.fnmatchcase(path.name, TRACES)
    )


def _of_record(
    record: Mapping[str, Any], where: str, keys: Iterable[str]
) -> Quantities:
    """How the run ended and what it resulted in; of a failed one, why."""
    found = {f"{where}status": record.get("status")}
    if "reason" in record:
        found[f"{where}reason"] = record["reason"]
    known = {*keys, *upstream(record)}
    for name, value in (record.get("result") or {}).items():
        if isinstance(value, str):
            words = value.split(" ")
            words = ["<run>" if word in known else word for word in words]
            value = unmoved(" ".join(words))
        found[f"{where}result.{name}"] = canonical(value)
    return found


def _of_file(path: Path) -> Iterator[tuple[str, str]]:
    """Parts of a file, such as `:E` of steps.csv, with their digests."""
    try:
        if path.suffix in (".npz", ".npy"):
            for part, array in arrays(path):
                bits = digest(np.ascontiguousarray(array).tobytes())
                yield part, f"{array.dtype} {array.shape} {bits}"
        elif path.suffix == ".csv":
            for part, cells in columns(path):
                bits = digest(unmoved("\n".join(cells)).encode())
                yield part, f"{len(cells)} rows {bits}"
        elif path.suffix in (".json", ".fold"):
            bits = digest(unmoved(text_of(read_json(path))).encode())
            yield "", f"document {bits}"
        else:
            content = path.read_bytes()
            if path.suffix == ".ply":
                content = _scan(content)
            yield "", f"{len(content)} bytes {digest(content)}"
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise NumbersError(f"{path} cannot be read: {error}") from error


def _scan(content: bytes) -> bytes:
    """A PLY file whose header names no module."""
    header, end, points = content.partition(HEADER_ENDS)
    return unmoved(header.decode("latin1")).encode("latin1") + end + points


def arrays(path: Path) -> Iterator[tuple[str, NDArray[Any]]]:
    """The arrays of an .npz or .npy file."""
    loaded = np.load(path, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        yield "", loaded
        return
    with loaded:
        for name in sorted(loaded.files):
            yield f":{name}", loaded[name]


def columns(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The columns of a CSV file as they are written, and their order."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = list(csv.reader(file)) or [[]]
    for i, name in enumerate(header):
        yield f":{name}", [row[i] if i < len(row) else "" for row in rows]


def numbers_of(directory: Path, quantity: str) -> NDArray[np.float64] | None:
    """The quantity as floats, to tell how far two of them are apart.

    None if it is text; of a document, the list of its numbers.
    """
    file, colon, part = quantity.partition(":")
    path = directory / file
    try:
        if path.suffix in (".npz", ".npy"):
            return _flat(dict(arrays(path))[colon + part])
        if path.suffix == ".csv":
            cells = dict(columns(path))[colon + part]
            return np.array([float(cell or "nan") for cell in cells])
        if path.suffix in (".json", ".fold"):
            return np.array(list(_leaves(read_json(path))), dtype=float)
    except (KeyError, OSError, TypeError, ValueError):
        return None
    return None


def _flat(array: NDArray[Any]) -> NDArray[np.float64]:
    if np.iscomplexobj(array):
        array = np.stack([array.real, array.imag])
    return array.astype(float)


def _leaves(value: Any) -> Iterator[float]:
    if isinstance(value, Mapping):
        for name in sorted(value):
            yield from _leaves(value[name])
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, int | float):
        yield value
