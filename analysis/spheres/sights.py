"""From where a merged cloud was seen, told by how dense its points lie on spheres.

A view in the direction w puts points on a sphere in proportion to cos t = u.w, as far
as it sees it: up to t = 72 degrees or so. The densities of all spheres together, as a
sum of such views with weights a(w) >= 0, show where scanners stood, though no point
tells by which it was seen.

Errors of size s along the line of sight pull the centre of a sphere by

    A^-1 sum (s^2 / R) (tan t along the surface + tan^2 t / 2 along u),   A = sum u u^T

in the mean over the views that see a point: those along the surface towards the
scanner add up to a(w) (w - cos t u), as each puts cos t points there.
"""

import numpy as np
from scipy.optimize import nnls

from analysis.spheres.cells import cells, even_directions
from analysis.spheres.judge import SphereCandidate
from analysis.spheres.thresholds import BIWEIGHT, SIGHTS
from sim.arrays import Floats


def seen_from(accepted: list[SphereCandidate], points: Floats) -> Floats:
    """Return the directions of views times how many points each sees, (v, 3).

    Parameters
    ----------
    accepted : the spheres
    points : (n, 3) mm
    """
    number = 6 * SIGHTS.side**2
    fine = even_directions(number * SIGHTS.each)
    cell = cells(fine, np.zeros(3), SIGHTS.side)
    area = np.bincount(cell, minlength=number)
    ways = even_directions(SIGHTS.ways)
    cos = fine @ ways.T
    cos[cos < SIGHTS.steepest] = 0.0
    view = np.array([np.bincount(cell, c, number) for c in cos.T]).T / area[:, None]
    seen = np.array([_counts(c, points) for c in accepted])
    spheres = (seen > 0).sum(axis=0)
    density = seen.sum(axis=0) / np.maximum(spheres, 1) / area
    trust = np.sqrt(spheres / len(accepted))
    weights, _ = nnls(view * trust[:, None], density / density.max() * trust)
    return np.asarray((weights[:, None] * ways)[weights > 0])


def _counts(c: SphereCandidate, points: Floats) -> Floats:
    """(m,) points on the sphere in each cell."""
    on = c.near[np.abs(c.fit.height) < SIGHTS.surface * c.fit.scale]
    cell = cells(points[on], c.fit.centre, SIGHTS.side)
    return np.bincount(cell, minlength=6 * SIGHTS.side**2).astype(np.float64)


def pull(c: SphereCandidate, points: Floats, views: Floats) -> Floats:
    """Return how far errors along lines of sight pull the centre, (3,) mm.

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
    fine = 2 * SIGHTS.side
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
    a = np.where(cos > SIGHTS.steepest, a, 0.0)
    cos = np.maximum(cos, SIGHTS.steepest)
    density = (a * cos).sum(axis=1)[:, None]
    along = a / np.linalg.norm(views, axis=1) @ views - density * u
    out = (a * (1 - cos**2) / cos).sum(axis=1)[:, None] * u / 2
    return np.asarray((along + out) / np.maximum(density, 1e-12))
