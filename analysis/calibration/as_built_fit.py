"""Deviations of a printed mechanism from several scanned poses, with their play.

Least squares with errors in the measured nodes and conditions between them (Gauss and
Helmert): the nodes x of each pose are moved as little as their covariance C asks so
that h(x) = G theta + e. At the adjusted nodes (Pope, 1972), with slopes A,

    t = h(x) + A (x_measured - x),    V = A C A^T + sum_k s_k^2 D_k,
    N = sum over poses of G^T V^-1 G,    theta = N^-1 sum G^T V^-1 t.

The variances s_k^2, of play and of what the stated covariances of centres lack, are
those of the largest restricted likelihood (Patterson and Thompson, Biometrika 58,
1971), by Fisher's scoring. Intervals use
Student's t with the degrees of freedom that the uncertainty of those variances leaves
(Satterthwaite, Biometrics Bull. 2, 1946).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from analysis.calibration.as_built_unknowns import (
    Model,
    Role,
    refuse_null_directions,
    refuse_play,
)
from sim.core.arrays import Bools, Floats, Ints
from sim.core.options import NotConvergedError

SETTLED = 1e-9  # mm, and relative to a variance
ITERATIONS = 200
RANK = 1e-10  # share of the largest eigenvalue of V below which a row says nothing new


@dataclass(frozen=True, eq=False)
class Pose:
    """The nodes of one scan.

    Attributes
    ----------
    nodes_mm : (n, 3), nan where a node was not seen
    covariance_mm2 : (3n, 3n) of them all; what it says of unseen ones is not used
    """

    name: str
    nodes_mm: Floats
    covariance_mm2: Floats

    @property
    def seen(self) -> Bools:
        """(n,) whether each node was."""
        return np.asarray(np.isfinite(self.nodes_mm).all(axis=1), dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class Calibration:
    """A mechanism as built.

    Attributes
    ----------
    theta : (u,) deviations from nominal, mm; of the scale: relative
    covariance : (u, u)
    dof : (u,) degrees of freedom of each uncertainty; inf without variances to estimate
    variances : (k,) of play in the model's order, then of scatter, mm^2
    variances_covariance : (k, k)
    repeated : (k,) rows that show each variance, less the deviations they determine
    information : (u, u) N
    chi2, chi2_dof : weighted residuals, and how many are free
    adjusted_mm : for each pose (n, 3), nan where not seen
    """

    model: Model
    theta: Floats
    covariance: Floats
    dof: Floats
    variances: Floats
    variances_covariance: Floats
    repeated: Ints
    information: Floats
    chi2: float
    chi2_dof: int
    adjusted_mm: tuple[Floats, ...]

    @property
    def u(self) -> Floats:
        """(u,) standard uncertainty of each deviation."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    def half_width(self, level: float = 0.95) -> Floats:
        """(u,) half of each interval that holds the truth with probability `level`."""
        return np.asarray(self.u * stats.t.ppf(0.5 + 0.5 * level, self.dof))

    def spread_interval(self, k: int, level: float = 0.95) -> tuple[float, float]:
        """Bounds of standard deviation k, mm.

        With f repetitions to tell it from, its variance s^2 and that of the measurement
        m add up to one whose estimate is distributed as chi^2 of f; the scoring gives
        its spread, 2 (s^2 + m)^2 / f, hence m.
        """
        f, variance = self.repeated[k], self.variances[k]
        total = float(np.sqrt(0.5 * f * self.variances_covariance[k, k]))
        tails = stats.chi2.ppf([0.5 + 0.5 * level, 0.5 - 0.5 * level], f)
        low, high = np.sqrt(np.maximum(total * f / tails - (total - variance), 0.0))
        return float(low), float(high)


@dataclass(frozen=True, eq=False)
class LinearisedPose:
    """One pose at its adjusted nodes, rows of seen nodes only.

    Attributes
    ----------
    t : (r,) misclosures of the measured nodes
    G : (r, u)
    A : (r, 3n) slopes of the rows in the measured nodes
    CAt : (3n, r) covariance of the measured nodes with the misclosures
    V0 : (r, r) covariance of the misclosures from the measured nodes alone
    D : (k, r, r) the covariance that each unknown variance stands for
    """

    t: Floats
    G: Floats
    A: Floats
    CAt: Floats
    V0: Floats
    D: Floats


