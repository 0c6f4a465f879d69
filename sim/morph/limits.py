"""Options that are numbers, refused where they make no sense."""

from numbers import Integral, Real
from typing import Any

import numpy as np


def is_positive(value: Any) -> bool:
    """Whether it is a number above zero, and a finite one."""
    return isinstance(value, Real) and 0.0 < float(value) < np.inf


def is_count(value: Any, least: int = 1) -> bool:
    """Whether it is a whole number from `least` up."""
    return (
        isinstance(value, Integral)
        and not isinstance(value, bool)
        and int(value) >= least
    )


def refuse_unless_positive(options: object, *names: str) -> None:
    """Refuse the first of the named attributes that is not a positive number."""
    for name in names:
        value = getattr(options, name)
        if not is_positive(value):
            raise ValueError(f"{name} must be positive, not {value}")


def refuse_unless_count(options: object, name: str) -> None:
    """Refuse an attribute that is not a whole number from 1 up."""
    value = getattr(options, name)
    if not is_count(value):
        raise ValueError(f"{name} must be a whole number from 1 up, not {value}")
