"""Errors that neighbouring points share: how much more centres err than points tell.

The covariance of a centre counts what points share within small cells. Three things
show errors that reach farther, such as those of a matching window or of a ball that is
not quite round: scores summed over larger cells, centres that views see apart after all
views were placed, and free radii of balls that were made alike. Each is a ratio of
variances, one where there are none. A ratio counts where chance alone hardly leads to
it; the largest one multiplies the covariance of all centres.
"""

import numpy as np

from analysis.spheres.judge import SphereCandidate
from analysis.spheres.picks import Excess
from analysis.spheres.thresholds import SHARED


def largest(found: list[Excess]) -> Excess | None:
    """The largest excess that counts."""
    return max((e for e in found if e.counts), key=lambda e: e.ratio, default=None)


def of_cells(accepted: list[SphereCandidate]) -> list[Excess]:
    """By the scores of large cells beside those of small ones, a mean over spheres."""
    ratios = np.array([c.fit.shared for c in accepted])
    if len(ratios) < SHARED.fewest:
        return []
    sd = float(ratios.std(ddof=1) / np.sqrt(len(ratios)))
    return [Excess("errors that reach over a quarter of a ball", ratios.mean(), sd)]


def of_radii(accepted: list[SphereCandidate]) -> list[Excess]:
    """By the free radii of the spheres, which should be equal within their sd."""
    pairs = np.array([(c.fit.free_radius, c.fit.free_radius_sd) for c in accepted])
    pairs = pairs.reshape(-1, 2)
    pairs = pairs[np.isfinite(pairs).all(axis=1)]
    if len(pairs) < SHARED.fewest:
        return []
    radius, sd = pairs.T
    mean = np.average(radius, weights=sd**-2)
    free = len(pairs) - 1
    ratio = float((((radius - mean) / sd) ** 2).sum()) / free
    return [Excess("the scatter of free radii", ratio, np.sqrt(2.0 / free))]


def of_views(squares: float, free: int) -> list[Excess]:
    """By the centres that each view sees alone: chi squared and degrees of freedom."""
    if free < SHARED.fewest:
        return []
    return [Excess("centres that views see apart", squares / free, np.sqrt(2.0 / free))]
