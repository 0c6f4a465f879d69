"""What a record is given, what is measured of it, and what a model predicts.

A record is one test: one release of a beam, one specimen at all its temperatures. Its
inputs are known before anything is compared; its quantities are series of the same
form whether an instrument or a model made them, and one extractor serves both.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from sim.arrays import Floats

HOLE = 3.0  # times the median step, beyond which nothing is told between two values


@dataclass(frozen=True, eq=False)
class QuantitySeries:
    """Values of one quantity.

    Parameters
    ----------
    at : (m,) time, displacement, temperature; a single 0 where there is one value
    value : (m,) in the unit that the set states for the quantity
    u : (m,) standard uncertainty of each, 0 where none is known
    """

    at: Floats
    value: Floats
    u: Floats

    def __post_init__(self) -> None:
        if not self.at.shape == self.value.shape == self.u.shape == (len(self.at),):
            raise ValueError(
                f"at, value and u must have one length, not {self.at.shape}, "
                f"{self.value.shape} and {self.u.shape}"
            )
        if not np.isfinite([self.at, self.value, self.u]).all():
            raise ValueError("a series holds nan or inf: leave such values out")

    def on(self, grid: Floats) -> "QuantitySeries":
        """At the places of `grid` that it covers, between its own by straight lines.

        Where its own lie apart by more than `HOLE` times their median, nothing is.

        Raises
        ------
        ValueError
            where `at` does not rise, so that a place has two values
        """
        if (np.diff(self.at) <= 0).any():
            raise ValueError("at does not rise: give each place once, in order")
        slack = 1e-9 * max(1.0, float(np.abs(grid).max(initial=0.0)))
        reached = (grid >= self.at[0] - slack) & (grid <= self.at[-1] + slack)
        steps = np.diff(self.at)
        for k in np.flatnonzero(steps > HOLE * np.median(steps)) if len(steps) else ():
            within = (grid > self.at[k] + slack) & (grid < self.at[k + 1] - slack)
            reached &= ~within
        at = grid[reached]
        value, u = (np.interp(at, self.at, own) for own in (self.value, self.u))
        return QuantitySeries(at, value, u)


def one_value(value: float, u: float = 0.0) -> QuantitySeries:
    """A quantity of which a record has a single value."""
    return QuantitySeries(np.zeros(1), np.array([value]), np.array([u]))


def curve(at: Floats, value: Floats, u: Floats | float = 0.0) -> QuantitySeries:
    """A quantity along something.

    Parameters
    ----------
    at, value : (m,)
    u : (m,), or one for all
    """
    own = np.broadcast_to(np.asarray(u, dtype=np.float64), np.shape(value)).copy()
    return QuantitySeries(
        np.asarray(at, np.float64), np.asarray(value, np.float64), own
    )


Quantities = Mapping[str, QuantitySeries]


@dataclass(frozen=True, eq=False)
class RecordInputs:
    """What is known of a record before its measured values are read.

    Parameters
    ----------
    name : of the record, as tables have it
    numbers : loads, levels, the height at which a tip was held
    u : standard uncertainties of those numbers that have one; drawn for each record
    words : what is no number: design, specimen, clamp
    state : arrays: a shape at release, points of a scan
    """

    name: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    u: Mapping[str, float] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    state: Mapping[str, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, u in self.u.items():
            if name not in self.numbers:
                raise ValueError(f"{self.name}: u of {name}, which has no value")
            if not 0.0 <= u < np.inf:
                raise ValueError(f"{self.name}: u of {name} must be 0 or more, not {u}")

    def shifted(self, name: str, by: float) -> "RecordInputs":
        """The same record with one number changed by `by`."""
        moved = {**self.numbers, name: self.numbers[name] + by}
        return replace(self, numbers=moved)


Predict = Callable[[Mapping[str, float], RecordInputs], Quantities]
