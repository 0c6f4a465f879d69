"""The last fit of all spheres together: lines of sight, views put in place, budget."""

from dataclasses import replace

import numpy as np

from analysis.spheres.fit import BLIND, Fit, refine
from analysis.spheres.judge import Candidate
from analysis.spheres.picks import PickOptions
from analysis.spheres.views import (
    FEWEST,
    Placement,
    blocks,
    place,
    scanner_places,
    unmoved,
)
from sim.arrays import Floats, Ints

PULL = (
    1.7  # mean of tan(incidence) effects over mean u, for a cap seen up to 72 degrees
)
DOUBT = 0.5  # of that pull: how far it varies with what hides parts of the cap
ROUNDS = 5  # of centres and motions in turn


def polish(
    found: list[Candidate],
    points: Floats,
    view: Ints | None,
    origins: Floats | None,
    options: PickOptions,
) -> tuple[list[Candidate], Placement | None, Floats]:
    """Return the spheres refitted, the views' motions, and the covariance (3 m, 3 m).

    Parameters
    ----------
    found : accepted spheres
    points : (n, 3) mm
    view : (n,) view of each point, if known
    origins : (v, 3) where the scanner stood for each view, if known
    """
    if view is None and origins is not None and len(origins) == 1:
        view = np.zeros(len(points), dtype=np.int64)
    if view is None or not found:
        found = [_unpulled(c, points) for c in found]
        return found, None, _budget(found, None, options)
    views = int(view.max()) + 1
    if origins is None:
        origins = scanner_places(found, points, view, views)
    placed = unmoved(views, np.mean([c.fit.centre for c in found], axis=0))
    joint = views > 1 and len(found) >= FEWEST
    for _ in range(ROUNDS if joint else 0):
        found = [_refit(c, points, view, origins, placed) for c in found]
        placed = place(found, _sums(found, points, view, origins, placed), placed)
    found = [_refit(c, points, view, origins, placed) for c in found]
    if origins is None:
        found = [_unpulled(c, points) for c in found]
    return found, placed, _budget(found, placed if joint else None, options)


def _sight(x: Floats, view: Ints, origins: Floats | None) -> Floats:
    """(k, 3) unit vectors from the scanner to the points."""
    if origins is None:
        return BLIND
    d = x - origins[view]
    return np.asarray(d / np.linalg.norm(d, axis=1)[:, None])


def _refit(
    c: Candidate,
    points: Floats,
    view: Ints,
    origins: Floats | None,
    placed: Placement,
) -> Candidate:
    """The same sphere fitted to points moved with their views."""
    x = placed.move(points[c.near], view[c.near])
    theta = np.append(c.fit.centre, c.fit.radius)
    fit = refine(x, theta, c.fit.scale, _sight(x, view[c.near], origins))
    return c if fit is None else replace(c, fit=fit)


def _sums(
    found: list[Candidate],
    points: Floats,
    view: Ints,
    origins: Floats | None,
    placed: Placement,
) -> list[tuple[Floats, Floats]]:
    out = []
    for c in found:
        seen = view[c.near]
        x = placed.move(points[c.near], seen)
        theta = np.append(c.fit.centre, c.fit.radius)
        sight = _sight(x, seen, origins)
        views = len(placed.motions)
        out.append(blocks(x, c.fit.used, sight, theta, c.fit.scale, seen, views))
    return out


def _unpulled(c: Candidate, points: Floats) -> Candidate:
    """Take back the pull towards scanners that nobody knows the places of.

    Errors along the line of sight at the incidence t pull the centre by
    A^-1 sum (s^2 / R) (tan t along the surface + tan^2 t / 2 along u). Over a whole
    cap, seen from anywhere, that is PULL times A^-1 sum (s^2 / R) u.
    """
    fit: Fit = c.fit
    x = points[c.points] - fit.centre
    u = x / np.linalg.norm(x, axis=1)[:, None]
    pull = PULL * fit.rms**2 / fit.radius * np.linalg.solve(u.T @ u, u.sum(axis=0))
    doubt = DOUBT**2 * np.outer(pull, pull)
    centre, covariance = fit.centre - pull, fit.covariance + doubt
    return replace(c, fit=replace(fit, centre=centre, covariance=covariance))


def _budget(
    found: list[Candidate], joint: Placement | None, options: PickOptions
) -> Floats:
    """(3 m, 3 m) covariance of all centres, with what single scans cannot show."""
    size = 3 * len(found)
    covariance = np.zeros((size, size))
    if joint is not None:
        covariance += joint.covariance
    else:
        for k, c in enumerate(found):
            covariance[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = c.fit.covariance
    floor = options.repeatability_mm**2
    if joint is None:
        floor += options.registration_mm**2
    return covariance + floor * np.eye(size)
