"""Errors that neighbouring points share: how much more centres err than points tell.

The covariance of a centre counts what points share within small cells. Three things
show errors that reach farther, such as those of a matching window or of a ball that is
not quite round: scores summed over larger cells, centres that views see apart after all
views were placed, and free radii of balls that were made alike. Each is a ratio of
variances, one where there are none, and counts where chance alone hardly leads to it.

Where one counts, components of variance are learnt (`budget`). Where they cannot be, as
of meshes, the covariance of all centres is multiplied by the largest ratio; where that
is large, by the ratio of errors of degree 1 on a ball, which move its centre. Two signs
tell it where errors are fields of correlation exp(-d^2 / 2 l^2): up to l of 0.8 radii
errors of degree 2 have the same ratio (`form`), and up to a quarter of the radius it is
that of large cells, which hold a part of a field, to the power 3/2, beyond more. So the
larger counts, too large where fields reach beyond 0.8 radii and move balls together.
Radii do not: what they scatter beyond it is counted by itself (`fused`).
"""

import numpy as np

from analysis.spheres.form import form_ratios
from analysis.spheres.judge import SphereCandidate
from analysis.spheres.picks import Excess
from analysis.spheres.thresholds import SHARED
from sim.arrays import Floats


def largest(found: list[Excess]) -> Excess | None:
    """The largest excess that counts, or all together where none does by itself.

    Of k independent ratios with mean 1 and sd s_i the sum of (ratio - 1) / s_i has the
    sd k^1/2.
    """
    alone = max((e for e in found if e.counts), key=lambda e: e.ratio, default=None)
    if alone is not None or len(found) < 2:
        return alone
    ratios = np.array([e.ratio for e in found])
    weights = 1.0 / np.array([e.sd for e in found])
    sd = float(np.sqrt(len(found)) / weights.sum())
    told = " and ".join(e.learnt for e in found)
    both = Excess(told, float(weights @ ratios / weights.sum()), sd)
    return both if both.counts else None


def of_degree_1(accepted: list[SphereCandidate], points: list[Floats]) -> Excess | None:
    """By the form and the cells of balls; None where too few show their form.

    Parameters
    ----------
    points : of each sphere (k, 3), less its centre, mm
    """
    form = form_ratios([c.fit for c in accepted], points)
    if len(form) < SHARED.fewest:
        return None
    sd = float(form.std(ddof=1) / np.sqrt(len(form)))
    (cells,) = of_cells(accepted)
    ratio = max(float(form.mean()), cells.ratio**1.5, 1.0)
    return Excess("the form of balls", ratio, sd)


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
