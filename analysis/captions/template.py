"""A caption: a template beside a figure's code, filled from what its runs found."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from analysis.captions.digits import rounded, with_u


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    """Templates in which a name that nobody gave is an error, as is to run code."""
    found = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
    found.filters |= {"sig": rounded, "u": with_u, "listed": listed, "times": times,
                      "spanned": spanned}  # fmt: skip
    return found


def filled(template: str, values: Mapping[str, Any]) -> str:
    """The caption that a template gives, one paragraph of marked text.

    Parameters
    ----------
    template : Jinja; `x | sig` prints x to three digits, `x | sig(2)` to two,
        `x | u(s)` with its standard uncertainty s in the last digits;
        `letters | spanned` names panels
    values : what it names

    Raises
    ------
    ValueError
        where it names what nobody gave, or is none
    """
    try:
        text = _environment().from_string(template).render(values)
    except (TemplateError, ArithmeticError, TypeError) as error:
        raise ValueError(str(error)) from error
    return " ".join(text.split())


def listed(words: Iterable[Any]) -> str:
    """a; a and b; a, b and c."""
    *front, last = [str(word) for word in words]
    return f"{', '.join(front)} and {last}" if front else last


def spanned(letters: Sequence[str]) -> str:
    """**a**; **a** and **b**; **a** to **d**: panels of a figure, as marked text."""
    bold = [f"**{letter}**" for letter in letters]
    return f"{bold[0]} to {bold[-1]}" if len(bold) > 2 else listed(bold)


def times(value: float, factor: float) -> float:
    """A number in another unit."""
    return value * factor
