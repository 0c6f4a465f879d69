"""The one radius that the spheres of a scan have, where only a range is known."""

from dataclasses import replace

import numpy as np

from analysis.spheres.judge import SphereCandidate
from analysis.spheres.picks import PickOptions
from analysis.spheres.search import search
from analysis.spheres.thresholds import RADIUS
from sim.arrays import Floats


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
    count = int(np.ceil(np.log(high / low) / np.log(RADIUS.factor))) + 1
    few = points[:: 1 + len(points) // RADIUS.most_points]
    tried = replace(
        options,
        radius_max_mm=None,
        radius_tolerance=RADIUS.tolerance,
        min_cap=max(RADIUS.cap, options.min_cap),
    )
    best: list[SphereCandidate] = []
    for radius in np.geomspace(low, high, count):
        accepted, _ = search(few, float(radius), tried)
        if _score(accepted) > _score(best):
            best = accepted
    if not best:
        return None
    for cloud in (few, points):
        best = search(cloud, _mean_radius(best), tried)[0] or best
    return _mean_radius(best)


def _score(accepted: list[SphereCandidate]) -> float:
    """Sum of (cap R)^2 over spheres that stand clear and agree on the radius, mm^2.

    A sphere inside a rod touches it in a ring, with more of the rod on both sides,
    and rings differ in radius by more than spheres.
    """
    clear = [c for c in accepted if len(c.points) > RADIUS.clear * c.level]
    if not clear:
        return 0.0
    middle = float(np.median([c.fit.free_radius for c in clear]))
    return sum(
        (c.cap * c.fit.radius) ** 2
        for c in clear
        if abs(c.fit.free_radius - middle) < RADIUS.alike * middle
    )


def _mean_radius(accepted: list[SphereCandidate]) -> float:
    """Mean of the free radii close to their median."""
    free = np.array([c.fit.free_radius for c in accepted])
    weight = np.array([1 / c.fit.free_radius_sd**2 for c in accepted])
    middle = np.median(free)
    weight[np.abs(free - middle) > 0.1 * middle] = 0.0
    return float((free * weight).sum() / weight.sum())
