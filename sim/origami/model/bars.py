"""A bar: Green strain between rest and deformed node positions.

    e  = (dX . dU + dU . dU / 2) / L0^2
    Pi = EA L0 e^2 / 2,    f = EA L0 e b,    K = EA L0 [b b^T + e B]

with b = (-dx, dx) / L0^2 and B = [I -I; -I I] / L0^2. Eq. (3.1) of [ZF19] prints the
engineering strain of one dimension; its printed results use Green's.
"""

from sim.arrays import Floats
from sim.kernels import kernel


@kernel
def bar_strain(dx: Floats, rest: Floats, length: float) -> float:
    """Green strain e of one bar; dx, rest (3,) from the first node to the second, m."""
    e = 0.0
    for c in range(3):
        u = dx[c] - rest[c]
        e += u * (rest[c] + 0.5 * u)
    return e / (length * length)


@kernel
def bar_terms(
    dx: Floats, rest: Floats, length: float, EA: float, force: Floats, block: Floats
) -> float:
    """Energy of one bar (J); fills the force on its second node and K of that node.

    Parameters
    ----------
    dx, rest : (3,) m
    length, EA : m, N
    force : (3,) out, N; the first node has the opposite
    block : (3, 3) out, N/m; the four blocks of K are +block and -block
    """
    e = bar_strain(dx, rest, length)
    square = length * length
    for c in range(3):
        force[c] = EA * length * e * dx[c] / square
        for k in range(3):
            block[c, k] = EA * length * dx[c] * dx[k] / (square * square)
        block[c, c] += EA * length * e / square
    return 0.5 * EA * length * e * e
