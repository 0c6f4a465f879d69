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

from sim.arrays import Floats
from sim.kernels import kernel

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
def _on_triangle(w: Floats, a: float, b: float, c: float) -> None:
    w[0] = 1.0
    w[1] = -a
    w[2] = -b
    w[3] = -c


@kernel
def closest_on_triangle(x: Floats, w: Floats, dw: Floats) -> int:
    """Weights of the point of a triangle that is closest to a node; returns k.

    The zones of Sect. 3c of [ZF19] share their borders, so that no place is without
    a zone (appendix A of the paper leaves gaps of rounding between them).

    Parameters
    ----------
    x : (4, 3) node, then the corners of the triangle
    w : (4,) out, r = sum w_i x_i points from the triangle to the node
    dw : (2, 4) out, the first k rows
    """
    dw[:] = 0.0
    d1, d2 = _along(x[1], x[2], x[1], x[0]), _along(x[1], x[3], x[1], x[0])
    d3, d4 = _along(x[1], x[2], x[2], x[0]), _along(x[1], x[3], x[2], x[0])
    d5, d6 = _along(x[1], x[2], x[3], x[0]), _along(x[1], x[3], x[3], x[0])
    if d1 <= 0.0 and d2 <= 0.0:
        _on_triangle(w, 1.0, 0.0, 0.0)
        return 0
    if d3 >= 0.0 and d4 <= d3:
        _on_triangle(w, 0.0, 1.0, 0.0)
        return 0
    if d6 >= 0.0 and d5 <= d6:
        _on_triangle(w, 0.0, 0.0, 1.0)
        return 0
    c = d1 * d4 - d3 * d2
    if c <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        s = d1 / (d1 - d3)
        _on_triangle(w, 1.0 - s, s, 0.0)
        dw[0, 1], dw[0, 2] = 1.0, -1.0
        return 1
    b = d5 * d2 - d1 * d6
    if b <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        s = d2 / (d2 - d6)
        _on_triangle(w, 1.0 - s, 0.0, s)
        dw[0, 1], dw[0, 3] = 1.0, -1.0
        return 1
    a = d3 * d6 - d5 * d4
    if a <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        s = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        _on_triangle(w, 0.0, 1.0 - s, s)
        dw[0, 2], dw[0, 3] = 1.0, -1.0
        return 1
    total = a + b + c
    _on_triangle(w, a / total, b / total, c / total)
    dw[0, 1], dw[0, 2] = 1.0, -1.0
    dw[1, 1], dw[1, 3] = 1.0, -1.0
    return 2


@kernel
def closest_on_edges(x: Floats, w: Floats, dw: Floats) -> int:
    """Weights of the closest points of two edges; returns k.

    Parameters
    ----------
    x : (4, 3) ends of the first edge, ends of the second
    w : (4,) out, r = sum w_i x_i points from the second edge to the first
    dw : (2, 4) out, the first k rows
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
        t, s = 0.0, min(max(-c / a, 0.0), 1.0)
    elif t > 1.0:
        t, s = 1.0, min(max((b - c) / a, 0.0), 1.0)
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
def separation(x: Floats, w: Floats, r: Floats) -> float:
    """Fill r (3,) = sum w_i x_i and return its length."""
    for c in range(3):
        r[c] = w[0] * x[0, c] + w[1] * x[1, c] + w[2] * x[2, c] + w[3] * x[3, c]
    return float(np.sqrt(_dot(r, r)))


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
    n, t, P = np.empty(3), np.zeros((2, 3)), np.zeros((3, 3))
    inverse = np.zeros((2, 2))
    d = separation(x, w, n)
    for c in range(3):
        n[c] /= d
        for a in range(k):
            for i in range(4):
                t[a, c] += dw[a, i] * x[i, c]
    _inverse(t, k, inverse)
    if k < 2:
        for c in range(3):
            for e in range(3):
                P[c, e] = (c == e) - n[c] * n[e] - inverse[0, 0] * t[0, c] * t[0, e]
    hessian[:] = 0.0
    for i in range(4):
        for c in range(3):
            gradient[3 * i + c] = w[i] * n[c]
            for j in range(4):
                for e in range(3):
                    hessian[3 * i + c, 3 * j + e] = w[i] * w[j] * P[c, e] / d
    for a in range(k):
        for b in range(k):
            for i in range(4):
                for j in range(4):
                    both = inverse[a, b] * d * dw[a, i] * dw[b, j]
                    left = inverse[a, b] * dw[a, i] * w[j]
                    right = inverse[a, b] * w[i] * dw[b, j]
                    for c in range(3):
                        for e in range(3):
                            hessian[3 * i + c, 3 * j + e] -= (
                                both * n[c] * n[e]
                                + left * n[c] * t[b, e]
                                + right * t[a, c] * n[e]
                            )
    return d


@kernel
def point_triangle_distance(x: Floats) -> float:
    """Distance of a node from a triangle; x (4, 3) node and corners."""
    w, dw, r = np.empty(4), np.empty((2, 4)), np.empty(3)
    closest_on_triangle(x, w, dw)
    return separation(x, w, r)


@kernel
def edge_edge_distance(x: Floats) -> float:
    """Distance of two edges; x (4, 3) their ends."""
    w, dw, r = np.empty(4), np.empty((2, 4)), np.empty(3)
    closest_on_edges(x, w, dw)
    return separation(x, w, r)
