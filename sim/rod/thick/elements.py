"""Strains, forces and stiffness of a thick rod: Reissner, ZAMP 23 (1972), eqs. (1)-(6).

With x', y' the derivatives along the unloaded axis and a the angle of the section,

    eps = x' cos a + y' sin a - 1      gamma = y' cos a - x' sin a      kappa = a'

Two nodes an element, with one strain each in its middle: it does not lock.
"""

import numpy as np

from sim.arrays import Floats
from sim.kernels import kernel

BAND = 6  # diagonals kept of a matrix of three unknowns a node


@kernel
def _shape(q: Floats, i: int, size: float) -> tuple[float, float, float, float, float]:
    """Cosine, sine, eps, gamma, kappa of element i."""
    angle = 0.5 * (q[i, 2] + q[i + 1, 2])
    c, s = np.cos(angle), np.sin(angle)
    dx, dy = (q[i + 1, 0] - q[i, 0]) / size, (q[i + 1, 1] - q[i, 1]) / size
    kappa = (q[i + 1, 2] - q[i, 2]) / size
    return c, s, c * dx + s * dy - 1.0, c * dy - s * dx, kappa


@kernel
def strains(q: Floats, size: float) -> Floats:
    """(elements, 3) eps, gamma, kappa of nodes q (n, 3)."""
    found = np.empty((len(q) - 1, 3))
    for i in range(len(found)):
        _, _, found[i, 0], found[i, 1], found[i, 2] = _shape(q, i, size)
    return found


@kernel
def add_elements(
    q: Floats,
    size: float,
    stiffness: Floats,
    modulus: float,
    memory: Floats,
    force: Floats,
    band: Floats,
) -> None:
    """Add inner forces and their stiffness, with stress modulus eps + memory.

    Parameters
    ----------
    stiffness : (3,) by modulus
    memory : (elements, 3) Pa, what earlier strains left, by the same
    force, band : (n, 3), (3 n, 6): entry (k, d) is that of row k and column k - d
    """
    slope = np.zeros((3, 6))
    slope[2, 2], slope[2, 5] = -1.0 / size, 1.0 / size
    for i in range(len(q) - 1):
        c, s, eps, gamma, kappa = _shape(q, i, size)
        N = size * stiffness[0] * (modulus * eps + memory[i, 0])
        Q = size * stiffness[1] * (modulus * gamma + memory[i, 1])
        M = size * stiffness[2] * (modulus * kappa + memory[i, 2])
        for end in range(2):
            by = (2 * end - 1) / size
            slope[0, 3 * end], slope[0, 3 * end + 1] = by * c, by * s
            slope[1, 3 * end], slope[1, 3 * end + 1] = -by * s, by * c
            slope[0, 3 * end + 2] = 0.5 * gamma
            slope[1, 3 * end + 2] = -0.5 * (1.0 + eps)
        for a in range(6):
            pull = N * slope[0, a] + Q * slope[1, a] + M * slope[2, a]
            force[i + a // 3, a % 3] += pull
            for b in range(a + 1):
                k = 0.0
                for strain in range(3):
                    k += stiffness[strain] * slope[strain, a] * slope[strain, b]
                k = size * modulus * k + _turned(a, b, c, s, eps, gamma, N, Q, size)
                band[3 * i + a, a - b] += k


@kernel
def _turned(
    a: int,
    b: int,
    c: float,
    s: float,
    eps: float,
    gamma: float,
    N: float,
    Q: float,
    size: float,
) -> float:
    """N d2 eps + Q d2 gamma in the unknowns a and b of an element."""
    turns_a, turns_b = a % 3 == 2, b % 3 == 2
    if turns_a and turns_b:
        return -0.25 * (N * (1.0 + eps) + Q * gamma)
    if not turns_a and not turns_b:
        return 0.0
    place = b if turns_a else a
    by = 0.5 * (1.0 if place >= 3 else -1.0) / size
    return by * (-N * s - Q * c if place % 3 == 0 else N * c - Q * s)


@kernel
def solve(band: Floats, x: Floats) -> bool:
    """x <- A^-1 x by A = L D L^T, band (n, 6) overwritten; False if D has a 0 or less.

    The solution is right where D has negative entries too; 0 alone has none.
    """
    n, definite = len(band), True
    for i in range(n):
        first = max(0, i - BAND + 1)
        for j in range(first, i + 1):
            total = band[i, i - j]
            for k in range(max(first, j - BAND + 1), j):
                total -= band[i, i - k] * band[j, j - k] * band[k, 0]
            band[i, i - j] = total if i == j else total / band[j, 0]
        definite = definite and band[i, 0] > 0.0
        for k in range(first, i):
            x[i] -= band[i, i - k] * x[k]
    for i in range(n - 1, -1, -1):
        x[i] /= band[i, 0]
        for k in range(i + 1, min(i + BAND, n)):
            x[i] -= band[k, k - i] * x[k]
    return definite
