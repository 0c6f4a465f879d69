"""Internal forces that keep energy and angular momentum exactly, at any amplitude.

Newmark's rule keeps the energy of a linear system only. A rod is far stiffer in
stretching than in bending, and at large amplitude without damping the rule feeds the
stretching modes, until Newton's iteration fails. Here the force of an element is

    F = -k ((eps0 + eps1) / 2 - rest + beta / h (eps1 - eps0)) g

with a mean slope g for which g . (x1 - x0) = eps1 - eps0 holds exactly. Then the work
of F over a step is U0 - U1 less what beta takes: the energy-momentum method of Simo and
Tarnow, ZAMP 43 (1992), with discrete derivatives (Gonzalez, J. Nonlinear Sci. 6, 1996).
Such slopes follow from the mean
edges e, f of the step:

    d|e| = 2 e . de / (|e0| + |e1|)
    d(e x f) = e x df + de x f          d(e . f) = e . df + de . f
    d(|e||f|) = mean|e| d|f| + mean|f| d|e|
    d(C / S) = (mean S dC - mean C dS) / (S0 S1)

with C = e x f, S = |e||f| + e . f and the turning 2 C / S. As g is made of e and f as
the slope at the mean shape would be, the forces have no moment about it.
"""

import numpy as np

from sim.arrays import Floats
from sim.kernels import kernel
from sim.rod.energy.elastic import (
    Actuated,
    Elements,
    add_pair,
    add_triple,
    bend_law,
    edge_between,
    edge_law,
)


@kernel
def conserving_gradient(
    x0: Floats,
    x1: Floats,
    element: Elements,
    actuated: Actuated,
    viscous: float,
    total: Floats,
) -> None:
    """-F (n, 2), N, of a step from x0 to x1; viscous is beta / h."""
    total[:] = 0.0
    _add_stretching(x0, x1, element, actuated, viscous, total)
    _add_bending(x0, x1, element, actuated, viscous, total)


@kernel
def _add_stretching(
    x0: Floats,
    x1: Floats,
    element: Elements,
    actuated: Actuated,
    viscous: float,
    total: Floats,
) -> None:
    """EA (mean strain + viscous change of strain) d|e| of every edge."""
    for k in range(len(element.rest)):
        i, j = element.edge[k, 0], element.edge[k, 1]
        l0 = _length(x0, i, j)
        l1 = _length(x1, i, j)
        ex, ey = _mean_edge(x0, x1, i, j)
        strain = 0.5 * (l0 + l1) / element.rest[k] - 1.0
        rate = viscous * (l1 - l0) / element.rest[k]
        EA = edge_law(element, actuated, k)
        c = 2.0 * EA * (strain + rate) / (l0 + l1)
        add_pair(total, i, j, c * ex, c * ey)


@kernel
def _add_bending(
    x0: Floats,
    x1: Floats,
    element: Elements,
    actuated: Actuated,
    viscous: float,
    total: Floats,
) -> None:
    """s (mean turning - rest + viscous change of turning) d turning of every bend."""
    for b in range(len(element.voronoi)):
        i, j, k = element.bend[b, 0], element.bend[b, 1], element.bend[b, 2]
        s, rest = bend_law(element, actuated, b)
        e0, e1 = _length(x0, i, j), _length(x1, i, j)
        f0, f1 = _length(x0, j, k), _length(x1, j, k)
        C0, D0 = _products(x0, i, j, k, element.fold[b])
        C1, D1 = _products(x1, i, j, k, element.fold[b])
        S0, S1 = e0 * f0 + D0, e1 * f1 + D1
        t0, t1 = 2.0 * C0 / S0, 2.0 * C1 / S1
        moment = s * (0.5 * (t0 + t1) - rest + viscous * (t1 - t0))
        # The moment times d turn / d(e x f), d turn / d(e . f), d turn / dS.
        dC = element.fold[b] * moment * (S0 + S1) / (S0 * S1)
        dS = -moment * (C0 + C1) / (S0 * S1)
        dD = element.fold[b] * dS
        ex, ey = _mean_edge(x0, x1, i, j)
        fx, fy = _mean_edge(x0, x1, j, k)
        along_e = dS * (f0 + f1) / (e0 + e1)
        along_f = dS * (e0 + e1) / (f0 + f1)
        px, py = dC * fy + dD * fx + along_e * ex, -dC * fx + dD * fy + along_e * ey
        qx, qy = -dC * ey + dD * ex + along_f * fx, dC * ex + dD * ey + along_f * fy
        add_triple(total, i, j, k, -px, -py, qx, qy)


@kernel
def _length(x: Floats, i: int, j: int) -> float:
    ex, ey = edge_between(x, i, j)
    return float(np.sqrt(ex * ex + ey * ey))


@kernel
def _mean_edge(x0: Floats, x1: Floats, i: int, j: int) -> tuple[float, float]:
    e0x, e0y = edge_between(x0, i, j)
    e1x, e1y = edge_between(x1, i, j)
    return 0.5 * (e0x + e1x), 0.5 * (e0y + e1y)


@kernel
def _products(x: Floats, i: int, j: int, k: int, fold: float) -> tuple[float, float]:
    """e x f and e . f of the edges (i, j), reversed if fold is -1, and (j, k)."""
    ex, ey = edge_between(x, i, j)
    fx, fy = edge_between(x, j, k)
    return fold * (ex * fy - ey * fx), fold * (ex * fx + ey * fy)
