"""What a record is given, what is measured of it, and what a model predicts.

A record is one test: one release of a beam, one specimen at all its temperatures. Its
inputs are known before anything is compared; its quantities are series of the same
form whether an instrument or a model made them, and one extractor serves both.

`slope` has how predicted values change with what they are predicted from. Central
differences over one standard uncertainty, so that the difference is what an input
sampled from its distribution does, and the bend shows how far from a line that is: for
a normal input z,  f = f0 + d z + b z^2 / 2  has the variance  d^2 + b^2 / 2.

A value that a step takes away, as a stable state that vanishes, is nan there: its
change is then that of the other step, without a bend, and it is counted.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sim.core.arrays import Bools, Floats

HOLE = 3.0  # times the median step, beyond which nothing is known between two values


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
                f"at, value and u must have the same length, not {self.at.shape}, "
                f"{self.value.shape} and {self.u.shape}"
            )
        if not np.isfinite([self.at, self.value, self.u]).all():
            raise ValueError("a series contains nan or inf: leave these values out")

    def on(self, grid: Floats) -> "QuantitySeries":
        """At the places of `grid` that it covers, between its own by straight lines.

        Where its own lie apart by more than `HOLE` times their median, nothing is.

        Raises
        ------
        ValueError
            where `at` does not rise, so that a place has two values
        """
        if (np.diff(self.at) <= 0).any():
            raise ValueError("at must be strictly increasing: give each place once")
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
    u : standard uncertainties of those numbers that have one; sampled for each record
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
                raise ValueError(f"{self.name}: {name} has u but no value: add it")
            if not 0.0 <= u < np.inf:
                raise ValueError(f"{self.name}: u of {name} must be 0 or more, not {u}")

    @property
    def uncertain(self) -> dict[str, float]:
        """Those of `u` that are not 0."""
        return {name: u for name, u in self.u.items() if u > 0}

    def shifted(self, name: str, by: float) -> "RecordInputs":
        """The same record with one number changed by `by`."""
        moved = {**self.numbers, name: self.numbers[name] + by}
        return replace(self, numbers=moved)


Predict = Callable[[Mapping[str, float], RecordInputs], Quantities]


Values = Callable[[Mapping[str, float], RecordInputs], Floats]  # (n,) of one record


@dataclass(frozen=True, eq=False)
class Slope:
    """What one input does to (n,) values.

    Parameters
    ----------
    over : of the input, up and down
    change : (n,) half the difference
    bend : (n,) second difference
    missing : (n,) whether there is no value at one of the two
    """

    over: float
    change: Floats
    bend: Floats
    missing: Bools

    @property
    def each(self) -> Floats:
        """(n,) per unit of the input."""
        return self.change / self.over


def values_at(predict: Predict, places: Sequence[tuple[str, Floats]]) -> Values:
    """What a model predicts at given places of given quantities, one after the other.

    Of a quantity with one value that the model does not have there: nan.

    Parameters
    ----------
    places : quantity and where, (m,)
    """

    def values(parameters: Mapping[str, float], record: RecordInputs) -> Floats:
        return picked(predict(parameters, record), places, missing=True)

    return values


def picked(
    found: Quantities, places: Sequence[tuple[str, Floats]], *, missing: bool = False
) -> Floats:
    """Values of series at given places; refused where a series does not reach one.

    Parameters
    ----------
    missing : whether a quantity with one value may lack; it is nan then
    """
    parts = []
    for quantity, at in places:
        if quantity not in found:
            if missing and len(at) == 1:
                parts.append(np.full(1, np.nan))
                continue
            raise ValueError(
                f"the prediction has no quantity {quantity}: choose one of "
                f"{', '.join(found)}"
            )
        series = found[quantity].on(at)
        if len(series.at) < len(at):
            own = found[quantity].at
            raise ValueError(
                f"{quantity} is predicted from {own[0]:g} to {own[-1]:g}, but measured "
                f"from {at[0]:g} to {at[-1]:g}: omit the rest"
            )
        parts.append(series.value)
    return np.concatenate(parts) if parts else np.zeros(0)


def slope(
    values: Values,
    parameters: Mapping[str, float],
    record: RecordInputs,
    middle: Floats,
    name: str,
    over: float,
    *,
    own: bool = False,
) -> Slope:
    """What a parameter, or an uncertain number of the record itself, does.

    Of a value that one end does not have, the slope is that of the other.

    Parameters
    ----------
    middle : (n,) values at `parameters`
    over : step up and down, its standard uncertainty where it has one
    own : whether `name` is a number of the record
    """

    def moved(by: float) -> Floats:
        if own:
            return values(parameters, record.shifted(name, by))
        return values({**parameters, name: parameters[name] + by}, record)

    up, down = moved(over), moved(-over)
    no_up, no_down = np.isnan(up), np.isnan(down)
    if (no_up & no_down).any():
        raise ValueError(
            f"the model predicts no value if {name} changes by +-{over:g}: reduce its u"
        )
    up, down = (
        np.where(lost, 2 * middle - other, own)
        for lost, own, other in ((no_up, up, down), (no_down, down, up))
    )
    return Slope(over, (up - down) / 2, up + down - 2 * middle, no_up | no_down)
