"""The centre of a sphere from the points that face the scanner.

At steep incidence a scanner's beam is wide on the surface, and mixes it with what is
behind: ASTM E3125 therefore fits the points inside a cone of 120 degrees about the line
of sight, with the radius held. Errors along the beam are not independent from point to
point, as they come from texture, temperature and the electronics of a scan line, so

    u^2 = s^2 (J^T J)^-1 n / n_eff,   n_eff = n / (1 + 2 sum of correlations)

where the correlation of residuals is taken over neighbours on the surface.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from analysis.spheres.find import find_spheres
from analysis.spheres.picks import PickOptions
from sim.arrays import Bools, Floats

CONE = 60.0  # degrees from the line of sight, the half angle of ASTM E3125's cone
ROUNDS = 40
SETTLED = 1e-7  # mm that the centre moves in the last round, over its radius
FEWEST = 50  # points that face the scanner
REACH = 4.0  # robust scales beyond which a point is of something else
BINS = 12  # of distance on the surface, for the correlation of residuals
FARTHEST = 0.4  # of the reach of the points, up to which residuals are correlated


@dataclass(frozen=True, eq=False)
class FacingFit:
    """A sphere through the points that face the scanner.

    Parameters
    ----------
    centre : (3,) mm
    radius : mm, held or fitted
    covariance : (3, 3), or (4, 4) with the radius, mm^2, correlation counted
    rms : of the residuals, mm
    points : used
    effective : how many independent ones they are worth
    """

    centre: Floats
    radius: float
    covariance: Floats
    rms: float
    points: int
    effective: float


def facing_fits(
    points: Floats, radius: float, origin: Floats, cone: float = CONE
) -> tuple[FacingFit, FacingFit]:
    """The largest sphere of a scan, with its radius held, and with it fitted.

    Parameters
    ----------
    points : (n, 3) mm
    radius : nominal, mm
    origin : (3,) where the scanner stood, mm
    cone : degrees from the line of sight within which points count

    Raises
    ------
    ValueError
        where the scan shows no sphere of that radius, or too few points face the
        scanner
    """
    picks = find_spheres(points, PickOptions(radius_mm=radius), None, origin[None])
    if not picks.spheres:
        raise ValueError(f"no sphere of radius {radius:g} mm is in the scan")
    first = max(picks.spheres, key=lambda one: one.points)
    near = np.linalg.norm(points - first.centre, axis=1) < 1.5 * radius
    start = np.append(first.centre, radius)
    limits = cone, REACH * first.rms
    held = _settled(points[near], start, origin, limits, free=False)
    return held, _settled(points[near], start, origin, limits, free=True)


def _settled(
    x: Floats, start: Floats, origin: Floats, limits: tuple[float, float], *, free: bool
) -> FacingFit:
    """Gauss-Newton's method; which points count is told anew in every round."""
    theta, cone_and_gate = start.copy(), limits
    for _ in range(ROUNDS):
        used, J, e = _facing(x, theta, origin, cone_and_gate)
        own = J if free else J[:, :3]
        step = np.linalg.lstsq(own, e, rcond=None)[0]
        theta[: len(step)] += step
        if np.abs(step).max() < SETTLED * theta[3]:
            break
    used, J, e = _facing(x, theta, origin, cone_and_gate)
    own = J if free else J[:, :3]
    effective = len(e) / _inflation(x[used], e)
    dof = max(len(e) - own.shape[1], 1)
    square = float(e @ e) / dof
    covariance = square * np.linalg.inv(own.T @ own) * len(e) / effective
    rms = float(np.sqrt(np.mean(e**2)))
    return FacingFit(theta[:3], float(theta[3]), covariance, rms, len(e), effective)


def _facing(
    x: Floats, theta: Floats, origin: Floats, limits: tuple[float, float]
) -> tuple[Bools, Floats, Floats]:
    """Which points count (n,), their J (k, 4) and heights (k,) above the sphere."""
    d = x - theta[:3]
    r = np.linalg.norm(d, axis=1)
    u = d / r[:, None]
    sight = (origin - theta[:3]) / np.linalg.norm(origin - theta[:3])
    e = r - theta[3]
    cone, gate = limits
    used = (u @ sight > np.cos(np.deg2rad(cone))) & (np.abs(e) < gate)
    if used.sum() < FEWEST:
        raise ValueError(
            f"{int(used.sum())} points face the scanner within {cone:g} degrees: "
            f"{FEWEST} are needed"
        )
    return used, np.column_stack([u[used], np.ones(int(used.sum()))]), e[used]


def _inflation(x: Floats, e: Floats) -> float:
    """1 + the sum of the correlations of a residual with all others, 1 or more.

    Correlations are averaged in rings of distance, up to the first that is not
    positive: beyond it they are noise.
    """
    reach = FARTHEST * float(np.linalg.norm(x - x.mean(axis=0), axis=1).max())
    pairs = cKDTree(x).query_pairs(reach, output_type="ndarray")
    apart = np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)
    product = e[pairs[:, 0]] * e[pairs[:, 1]]
    ring = np.minimum((apart / reach * BINS).astype(np.int64), BINS - 1)
    count = np.bincount(ring, minlength=BINS)
    mean = np.bincount(ring, product, BINS) / np.maximum(count, 1) / np.mean(e**2)
    stop = int(np.argmax(mean <= 0)) if (mean <= 0).any() else BINS
    return 1.0 + 2.0 * float((mean * count)[:stop].sum()) / len(x)
