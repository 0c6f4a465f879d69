"""Many right-hand sides of one factor at once."""

import numpy as np

from sim.arrays import Floats
from sim.kernels import kernel
from sim.linear.fronts import Fronts, solve_fronts
from sim.linear.sparse import Factor


@kernel
def _solve_each(fronts: Fronts, L: Floats, pivot: Floats, b: Floats) -> Floats:
    x = np.empty_like(b)
    for k in range(len(b)):
        x[k] = solve_fronts(fronts, L, pivot, b[k])
    return x


def solve_each(factor: Factor, b: Floats) -> Floats:
    """Rows x (k, n) with A x = b of each row, to the bits of `Factor.solve`."""
    rows = np.ascontiguousarray(b, dtype=np.float64)
    return _solve_each(factor.pattern.fronts, factor.L, factor.pivot, rows)
