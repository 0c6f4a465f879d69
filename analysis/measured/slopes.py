"""How predicted values change with what they are predicted from.

Central differences over one standard uncertainty, so that the difference is what an
input drawn from its distribution does, and the bend tells how far from a line that is:
for a normal input z,  f = f0 + d z + b z^2 / 2  has the variance  d^2 + b^2 / 2.

A value that a step takes away, as a stable state that vanishes, is nan there: its
change is then that of the other step, without a bend, and it is counted.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.measured.series import Predict, Quantities, RecordInputs
from sim.arrays import Bools, Floats

Values = Callable[[Mapping[str, float], RecordInputs], Floats]  # (n,) of one record


@dataclass(frozen=True, eq=False)
class Slope:
    """What one input does to (n,) values.

    Parameters
    ----------
    over : of the input, up and down
    change : (n,) half the difference
    bend : (n,) second difference
    gone : (n,) whether there is no value at one of the two
    """

    over: float
    change: Floats
    bend: Floats
    gone: Bools

    @property
    def each(self) -> Floats:
        """(n,) per unit of the input."""
        return self.change / self.over

    @property
    def variance(self) -> Floats:
        """(n,) of the values where `over` is the input's standard uncertainty."""
        return np.asarray(self.change**2 + self.bend**2 / 2)


def values_at(predict: Predict, places: Sequence[tuple[str, Floats]]) -> Values:
    """What a model predicts at given places of given quantities, one after the other.

    Of a quantity with one value that the model does not have there: nan.

    Parameters
    ----------
    places : quantity and where, (m,)
    """

    def values(parameters: Mapping[str, float], record: RecordInputs) -> Floats:
        return picked(predict(parameters, record), places, gone=True)

    return values


def picked(
    found: Quantities, places: Sequence[tuple[str, Floats]], *, gone: bool = False
) -> Floats:
    """Values of series at given places; refused where a series does not reach one.

    Parameters
    ----------
    gone : whether a quantity with one value may lack; it is nan then
    """
    parts = []
    for quantity, at in places:
        if quantity not in found:
            if gone and len(at) == 1:
                parts.append(np.full(1, np.nan))
                continue
            raise ValueError(f"nothing is predicted of {quantity}")
        series = found[quantity].on(at)
        if len(series.at) < len(at):
            own = found[quantity].at
            raise ValueError(
                f"{quantity} is predicted from {own[0]:g} to {own[-1]:g}, not at "
                f"{at[0]:g} to {at[-1]:g}"
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
) -> Slope:
    """What a parameter does.

    Parameters
    ----------
    middle : (n,) values at `parameters`
    over : step up and down, its standard uncertainty where it has one
    """
    up, down = (
        values({**parameters, name: parameters[name] + way * over}, record)
        for way in (1, -1)
    )
    return _between(up, down, middle, over, name)


def own_slope(
    values: Values,
    parameters: Mapping[str, float],
    record: RecordInputs,
    middle: Floats,
    name: str,
) -> Slope:
    """What an uncertain value of the record itself does, over its u."""
    over = record.u[name]
    up, down = (values(parameters, record.shifted(name, way * over)) for way in (1, -1))
    return _between(up, down, middle, over, name)


def _between(up: Floats, down: Floats, middle: Floats, over: float, name: str) -> Slope:
    """The slope; of a value that one end does not have, from the other."""
    no_up, no_down = np.isnan(up), np.isnan(down)
    if (no_up & no_down).any():
        raise ValueError(
            f"{name}: a value that is predicted is there at neither end of +-{over:g}"
        )
    up, down = (
        np.where(lost, 2 * middle - other, own)
        for lost, own, other in ((no_up, up, down), (no_down, down, up))
    )
    return Slope(over, (up - down) / 2, up + down - 2 * middle, no_up | no_down)
