"""Numbers that moved by more than their uncertainty, and verdicts that turned.

A name stands for another run after it was made again: the results of the two are
compared. A number has an uncertainty where the result holds one beside it, called
<number>_u; the larger of the two counts.
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pipeline.store.receipts import read_receipt
from pipeline.store.runs import RESULTS, finished, run_record
from pipeline.terminal.errors import InputError

Keys = Mapping[str, str]  # of the run that each name stands for
HEAD = ["moved", "number", "was", "is", "u"]


def standing_keys(results: Path = RESULTS) -> dict[str, str]:
    """The run that each name stands for; those of a study have no names."""
    found = {}
    for path in sorted((results / "made").glob("*/*")):
        name = path.relative_to(results / "made").as_posix()
        receipt = read_receipt(name, results)
        if receipt is not None and len(receipt.runs) == 1:
            found[name] = receipt.runs[0].key
    return found


def moved(before: Keys, after: Keys, results: Path = RESULTS) -> list[list[str]]:
    """A row a number that moved or a verdict that turned, of names made again."""
    rows = []
    for name, key in after.items():
        if name in before and before[name] != key:
            then, now = _result(before[name], results), _result(key, results)
            rows += [[name, *row] for row in _told(then, now)]
    return rows


def _result(key: str, results: Path) -> Mapping[str, Any]:
    directory = finished(key, results)
    try:
        return dict(run_record(directory)["result"]) if directory else {}
    except (InputError, KeyError, TypeError, ValueError):
        return {}  # an edited record is told by the report


def _told(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[list[str]]:
    old, new = then.get("verdict"), now.get("verdict")
    if old and new and old != new:
        yield ["verdict", str(old), str(new), ""]
    for name in now:
        values = [r.get(n) for r in (then, now) for n in (name, f"{name}_u")]
        numbers = [float(v) for v in values if isinstance(v, int | float)]
        if len(numbers) < len(values):
            continue
        was, was_u, value, value_u = numbers
        u = max(was_u, value_u)
        both_absent = math.isnan(was) and math.isnan(value)
        if not both_absent and not abs(value - was) <= u:
            yield [name, f"{was:.6g}", f"{value:.6g}", f"{u:.2g}"]
