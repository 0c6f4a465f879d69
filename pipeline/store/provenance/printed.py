"""From a printed number, or an address in the report, to the runs it is of."""

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import chain
from math import isfinite
from pathlib import Path

from pipeline.store.keys import file_digest
from pipeline.store.leaves import flat
from pipeline.store.provenance.sidecar import Origin, read_sidecar
from pipeline.store.receipts import read_receipt
from pipeline.store.runs import run_record
from pipeline.terminal.errors import InputError

UNCERTAINTY = re.compile(r"\(\d+\)|\s*(±|\+-)\s*\d\S*$")  # 0.8662(17), 0.866 ± 0.002
POWER = re.compile(r"\s*(?:\\times|\u00d7|x)\s*10\^\{?(-?\d+)\}?$")  # of numbers.tex
IN_TEXT = re.compile(r"-?\d+(?:\.\d+)?(?:\(\d+\))?(?: \\times 10\^\{-?\d+\})?")
CAPTION = "caption.md"
KEY = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class PrintedNumber:
    """A number of a run's result, or of a table of several, that is printed so.

    Parameters
    ----------
    keys : of the runs it is of
    run : step and name, or the row of a table
    wanted : whether a name of the plan stands for the run now
    """

    keys: tuple[str, ...]
    run: str
    quantity: str
    value: float
    wanted: bool


def printed_value(text: str) -> Decimal | None:
    """The number that a text is, with as many digits as it has; None if it is none."""
    try:
        plain = POWER.sub(
            r"e\1", text.strip().strip("$").replace("\N{MINUS SIGN}", "-")
        )
        value = Decimal(UNCERTAINTY.sub("", plain))
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def is_printed(value: float | Decimal, text: Decimal) -> bool:
    """Whether a number, rounded to the digits of a text, is that text."""
    unit = Decimal(1).scaleb(int(text.as_tuple().exponent))
    return abs(Decimal(value) - text) * 2 <= unit


def numbers_printed(text: Decimal, results: Path) -> list[PrintedNumber]:
    """Every number that is printed so: in tables, in the plan's runs, in others.

    Captions come last, as they tell some in units of their own, as mm; tables of
    figures are read where nothing else holds it.
    """
    standing = set(_standing(results))
    found = [
        one
        for path in sorted((results / "tables").glob("*.csv"))
        for one in _of_table(path, text, results)
    ]
    found += [
        one
        for path in sorted((results / "runs").glob("*/run.json"))
        for one in _of_run(path.parent, text, standing)
    ]
    found.sort(key=lambda one: not one.wanted)
    figures = results / "figure"
    found += [
        one
        for path in sorted(figures.glob(f"*/{CAPTION}"))
        for one in _said(path, text)
    ]
    plotted = (
        _of_table(path, text, results) for path in sorted(figures.glob("*/*.csv"))
    )
    return found or list(chain.from_iterable(plotted))


def _as_written(path: Path) -> Origin | None:
    """Where a file comes from that is as it was written; None for any other."""
    sidecar = read_sidecar(path)
    if sidecar is None or sidecar.files.get(path.name) != file_digest(path):
        return None
    return sidecar.origin


def _said(path: Path, text: Decimal) -> Iterator[PrintedNumber]:
    """Of a caption: a number with these digits, told of all runs behind its figure."""
    origin = _as_written(path)
    if origin is None:
        return
    said = path.read_text(encoding="utf-8").partition("\n")[0]
    values = filter(None, map(printed_value, IN_TEXT.findall(said)))
    if any(value.compare_total(text) == 0 for value in values):
        keys = (origin.run,) if origin.run else origin.keys
        run = f"the caption of {path.parent.name}"
        yield PrintedNumber(keys, run, "a number", float(text), True)


def _of_table(path: Path, text: Decimal, results: Path) -> Iterator[PrintedNumber]:
    """Of a table that is as it was written: what comparisons and series say."""
    origin = _as_written(path)
    if origin is None:
        return
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            keys = (row["key"],) if row.get("key") else origin.keys
            names = [row.get(x) for x in ("name", "source", "quantity", "part")]
            place = f"results/{path.relative_to(results)}"
            called = " in ".join(filter(None, [" ".join(filter(None, names)), place]))
            for column, cell in row.items():
                with suppress(InvalidOperation):
                    value = Decimal(cell)
                    if value.is_finite() and is_printed(value, text):
                        yield PrintedNumber(keys, called, column, float(cell), True)


def _standing(results: Path) -> Iterator[str]:
    """Keys of the runs that names of the plan stand for."""
    for path in (results / "made").glob("*/*"):
        receipt = read_receipt(path.relative_to(results / "made").as_posix(), results)
        yield from (run.key for run in receipt.runs) if receipt else ()


def _of_run(
    directory: Path, text: Decimal, standing: set[str]
) -> Iterator[PrintedNumber]:
    try:
        record = run_record(directory)
    except InputError:
        return  # an edited record is told by the report
    key, run = directory.name, f"{record.get('step')} {record.get('name')}"
    for quantity, leaf in flat(record.get("result") or {}):
        for value in leaf if isinstance(leaf, list) else [leaf]:
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if number and isfinite(value) and is_printed(value, text):
                wanted = key in standing
                yield PrintedNumber((key,), run, quantity, float(value), wanted)


def key_of_address(address: str, results: Path) -> str:
    """The run that an address of the report leads to; "" where it is no address.

    Raises
    ------
    InputError
        where no run of `results` stands at that place
    """
    page, _, place = address.partition("#")
    ending = place.rpartition("-")[2]
    if not place or not (page.endswith(".html") or KEY.fullmatch(ending)):
        return ""
    if (results / "runs" / ending / "run.json").is_file():
        return ending
    raise InputError(
        f"{address} is the place of no run in {results}: give one that ends in the key "
        f"of a run, as index.html#run-{next(_standing(results), 'KEY')}"
    )
