"""Options of a solver, refused where they make no sense, and how an iteration fails.

The fields of a `Checked` dataclass say by their types what they must be: `Positive`,
`Count` and so on, or `within` limits. `of` says whose option a number is, where its
name alone would not: "rod: nodes must be ...". A `Choice` is an option that is a word.
`refuse_missing` serves numbers of nodes.
"""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from enum import Enum
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, NamedTuple, NoReturn, get_args


def is_finite(value: Any) -> bool:
    """Whether it is a finite number; true and false are none."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return is_number and math.isfinite(float(value))


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


class Requirement(NamedTuple):
    """What the value of a field must be, in words, and whether one is."""

    words: str
    fits: Callable[[Any], bool]


def within(least: float, most: float, words: str) -> Requirement:
    """A number from `least` to `most`, both allowed."""
    return Requirement(words, lambda value: is_finite(value) and least <= value <= most)


def counted(least: int) -> Requirement:
    """A whole number from `least` up."""
    words = f"a whole number from {least} up"
    return Requirement(words, lambda value: is_count(value, least))


Positive = Annotated[float, Requirement("positive", is_positive)]
Finite = Annotated[float, Requirement("a finite number", is_finite)]
NotNegative = Annotated[float, within(0.0, math.inf, "0 or more")]
Count = Annotated[int, counted(1)]
Whole = Annotated[int, counted(0)]


@dataclass(frozen=True, eq=False)
class Checked:
    """A dataclass that refuses values that are not what its fields' types ask for.

    A field that may be None as well is checked where it is not. It has no `==`, so that
    subclasses without their own are compared by identity.
    """

    of: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            for kind in (
                field.type,
                *(get_args(field.type) if value is not None else ()),
            ):
                for one in getattr(kind, "__metadata__", ()):
                    is_text = isinstance(value, str)
                    if is_text or not one.fits(value):
                        named = f"{self.of}: {field.name}" if self.of else field.name
                        given = f"the text {value!r}" if is_text else value
                        raise ValueError(f"{named} must be {one.words}, not {given}")


def refuse_missing(
    message: str,
    numbers: Iterable[int],
    count: int,
    whole: str = "the structure has nodes",
) -> None:
    """Refuse what is no whole number of 0 ... `count` - 1; `message` may name it."""
    for number in numbers:
        if not isinstance(number, Integral) or not 0 <= number < count:
            raise ValueError(f"{message.format(number)}: {whole} 0 to {count - 1}")


class Choice(Enum):
    """An option with a few values; an error for a wrong word lists them."""

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        option = re.sub("(?<=[a-z])(?=[A-Z])", " ", cls.__name__).lower()
        words = ", ".join(str(member.value) for member in cls)
        raise ValueError(f"{option} is {value!r}: choose one of {words}") from None


class NotConvergedError(RuntimeError):
    """A stated tolerance was not met; `best` is the best state that was reached."""

    def __init__(self, message: str, *, best: object) -> None:
        super().__init__(message)
        self.best = best
