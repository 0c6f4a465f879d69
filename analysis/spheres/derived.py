"""Derived points after ASTM E3125: centres by a stated procedure, for comparison.

Of one scan from a known place: points in a cone of 120 degrees about the line of sight,
least squares with the radius held, residuals beyond three standard deviations truncated
and the fit repeated, until no point comes or goes. Nothing is weighted or learnt:
what sticks out next to a ball is cut by the cone and the truncation alone. After what
NIST says of its data set DMG_SphereFitting; the standard itself was not at hand, and
its own number for the truncation may be another.
"""

from dataclasses import replace

import numpy as np
from scipy.linalg import block_diag

from analysis.spheres.facing import CONE
from analysis.spheres.picks import FittedSphere, Picks
from sim.arrays import Bools, Floats
from sim.convergence import NotConvergedError

TRUNCATED = 3.0  # standard deviations of the residuals
NEAR = 0.15  # radii from the surface within which points are the ball's at first
FEWEST, ROUNDS, STEPS = 20, 50, 50
SETTLED = 1e-10  # radii that the centre moves in the last step


def with_derived_points(picks: Picks, points: Floats, place: Floats) -> Picks:
    """The same spheres, their centres by the procedure above.

    Covariances are those of least squares with independent residuals.

    Parameters
    ----------
    points : (n, 3) of one scan, mm
    place : (3,) where the scanner stood, mm

    Raises
    ------
    ValueError
        where fewer than `FEWEST` points of a ball are in the cone
    NotConvergedError
        where the points of a ball, or its centre, do not come to rest
    """
    spheres = tuple(_derived(one, points, place) for one in picks.spheres)
    covariance = block_diag(*[one.covariance for one in spheres])
    return replace(picks, spheres=spheres, covariance=np.asarray(covariance, float))


def _derived(sphere: FittedSphere, points: Floats, place: Floats) -> FittedSphere:
    R = sphere.radius
    box = np.abs(points - sphere.centre).max(axis=1) < 1.3 * R
    x = points[box]
    used = np.abs(np.linalg.norm(x - sphere.centre, axis=1) - R) < NEAR * R
    used &= _in_cone(x, sphere.centre, place)
    for _ in range(ROUNDS):
        if used.sum() < FEWEST:
            raise ValueError(
                f"a ball has {int(used.sum())} points within {CONE:g} degrees of the "
                f"line of sight: {FEWEST} are needed for a derived point"
            )
        centre, e, J = _held(x[used], sphere.centre, R)
        sd = float(np.sqrt(e @ e / (len(e) - 3)))
        height = np.linalg.norm(x - centre, axis=1) - R
        kept = (np.abs(height) <= TRUNCATED * sd) & _in_cone(x, centre, place) & used
        if (kept == used).all():
            covariance = np.asarray(sd**2 * np.linalg.inv(J.T @ J), np.float64)
            rms = float(np.sqrt(np.mean(e**2)))
            return replace(
                sphere, centre=centre, covariance=covariance, rms=rms, points=len(e)
            )
        used = kept
    said = f"points of a ball are still truncated after {ROUNDS} rounds"
    raise NotConvergedError(said, best=sphere)


def _in_cone(x: Floats, centre: Floats, place: Floats) -> Bools:
    d, sight = x - centre, place - centre
    cos = d @ sight / np.linalg.norm(d, axis=1) / np.linalg.norm(sight)
    return np.asarray(cos > np.cos(np.deg2rad(CONE)))


def _held(x: Floats, start: Floats, R: float) -> tuple[Floats, Floats, Floats]:
    """Least squares: centre (3,), residuals (n,), unit normals (n, 3)."""
    centre = start.copy()
    for _ in range(STEPS):
        d = x - centre
        r = np.linalg.norm(d, axis=1)
        J = d / r[:, None]
        step = np.linalg.lstsq(J, r - R, rcond=None)[0]
        centre += step
        if np.abs(step).max() < SETTLED * R:
            d = x - centre
            r = np.linalg.norm(d, axis=1)
            return centre, r - R, d / r[:, None]
    raise NotConvergedError(f"a centre still moves after {STEPS} steps", best=centre)
