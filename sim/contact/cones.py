"""Coulomb's law at contacts in space: w = b + W p, with p and w as (n, t1, t2) each.

    p_n >= 0, w_n >= 0, p_n w_n = 0         |p_t| <= mu p_n,  p_t = - mu p_n w_t / |w_t|

where w_t is not zero. This is the law itself, not its convex relaxation: the pair
(p, w + mu |w_t| n) is complementary in the cone and its dual (De Saxce and Feng, Math.
Comput. Modelling 28, 1998). What is solved are the projections of Alart and Curnier
(CMAME 92, 1991),

    r_n = p_n - max(0, q_n),  r_t = p_t - [q_t onto the disc of radius mu max(0, q_n)],

q = p - w / W_kk. Where several contacts share a load at will W is singular, so each has
a small compliance of its own about what it carried in the round before (the proximal
point method, Rockafellar, SIAM J. Control Optim. 14, 1976): rounds of Newton's method
on r, with projected sweeps of Gauss-Seidel's kind where it cycles, until r of the
problem itself is at rounding.
"""

import numpy as np

from sim.arrays import Floats
from sim.kernels import kernel

SWEEPS = 30
ROUNDS = 60
ITERATIONS = 15  # of a round
FAR = 1.0  # m, by which no contact moves in one iteration
SOFT = 1e-3  # of a contact's compliance: its own in the first round,
SOFTEST = 1e-7, 1e-1  # then less or more, as the round before went


@kernel
def _sweep(
    W: Floats, b: Floats, mu: float, scale: Floats, p: Floats, times: int
) -> None:
    """p <- projected block Gauss-Seidel; p, b (c, 3), W (3 c, 3 c), scale (c, 2)."""
    flat = p.ravel()
    for _ in range(times):
        for k in range(len(p)):
            w = np.empty(3)
            for a in range(3):
                w[a] = b[k, a]
                for j in range(len(flat)):
                    w[a] += W[3 * k + a, j] * flat[j]
            old = p[k, 0]
            p[k, 0] = max(0.0, old - w[0] / scale[k, 0])
            for a in range(1, 3):
                w[a] += W[3 * k + a, 3 * k] * (p[k, 0] - old)
                p[k, a] -= w[a] / scale[k, 1]
            size = np.sqrt(p[k, 1] ** 2 + p[k, 2] ** 2)
            bound = mu * p[k, 0]
            if size > bound:
                p[k, 1] *= bound / size
                p[k, 2] *= bound / size


@kernel
def _project(
    p: Floats, q: Floats, size: Floats, mu: float, each: Floats, r: Floats
) -> float:
    """r <- p less q in the cone; its largest part, m, or nan."""
    most, sound = 0.0, True
    for k in range(len(p)):
        normal = 0.0 if q[k, 0] < 0.0 else q[k, 0]
        bound = mu * normal
        share = bound / max(size[k], 1e-300) if size[k] > bound else 1.0
        r[k, 0] = p[k, 0] - normal
        for a in range(1, 3):
            r[k, a] = p[k, a] - share * q[k, a]
        for a in range(3):
            part = abs(r[k, a]) * each[k, a]
            sound = sound and part == part
            most = max(most, part)
    return float(most if sound else np.nan)


def _projected(
    w: Floats, mu: float, each: Floats, p: Floats
) -> tuple[Floats, Floats, Floats, float]:
    """r (c, 3), q (c, 3), the size of q across, and the largest part of r, m."""
    q = p - w / each
    size, r = np.hypot(q[:, 1], q[:, 2]), np.empty_like(q)
    return r, q, size, float(_project(p, q, size, mu, each, r))


@kernel
def _slopes(
    W: Floats, mu: float, each: Floats, q: Floats, size: Floats, J: Floats
) -> None:
    """J (3 c, 3 c) <- dr/dp."""
    for k in range(len(q)):
        n, bound, open_now = 3 * k, mu * q[k, 0], not q[k, 0] > 0.0
        slides = size[k] > bound and not open_now
        e, f, share = 0.0, 0.0, 1.0
        if slides:
            e, f, share = q[k, 1] / size[k], q[k, 2] / size[k], bound / size[k]
        for j in range(len(W)):
            d = (1.0 if j == n else 0.0) - W[n, j] / each[k, 0]
            u = (1.0 if j == n + 1 else 0.0) - W[n + 1, j] / each[k, 1]
            v = (1.0 if j == n + 2 else 0.0) - W[n + 2, j] / each[k, 2]
            if open_now:
                d = u = v = 0.0
            elif slides:
                along = e * u + f * v
                u = mu * e * d + share * (u - e * along)
                v = mu * f * d + share * (v - f * along)
            J[n, j] = (1.0 if j == n else 0.0) - d
            J[n + 1, j] = (1.0 if j == n + 1 else 0.0) - u
            J[n + 2, j] = (1.0 if j == n + 2 else 0.0) - v


