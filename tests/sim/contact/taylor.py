"""The order at which a Taylor remainder falls: 2 where the slope is right."""

from collections.abc import Callable

import numpy as np

from sim.core.arrays import Floats

STEPS = 10.0 ** -np.arange(2.0, 4.1, 0.5)


def remainder_order(
    f: Callable[[Floats], Floats | float], df: Floats | float, x: Floats, v: Floats
) -> float:
    """Slope of log |f(x + h v) - f(x) - h df| over log h; df = f'(x) v."""
    f0 = np.asarray(f(x))
    size = [np.linalg.norm(f(x + h * v) - f0 - h * df) for h in STEPS]
    return float(np.polyfit(np.log(STEPS), np.log(size), 1)[0])
