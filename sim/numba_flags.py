"""Options that numba compiles with, compared by those that are set.

Numba looks up every operation of every function by its types and these options. Its own
comparison reads all thirty options of both sides, and its hash is the same for all: of
the cold start of a rod that took a third. Both are replaced here by ones that say the
same and look only at options that are not at their default.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.compiler_lock import global_compiler_lock
from numba.core.targetconfig import TargetConfig

SELDOM = 100_000  # new objects between two looks for cycles


def compare_by_what_is_set() -> None:
    """From now on, in this process."""
    TargetConfig.__eq__, TargetConfig.__hash__ = _equal, _hash


def _set(options: Any) -> dict[str, Any]:
    known = options.options
    return {k: v for k, v in options._values.items() if v != known[k].default}


def _equal(options: Any, other: object) -> bool:
    if not isinstance(other, TargetConfig):
        return False
    return bool(options._values == other._values or _set(options) == _set(other))


def _hash(options: Any) -> int:
    return hash(frozenset(_set(options)))


@contextmanager
def few_collections() -> Iterator[None]:
    """Let Python look for cycles seldom: what compiling makes mostly stays.

    Threads compile one after the other, as numba has it: each puts back what it found.
    """
    with global_compiler_lock:
        before = gc.get_threshold()
        gc.set_threshold(SELDOM, *before[1:])
        try:
            yield
        finally:
            gc.set_threshold(*before)
