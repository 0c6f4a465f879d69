"""Several views of the same spheres: where the scanner stood, how each view is placed.

A view v that is misplaced by the small motion x -> x + t + w x (x - p) shifts the
points around a centre c by K (t, w) with K = [I, -[c - p]]. The heights e of its
points over the sphere i then follow

    e = u . (K_i tau_v - dc_i)        tau_v = (t_v, w_v)

so that all centres and motions are one least-squares problem in the 3 x 3 blocks
A_iv = sum w u u^T and g_iv = sum w e u. Motions have mean zero: only the shape of
the structure is determined, not where the scanner's own frame puts it.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from analysis.spheres.fit import TUKEY, _height
from analysis.spheres.judge import Candidate
from analysis.spheres.picks import ViewMotion
from sim.arrays import Bools, Floats, Ints
from sim.kernels import kernel

MISPLACED = 0.5  # mm, sd of a view's shift that is believed before it is seen
FEWEST = 4  # spheres from which views can be placed
SEEN = 200  # points on spheres that tell where a view was taken from
MOST = 3_000  # points that are asked
FARTHEST = 20.0  # scanner's distance over the reach of the spheres


@dataclass(frozen=True, eq=False)
class Placement:
    """Motions of the views, and the covariance of all centres with them."""

    motions: Floats  # (v, 6) tau
    pivot: Floats  # (3,) p
    covariance: Floats  # (3 m, 3 m) mm^2

    def move(self, x: Floats, view: Ints) -> Floats:
        """The points where their views belong."""
        tau = self.motions[view]
        return np.asarray(x + tau[:, :3] + np.cross(tau[:, 3:], x - self.pivot))

    def listed(self) -> tuple[ViewMotion, ...]:
        return tuple(
            ViewMotion(v, tau[:3], tau[3:], self.pivot)
            for v, tau in enumerate(self.motions)
        )


def unmoved(views: int, pivot: Floats) -> Placement:
    """Views where the scanner says they are."""
    return Placement(np.zeros((views, 6)), pivot, np.empty((0, 0)))


def scanner_places(
    found: list[Candidate], points: Floats, view: Ints, views: int
) -> Floats | None:
    """Return where the scanner stood for each view, from the normals it saw.

    It saw no surface from behind, so it stood where the steepest twentieth of all
    normals on spheres looks towards it best. None where a view sees too little.

    Returns
    -------
    (views, 3) mm
    """
    at = np.concatenate([c.points for c in found])
    centre = np.repeat(
        [c.fit.centre for c in found], [len(c.points) for c in found], axis=0
    )
    u = points[at] - centre
    u /= np.linalg.norm(u, axis=1)[:, None]
    places = np.empty((views, 3))
    for v in range(views):
        seen = np.flatnonzero(view[at] == v)
        if len(seen) < SEEN:
            return None
        seen = seen[:: 1 + len(seen) // MOST]
        places[v] = _best_seen_from(points[at[seen]], u[seen])
    return places


def _best_seen_from(x: Floats, u: Floats) -> Floats:
    """Place (3,) from which the worst seen twentieth of the normals is seen best."""
    steep = len(x) // 20 + 1
    middle = x.mean(axis=0)
    reach = float(np.linalg.norm(x - middle, axis=1).max())

    def worst(place: Floats) -> float:
        d = middle + reach * _kept_near(place) - x
        cos = np.einsum("ij,ij->i", d, u) / np.linalg.norm(d, axis=1)
        return -float(np.partition(cos, steep)[:steep].mean())

    way = u.mean(axis=0) / np.linalg.norm(u.mean(axis=0))
    best = minimize(
        worst, 5.0 * way, method="Nelder-Mead", options={"xatol": 0.02, "fatol": 1e-4}
    )
    return np.asarray(middle + reach * _kept_near(best.x))


def _kept_near(place: Floats) -> Floats:
    return np.asarray(place / max(1.0, float(np.linalg.norm(place)) / FARTHEST))


def place(
    found: list[Candidate],
    sums: list[tuple[Floats, Floats]],
    before: Placement,
) -> Placement:
    """Solve for all centres and motions together; return the motions.

    Parameters
    ----------
    found : the spheres, fitted to points moved as `before` says
    sums : for each the blocks A (v, 3, 3) and g (v, 3)
    before : the motions up to now
    """
    m, views = len(found), len(before.motions)
    size = 3 * m + 6 * views
    reach = max(np.linalg.norm(c.fit.centre - before.pivot) for c in found)
    prior = np.repeat([MISPLACED, MISPLACED / reach], 3) ** -2
    H = np.zeros((size + 6, size + 6))
    right = np.zeros(size + 6)
    for v in range(views):
        t = slice(3 * m + 6 * v, 3 * m + 6 * v + 6)
        H[t, t] = np.diag(prior)
        right[t] = -prior * before.motions[v]
        H[t, size:] = H[size:, t] = np.eye(6) * np.sqrt(prior)
    for i, (c, (A, g)) in enumerate(zip(found, sums, strict=True)):
        phi = float(np.trace(c.fit.covariance @ A.sum(axis=0))) / 3
        s = slice(3 * i, 3 * i + 3)
        K = np.hstack([np.eye(3), -_cross_matrix(c.fit.centre - before.pivot)])
        H[s, s] = A.sum(axis=0) / phi
        right[s] = g.sum(axis=0) / phi
        for v in range(views):
            t = slice(3 * m + 6 * v, 3 * m + 6 * v + 6)
            H[s, t] = -A[v] @ K / phi
            H[t, s] = H[s, t].T
            H[t, t] += K.T @ A[v] @ K / phi
            right[t] -= K.T @ g[v] / phi
    inverse = np.asarray(np.linalg.inv(H), dtype=np.float64)
    tau = (inverse @ right)[3 * m : size].reshape(views, 6)
    return Placement(before.motions + tau, before.pivot, inverse[: 3 * m, : 3 * m])


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
    """A (v, 3, 3) = sum w u u^T and g (v, 3) = sum w e u of each view."""
    A = np.zeros((views, 3, 3))
    g = np.zeros((views, 3))
    J = np.ones(4)
    gate = TUKEY * scale
    for p in range(len(x)):
        if not use[p]:
            continue
        e = _height(x, p, sight, theta, J)
        if abs(e) < gate:
            w = (1 - (e / gate) ** 2) ** 2
            for a in range(3):
                g[view[p], a] += w * e * J[a]
                for b in range(3):
                    A[view[p], a, b] += w * J[a] * J[b]
    return A, g
