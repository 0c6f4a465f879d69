"""The runs of a results folder, called by what does not change with the code."""

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from tests.bench.same_numbers.quantities import (
    NumbersError,
    Quantities,
    digest,
    quantities_of,
    read_json,
    reproduced,
    text_of,
)

FORMAT = 1
KEY_IN_NAME = 8  # digits of its key end the name of a second run of that name

Records = dict[str, tuple[Path, dict[str, Any]]]


@dataclass(frozen=True, eq=False)
class Run:
    """One run and its numbers.

    Parameters
    ----------
    label : step/name
    settings : the resolved configuration, a text a setting
    digest : of the settings, and of those of every run it was made from
    quantities : numbers and texts, and digests of arrays, columns and documents
    directory : where its files are; None out of a stored file
    """

    label: str
    settings: dict[str, str]
    digest: str
    quantities: Quantities
    directory: Path | None = None

    @property
    def step(self) -> str:
        """What made it."""
        return self.label.partition("/")[0]


def settings_of(config: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """Dotted names and texts of the settings in a resolved configuration.

    A `_target_` is reduced to the name of its class or function, and a path to its file
    name: both move. A list of plain values is one setting.
    """
    if isinstance(config, Mapping):
        for name in sorted(config):
            yield from settings_of(config[name], f"{where}.{name}" if where else name)
    elif isinstance(config, list) and any(_holds_mapping(item) for item in config):
        for i, item in enumerate(config):
            yield from settings_of(item, f"{where}.{i}")
    else:
        yield where, text_of(_unmoved(where.rpartition(".")[2], config))


def _holds_mapping(value: Any) -> bool:
    if isinstance(value, list):
        return any(_holds_mapping(item) for item in value)
    return isinstance(value, Mapping)


def _unmoved(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if name == "_target_":
        return value.rpartition(".")[2]
    if name == "path" or name.endswith("_path"):
        return PurePosixPath(value).name
    return value


def read_folder(results: Path) -> list[Run]:
    """The runs of a results folder.

    Of several with the same step, name, settings and upstream, which were made by
    different code, the one that ended last.
    """
    records = _records(results)
    latest: dict[tuple[str, str], tuple[Path, dict[str, Any]]] = {}
    for key, (directory, record) in sorted(
        records.items(), key=lambda item: str(item[1][1].get("ended", ""))
    ):
        latest[_label(record), _digest(key, records)] = directory, record
    runs = []
    for (label, mark), (directory, record) in latest.items():
        found = quantities_of(directory, records)
        kept = {name: v for name, v in found.items() if reproduced(label, name)}
        settings = dict(settings_of(record.get("config", {})))
        runs.append(Run(label, settings, mark, kept, directory))
    if not runs:
        raise NumbersError(f"{results} has no runs: give a results folder")
    return runs


def _records(results: Path) -> Records:
    """Folder and run.json by key; of a run that failed, where it never finished."""
    found: Records = {}
    for place in ("failed", "runs"):
        for path in sorted(results.glob(f"{place}/*/run.json")):
            record = read_json(path)
            if not (
                isinstance(record, dict) and {"key", "step", "name"} <= set(record)
            ):
                raise NumbersError(f"{path} is not the record of a run")
            if record.get("status") != "killed":
                found[record["key"]] = path.parent, record
    return found


def _label(record: Mapping[str, Any]) -> str:
    name = str(record["name"]).removesuffix(f"-{record['key'][:KEY_IN_NAME]}")
    return f"{record['step']}/{name}"


def _digest(key: str, records: Records) -> str:
    """Of the settings of a run, and of those of the runs it was made from."""
    if key not in records:
        return "not there"
    _, record = records[key]
    needs = {
        role: [_digest(k, records) for k in ([keys] if isinstance(keys, str) else keys)]
        for role, keys in record.get("needs", {}).items()
    }
    files = [PurePosixPath(path).name for path in record.get("paths", [])]
    settings = list(map(list, settings_of(record.get("config", {}))))
    return digest(text_of([settings, needs, files]).encode())


def store(runs: list[Run], path: Path) -> None:
    """Write what `read_stored` reads."""
    rows = [
        {
            "label": r.label,
            "settings": r.settings,
            "digest": r.digest,
            "quantities": r.quantities,
        }
        for r in sorted(runs, key=lambda run: (run.label, run.digest))
    ]
    content = json.dumps({"format": FORMAT, "runs": rows}, separators=(",", ":"))
    packed = content.encode()
    if path.suffix == ".gz":
        packed = gzip.compress(packed, mtime=0)
    try:
        path.write_bytes(packed)
    except OSError as error:
        raise NumbersError(f"{path} cannot be written: {error}") from error


def read_stored(path: Path) -> list[Run]:
    """The runs of a file that `store` wrote."""
    try:
        packed = path.read_bytes()
        content = json.loads(
            gzip.decompress(packed) if path.suffix == ".gz" else packed
        )
        if content["format"] != FORMAT:
            raise ValueError(f"format {content['format']}, not {FORMAT}")
        return [Run(**row) for row in content["runs"]]
    except (OSError, EOFError, ValueError, TypeError, KeyError, zlib.error) as error:
        raise NumbersError(
            f"{path} cannot be read ({error}): is it what `store` wrote?"
        ) from error


def read_runs(path: Path) -> list[Run]:
    """The runs of a results folder or of a stored file."""
    return read_folder(path) if path.is_dir() else read_stored(path)
