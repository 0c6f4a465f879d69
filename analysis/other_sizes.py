"""Round things of another size than the one looked for, so that they can be named."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from analysis.spheres.picks import Picks, Reason, Rejected
from sim.arrays import Floats

SUSPECTS = (Reason.RADIUS, Reason.RMS, Reason.CAP, Reason.POINTS, Reason.NORMALS)
MOST = 100  # candidates that are looked at, those with the most points
MOST_POINTS = 400_000  # that tell a size; all of a large scan take long to sort
REACHES = (1.3, 0.9, 2.0)  # radii around a candidate from which points are taken
APART = 2.0  # radii from any sphere that was found
ENOUGH = 0.05  # of the points of a sphere that was found
FEWEST_POINTS = 50  # that a sphere is fitted to
ALIKE = 0.05  # relative difference of radii of one size
FEWEST = 4  # that make a size
ROUND = 0.02  # rms over radius of what is round
SHARE = 0.5  # of the points nearby that lie on it
SIZES = (0.4, 1.8)  # radii that can be told, over the radius looked for
TUKEY = 4.685
STEPS = 20


@dataclass(frozen=True)
class OtherSize:
    """Some spheres of one radius, mm."""

    radius: float
    spread: float  # standard deviation of their radii
    many: int

    def __str__(self) -> str:
        return (
            f"{self.many} spheres of radius {self.radius:.2f} +- {self.spread:.2g} mm"
        )


def other_size(points: Floats, picks: Picks, radius: float) -> OtherSize | None:
    """The commonest size among rejected candidates that are round, if there is one.

    Parameters
    ----------
    points : (n, 3) of the scan, mm
    radius : that was looked for, mm
    """
    suspects = _suspects(picks, radius)
    if len(suspects) < FEWEST:
        return None
    points = points[:: 1 + len(points) // MOST_POINTS]
    tree = KDTree(points)
    spheres: list[Floats] = []
    for candidate in suspects:
        fit = _round_near(points, tree, candidate.centre, radius)
        if fit is not None and all(
            np.linalg.norm(fit[:3] - other[:3]) > fit[3] for other in spheres
        ):
            spheres.append(fit)
    radii = np.array([fit[3] for fit in spheres])
    if len(radii) < FEWEST:
        return None
    near_median = np.abs(radii - np.median(radii)) < ALIKE * np.median(radii)
    alike = radii[near_median]
    if len(alike) < FEWEST:
        return None
    return OtherSize(float(alike.mean()), float(alike.std(ddof=1)), len(alike))


def _suspects(picks: Picks, radius: float) -> list[Rejected]:
    """Rejected candidates that may be of another size, away from the spheres found."""
    usual = np.median([s.points for s in picks.spheres]) if picks.spheres else 0.0
    suspects = [
        c
        for c in picks.rejected
        if c.reason in SUSPECTS
        and c.points > ENOUGH * usual
        and (np.linalg.norm(picks.centres - c.centre, axis=1) > APART * radius).all()
    ]
    return sorted(suspects, key=lambda c: -c.points)[:MOST]


def _round_near(
    points: Floats, tree: KDTree, place: Floats, radius: float
) -> Floats | None:
    """Centre and radius (4,) of what is roundest near a place, or None."""
    best, least = None, ROUND
    for reach in REACHES:
        near = points[tree.query_ball_point(place, reach * radius)]
        fit, roughness = round_fit(near)
        if roughness < least and SIZES[0] < fit[3] / radius < SIZES[1]:
            best, least = fit, roughness
    return best


def round_fit(x: Floats) -> tuple[Floats, float]:
    """Centre and radius (4,) of the sphere that most of `x` (n, 3) lie on, and rms / R.

    Where too few points lie on any sphere the roughness is infinite.

    Starts from |x|^2 = 2 c.x + (R^2 - |c|^2), linear in c; then Gauss-Newton on
    |x - c| - R with Tukey's weights.
    """
    if len(x) < FEWEST_POINTS:
        return np.zeros(4), np.inf
    origin = x.mean(axis=0)
    y = x - origin
    A = np.column_stack([2.0 * y, np.ones(len(y))])
    *c, k = np.linalg.lstsq(A, np.einsum("ij,ij->i", y, y), rcond=None)[0]
    centre = np.array(c)
    R = float(np.sqrt(max(k + centre @ centre, 0.0)))
    scale = 0.0
    for _ in range(STEPS):
        to = y - centre
        distance = np.maximum(np.linalg.norm(to, axis=1), 1e-12)
        residual = distance - R
        scale = max(1.4826 * float(np.median(np.abs(residual))), 1e-9)
        u2 = np.minimum((residual / (TUKEY * scale)) ** 2, 1.0)
        w = (1.0 - u2) ** 2
        J = np.column_stack([to / distance[:, None], np.ones(len(y))])
        step = np.linalg.lstsq(J.T @ (w[:, None] * J), J.T @ (w * residual), rcond=1e-9)
        centre, R = centre + step[0][:3], R + float(step[0][3])
    on = u2 < 1.0
    rms = float(np.sqrt(np.mean(residual[on] ** 2)))
    sphere = np.array([*(origin + centre), R])
    return sphere, (rms / R if on.mean() >= SHARE and R > 0.0 else np.inf)
