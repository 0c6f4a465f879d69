"""Strain at rest by a field: temperature, swelling, light or time, as a table.

Between the rows of the table the strain is linear in the field, and so is its standard
uncertainty u, which is one error of the whole table; beyond them nothing is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats


@dataclass(frozen=True, eq=False)
class GrowthLaw:
    """Strain of a material at rest.

    Attributes
    ----------
    field : (q,) ascending, in a unit of its own
    strain, u : (q,) change of length over length, and its standard uncertainty
    """

    field: Floats
    strain: Floats
    u: Floats

    @classmethod
    def of(cls, rows: Sequence[Sequence[float]], name: str = "strain") -> "GrowthLaw":
        """From rows of field, strain and u."""
        for i, row in enumerate(rows):
            if len(row) != 3 or not np.isfinite(row).all():
                raise ValueError(
                    f"{name}[{i}] is {list(row)}: give field, strain and its u"
                )
            if not row[1] > -1.0 or row[2] < 0.0:
                raise ValueError(
                    f"{name}[{i}] is {list(row)}: the strain must be above -1, and u 0 "
                    "or more"
                )
        table = np.array(rows, dtype=np.float64).reshape(-1, 3)
        if len(table) < 2 or not (np.diff(table[:, 0]) > 0.0).all():
            raise ValueError(f"{name} needs two rows or more, with an ascending field")
        return cls(*table.T)

    def at(self, value: float) -> tuple[float, float]:
        """Strain and u at a value of the field."""
        low, high = float(self.field[0]), float(self.field[-1])
        if not low <= value <= high:
            raise ValueError(
                f"the field is {value:g}, and the table goes from {low:g} to {high:g}: "
                "give values between, or a longer table"
            )
        strain, u = (
            float(np.interp(value, self.field, c)) for c in (self.strain, self.u)
        )
        return strain, u
