"""Motions of misplaced views, solved together with the centres of all spheres.

A view v that is misplaced by the small motion x -> x + t + w x (x - p) shifts the
points around a centre c by K (t, w) with K = [I, -[c - p]]. The heights e of its
points over the sphere i then follow

    e = u . (K_i tau_v - dc_i)        tau_v = (t_v, w_v)

so that all centres and motions are one least-squares problem in the 3 x 3 blocks
A_iv = sum w u u^T and g_iv = sum w e u. Motions have mean zero: only the shape of
the structure is determined, not where the scanner's own frame puts it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.spatial.transform import Rotation

from analysis.alignment import RigidMotion
from analysis.spheres.centre_fit import height
from analysis.spheres.detections import ViewMotion
from analysis.spheres.sphere_criteria import SphereCandidate
from analysis.spheres.thresholds import BIWEIGHT, JUDGE, SHARED, VIEWS
from sim.core.arrays import Bools, Floats, Ints, cross
from sim.core.numba_kernels import kernel


@dataclass(frozen=True, eq=False)
class Placement:
    """Motions of the views, and the covariance of all centres with them."""

    motions: Floats  # (v, 6) tau
    pivot: Floats  # (3,) p
    covariance: Floats  # (3 m, 3 m) mm^2
    before: Floats  # (v, 6) by which views were moved before
    # (3 m + 6 v, 3 m) what centres become of the right side of the normal equations
    gain: Floats = field(default_factory=lambda: np.empty((0, 0)))
    prior: Floats = field(default_factory=lambda: np.empty(0))  # (6 v,) of the motions
    squares: float = 0.0  # chi squared of the centres that each view sees alone
    free: int = 0  # its degrees of freedom
    of_motions: Floats = field(default_factory=lambda: np.empty((0, 0)))  # (6 v, 6 v)

    @property
    def total(self) -> Floats:
        """(v, 6) motions from the poses that were stated; turns are small."""
        return self.before + self.motions

    def move(self, x: Floats, view: Ints) -> Floats:
        """The points where their views belong."""
        return _moved(x, view, self.motions, self.pivot)

    def listed(self, numbers: Ints) -> tuple[ViewMotion, ...]:
        """The motions of the views of these numbers (v,), one after the other."""
        own, before = (
            Rotation.from_rotvec(m[:, 3:]) for m in (self.motions, self.before)
        )
        shift = self.motions[:, :3] + own.apply(self.before[:, :3])
        return tuple(
            ViewMotion(int(v), t, w, self.pivot)
            for v, t, w in zip(numbers, shift, (own * before).as_rotvec(), strict=True)
        )


def _moved(x: Floats, view: Ints, motions: Floats, pivot: Floats) -> Floats:
    """(k, 3) x + t + w x (x - p)."""
    shift, turn = motions[view, :3], motions[view, 3:]
    return x + shift + cross(turn, x - pivot)


def unmoved(views: int, pivot: Floats, moved: Sequence[RigidMotion]) -> Placement:
    """Views at the poses that the scanner states, or where they were moved to."""
    before = np.zeros((views, 6))
    for own, motion in zip(before, moved, strict=False):
        own[:3] = motion(pivot) - pivot
        own[3:] = Rotation.from_matrix(motion.rotation).as_rotvec()
    return Placement(np.zeros((views, 6)), pivot, np.empty((0, 0)), before)


def place(
    accepted: list[SphereCandidate],
    sums: list[tuple[Floats, Floats]],
    before: Placement,
) -> Placement:
    """Solve for all centres and motions together; return the motions.

    The size of the misplacement is estimated from the views themselves. So motions that
    noise explains are suppressed; they would cost every centre accuracy.

    Parameters
    ----------
    accepted : the spheres, fitted to points moved as `before` says
    sums : for each the blocks A (v, 4, 4) and g (v, 4)
    before : the motions up to now
    """
    own, views = 3 * len(accepted), len(before.motions)
    reach = max(float(np.linalg.norm(c.fit.centre - before.pivot)) for c in accepted)
    H, right = normal_equations(accepted, sums, before.pivot)
    H, right = H[1:, 1:], right[1:]  # the radius is held
    stated = before.total - before.total.mean(axis=0)
    weight = misplacement(H, right, own, stated, reach) ** -2
    prior = np.tile(weight, views)
    H[own:, own:] += np.diag(prior)
    right[own:] -= prior * stated.ravel()
    inverse, rise = solved(H, right, own, weight)
    tau = rise[own:].reshape(views, 6)
    squares, free = _left(accepted, sums, before.pivot, rise[:own], tau)
    gain = inverse[:, :own]
    return replace(
        before,
        motions=before.motions + tau,
        covariance=gain[:own],
        gain=gain,
        prior=prior,
        squares=squares,
        free=free,
        of_motions=inverse[own:, own:],
    )


def _left(
    accepted: list[SphereCandidate],
    sums: list[tuple[Floats, Floats]],
    pivot: Floats,
    shift: Floats,
    tau: Floats,
) -> tuple[float, int]:
    """Chi squared of the residuals, and its degrees of freedom."""
    squares, rows = 0.0, 0
    for i, (c, (A, g)) in enumerate(zip(accepted, sums, strict=True)):
        A, g = A[:, :3, :3], g[:, :3]
        phi, K = noise(c, A), lever(c, pivot)
        seen = np.trace(A, axis1=1, axis2=2) > SHARED.points
        for v in np.flatnonzero(seen):
            h = g[v] - A[v] @ (shift[3 * i : 3 * i + 3] - K @ tau[v])
            squares += float(h @ np.linalg.lstsq(A[v], h, rcond=None)[0]) / phi
            rows += 3
    return squares, rows - 3 * len(accepted) - 6 * (len(tau) - 1)


def normal_equations(
    accepted: list[SphereCandidate], sums: list[tuple[Floats, Floats]], pivot: Floats
) -> tuple[Floats, Floats]:
    """Of the radius that all share, the centres (3 m) and the motions (6 v), no prior.

    Parameters
    ----------
    sums : of each sphere the blocks A (v, 4, 4) and g (v, 4)
    """
    own, views = 1 + 3 * len(accepted), len(sums[0][0])
    H = np.zeros((own + 6 * views, own + 6 * views))
    right = np.zeros(len(H))
    for i, (c, (A, g)) in enumerate(zip(accepted, sums, strict=True)):
        phi, K = noise(c, A), lever(c, pivot)
        s = slice(1 + 3 * i, 4 + 3 * i)
        H[0, 0] += A[:, 3, 3].sum() / phi
        H[0, s] = A[:, :3, 3].sum(axis=0) / phi
        H[0, own:] -= (A[:, :3, 3] @ K).ravel() / phi
        right[0] += g[:, 3].sum() / phi
        A, g = A[:, :3, :3], g[:, :3]
        H[s, s] = A.sum(axis=0) / phi
        right[s] = g.sum(axis=0) / phi
        for v in range(views):
            t = slice(own + 6 * v, own + 6 * v + 6)
            H[s, t] = -A[v] @ K / phi
            H[t, s] = H[s, t].T
            H[t, t] += K.T @ A[v] @ K / phi
            right[t] -= K.T @ g[v] / phi
    H[:, 0] = H[0]
    return H, right


def misplacement(
    H: Floats, right: Floats, own: int, motions: Floats, reach: float
) -> Floats:
    """(6,) most likely sd of the views' motions.

    By expectation maximisation, the centres being eliminated: the mean square of a
    motion is that of its estimate plus the estimate's variance. Of v motions with
    mean zero v - 1 are free.
    """
    views = len(motions)
    taken = np.linalg.solve(
        H[:own, :own], np.column_stack([H[:own, own:], right[:own]])
    )
    S = H[own:, own:] - H[own:, :own] @ taken[:, :-1]
    b = right[own:] - H[own:, :own] @ taken[:, -1]
    sd = np.array([VIEWS.misplaced_mm, VIEWS.misplaced_mm / reach])
    for _ in range(VIEWS.sd_rounds):
        weight = np.repeat(sd, 3) ** -2.0
        prior = np.tile(weight, views)
        inverse, rise = solved(
            S + np.diag(prior), b - prior * motions.ravel(), 0, weight
        )
        square = (motions.ravel() + rise) ** 2 + np.diag(inverse)
        each = square.reshape(views, 2, 3).mean(axis=2).sum(axis=0) / (views - 1)
        each = np.maximum(each, 0.0)  # of points without noise, rounding
        sd = np.maximum(np.sqrt(each), [VIEWS.placed_mm, VIEWS.placed_mm / reach])
    return np.asarray(np.repeat(sd, 3))


def solved(H: Floats, right: Floats, own: int, weight: Floats) -> tuple[Floats, Floats]:
    """Inverse and solution, the motions (from `own` on) having mean zero."""
    views = (len(H) - own) // 6
    border = np.zeros((len(H), 6))
    border[own:] = np.tile(np.diag(np.sqrt(weight)), (views, 1))
    whole = np.block([[H, border], [border.T, np.zeros((6, 6))]])
    inverse = np.linalg.inv(whole)[: len(H), : len(H)]
    return np.asarray(inverse), np.asarray(inverse @ right)


def noise(c: SphereCandidate, A: Floats) -> float:
    """Variance of a height of weight one by the covariance of a centre, mm^2,
    at least that of rounding.

    Parameters
    ----------
    A : (v, 3 or more, ...) of the sphere
    """
    variance = float(np.trace(c.fit.covariance @ A[:, :3, :3].sum(axis=0))) / 3
    return max(variance, (JUDGE.smooth * c.fit.radius) ** 2)


def lever(c: SphereCandidate, pivot: Floats) -> Floats:
    """K (3, 6), by which a motion of a view shifts the points around a centre."""
    return np.hstack([np.eye(3), -_cross_matrix(c.fit.centre - pivot)])


def _cross_matrix(r: Floats) -> Floats:
    """[r] with [r] w = r x w."""
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])


@kernel
def blocks(
    x: Floats,
    use: Bools,
    sight: Floats,
    theta: Floats,
    scale: float,
    view: Ints,
    views: int,
) -> tuple[Floats, Floats]:
    """A (v, 4, 4) = sum w J J^T and g (v, 4) = sum w e J of each view, J = (u, 1)."""
    A = np.zeros((views, 4, 4))
    g = np.zeros((views, 4))
    gate = BIWEIGHT.tukey * scale
    for p in range(len(x)):
        if not use[p]:
            continue
        e, J = height(x, p, sight, theta)
        if abs(e) < gate:
            w = (1 - (e / gate) ** 2) ** 2
            for a in range(4):
                g[view[p], a] += w * e * J[a]
                for b in range(4):
                    A[view[p], a, b] += w * J[a] * J[b]
    return A, g