@dataclass(frozen=True, eq=False)
class Reduced:
    """Sums over the poses at given variances."""

    inverses: list[Floats]
    N: Floats
    theta: Floats
    covariance: Floats
    residuals: list[Floats]
    rank: int


def linearised(model: Model, pose: Pose, x: Floats, kappa: float) -> LinearisedPose:
    """The rows of a pose at adjusted nodes x (n, 3)."""
    seen = pose.seen
    measured = np.where(seen[:, None], pose.nodes_mm, x)
    h, A = model.evaluate(x, kappa)
    G = model.design(x, A, kappa)
    t = h + A @ (measured - x).ravel()
    if model.scale:
        t = t + G[:, -1] * kappa
    use = ~(model.touched & ~seen).any(axis=1)
    known = np.repeat(seen, 3)
    C = np.where(np.outer(known, known), pose.covariance_mm2, 0.0)
    A = A[use]
    CAt = C @ A.T
    roles = list(Role)
    D = [np.diag(1.0 * (model.role[use] == roles.index(role))) for role in model.play]
    D += [A @ A.T] * model.scatter
    each = np.array(D).reshape(len(D), len(A), len(A))
    return LinearisedPose(t[use], G[use], A, CAt, A @ CAt, each)


def inverse(V: Floats) -> tuple[Floats, int]:
    """V^+, and the rank: rows that follow from others say nothing new."""
    value, vector = np.linalg.eigh(V)
    known = value > RANK * value[-1]
    inv: Floats = (vector[:, known] / value[known]) @ vector[:, known].T
    return inv, int(known.sum())


def covariance_of_rows(rows: LinearisedPose, variances: Floats) -> Floats:
    """V of one pose."""
    return np.asarray(rows.V0 + np.einsum("k,kij->ij", variances, rows.D))


def reduce(model: Model, poses: Sequence[LinearisedPose], variances: Floats) -> Reduced:
    """Generalised least squares of all poses."""
    u = model.unknowns
    N, b, inverses, rank = np.zeros((u, u)), np.zeros(u), [], 0
    for rows in poses:
        W, new = inverse(covariance_of_rows(rows, variances))
        GtW = rows.G.T @ W
        N, b, rank = N + GtW @ rows.G, b + GtW @ rows.t, rank + new
        inverses.append(W)
    refuse_null_directions(model, N)
    covariance: Floats = np.asarray(np.linalg.inv(N), dtype=np.float64)
    theta = covariance @ b
    residuals = [rows.t - rows.G @ theta for rows in poses]
    return Reduced(inverses, N, theta, covariance, residuals, rank)


def score(
    model: Model, poses: Sequence[LinearisedPose], at: Reduced
) -> tuple[Floats, Floats, Floats]:
    """Slope and information of the restricted likelihood, and Q_k = sum M^T D_k M.

    With P = V^-1 - V^-1 G N^-1 G^T V^-1 over all poses and M = V^-1 G of one,

        slope_k = (t^T P D_k P t - tr P D_k) / 2,      F_kl = tr(P D_k P D_l) / 2.
    """
    k, u = len(poses[0].D), len(at.N)
    S = at.covariance
    slope, plain, mixed = np.zeros(k), np.zeros((k, k)), np.zeros((k, k))
    Q = np.zeros((k, u, u))
    for rows, W, e in zip(poses, at.inverses, at.residuals, strict=True):
        M, Pt = W @ rows.G, W @ e
        own = np.einsum("iu,kij,jv->kuv", M, rows.D, M, optimize=True)
        DW = rows.D @ W
        slope += 0.5 * np.einsum("i,kij,j->k", Pt, rows.D, Pt)
        slope += 0.5 * (np.einsum("uv,kvu->k", S, own) - np.trace(DW, 0, 1, 2))
        plain += 0.5 * np.einsum("kij,lji->kl", DW, DW, optimize=True)
        mixed += np.einsum("kij,lji->kl", DW, rows.D @ (M @ S @ M.T), optimize=True)
        Q += own
    SQ = S @ Q
    F = plain - mixed + 0.5 * np.einsum("kuv,lvu->kl", SQ, SQ)
    refuse_play(model, F, plain)
    return slope, F, Q


