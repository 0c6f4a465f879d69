"""What is made once for an object, and stored for as long as the object lives."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, TypeVarTuple
from weakref import WeakKeyDictionary

Owner = TypeVar("Owner")
More = TypeVarTuple("More")
Made = TypeVar("Made")


def once_per_owner(
    make: Callable[[Owner, *More], Made],
) -> Callable[[Owner, *More], Made]:
    """`make(owner, *more)`, called once for each owner and each `more`.

    Owners are compared by identity, so the class of one has no `==` of its own. What
    is made must not hold its owner, which would then live for ever.
    """
    stored: WeakKeyDictionary[Any, dict[Any, Made]] = WeakKeyDictionary()

    @wraps(make)
    def once(owner: Owner, *more: *More) -> Made:
        own = stored.setdefault(owner, {})
        if more not in own:
            own[more] = make(owner, *more)
        return own[more]

    return once
