"""Many right-hand sides of one factor L D L^T at once."""

import numpy as np

from sim.arrays import Floats
from sim.kernels import kernel
from sim.linear.fronts import Fronts


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


@kernel
def compliance(fronts: Fronts, L: Floats, pivot: Floats, b: Floats) -> Floats:
    """b^T A^-1 b (k, k) of columns b (n, k); dropped pivots give nothing."""
    y = np.empty(b.shape)
    _forward(fronts, L, b, y)
    over = np.empty(b.shape)
    for r in range(len(pivot)):
        by = 1.0 / pivot[r] if pivot[r] != 0.0 else 0.0
        for c in range(b.shape[1]):
            over[r, c] = by * y[r, c]
    W = y.T @ over
    return 0.5 * (W + W.T)