def calibrate(
    model: Model, poses: Sequence[Pose], scale_sd: float = 0.0
) -> Calibration:
    """Deviations and play from scanned poses.

    Parameters
    ----------
    scale_sd : relative, of the scanner's calibration: no pose shows that error, which
        all lengths share. Of no effect where the scale is estimated

    Raises
    ------
    ValueError
        where poses do not tell what is asked; it says which, and what would help
    """
    if not poses:
        raise ValueError("no pose is given: give one or more scanned poses")
    x = [np.where(p.seen[:, None], p.nodes_mm, model.structure.r0) for p in poses]
    kappa, variances = 0.0, np.full(model.variances, np.nan)
    for _ in range(ITERATIONS):
        rows = [linearised(model, p, a, kappa) for p, a in zip(poses, x, strict=True)]
        if np.isnan(variances).any():
            variances = _first(model, rows)
        at = reduce(model, rows, variances)
        after, F, Q = variances, np.empty((0, 0)), np.empty((0, 0, 0))
        if len(variances):
            slope, F, Q = score(model, rows, at)
            after = np.maximum(variances + np.linalg.solve(F, slope), 0.0)
        moved = [
            p.nodes_mm - (r.CAt @ (W @ e)).reshape(-1, 3)  # C A^T V^-1 e
            for p, r, W, e in zip(poses, rows, at.inverses, at.residuals, strict=True)
        ]
        change = max(np.nanmax(np.abs(a - b)) for a, b in zip(moved, x, strict=True))
        size = float(np.max(np.diag(rows[0].V0), initial=0.0)) + after
        still = float(np.max(np.abs(after - variances) / size, initial=0.0))
        x = [np.where(np.isfinite(m), m, a) for m, a in zip(moved, x, strict=True)]
        variances = after
        kappa = float(at.theta[-1]) if model.scale else 0.0
        if change < SETTLED and still < SETTLED:
            spread = (variances, F, Q, _repeated(model, poses))
            return _calibration(model, at, spread, moved, scale_sd)
    raise NotConvergedError(
        f"nodes still move by {change:.1e} mm after {ITERATIONS} adjustments: check "
        "the labels of the scans",
        best=at.theta,
    )


def _first(model: Model, rows: Sequence[LinearisedPose]) -> Floats:
    """Variances to begin with: as large as the measurement's own."""
    own = np.mean([np.diag(r.V0).mean() for r in rows if len(r.t)] or [1.0])
    return np.full(model.variances, float(own))


def _repeated(model: Model, poses: Sequence[Pose]) -> Ints:
    """(k,) rows that show each variance, less the deviations they determine."""
    times = np.zeros(len(model.row), dtype=np.int64)
    for pose in poses:
        times += ~(model.touched & ~pose.seen).any(axis=1)
    roles, found = list(Role), []
    for role in [*model.play, *[Role.BODY] * model.scatter]:
        own = model.role == roles.index(role)
        groups = model.group[own & (times > 0)]
        found.append(times[own].sum() - len(np.unique(groups[groups >= 0])))
    return np.array(found, dtype=np.int64)


def _calibration(
    model: Model,
    at: Reduced,
    spread: tuple[Floats, Floats, Floats, Ints],
    adjusted: list[Floats],
    scale_sd: float,
) -> Calibration:
    (variances, F, Q, repeated), S = spread, at.covariance
    chi2 = sum(float(e @ W @ e) for W, e in zip(at.inverses, at.residuals, strict=True))
    together = 0.0 if model.scale else scale_sd
    common = np.nan_to_num(model.lengths + at.theta)
    covariance = S + together**2 * np.outer(common, common)
    inverse_F: Floats = np.empty((0, 0))
    dof = np.full(model.unknowns, np.inf)
    if len(variances):
        inverse_F = np.asarray(np.linalg.inv(F), dtype=np.float64)
        slopes = np.stack([np.diag(S @ q @ S) for q in Q])  # of each variance of theta
        of_u2 = np.einsum("ku,kl,lu->u", slopes, inverse_F, slopes)
        dof = 2.0 * np.diag(covariance) ** 2 / np.maximum(of_u2, 1e-300)
    return Calibration(
        model, at.theta, covariance, dof, variances, inverse_F, repeated,
        at.N, chi2,
        at.rank - model.unknowns, tuple(adjusted),
    )  # fmt: skip
