"""How predicted values change with what they are predicted from.

Central differences over one standard uncertainty, so that the difference is what an
input drawn from its distribution does, and the bend tells how far from a line that is:
for a normal input z,  f = f0 + d z + b z^2 / 2  has the variance  d^2 + b^2 / 2.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.measured.series import Predict, Quantities, RecordInputs
from sim.arrays import Floats

Values = Callable[[Mapping[str, float], RecordInputs], Floats]  # (n,) of one record


@dataclass(frozen=True, eq=False)
class Slope:
    """What one input does to (n,) values.

    Parameters
    ----------
    over : of the input, up and down
    change : (n,) half the difference
    bend : (n,) second difference
    """

    over: float
    change: Floats
    bend: Floats

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

    Parameters
    ----------
    places : quantity and where, (m,)
    """

    def values(parameters: Mapping[str, float], record: RecordInputs) -> Floats:
        return picked(predict(parameters, record), places)

    return values


def picked(found: Quantities, places: Sequence[tuple[str, Floats]]) -> Floats:
    """Values of series at given places; refused where a series does not reach one."""
    parts = []
    for quantity, at in places:
        if quantity not in found:
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
    return Slope(over, (up - down) / 2, up + down - 2 * middle)


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
    return Slope(over, (up - down) / 2, up + down - 2 * middle)
