"""Eigenvalues of symmetric 3 x 3 matrices, without a library call a matrix."""

import numpy as np

from sim.kernels import kernel


@kernel
def eigenvalues(
    xx: float, xy: float, xz: float, yy: float, yz: float, zz: float
) -> tuple[float, float, float]:
    """Least, middle and largest eigenvalue, by the trigonometric root of the cubic."""
    mean = (xx + yy + zz) / 3
    a, b, c = xx - mean, yy - mean, zz - mean
    p = np.sqrt((a * a + b * b + c * c + 2 * (xy * xy + xz * xz + yz * yz)) / 6)
    if p <= 1e-12 * mean:
        return mean, mean, mean
    half = (
        a * (b * c - yz * yz) - xy * (xy * c - xz * yz) + xz * (xy * yz - b * xz)
    ) / (2 * p * p * p)
    angle = float(np.arccos(min(1.0, max(-1.0, half)))) / 3
    least = mean + 2 * p * np.cos(angle + 2 * np.pi / 3)
    largest = mean + 2 * p * np.cos(angle)
    return least, 3 * mean - least - largest, largest
