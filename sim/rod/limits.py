"""Numbers that describe a rod, refused where they make no sense."""

from numbers import Real

import numpy as np


def refuse_unless_positive(
    owner: object, what: str, *names: str, remedy: str = "give a positive number"
) -> None:
    """Refuse the first of the named attributes that is not a positive number."""
    for name in names:
        value = getattr(owner, name)
        if not (isinstance(value, Real) and 0.0 < float(value) < np.inf):
            raise ValueError(f"{what}: {name} is {value}: {remedy}")


def refuse_unless_finite(owner: object, what: str, *names: str) -> None:
    """Refuse the first of the named attributes that is not a finite number."""
    for name in names:
        value = getattr(owner, name)
        if not (isinstance(value, Real) and np.isfinite(float(value))):
            raise ValueError(f"{what}: {name} is {value}: give a finite number")


def refuse_negative(owner: object, what: str, *names: str) -> None:
    """Refuse the first of the named attributes that is not 0 or more."""
    for name in names:
        value = getattr(owner, name)
        if not (isinstance(value, Real) and 0.0 <= float(value) < np.inf):
            raise ValueError(f"{what}: {name} is {value}: give 0 or more")


def refuse_unless_count(owner: object, what: str, *names: str) -> None:
    """Refuse the first of the named attributes that is not a whole number from 1 up."""
    for name in names:
        value = getattr(owner, name)
        if type(value) is not int or value < 1:
            raise ValueError(
                f"{what}: {name} is {value}: give a whole number from 1 up"
            )
