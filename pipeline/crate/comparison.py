"""Whether the runs here have the keys and the numbers of those in an archive."""

import csv
import io
import math
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.crate.reading import RUNS, TABLE, opened, read_record, read_whole
from pipeline.store.leaves import flat
from pipeline.store.runs import finished, run_record
from pipeline.terminal.errors import InputError

CLOSE = 1e-6  # relative; another machine adds up in another order


@dataclass(frozen=True)
class CrateComparison:
    """What was found of the runs of an archive.

    Parameters
    ----------
    runs : in the archive
    missing : those without a finished run of that key here
    different : a phrase for each number that differs by more than CLOSE
    largest : relative difference among the others
    """

    runs: int
    missing: tuple[str, ...]
    different: tuple[str, ...]
    numbers: int
    largest: float


def compare(archive: Path, results: Path) -> CrateComparison:
    """Set the numbers of the runs here beside those of the archive, key by key."""
    missing, different = [], []
    runs, numbers, largest = 0, 0, 0.0
    with opened(archive) as file:
        for record in _records(archive, file):
            runs += 1
            called = f"{record['step']} {record['name']} (run {record['key']})"
            here = finished(record["key"], results)
            if here is None:
                missing.append(called)
                continue
            for what, then, now in _pairs(archive, file, record, here):
                numbers += 1
                gap = _gap(then, now)
                if gap > CLOSE:
                    different.append(f"{called}: {what} was {then}, is {now}")
                else:
                    largest = max(largest, gap)
    return CrateComparison(runs, tuple(missing), tuple(different), numbers, largest)


def _records(archive: Path, file: zipfile.ZipFile) -> Iterator[dict[str, Any]]:
    for name in file.namelist():
        if name.startswith(RUNS) and name.endswith("/run.json"):
            try:
                record = read_record(archive, file, name)
                _check_record(record)
            except (ValueError, TypeError) as error:
                raise InputError(f"E-FORMAT {archive}: {name}: {error}") from error
            yield record


def _check_record(record: Any) -> None:
    """Raise TypeError where this is no record of a run."""
    if not isinstance(record, dict) or not {"key", "step", "name"} <= record.keys():
        raise TypeError("it is no record of a run")


Pair = tuple[str, Any, Any]


def _pairs(
    archive: Path, file: zipfile.ZipFile, record: Mapping[str, Any], here: Path
) -> Iterator[Pair]:
    """Each number of the archive's run beside the one of the run here."""
    now = dict(flat(run_record(here).get("result") or {}))
    for name, value in flat(record.get("result") or {}):
        yield name, value, now.get(name)
    folder = f"{RUNS}{record['key']}/"
    for path in sorted(file.namelist()):
        inside = path.removeprefix(folder)
        if path.startswith(folder) and "/" not in inside and inside.endswith(".csv"):
            then = read_whole(archive, file, path, TABLE)
            yield from _cells(inside, then.decode("utf-8", "replace"), here / inside)


def _cells(name: str, then: str, here: Path) -> Iterator[Pair]:
    if not here.is_file():
        yield name, "there", "missing"
        return
    rows = list(csv.reader(io.StringIO(then)))
    others = list(csv.reader(io.StringIO(here.read_text(encoding="utf-8"))))
    if len(rows) != len(others):
        yield f"{name}, rows", len(rows), len(others)
        return
    for line, (row, other) in enumerate(zip(rows, others, strict=True), start=1):
        if len(row) != len(other):
            yield f"{name}:{line}, cells", len(row), len(other)
            continue
        for cell, against in zip(row, other, strict=True):
            yield f"{name}:{line}", cell, against


def _gap(then: Any, now: Any) -> float:
    """Relative difference of numbers; infinite for words that differ."""
    if then == now:
        return 0.0
    try:
        a, b = float(then), float(now)
    except (TypeError, ValueError):
        return math.inf
    if math.isnan(a) and math.isnan(b):
        return 0.0
    scale = max(abs(a), abs(b), 1e-9)  # what is rounding of zero stays so
    return abs(a - b) / scale if math.isfinite(a - b) else math.inf


def told(found: CrateComparison, most: int = 10) -> Iterable[str]:
    """What is printed of a comparison."""
    same = found.runs - len(found.missing)
    yield f"{same} of {found.runs} runs of the archive are here under the same key"
    yield (
        f"{found.numbers} numbers and words compared, {len(found.different)} differ; "
        f"largest relative difference of the others {found.largest:.1e}"
    )
    yield from (f"missing: {text}" for text in found.missing[:most])
    yield from (f"different: {text}" for text in found.different[:most])
