"""Viewpoints of the scanner: its places by view, and the views of a merged cloud.

The points of a merged cloud do not name their view, but their density on the spheres
reveals the viewpoints (`seen_from`). A view in the direction w puts points on a sphere
in proportion to cos t = u.w, up to an incidence t of some 72 degrees. The densities of
all spheres are fitted by a sum of such views with weights a(w) >= 0.

Errors of size s along the line of sight bias the centre of a sphere by

    A^-1 sum (s^2 / R) (tan t along the surface + tan^2 t / 2 along u),   A = sum u u^T

in the mean over the views that see a point. The parts along the surface towards the
scanner add up to a(w) (w - cos t u), since each view puts cos t points there.
"""

import numpy as np
from scipy.optimize import minimize, nnls

from analysis.spheres.cells_on_a_sphere import cells, even_directions
from analysis.spheres.sphere_criteria import SphereCandidate
from analysis.spheres.thresholds import BIWEIGHT, VIEWPOINTS, VIEWS
from sim.core.arrays import Floats, Ints


def sight_lines(x: Floats, view: Ints, origins: Floats) -> Floats:
    """(k, 3) unit vectors from the scanner to the points."""
    d = x - origins[view]
    return np.asarray(d / np.linalg.norm(d, axis=1)[:, None])


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
