"""What differs between two runs, and by how much."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.bench.same_numbers.matching import Renamed
from tests.bench.same_numbers.quantities import numbers_of, text_of
from tests.bench.same_numbers.runs import Run

ABSENT = "-"
SHOWN_DIGITS = 8  # of a digest


@dataclass(frozen=True)
class Difference:
    """One quantity of one run, before and now.

    relative : largest difference over the largest magnitude before; "" where the
        numbers are not at hand or there are none
    """

    quantity: str
    old: str
    new: str
    relative: str


def differences(old: Run, new: Run, renamed: Renamed) -> Iterator[Difference]:
    """The quantities that are not the same to the bit."""
    before = {renamed(name): name for name in old.quantities}
    now = {renamed(name): name for name in new.quantities}
    for name in [*before, *(name for name in now if name not in before)]:
        if name not in now:
            yield Difference(name, _shown(old.quantities[before[name]]), ABSENT, "")
        elif name not in before:
            yield Difference(name, ABSENT, _shown(new.quantities[now[name]]), "")
        else:
            a, b = old.quantities[before[name]], new.quantities[now[name]]
            if text_of(a) != text_of(b):
                apart = _apart(old, new, before[name], now[name])
                yield Difference(name, _shown(a), _shown(b), apart)


def changed_settings(old: Run, new: Run) -> Iterator[tuple[str, str]]:
    """Settings of two runs that differ, and how."""
    for name in sorted(old.settings.keys() | new.settings.keys()):
        if name not in new.settings:
            yield name, "only in old"
        elif name not in old.settings:
            yield name, "only in new"
        elif old.settings[name] != new.settings[name]:
            yield name, f"{old.settings[name]} -> {new.settings[name]}"


def _shown(value: Any) -> str:
    """A number or text as it is; of a digest, its first digits."""
    if not isinstance(value, str):
        return text_of(value)
    said, _, bits = value.rpartition(" ")
    if len(bits) == 32 and set(bits) <= set("0123456789abcdef"):
        return f"{said} {bits[:SHOWN_DIGITS]}"
    return value


def _apart(old: Run, new: Run, before: str, now: str) -> str:
    a, b = old.quantities[before], new.quantities[now]
    if _is_number(a) and _is_number(b):
        return _relative(np.array([float(a)]), np.array([float(b)]))
    if old.directory is None or new.directory is None:
        return ""
    x, y = numbers_of(old.directory, before), numbers_of(new.directory, now)
    return "" if x is None or y is None else _relative(x, y)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _relative(old: np.ndarray[Any, Any], new: np.ndarray[Any, Any]) -> str:
    if old.shape != new.shape:
        return "shape"
    known = np.isfinite(old) & np.isfinite(new)
    if np.any(np.isfinite(old) != np.isfinite(new)):
        return "not finite"
    if not known.any():
        return ""
    largest = float(np.max(np.abs(old[known])))
    difference = float(np.max(np.abs(new[known] - old[known])))
    return f"{difference / largest:.1e}" if largest > 0 else f"{difference:.1e} from 0"
