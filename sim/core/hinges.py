"""A rotational spring about a bar: its angle, and the angle's first two derivatives.

Nodes i, j, k, l: the bar j-k is the axis, i and l are the wings. With r_ij = x_i - x_j,
r_kj = x_k - x_j, r_kl = x_k - x_l, m = r_ij x r_kj, n = r_kj x r_kl and s = |r_kj|,

    theta = atan2(s m.r_kl, m.n)  in [0, 2 pi),   pi when flat

    a = dtheta/dx_i = s m / m^2,          b = dtheta/dx_l = -s n / n^2
    dtheta/dx_j = (A - 1) a - B b,        A = r_ij.r_kj / s^2
    dtheta/dx_k = (B - 1) b - A a,        B = r_kl.r_kj / s^2

and the second derivatives are those of these products. (An arc cosine of m.n would
lose half of the digits near 0 and pi.)
"""

import math

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.core.numba_kernels import kernel

Vector = tuple[float, float, float]


@kernel
def _minus(x: Floats, i: int, j: int) -> Vector:
    return x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]


@kernel
def _cross(a: Vector, b: Vector) -> Vector:
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@kernel
def _dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def _angle(m: Vector, n: Vector, r_kj: Vector, r_kl: Vector) -> float:
    theta = math.atan2(math.sqrt(_dot(r_kj, r_kj)) * _dot(m, r_kl), _dot(m, n))
    return theta if theta >= 0.0 else theta + 2.0 * math.pi


@kernel
def hinge_angle(x: Floats) -> float:
    """Angle theta of one hinge; x (4, 3) its nodes i, j, k, l."""
    r_kj, r_kl = _minus(x, 2, 1), _minus(x, 2, 3)
    return _angle(_cross(_minus(x, 0, 1), r_kj), _cross(r_kj, r_kl), r_kj, r_kl)


@kernel
def _wing(
    v: Vector, m: Vector, scale: float, along: float, r_kj: Vector, out: Floats
) -> None:
    """d(s m / m^2)/dx for dm = v x dx and ds = along r_kj . dx; `scale` is s."""
    mm = _dot(m, m)
    for e in range(3):
        q = _cross(v, (1.0 * (e == 0), 1.0 * (e == 1), 1.0 * (e == 2)))
        mq = 2.0 * _dot(m, q) / mm
        for c in range(3):
            out[c, e] = (scale * (q[c] - mq * m[c]) + along * r_kj[e] * m[c]) / mm


@kernel
def _fill_gradient(a: Vector, b: Vector, A: float, B: float, gradient: Floats) -> None:
    for c in range(3):
        gradient[c] = a[c]
        gradient[3 + c] = (A - 1.0) * a[c] - B * b[c]
        gradient[6 + c] = (B - 1.0) * b[c] - A * a[c]
        gradient[9 + c] = b[c]


@kernel
def hinge_slopes(x: Floats, gradient: Floats, hessian: Floats, work: Floats) -> float:
    """Fill the gradient (12,) and the Hessian (12, 12) of theta; return theta.

    Parameters
    ----------
    x : (4, 3) nodes i, j, k, l, m
    work : (6, 3, 3) work space
    """
    r_ij, r_kj, r_kl = _minus(x, 0, 1), _minus(x, 2, 1), _minus(x, 2, 3)
    m, n = _cross(r_ij, r_kj), _cross(r_kj, r_kl)
    ss, mm, nn = _dot(r_kj, r_kj), _dot(m, m), _dot(n, n)
    s = math.sqrt(ss)
    A, B = _dot(r_ij, r_kj) / ss, _dot(r_kl, r_kj) / ss
    a = (s * m[0] / mm, s * m[1] / mm, s * m[2] / mm)
    b = (-s * n[0] / nn, -s * n[1] / nn, -s * n[2] / nn)
    _fill_gradient(a, b, A, B, gradient)
    i_j = (r_kj[0] - r_ij[0], r_kj[1] - r_ij[1], r_kj[2] - r_ij[2])
    k_l = (r_kj[0] - r_kl[0], r_kj[1] - r_kl[1], r_kj[2] - r_kl[2])
    back = (-r_kj[0], -r_kj[1], -r_kj[2])
    _wing(back, m, s, 0.0, r_kj, work[0])  # da/dx_i, _j, _k
    _wing(i_j, m, s, -1.0 / s, r_kj, work[1])
    _wing(r_ij, m, s, 1.0 / s, r_kj, work[2])
    _wing(r_kl, n, -s, 1.0 / s, r_kj, work[3])  # db/dx_j, _k, _l
    _wing(k_l, n, -s, -1.0 / s, r_kj, work[4])
    _wing(back, n, -s, 0.0, r_kj, work[5])
    for c in range(3):
        for e in range(3):
            A_j = -(r_kj[e] + r_ij[e] - 2.0 * A * r_kj[e]) / ss
            A_k = (r_ij[e] - 2.0 * A * r_kj[e]) / ss
            B_j = -(r_kl[e] - 2.0 * B * r_kj[e]) / ss
            B_k = (r_kj[e] + r_kl[e] - 2.0 * B * r_kj[e]) / ss
            hessian[c, e] = work[0, c, e]
            hessian[c, 3 + e] = hessian[3 + e, c] = work[1, c, e]
            hessian[c, 6 + e] = hessian[6 + e, c] = work[2, c, e]
            hessian[c, 9 + e] = hessian[9 + e, c] = 0.0
            hessian[9 + c, 3 + e] = hessian[3 + e, 9 + c] = work[3, c, e]
            hessian[9 + c, 6 + e] = hessian[6 + e, 9 + c] = work[4, c, e]
            hessian[9 + c, 9 + e] = work[5, c, e]
            hessian[3 + c, 3 + e] = (
                a[c] * A_j + (A - 1.0) * work[1, c, e] - b[c] * B_j - B * work[3, c, e]
            )
            hessian[6 + c, 6 + e] = (
                b[c] * B_k + (B - 1.0) * work[4, c, e] - a[c] * A_k - A * work[2, c, e]
            )
            hessian[3 + c, 6 + e] = hessian[6 + e, 3 + c] = (
                a[c] * A_k + (A - 1.0) * work[2, c, e] - b[c] * B_k - B * work[4, c, e]
            )
    return _angle(m, n, r_kj, r_kl)


@kernel
def slopes_of_hinges(hinges: Ints, r: Floats) -> tuple[Floats, Floats, Floats]:
    """Angle (h,), gradient (h, 12) and Hessian (h, 12, 12) of every hinge (h, 4)."""
    h = len(hinges)
    angle, work = np.empty(h), np.empty((6, 3, 3))
    slope, hessian = np.empty((h, 12)), np.empty((h, 12, 12))
    for e in range(h):
        angle[e] = hinge_slopes(r[hinges[e]], slope[e], hessian[e], work)
    return angle, slope, hessian
