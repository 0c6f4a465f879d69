"""Closest points of a point and a triangle, and of two edges; the distance's slopes.

Whatever the zone, the distance is the length of

    r = sum_i w_i(p) x_i,      d = |r|,

with weights w linear in k = 0, 1 or 2 free parameters p at which |r| is smallest.
Zone 0 of [ZF19] (plane) has k = 2, zone 2 (edge) k = 1, zone 1 (node) k = 0, and two
edges that cross have k = 2. Since r is at right angles to t_a = dr/dp_a, the slopes
follow without V and A of the paper's appendix B, in one formula for all zones: with
n = r / d, M_ab = t_a . t_b and w'_a = dw/dp_a,

    dd/dx     = w (x) n
    d2d/dx2   = (w w^T) (x) P / d - sum_ab M^-1_ab [ d w'_a w'_b^T (x) n n^T
                                 + w'_a w^T (x) n t_b^T + w w'_b^T (x) t_a n^T ]

    P = I - n n^T - sum_ab M^-1_ab t_a t_b^T        (zero for k = 2).
"""

import numpy as np

from sim.core.arrays import Floats
from sim.core.numba_kernels import kernel

PARALLEL = 1e-14  # sin^2 of the angle below which two edges count as parallel


@kernel
def _dot(a: Floats, b: Floats) -> float:
    return float(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


@kernel
def _along(a: Floats, b: Floats, p: Floats, q: Floats) -> float:
    """(b - a) . (q - p)."""
    return float(
        (b[0] - a[0]) * (q[0] - p[0])
        + (b[1] - a[1]) * (q[1] - p[1])
        + (b[2] - a[2]) * (q[2] - p[2])
    )


@kernel
def closest_on_triangle(x: Floats) -> tuple[float, float, float, int]:
    """Weights of the corners at the point of a triangle closest to a node; the zone.

    The zones of Sect. 3c of [ZF19] share their borders, so that no place is without
    a zone (appendix A of the paper leaves gaps of rounding between them).

    Parameters
    ----------
    x : (4, 3) node, then the corners of the triangle

    Returns
    -------
    Three weights that sum to 1, and the bits of the corners that take part.
    """
    d1, d2 = _along(x[1], x[2], x[1], x[0]), _along(x[1], x[3], x[1], x[0])
    d3, d4 = _along(x[1], x[2], x[2], x[0]), _along(x[1], x[3], x[2], x[0])
    d5, d6 = _along(x[1], x[2], x[3], x[0]), _along(x[1], x[3], x[3], x[0])
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0, 1
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0, 2
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0, 4
    c = d1 * d4 - d3 * d2
    if c <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        s = d1 / (d1 - d3)
        return 1.0 - s, s, 0.0, 3
    b = d5 * d2 - d1 * d6
    if b <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        s = d2 / (d2 - d6)
        return 1.0 - s, 0.0, s, 5
    a = d3 * d6 - d5 * d4
    if a <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        s = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 0.0, 1.0 - s, s, 6
    total = a + b + c
    return a / total, b / total, c / total, 7


@kernel
def triangle_weights(x: Floats, w: Floats, dw: Floats) -> int:
    """Fill w (4,) and the k rows of dw (2, 4) for a node and a triangle; return k."""
    a, b, c, zone = closest_on_triangle(x)
    w[0], w[1], w[2], w[3] = 1.0, -a, -b, -c
    dw[:] = 0.0
    first = 1 if zone & 1 else (2 if zone & 2 else 3)
    k = 0
    for corner in range(first + 1, 4):
        if zone >> (corner - 1) & 1:
            dw[k, first], dw[k, corner] = 1.0, -1.0
            k += 1
    return k


@kernel
def closest_on_edges(x: Floats) -> tuple[float, float]:
    """Places s and t, from 0 to 1 along each of two edges, of their closest points.

    Parameters
    ----------
    x : (4, 3) ends of the first edge, ends of the second
    """
    a = _along(x[0], x[1], x[0], x[1])
    e = _along(x[2], x[3], x[2], x[3])
    b = _along(x[0], x[1], x[2], x[3])
    c = _along(x[0], x[1], x[2], x[0])
    f = _along(x[2], x[3], x[2], x[0])
    square = a * e - b * b
    s = 0.0
    if square > PARALLEL * a * e:
        s = min(max((b * f - c * e) / square, 0.0), 1.0)
    t = (b * s + f) / e
    if t < 0.0:
        return min(max(-c / a, 0.0), 1.0), 0.0
    if t > 1.0:
        return min(max((b - c) / a, 0.0), 1.0), 1.0
    return s, t


@kernel
def edge_weights(x: Floats, w: Floats, dw: Floats) -> int:
    """Fill w (4,) and the k rows of dw (2, 4) for two edges; return k."""
    s, t = closest_on_edges(x)
    w[0], w[1], w[2], w[3] = 1.0 - s, s, t - 1.0, -t
    dw[:] = 0.0
    k = 0
    if 0.0 < s < 1.0:
        dw[k, 0], dw[k, 1] = -1.0, 1.0
        k += 1
    if 0.0 < t < 1.0:
        dw[k, 2], dw[k, 3] = 1.0, -1.0
        k += 1
    return k


@kernel
def _length(x: Floats, w0: float, w1: float, w2: float, w3: float) -> float:
    square = 0.0
    for c in range(3):
        r = w0 * x[0, c] + w1 * x[1, c] + w2 * x[2, c] + w3 * x[3, c]
        square += r * r
    return float(np.sqrt(square))


@kernel
def point_triangle_distance(x: Floats) -> float:
    """Distance of a node from a triangle; x (4, 3) node and corners."""
    a, b, c, _ = closest_on_triangle(x)
    return _length(x, 1.0, -a, -b, -c)


@kernel
def edge_edge_distance(x: Floats) -> float:
    """Distance of two edges; x (4, 3) their ends."""
    s, t = closest_on_edges(x)
    return _length(x, 1.0 - s, s, t - 1.0, -t)


@kernel
def pair_distance(x: Floats, first: int) -> float:
    """Distance of x[:first] from the rest of x (4, 3): node and triangle, or edges."""
    return point_triangle_distance(x) if first == 1 else edge_edge_distance(x)


@kernel
def pair_weights(x: Floats, first: int, w: Floats, dw: Floats) -> int:
    """Fill w (4,) and the k rows of dw (2, 4) as above; return k."""
    return triangle_weights(x, w, dw) if first == 1 else edge_weights(x, w, dw)


@kernel
def _inverse(t: Floats, k: int, inverse: Floats) -> None:
    """M^-1 for the k rows of t."""
    if k == 1:
        inverse[0, 0] = 1.0 / _dot(t[0], t[0])
    if k == 2:
        a, b, c = _dot(t[0], t[0]), _dot(t[0], t[1]), _dot(t[1], t[1])
        square = a * c - b * b
        inverse[0, 0], inverse[1, 1] = c / square, a / square
        inverse[0, 1] = inverse[1, 0] = -b / square


@kernel
def distance_slopes(
    x: Floats, w: Floats, dw: Floats, k: int, gradient: Floats, hessian: Floats
) -> float:
    """Fill the gradient (12,) and the Hessian (12, 12) of the distance; return it."""
    work = np.zeros((8, 3))
    n, t, P, inverse = work[0], work[1:3], work[3:6], work[6:8]
    d = _length(x, w[0], w[1], w[2], w[3])
    for c in range(3):
        for i in range(4):
            n[c] += w[i] * x[i, c] / d
            for a in range(k):
                t[a, c] += dw[a, i] * x[i, c]
    _inverse(t, k, inverse)
    if k < 2:
        for c in range(3):
            for e in range(3):
                P[c, e] = (c == e) - n[c] * n[e] - inverse[0, 0] * t[0, c] * t[0, e]
    for i in range(4):
        for c in range(3):
            gradient[3 * i + c] = w[i] * n[c]
        for j in range(i + 1):
            _fill_block(i, j, d, w, dw, k, work, hessian)
    return d


@kernel
def _fill_block(
    i: int,
    j: int,
    d: float,
    w: Floats,
    dw: Floats,
    k: int,
    work: Floats,
    hessian: Floats,
) -> None:
    """The (3, 3) blocks (i, j) and (j, i) of the Hessian."""
    n, t, P, inverse = work[0], work[1:3], work[3:6], work[6:8]
    both, ww = 0.0, w[i] * w[j] / d
    left, right = (0.0, 0.0), (0.0, 0.0)
    for a in range(k):
        for b in range(k):
            both += inverse[a, b] * d * dw[a, i] * dw[b, j]
    if k > 0:
        left = (
            w[j] * (inverse[0, 0] * dw[0, i] + inverse[0, 1] * dw[1, i]),
            w[j] * (inverse[1, 0] * dw[0, i] + inverse[1, 1] * dw[1, i]),
        )
        right = (
            w[i] * (inverse[0, 0] * dw[0, j] + inverse[0, 1] * dw[1, j]),
            w[i] * (inverse[1, 0] * dw[0, j] + inverse[1, 1] * dw[1, j]),
        )
    for c in range(3):
        for e in range(3):
            value = ww * P[c, e] - both * n[c] * n[e]
            value -= n[c] * (left[0] * t[0, e] + left[1] * t[1, e])
            value -= (right[0] * t[0, c] + right[1] * t[1, c]) * n[e]
            hessian[3 * i + c, 3 * j + e] = value
            hessian[3 * j + e, 3 * i + c] = value
