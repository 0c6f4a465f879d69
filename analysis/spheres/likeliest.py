"""Variances that make what is left of measurements most likely.

Of z ~ N(B b, C) with any b and C = sum t_k C_k, t_k >= 0, the deviance

    ln det C + ln det B' C^-1 B + z' P z,  P = C^-1 - C^-1 B (B' C^-1 B)^-1 B' C^-1

is that of what B has no part in. With a = P z its slopes are tr(P C_k) - a' C_k a, and
its curvature is about a' C_k P C_l a: the mean of what it is and of what it is expected
to be, without the traces of products that either asks for [Gilmour, Thompson, Cullis,
Biometrics 51:1440 (1995)]. Each step goes to the least of that quadric among t >= 0,
shorter while the deviance does not fall.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, solve_triangular
from scipy.linalg.lapack import dpotri
from scipy.optimize import nnls

from analysis.spheres.thresholds import PATCHES
from sim.arrays import Floats


@dataclass(frozen=True, eq=False)
class _VarianceTrial:
    """The deviance of some variances."""

    sizes: Floats  # (k,) t
    factor: Floats  # (m, m) L of C = L L'
    taken: Floats  # (m, b) orthonormal, spans L^-1 B
    left: Floats  # (m,) of L^-1 z what these have no part in
    deviance: float


@dataclass(frozen=True, eq=False)
class _Quadric:
    """What the deviance is like about some variances."""

    slope: Floats  # (k,)
    curvature: Floats  # (k, k), about
    scale: Floats  # (k,) roots of its diagonal, or of the least that is expected there
    weigh: Floats  # (m, m) P


def likeliest(
    z: Floats, each: Floats, known: Floats
) -> tuple[Floats, Floats, int] | None:
    """The t (k,) for which z is most likely, their covariance V (k, k), and rounds.

    None where the C_k are zero, or no maximum is found in `PATCHES.rounds`.

    Parameters
    ----------
    z : (m,)
    each : (k, m, m) C_k, positive semidefinite, their sum positive definite
    known : (m, b) B, of full rank
    """
    traces = np.einsum("kii->k", each)
    shown = np.flatnonzero(traces > PATCHES.rank * traces.max(initial=0.0))
    some, damping = each[shown], 0.0
    now = _tried(z, some, known, float(z @ z) / len(each) / traces[shown])
    for rounds in range(PATCHES.rounds):
        if now is None:
            return None
        quadric = _quadric(now, some)
        if _least(now.sizes, quadric, 0.0)[1] < PATCHES.settled:
            t = np.zeros(len(each))
            t[shown] = now.sizes
            return t, _in_doubt(t, each, quadric.weigh), rounds
        for _ in range(PATCHES.shortened):
            sizes, fall = _least(now.sizes, quadric, damping)
            after = _tried(z, some, known, sizes)
            if after is not None and _falls(now, after, fall):
                break
            after, damping = None, max(4.0 * damping, PATCHES.damped)
        now, damping = after, damping / 4.0 if damping > PATCHES.damped else 0.0
    return None


def _falls(now: _VarianceTrial, after: _VarianceTrial, expected: float) -> bool:
    """Whether the deviance falls, up to its rounding."""
    rounding = 1e-12 * abs(now.deviance)
    return after.deviance < now.deviance - 1e-4 * expected + rounding


def _tried(
    z: Floats, each: Floats, known: Floats, sizes: Floats
) -> _VarianceTrial | None:
    """None where C is not positive definite."""
    try:
        factor, _ = cho_factor(
            np.tensordot(sizes, each, 1), lower=True, overwrite_a=True
        )
    except LinAlgError:
        return None
    whole = solve_triangular(factor, np.column_stack([known, z]), lower=True)
    taken, shown = np.linalg.qr(whole[:, :-1])
    left = whole[:, -1] - taken @ (taken.T @ whole[:, -1])
    volume = np.log(np.diag(factor)).sum() + np.log(np.abs(np.diag(shown))).sum()
    return _VarianceTrial(sizes, factor, taken, left, float(2.0 * volume + left @ left))


def _quadric(now: _VarianceTrial, each: Floats) -> _Quadric:
    """Of the deviance about the variances that were tried."""
    lower = np.tril(dpotri(now.factor, lower=1)[0])
    inverse = lower + lower.T - np.diag(np.diag(lower))
    back = solve_triangular(
        now.factor, np.column_stack([now.taken, now.left]), lower=True, trans=1
    )
    weigh = inverse - back[:, :-1] @ back[:, :-1].T
    raised = each @ back[:, -1]
    traces = np.tensordot(each, weigh, 2)
    slope, curvature = traces - raised @ back[:, -1], raised @ weigh @ raised.T
    least = traces**2 / len(weigh)  # at most tr(P C_k P C_k)
    scale = np.sqrt(np.maximum(np.diag(curvature), least))
    return _Quadric(slope, curvature, scale, weigh)


def _least(sizes: Floats, quadric: _Quadric, damping: float) -> tuple[Floats, float]:
    """Where the quadric is least among t >= 0, and how far it falls until there."""
    scale = quadric.scale
    bend = quadric.curvature / np.outer(scale, scale)
    bend += (PATCHES.bent + damping) * np.eye(len(scale))
    root = np.linalg.cholesky(bend).T
    start, rise = sizes * scale, quadric.slope / scale
    found, _ = nnls(root, root @ start - np.linalg.solve(root.T, rise), maxiter=1000)
    step = found - start
    return found / scale, float(-(rise @ step) - step @ bend @ step / 2.0)


def _in_doubt(sizes: Floats, each: Floats, weigh: Floats) -> Floats:
    """V (k, k); zero of components that are told worse than to their own size.

    Of these t_k^2 tr(P C_k P C_k) / 2 < 1: less than two squares tell them, and an
    expansion in what they err by means nothing.
    """
    doubt = np.zeros((len(sizes), len(sizes)))
    most = (sizes * np.tensordot(each, weigh, 2)) ** 2 / 2.0
    on = np.flatnonzero(most >= 1.0)
    weighed = np.array([weigh @ C for C in each[on]]).reshape(-1, *weigh.shape)
    flat = weighed.reshape(len(on), -1)
    told = flat @ weighed.transpose(0, 2, 1).reshape(len(on), -1).T / 2.0
    kept = sizes[on] ** 2 * np.diag(told) >= 1.0
    doubt[np.ix_(on[kept], on[kept])] = np.linalg.inv(told[np.ix_(kept, kept)])
    return doubt
