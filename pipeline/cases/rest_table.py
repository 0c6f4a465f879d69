"""Rests without a driver and the barriers between them, for actuation.csv.

barrier_onward is from a stable rest over the top to the next one, barrier_back to the
one before; each is empty where there is no such rest.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from pipeline.cases.record import Summary, TableRow


class Resting(Protocol):
    """A rest with its energy."""

    @property
    def energy(self) -> float: ...

    @property
    def stable(self) -> bool: ...


def climbs(rests: Sequence[Resting], tops: Sequence[float]) -> Iterator[TableRow]:
    """The two barriers of each rest.

    Parameters
    ----------
    tops : energy of the highest point between each two stable rests
    """
    passed = 0
    for rest in rests:
        onward: float | str = ""
        back: float | str = ""
        if rest.stable:
            onward = tops[passed] - rest.energy if passed < len(tops) else ""
            back = tops[passed - 1] - rest.energy if passed else ""
            passed += 1
        yield {"barrier_onward": onward, "barrier_back": back}


def first_climb(rests: Sequence[Resting], tops: Sequence[float]) -> Summary:
    """How many rests are stable, and the barrier between the first two of them."""
    stable = [rest for rest in rests if rest.stable]
    found: Summary = {"stable_states": len(stable)}
    if tops:
        found["barrier"] = tops[0] - stable[0].energy
        found["barrier_back"] = tops[0] - stable[1].energy
    return found
