"""The one radius that the spheres of a scan have, where only a range is known."""

from dataclasses import replace

import numpy as np

from analysis.spheres.judge import Candidate
from analysis.spheres.picks import PickOptions
from analysis.spheres.search import search
from sim.arrays import Floats

FACTOR = 1.12  # between two radii that are tried
TOLERANCE = 0.09  # of the radius while it is only tried, relative
CAP = 0.15  # visible share that makes a trial count; bits of rods have less
CLEAR = 0.5  # of the points at its height that a trial's sphere uses
ALIKE = 0.02  # how closely free radii agree, relative
MOST = 200_000  # points that the trials use


def common_radius(points: Floats, options: PickOptions) -> float | None:
    """Return the radius at which most of the scan lies on spheres; None without any.

    Radii from `radius_mm` to `radius_max_mm` are tried; the spheres found at the best
    one are fitted with free radii, and their mean, weighted with 1 / sd^2, is the
    radius of the next trial.

    Parameters
    ----------
    points : (n, 3) mm
    """
    low, high = options.radius_mm, options.radius_max_mm or options.radius_mm
    count = int(np.ceil(np.log(high / low) / np.log(FACTOR))) + 1
    few = points[:: 1 + len(points) // MOST]
    tried = replace(
        options,
        radius_max_mm=None,
        radius_tolerance=TOLERANCE,
        min_cap=max(CAP, options.min_cap),
    )
    best: list[Candidate] = []
    for radius in np.geomspace(low, high, count):
        found, _ = search(few, float(radius), tried)
        if _score(found) > _score(best):
            best = found
    if not best:
        return None
    for cloud in (few, points):
        best = search(cloud, _mean_radius(best), tried)[0] or best
    return _mean_radius(best)


def _score(found: list[Candidate]) -> float:
    """Sum of (cap R)^2 over spheres that stand clear and agree on the radius, mm^2.

    A sphere inside a rod touches it in a ring, with more of the rod on both sides,
    and rings differ in radius by more than spheres.
    """
    clear = [c for c in found if len(c.points) > CLEAR * c.level]
    if not clear:
        return 0.0
    middle = float(np.median([c.fit.free_radius for c in clear]))
    return sum(
        (c.cap * c.fit.radius) ** 2
        for c in clear
        if abs(c.fit.free_radius - middle) < ALIKE * middle
    )


def _mean_radius(found: list[Candidate]) -> float:
    """Mean of the free radii close to their median."""
    free = np.array([c.fit.free_radius for c in found])
    weight = np.array([1 / c.fit.free_radius_sd**2 for c in found])
    middle = np.median(free)
    weight[np.abs(free - middle) > 0.1 * middle] = 0.0
    return float((free * weight).sum() / weight.sum())
