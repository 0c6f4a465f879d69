"""Viewpoints of the scanner, and the correction of each view's pose.

A view v that is misplaced by the small motion x -> x + t + w x (x - p) shifts the
points around a centre c by K (t, w) with K = [I, -[c - p]]. The heights e of its
points over the sphere i then follow

    e = u . (K_i tau_v - dc_i)        tau_v = (t_v, w_v)

so that all centres and motions are one least-squares problem in the 3 x 3 blocks
A_iv = sum w u u^T and g_iv = sum w e u. Motions have mean zero: only the shape of
the structure is determined, not where the scanner's own frame puts it.

The points of a merged cloud do not name their view, but their density on the spheres
reveals the viewpoints (`seen_from`). A view in the direction w puts points on a sphere
in proportion to cos t = u.w, up to an incidence t of some 72 degrees. The densities of
all spheres are fitted by a sum of such views with weights a(w) >= 0.

Errors of size s along the line of sight bias the centre of a sphere by

    A^-1 sum (s^2 / R) (tan t along the surface + tan^2 t / 2 along u),   A = sum u u^T

in the mean over the views that see a point. The parts along the surface towards the
scanner add up to a(w) (w - cos t u), since each view puts cos t points there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import minimize, nnls
from scipy.spatial.transform import Rotation

from analysis.alignment import RigidMotion
from analysis.spheres.cells_on_a_sphere import cells, even_directions
from analysis.spheres.centre_fit import height
from analysis.spheres.detections import ViewMotion
from analysis.spheres.sphere_criteria import SphereCandidate
from analysis.spheres.thresholds import BIWEIGHT, JUDGE, SHARED, VIEWPOINTS, VIEWS
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


def sight_lines(x: Floats, view: Ints, origins: Floats) -> Floats:
    """(k, 3) unit vectors from the scanner to the points."""
    d = x - origins[view]
    return np.asarray(d / np.linalg.norm(d, axis=1)[:, None])


def unmoved(views: int, pivot: Floats, moved: Sequence[RigidMotion]) -> Placement:
    """Views at the poses that the scanner states, or where they were moved to."""
    before = np.zeros((views, 6))
    for own, motion in zip(before, moved, strict=False):
        own[:3] = motion(pivot) - pivot
        own[3:] = Rotation.from_matrix(motion.rotation).as_rotvec()
    return Placement(np.zeros((views, 6)), pivot, np.empty((0, 0)), before)


def scanner_places(
    accepted: list[SphereCandidate], points: Floats, view: Ints, views: int
) -> Floats | None:
    """Return where the scanner stood for each view, from the normals it saw.

    A scanner sees no surface from behind. So its place is where the steepest twentieth
    of the normals on spheres faces it best. None if a view sees too little, or shows
    spheres from more sides than one place allows, as a file of several merged views
    does: such a file has no lines of sight.

    Returns
    -------
    (views, 3) mm
    """
    at = np.concatenate([c.points for c in accepted])
    centre = np.repeat(
        [c.fit.centre for c in accepted], [len(c.points) for c in accepted], axis=0
    )
    u = points[at] - centre
    u /= np.linalg.norm(u, axis=1)[:, None]
    places = np.empty((views, 3))
    for v in range(views):
        seen = np.flatnonzero(view[at] == v)
        if len(seen) < VIEWS.seen:
            return None
        seen = seen[:: 1 + len(seen) // VIEWS.most_points]
        places[v], steepest = _best_seen_from(points[at[seen]], u[seen])
        if steepest < VIEWS.grazing:
            return None
    return places


def _best_seen_from(x: Floats, u: Floats) -> tuple[Floats, float]:
    """Place (3,) from which the worst seen twentieth of the normals is seen best.

    And the mean cosine of the angles at which that twentieth is seen.
    """
    steep = len(x) // 20 + 1
    middle = x.mean(axis=0)
    reach = float(np.linalg.norm(x - middle, axis=1).max())

    def worst(place: Floats) -> float:
        cos = _incidence(x, u, middle + reach * _within_reach(place))
        return -float(np.partition(cos, steep)[:steep].mean())

    way = u.mean(axis=0) / np.linalg.norm(u.mean(axis=0))
    best = minimize(
        worst, 5.0 * way, method="Nelder-Mead", options={"xatol": 0.02, "fatol": 1e-4}
    )
    return np.asarray(middle + reach * _within_reach(best.x)), -float(best.fun)


def _incidence(x: Floats, u: Floats, place: Floats) -> Floats:
    """(k,) cosine of the angle at which each x with the normal u is seen."""
    d = place - x
    return np.asarray((d * u).sum(axis=1) / np.linalg.norm(d, axis=1))


def _within_reach(place: Floats) -> Floats:
    return np.asarray(place / max(1.0, float(np.linalg.norm(place)) / VIEWS.farthest))


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


def seen_from(accepted: list[SphereCandidate], points: Floats) -> Floats:
    """Return the directions of views times how many points each sees, (v, 3).

    Parameters
    ----------
    accepted : the spheres
    points : (n, 3) mm
    """
    number = 6 * VIEWPOINTS.side**2
    fine = even_directions(number * VIEWPOINTS.each)
    cell = cells(fine, np.zeros(3), VIEWPOINTS.side)
    area = np.bincount(cell, minlength=number)
    ways = even_directions(VIEWPOINTS.ways)
    cos = fine @ ways.T
    cos[cos < VIEWPOINTS.steepest] = 0.0
    view = np.array([np.bincount(cell, c, number) for c in cos.T]).T / area[:, None]
    seen = np.array([_counts(c, points) for c in accepted])
    spheres = (seen > 0).sum(axis=0)
    density = seen.sum(axis=0) / np.maximum(spheres, 1) / area
    trust = np.sqrt(spheres / len(accepted))
    weights, _ = nnls(view * trust[:, None], density / density.max() * trust)
    return np.asarray((weights[:, None] * ways)[weights > 0])


def _counts(c: SphereCandidate, points: Floats) -> Floats:
    """(m,) points on the sphere in each cell."""
    on = c.near[np.abs(c.fit.height) < VIEWPOINTS.surface * c.fit.scale]
    cell = cells(points[on], c.fit.centre, VIEWPOINTS.side)
    return np.bincount(cell, minlength=6 * VIEWPOINTS.side**2).astype(np.float64)


def pull(c: SphereCandidate, points: Floats, views: Floats) -> Floats:
    """Return the bias of the centre by errors along lines of sight, (3,) mm.

    Parameters
    ----------
    c : a sphere fitted without its lines of sight
    points : (n, 3) mm
    views : (v, 3) of `seen_from`
    """
    fit = c.fit
    x = points[c.points] - fit.centre
    u = x / np.linalg.norm(x, axis=1)[:, None]
    w = (1 - (fit.height[fit.used] / (BIWEIGHT.tukey * fit.scale)) ** 2) ** 2
    fine = 2 * VIEWPOINTS.side
    cell = cells(u, np.zeros(3), fine)
    number = 6 * fine**2
    weight = np.bincount(cell, w, number)
    middle = np.array([np.bincount(cell, w * u[:, d], number) for d in range(3)]).T
    held = weight > 0
    middle = middle[held] / np.linalg.norm(middle[held], axis=1)[:, None]
    bias = (weight[held][:, None] * _mean_bias(middle, views)).sum(axis=0)
    A = (w[:, None] * u).T @ u
    return np.asarray(fit.rms**2 / fit.radius * np.linalg.solve(A, bias))


def _mean_bias(u: Floats, views: Floats) -> Floats:
    """(k, 3) mean over the views of tan t along the surface + tan^2 t / 2 along u."""
    a = np.linalg.norm(views, axis=1)
    cos = np.minimum(u @ (views / a[:, None]).T, 1.0)
    a = np.where(cos > VIEWPOINTS.steepest, a, 0.0)
    cos = np.maximum(cos, VIEWPOINTS.steepest)
    density = (a * cos).sum(axis=1)[:, None]
    along = a / np.linalg.norm(views, axis=1) @ views - density * u
    out = (a * (1 - cos**2) / cos).sum(axis=1)[:, None] * u / 2
    return np.asarray((along + out) / np.maximum(density, 1e-12))
