"""A slope beside differences."""

from collections.abc import Callable, Sequence

import numpy as np

from sim.core.arrays import Floats


def slope_errors(
    F: Callable[[Floats], float],
    x: Floats,
    way: Floats,
    slope: Floats,
    sizes: Sequence[float],
) -> Floats:
    """Of `slope` (g,) along `way`, beside (F(x + h way) - F(x - h way)) / 2h."""
    told = slope @ way
    return np.array(
        [abs((F(x + h * way) - F(x - h * way)) / (2.0 * h) - told) for h in sizes]
    )
