"""Many right-hand sides of one factor L D L^T at once."""

import numpy as np

from sim.arrays import Floats
from sim.kernels import kernel
from sim.linear.fronts import Fronts
from sim.linear.sparse import Factor


@kernel
def _forward(fronts: Fronts, L: Floats, b: Floats, y: Floats) -> None:
    """y (n, k) <- L^-1 P b, columns side by side."""
    n, many = b.shape
    front_start = fronts.front_start
    for r in range(n):
        for c in range(many):
            y[r, c] = b[fronts.order[r], c]
    for s in range(len(fronts.first) - 1):
        rows = fronts.front_row[front_start[s] : front_start[s + 1]]
        size, width = len(rows), fronts.first[s + 1] - fronts.first[s]
        columns = L[fronts.panel[s] : fronts.panel[s + 1]].reshape(width, size)
        for k in range(width):
            done = y[rows[k]]
            for i in range(k + 1, size):
                weight, later = columns[k, i], y[rows[i]]
                for c in range(many):
                    later[c] -= weight * done[c]


def forward(factor: Factor, b: Floats) -> Floats:
    """L^-1 P b (n, k), so that b^T A^-1 b is its product with itself over D."""
    y = np.empty(b.shape)
    _forward(factor.pattern.fronts, factor.L, b, y)
    return y


def over_pivots(factor: Factor, y: Floats) -> Floats:
    """D^-1 y (n, k), zero where pivots were dropped."""
    by = np.zeros(len(factor.pivot))
    np.divide(1.0, factor.pivot, out=by, where=factor.pivot != 0.0)
    return np.asarray(by[:, None] * y)
