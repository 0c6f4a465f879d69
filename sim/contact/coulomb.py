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

from sim.core.arrays import Floats
from sim.core.numba_kernels import kernel

SWEEPS = 30
WARM = 2  # of them, where forces of before are known
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
    flat, w = p.ravel(), np.empty(3)
    for _ in range(times):
        for k in range(len(p)):
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
def _projected(
    w: Floats, mu: float, scale: Floats, p: Floats, q: Floats, size: Floats, r: Floats
) -> float:
    """r, q (c, 3), size (c,) of q across <- of forces p that bring w.

    Returns the largest part of r, m, or nan.
    """
    most, sound = 0.0, True
    for k in range(len(p)):
        for a in range(3):
            q[k, a] = p[k, a] - w[k, a] / scale[k, min(a, 1)]
        size[k] = np.hypot(q[k, 1], q[k, 2])
        normal = 0.0 if q[k, 0] < 0.0 else q[k, 0]
        bound = mu * normal
        share = bound / max(size[k], 1e-300) if size[k] > bound else 1.0
        r[k, 0] = p[k, 0] - normal
        for a in range(1, 3):
            r[k, a] = p[k, a] - share * q[k, a]
        for a in range(3):
            part = abs(r[k, a]) * scale[k, min(a, 1)]
            sound = sound and part == part
            most = max(most, part)
    return float(most if sound else np.nan)


@kernel
def largest_left(w: Floats, mu: float, scale: Floats, p: Floats) -> float:
    """The largest part of r, m."""
    q, r = np.empty_like(p), np.empty_like(p)
    return float(_projected(w, mu, scale, p, q, np.empty(len(p)), r))


@kernel
def _slopes(
    W: Floats, mu: float, scale: Floats, q: Floats, size: Floats, J: Floats
) -> None:
    """J (3 c, 3 c) <- dr/dp."""
    for k in range(len(q)):
        n, bound, open_now = 3 * k, mu * q[k, 0], not q[k, 0] > 0.0
        slides = size[k] > bound and not open_now
        e, f, share = 0.0, 0.0, 1.0
        if slides:
            e, f, share = q[k, 1] / size[k], q[k, 2] / size[k], bound / size[k]
        for j in range(len(W)):
            d = (1.0 if j == n else 0.0) - W[n, j] / scale[k, 0]
            u = (1.0 if j == n + 1 else 0.0) - W[n + 1, j] / scale[k, 1]
            v = (1.0 if j == n + 2 else 0.0) - W[n + 2, j] / scale[k, 1]
            if open_now:
                d = u = v = 0.0
            elif slides:
                along = e * u + f * v
                u = mu * e * d + share * (u - e * along)
                v = mu * f * d + share * (v - f * along)
            J[n, j] = (1.0 if j == n else 0.0) - d
            J[n + 1, j] = (1.0 if j == n + 1 else 0.0) - u
            J[n + 2, j] = (1.0 if j == n + 2 else 0.0) - v


@kernel
def _newton_step(J: Floats, r: Floats) -> Floats:
    """(c, 3) change of p that makes the linearised r vanish; inf where none does."""
    try:
        return np.asarray(np.linalg.solve(J, -r.ravel()).reshape(r.shape))
    except Exception:  # noqa: BLE001  (kernels know no other)
        return np.full_like(r, np.inf)


@kernel
def coulomb_forces(
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
    found, size = p, np.inf
    if p.max() > 0.0:
        found, size = _forces_from(W, b, mu, p, allowed, WARM)
    if not size <= allowed:
        found, size = _forces_from(W, b, mu, p, allowed, SWEEPS)
    return found, size


@kernel
def _forces_from(
    W: Floats, b: Floats, mu: float, p: Floats, allowed: float, sweeps: int
) -> tuple[Floats, float]:
    """By so many sweeps before Newton's iteration."""
    scale, share = np.empty((len(p), 2)), SOFT
    _fill_scale(W, scale)
    p, size = p.copy(), np.inf
    _sweep(W, b, mu, scale, p, sweeps)
    regularised, there = np.empty_like(W), np.empty_like(b)
    for _ in range(ROUNDS):
        regularised[...] = W
        for k in range(len(p)):
            for a in range(3):
                own = share * scale[k, min(a, 1)]
                regularised[3 * k + a, 3 * k + a] += own
                there[k, a] = b[k, a] - own * p[k, a]
        p, left = _newton(regularised, there, mu, scale, p, 0.1 * allowed)
        if left > 0.1 * allowed:
            _sweep(regularised, there, mu, scale, p, SWEEPS)
        share *= 10.0 if left > 0.1 * allowed else 0.1
        share = min(max(share, SOFTEST[0]), SOFTEST[1])
        size = largest_left(_moved(W, b, p), mu, scale, p)
        if size <= allowed:
            break
    return p, size


@kernel
def _moved(W: Floats, b: Floats, p: Floats) -> Floats:
    """(c, 3) what forces p bring."""
    return b + (W @ p.ravel()).reshape(p.shape)


@kernel
def _newton(
    W: Floats, b: Floats, mu: float, scale: Floats, p: Floats, allowed: float
) -> tuple[Floats, float]:
    """The best p of a few iterations, and the residual that it leaves, m."""
    best, least = p, np.inf
    q, r, across, J = np.empty_like(p), np.empty_like(p), p[:, 0].copy(), W.copy()
    for _ in range(ITERATIONS):
        size = _projected(_moved(W, b, p), mu, scale, p, q, across, r)
        if size < least:
            best, least = p, size
        if size <= allowed or not np.isfinite(size):
            break
        _slopes(W, mu, scale, q, across, J)
        step = _newton_step(J, r)
        if not np.abs(step).max() * scale.min() < FAR:
            break
        p = p + step
    return best.copy(), least


@kernel
def _fill_scale(W: Floats, scale: Floats) -> None:
    """scale (c, 2) <- compliance of each contact by itself."""
    for k in range(len(scale)):
        n, u, v = 3 * k, 3 * k + 1, 3 * k + 2
        twice = np.hypot(0.5 * (W[u, u] - W[v, v]), W[u, v])
        scale[k, 0] = W[n, n]
        scale[k, 1] = 0.5 * (W[u, u] + W[v, v]) + twice


def contact_tangents(normal: Floats) -> Floats:
    """(c, 2, 3) unit vectors across normals (c, 3), and each other."""
    axis = np.eye(3)[np.abs(normal).argmin(axis=1)]
    one = np.cross(normal, axis)
    one /= np.linalg.norm(one, axis=1, keepdims=True)
    return np.stack([one, np.cross(normal, one)], axis=1)
