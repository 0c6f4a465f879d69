"""Round things of another size than the one looked for, so that they can be named."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from analysis.spheres.picks import Picks, Rejected, RejectionReason
from analysis.spheres.thresholds import OTHERS
from sim.arrays import Floats

SUSPECTS = (
    RejectionReason.RADIUS,
    RejectionReason.RMS,
    RejectionReason.CAP,
    RejectionReason.POINTS,
    RejectionReason.NORMALS,
)


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
    if len(suspects) < OTHERS.fewest:
        return None
    points = points[:: 1 + len(points) // OTHERS.most_points]
    tree = KDTree(points)
    spheres: list[Floats] = []
    for candidate in suspects:
        fit = _round_near(points, tree, candidate.centre, radius)
        if fit is not None and all(
            np.linalg.norm(fit[:3] - other[:3]) > fit[3] for other in spheres
        ):
            spheres.append(fit)
    radii = np.array([fit[3] for fit in spheres])
    if len(radii) < OTHERS.fewest:
        return None
    near_median = np.abs(radii - np.median(radii)) < OTHERS.alike * np.median(radii)
    alike = radii[near_median]
    if len(alike) < OTHERS.fewest:
        return None
    return OtherSize(float(alike.mean()), float(alike.std(ddof=1)), len(alike))


def _suspects(picks: Picks, radius: float) -> list[Rejected]:
    """Rejected candidates that may be of another size, away from the spheres found."""
    usual = np.median([s.points for s in picks.spheres]) if picks.spheres else 0.0
    away = OTHERS.apart * radius
    suspects = [
        c
        for c in picks.rejected
        if c.reason in SUSPECTS
        and c.points > OTHERS.enough * usual
        and (np.linalg.norm(picks.centres - c.centre, axis=1) > away).all()
    ]
    return sorted(suspects, key=lambda c: -c.points)[: OTHERS.most]


def _round_near(
    points: Floats, tree: KDTree, place: Floats, radius: float
) -> Floats | None:
    """Centre and radius (4,) of what is roundest near a place, or None."""
    best, least = None, OTHERS.round
    for reach in OTHERS.reaches:
        near = points[tree.query_ball_point(place, reach * radius)]
        fit, roughness = round_fit(near)
        if roughness < least and OTHERS.smallest < fit[3] / radius < OTHERS.largest:
            best, least = fit, roughness
    return best


def round_fit(x: Floats) -> tuple[Floats, float]:
    """Centre and radius (4,) of the sphere that most of `x` (n, 3) lie on, and rms / R.

    Where too few points lie on any sphere the roughness is infinite.

    Starts from |x|^2 = 2 c.x + (R^2 - |c|^2), linear in c; then Gauss-Newton on
    |x - c| - R with Tukey's weights.
    """
    if len(x) < OTHERS.fewest_points:
        return np.zeros(4), np.inf
    origin = x.mean(axis=0)
    y = x - origin
    A = np.column_stack([2.0 * y, np.ones(len(y))])
    *c, k = np.linalg.lstsq(A, np.einsum("ij,ij->i", y, y), rcond=None)[0]
    centre = np.array(c)
    R = float(np.sqrt(max(k + centre @ centre, 0.0)))
    scale = 0.0
    for _ in range(OTHERS.steps):
        to = y - centre
        distance = np.maximum(np.linalg.norm(to, axis=1), 1e-12)
        residual = distance - R
        scale = max(1.4826 * float(np.median(np.abs(residual))), 1e-9)
        u2 = np.minimum((residual / (OTHERS.tukey * scale)) ** 2, 1.0)
        w = (1.0 - u2) ** 2
        J = np.column_stack([to / distance[:, None], np.ones(len(y))])
        step = np.linalg.lstsq(J.T @ (w[:, None] * J), J.T @ (w * residual), rcond=1e-9)
        centre, R = centre + step[0][:3], R + float(step[0][3])
    on = u2 < 1.0
    rms = float(np.sqrt(np.mean(residual[on] ** 2)))
    sphere = np.array([*(origin + centre), R])
    return sphere, (rms / R if on.mean() >= OTHERS.share and R > 0.0 else np.inf)
