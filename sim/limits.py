"""Options that are numbers, refused where they make no sense.

`of` says whose option it is, where its name alone would not: "rod: nodes must be ...".
"""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np


def is_finite(value: Any) -> bool:
    """Whether it is a finite number; true and false are none."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return is_number and bool(np.isfinite(float(value)))


def is_positive(value: Any) -> bool:
    """Whether it is a number above zero, and a finite one."""
    return is_finite(value) and float(value) > 0.0


def is_count(value: Any, least: int = 1) -> bool:
    """Whether it is a whole number from `least` up."""
    return (
        isinstance(value, Integral)
        and not isinstance(value, bool)
        and int(value) >= least
    )


def refuse_unless_positive(owner: object, *names: str, of: str = "") -> None:
    """Refuse the first of the named attributes that is not a positive number."""
    _refuse_unless(is_positive, "positive", owner, names, of)


def refuse_unless_finite(owner: object, *names: str, of: str = "") -> None:
    """Refuse the first of the named attributes that is not a finite number."""
    _refuse_unless(is_finite, "a finite number", owner, names, of)


def refuse_negative(owner: object, *names: str, of: str = "") -> None:
    """Refuse the first of the named attributes that is not 0 or more, and finite."""
    _refuse_unless(
        lambda value: is_finite(value) and float(value) >= 0.0,
        "0 or more", owner, names, of,
    )  # fmt: skip


def refuse_unless_count(owner: object, *names: str, of: str = "") -> None:
    """Refuse the first of the named attributes that is not a whole number from 1 up."""
    _refuse_unless(is_count, "a whole number from 1 up", owner, names, of)


def _refuse_unless(
    fits: Callable[[Any], bool], what: str, owner: object, names: tuple[str, ...],
    of: str,
) -> None:  # fmt: skip
    for name in names:
        value = getattr(owner, name)
        if not fits(value):
            whose = f"{of}: " if of else ""
            raise ValueError(f"{whose}{name} must be {what}, not {value}")
