"""How far a node is from an edge, and an edge from the ground, in a step."""

import numpy as np

from sim.arrays import Floats
from sim.kernels import kernel
from sim.rod.contact.ground import Relief, gap

SAMPLES = 16  # of an edge above the ground
GOLDEN = 0.6180339887498949
NARROWED = 30  # times
INSIDE = 1e-3  # of an edge, from its ends, beyond which its nodes touch the ground
CLOSE = 0.1  # of its length, nearer than which the lowest point is looked for
NEVER = 2.0  # a time after the step, in steps


@kernel
def crossing(x0: Floats, x1: Floats, i: int, j: int, k: int) -> float:
    """When node i crosses edge (j, k) between x0 and x1, as a fraction of the step.

    On straight paths; NEVER if it does not.
    """
    rx, ry = x0[i, 0] - x0[j, 0], x0[i, 1] - x0[j, 1]
    ex, ey = x0[k, 0] - x0[j, 0], x0[k, 1] - x0[j, 1]
    px, py = x1[i, 0] - x1[j, 0] - rx, x1[i, 1] - x1[j, 1] - ry
    qx, qy = x1[k, 0] - x1[j, 0] - ex, x1[k, 1] - x1[j, 1] - ey
    c = ex * ry - ey * rx
    b = ex * py - ey * px + qx * ry - qy * rx
    a = qx * py - qy * px
    found = NEVER
    for sign in (-1.0, 1.0):
        t = _root(a, b, c, sign)
        if 0.0 < t <= 1.0 and t < found:
            fx, fy = ex + t * qx, ey + t * qy
            along = fx * (rx + t * px) + fy * (ry + t * py)
            if 0.0 <= along <= fx * fx + fy * fy:
                found = t
    return found


@kernel
def _root(a: float, b: float, c: float, sign: float) -> float:
    """A root of a t^2 + b t + c, without cancellation; NEVER if there is none."""
    under = b * b - 4.0 * a * c
    if under < 0.0:
        return NEVER
    q = -0.5 * (b + (1.0 if b >= 0.0 else -1.0) * np.sqrt(under))
    if sign < 0.0:
        return q / a if a != 0.0 else NEVER
    return c / q if q != 0.0 else NEVER


@kernel
def node_to_edge(
    x0: Floats, x1: Floats, i: int, j: int, k: int, distance: float
) -> tuple[float, float, float, float]:
    """Gap of node i above edge (j, k) at x1, the place on the edge, and the normal.

    The normal points to the side on which the node was at x0; the gap is less than
    -distance once it has crossed. The place runs from 0 at j to 1 at k.
    """
    ex, ey = x1[k, 0] - x1[j, 0], x1[k, 1] - x1[j, 1]
    dx, dy = x1[i, 0] - x1[j, 0], x1[i, 1] - x1[j, 1]
    s = min(max((dx * ex + dy * ey) / (ex * ex + ey * ey), 0.0), 1.0)
    dx, dy = dx - s * ex, dy - s * ey
    away = np.sqrt(dx * dx + dy * dy)
    side = -1.0 if crossing(x0, x1, i, j, k) <= 1.0 else 1.0
    if away == 0.0:
        away, dx, dy, side = 1e-300, 0.0, 0.0, 1.0
    return side * away - distance, s, side * dx / away, side * dy / away


@kernel
def point_gap(relief: Relief, x: Floats, j: int, k: int, s: float) -> float:
    """How far the ground is from where an edge is at s."""
    px, py = x[j, 0] + s * (x[k, 0] - x[j, 0]), x[j, 1] + s * (x[k, 1] - x[j, 1])
    return gap(relief, px, py)


@kernel
def edge_to_ground(relief: Relief, x: Floats, j: int, k: int) -> tuple[float, float]:
    """The gap of edge (j, k) where it is nearest to the ground between its ends.

    The least of the minima along the edge, and its place from 0 at j to 1; if there is
    none, that of the lower end.
    """
    wide = 1.0 / SAMPLES
    span, high = x[k, 0] - x[j, 0], x[k, 1] - x[j, 1]
    close = CLOSE * np.sqrt(span * span + high * high)
    first, last = gap(relief, x[j, 0], x[j, 1]), gap(relief, x[k, 0], x[k, 1])
    least, best = np.inf, 0.0
    before, here = np.inf, first
    for m in range(SAMPLES + 1):
        after = np.inf
        if m < SAMPLES:
            after = point_gap(relief, x, j, k, (m + 1) * wide)
        if here <= before and here <= after and here < close:
            low, s = lowest_near(relief, x, j, k, m * wide)
            if low < least and INSIDE < s < 1.0 - INSIDE:
                least, best = low, s
        before, here = here, after
    for knot in relief.knots:
        if span != 0.0 and 0.0 < (knot - x[j, 0]) / span < 1.0:
            low, s = lowest_near(relief, x, j, k, (knot - x[j, 0]) / span)
            if low < least and INSIDE < s < 1.0 - INSIDE:
                least, best = low, s
    if least == np.inf:
        return (first, 0.0) if first <= last else (last, 1.0)
    return least, best


@kernel
def lowest_near(
    relief: Relief, x: Floats, j: int, k: int, s: float
) -> tuple[float, float]:
    """The least gap within a sample of the place s of an edge, by golden section."""
    a, b = max(s - 1.0 / SAMPLES, 0.0), min(s + 1.0 / SAMPLES, 1.0)
    p, q = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
    low_p, low_q = point_gap(relief, x, j, k, p), point_gap(relief, x, j, k, q)
    for _ in range(NARROWED):
        if low_p < low_q:
            b, q, low_q = q, p, low_p
            p = b - GOLDEN * (b - a)
            low_p = point_gap(relief, x, j, k, p)
        else:
            a, p, low_p = p, q, low_q
            q = a + GOLDEN * (b - a)
            low_q = point_gap(relief, x, j, k, q)
    return (low_p, p) if low_p < low_q else (low_q, q)