def _newton_step(
    W: Floats, mu: float, each: Floats, r: Floats, q: Floats, size: Floats
) -> Floats:
    """(c, 3) change of p that makes the linearised r vanish."""
    J = np.empty_like(W)
    _slopes(W, mu, each, q, size, J)
    try:
        return np.asarray(-np.linalg.solve(J, r.ravel()).reshape(-1, 3))
    except np.linalg.LinAlgError:
        return np.full_like(r, np.inf)


def coulomb_in_space(
    W: Floats, b: Floats, mu: float, p: Floats, allowed: float
) -> tuple[Floats, float]:
    """Forces (c, 3) at contacts, and the residual that they leave.

    Parameters
    ----------
    W : (3 c, 3 c) compliance, m/N, normal and both tangential by turns
    b : (c, 3) m, gaps at the end and moves of the step without forces
    p : (c, 3) N, a first guess
    allowed : m, residual at which to stop
    """
    scale = cone_scale(W)
    each, share = scale[:, [0, 1, 1]], SOFT
    p, size = np.ascontiguousarray(p).copy(), np.inf
    _sweep(W, b, mu, scale, p, SWEEPS)
    for _ in range(ROUNDS):
        softened, there = W + share * np.diag(each.ravel()), b - share * each * p
        p, left = _newton(softened, there, mu, scale, p, 0.1 * allowed)
        if left > 0.1 * allowed:
            _sweep(softened, there, mu, scale, p, SWEEPS)
        share *= 10.0 if left > 0.1 * allowed else 0.1
        share = min(max(share, SOFTEST[0]), SOFTEST[1])
        size = _projected(_moved(W, b, p), mu, each, p)[3]
        if size <= allowed:
            break
    return p, size


def _moved(W: Floats, b: Floats, p: Floats) -> Floats:
    """(c, 3) what forces p bring."""
    return b + (W @ p.ravel()).reshape(-1, 3)


def _newton(
    W: Floats, b: Floats, mu: float, scale: Floats, p: Floats, allowed: float
) -> tuple[Floats, float]:
    """The best p of a few iterations, and the residual that it leaves, m."""
    best, least, each = p, np.inf, scale[:, [0, 1, 1]]
    for _ in range(ITERATIONS):
        r, q, across, size = _projected(_moved(W, b, p), mu, each, p)
        if size < least:
            best, least = p, size
        if size <= allowed or not np.isfinite(size):
            break
        step = _newton_step(W, mu, each, r, q, across)
        if not np.abs(step).max() * scale.min() < FAR:
            break
        p = p + step
    return best.copy(), least


def cone_scale(W: Floats) -> Floats:
    """(c, 2) compliance of each contact by itself, normal and tangential, m/N."""
    d = np.diagonal(W).reshape(-1, 3)
    c = len(d)
    blocks = W.reshape(c, 3, c, 3)[np.arange(c), 1:, np.arange(c), 1:]
    twice = np.hypot(0.5 * (d[:, 1] - d[:, 2]), blocks[:, 0, 1])
    return np.column_stack([d[:, 0], 0.5 * (d[:, 1] + d[:, 2]) + twice])


def cone_residual(w: Floats, mu: float, scale: Floats, p: Floats) -> float:
    """The largest part of r in m, of forces p and what they bring, w, (c, 3)."""
    return _projected(w, mu, scale[:, [0, 1, 1]], p)[3]


def contact_tangents(normal: Floats) -> Floats:
    """(c, 2, 3) unit vectors across normals (c, 3), and each other."""
    axis = np.eye(3)[np.abs(normal).argmin(axis=1)]
    one = np.cross(normal, axis)
    one /= np.linalg.norm(one, axis=1, keepdims=True)
    return np.stack([one, np.cross(normal, one)], axis=1)
