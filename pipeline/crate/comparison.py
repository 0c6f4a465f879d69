"""Whether the runs here have the keys and the numbers of those in an archive."""

import csv
import io
import math
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pipeline.crate.reading import RUNS, TABLE, opened, read_record, read_whole
from pipeline.store.files import read_json
from pipeline.store.keys import KEY_LENGTH
from pipeline.store.leaves import flat
from pipeline.store.receipts import content_digest, content_files, inner_results
from pipeline.store.runs import finished, run_record
from pipeline.terminal.errors import InputError
from pipeline.terminal.words import visible

CLOSE = 1e-6  # relative; another machine adds up in another order
LEAST = 1e-9  # what is rounding of zero stays so


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
            said = visible(f"{record['step']} {record['name']}")
            called = f"{said} (run {record['key']})"
            here = finished(record["key"], results)
            if here is None:
                missing.append(called)
                continue
            for what, then, now in _pairs(archive, file, record, here):
                numbers += 1
                gap = _gap(then, now)
                if gap > CLOSE:
                    phrase = visible(f"{what} was {then}, is {now}")
                    different.append(f"{called}: {phrase}")
                else:
                    largest = max(largest, gap)
    if not runs:
        raise InputError(f"{archive} holds no run to compare: make archive packs some")
    return CrateComparison(runs, tuple(missing), tuple(different), numbers, largest)


def _records(archive: Path, file: zipfile.ZipFile) -> Iterator[dict[str, Any]]:
    for name in file.namelist():
        within = name.removeprefix(RUNS).count("/")  # a run may hold others' records
        if name.startswith(RUNS) and name.endswith("/run.json") and within == 1:
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
    if not re.fullmatch(f"[0-9a-f]{{{KEY_LENGTH}}}", str(record["key"])):
        raise TypeError("its key is none")


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
    try:
        rows = list(csv.reader(io.StringIO(then)))
    except csv.Error as error:
        raise InputError(f"E-FORMAT {name} of the archive: {error}") from error
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
    except (TypeError, ValueError, OverflowError):
        return math.inf
    if math.isnan(a) and math.isnan(b):
        return 0.0
    scale = max(abs(a), abs(b), LEAST)
    return abs(a - b) / scale if math.isfinite(a - b) else math.inf


def likeness(again: Path, then: Path) -> str:
    """How a run that was made again compares: same bits, alike to CLOSE, or differs.

    Alike is enough where the processors are not known to be equal. A table by column
    and an array as a whole, relative to their largest number; files other than tables,
    arrays and JSON to the bit.
    """
    if content_digest(again) == content_digest(then):
        return "same bits"
    now, before = (_parts(directory) for directory in (again, then))
    gaps = {n: _apart(now.get(n), before.get(n)) for n in {*now, *before}}
    name = max(gaps, key=lambda part: gaps[part])
    apart = f"differs by {gaps[name]:.1e} in {name}"
    if gaps[name] > CLOSE:
        return apart
    here, there = (run_record(d).get("processor") for d in (again, then))
    if here == there:
        return f"{apart}, on an equal processor ({here})"
    return f"alike to {CLOSE:g}, on another processor ({there or 'not said'})"


def _parts(directory: Path) -> dict[str, Any]:
    """What a run holds by file: arrays by name, and of other files the digest."""
    parts: dict[str, Any] = {"run.json": run_record(directory)["result"]}
    parts |= inner_results(directory)
    for name, digest in content_files(directory).items():
        path = directory / name
        match path.suffix:
            case ".csv":
                parts[name] = dict(pd.read_csv(path))
            case ".npz":
                parts[name] = dict(np.load(path))
            case ".json":
                parts[name] = {"": read_json(path)}
            case _:
                parts[name] = digest
    return parts


def _apart(one: Any, other: Any) -> float:
    """The largest relative difference of two parts; infinite where words differ."""
    if not (isinstance(one, Mapping) and isinstance(other, Mapping)):
        return 0.0 if one == other else math.inf
    first, second = dict(flat(one)), dict(flat(other))
    if first.keys() != second.keys():
        return math.inf
    return max((_largest(first[n], second[n]) for n in first), default=0.0)


def _largest(one: Any, other: Any) -> float:
    """The largest difference of numbers, relative to the largest of them."""
    a, b = np.asarray(one), np.asarray(other)
    if a.shape != b.shape or a.dtype.kind not in "biuf" or b.dtype.kind not in "biuf":
        return 0.0 if np.array_equal(a, b) else math.inf
    a, b = a.astype(float), b.astype(float)
    unlike = (a != b) & ~(np.isnan(a) & np.isnan(b))
    if not unlike.any():
        return 0.0
    gap = abs(a - b)[unlike].max() / max(np.nanmax(abs(a)), np.nanmax(abs(b)), LEAST)
    return float(gap) if math.isfinite(gap) else math.inf


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
