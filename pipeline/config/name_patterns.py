"""Patterns of names: regular expressions of others that end for whatever name."""

import re
import re._constants as code  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterable
from typing import Any

LONGEST = 255  # letters of a name, as file systems hold
MOST_WAYS = 256**3  # three open repetitions: 0.1 s for the worst of names
REPEATS = (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT)


def checked_pattern(value: Any) -> str:
    """A regular expression whose search ends soon for every name.

    Raises
    ------
    ValueError
        where it is none, or may try more ways to match a name than `MOST_WAYS`
    """
    try:
        pattern = re.compile(value).pattern
        ways = _ways(parser.parse(value))
    except (re.error, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"is {value!r}, which is no pattern: {error}") from error
    if ways > MOST_WAYS:
        raise ValueError(
            f"is {value!r}, which may search without an end: repeat single letters "
            "only, and at most three times an open number of them"
        )
    return str(pattern)


def _ways(part: Iterable[tuple[Any, Any]]) -> int:
    """At most so many ways to match a name are tried: of what follows, the product."""
    ways = 1
    for kind, given in part:
        ways = min(ways * _ways_of(kind, given), MOST_WAYS + 1)
    return ways


def _ways_of(kind: Any, given: Any) -> int:
    if kind in REPEATS:
        least, most, inner = given
        most = min(int(most), LONGEST)
        own = _ways(inner)
        return sum(own**n for n in range(min(least, most), most + 1))
    if kind is code.BRANCH:
        return sum(map(_ways, given[1]))
    if kind is code.SUBPATTERN:
        return _ways(given[3])
    if kind in (code.ASSERT, code.ASSERT_NOT):
        return _ways(given[1])
    if kind is code.ATOMIC_GROUP:
        return _ways(given)
    if kind is code.GROUPREF_EXISTS:
        return _ways(given[1]) + _ways(given[2] or ())
    return 1
