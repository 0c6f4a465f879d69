"""The covariance of all centres: points, errors that they share, views, fused radii.

Each centre alone has the covariance A^-1 B A^-1 of its fit (`centre_fit`); a common
adjustment of all views correlates the centres (`viewpoints`). If spheres or views show
that neighbouring points share errors, components of variance are estimated from the
residuals of all spheres (`variance_components`). Their effect on centres and motions
then replaces the first covariance. Meshes have no lines of sight, and few spheres do
not determine components: there all variances are multiplied by one factor.

Shared errors: the covariance of a centre includes errors that points share within small
cells. Matching windows and spheres that are not round cause errors of longer range.
Three ratios of variances reveal them: scores summed over larger cells, differences of
the centres between views after the adjustment, and the scatter of free radii. Each
ratio is one without such errors, and counts if it exceeds one by more than chance.

If one counts, components of variance are estimated. If that is impossible, the largest
ratio multiplies the covariance of all centres. If this ratio is large, the ratio for
errors of degree 1 is used, since they move a centre. For fields with the correlation
exp(-d^2 / 2 l^2) two quantities estimate it. Errors of degree 2 have the same ratio up
to l of 0.8 radii (`form_deviation`). The ratio of large cells to the power 3/2 holds up
to l of a quarter of the radius. The larger of both is taken; it is too large for fields
that reach beyond 0.8 radii and move spheres together. Radii are treated separately
(`of_fused_radii`).

Fused meshes: software that fuses views averages signed distances along lines of sight,
smooths and decimates. This makes all spheres of a mesh too large or too small by about
the same amount. Centres are fitted with this common radius. Its uncertainty shifts all
centres together; the scatter of the radii shifts each sphere along the axis of its cap.

`excess_sd` is the scatter of repeated measurements beyond their stated errors. One scan
cannot reveal errors that all of it shares: misplaced views of a merged cloud, errors
of the scanner, the scale of the printer. Repeated scans reveal them.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag
from scipy.optimize import brentq

from analysis.spheres.detections import Excess, FusionBias, PickOptions
from analysis.spheres.form_deviation import form_ratios
from analysis.spheres.sphere_criteria import SphereCandidate
from analysis.spheres.thresholds import FUSED, PATCHES, SHARED
from analysis.spheres.variance_components import (
    RADIUS,
    Components,
    Patches,
    estimate,
    patches,
)
from analysis.spheres.view_motions import Placement, lever, noise
from sim.core.arrays import Floats, Ints


def largest(found: list[Excess]) -> Excess | None:
    """The largest ratio that counts, or the mean of all if only that counts.

    Of k independent ratios with mean 1 and sd s_i the sum of (ratio - 1) / s_i has the
    sd k^1/2.
    """
    alone = max((e for e in found if e.counts), key=lambda e: e.ratio, default=None)
    if alone is not None or len(found) < 2:
        return alone
    ratios = np.array([e.ratio for e in found])
    weights = 1.0 / np.array([e.sd for e in found])
    sd = float(np.sqrt(len(found)) / weights.sum())
    signs = " and ".join(e.sign for e in found)
    both = Excess(signs, float(weights @ ratios / weights.sum()), sd)
    return both if both.counts else None


def of_degree_1(accepted: list[SphereCandidate], points: list[Floats]) -> Excess | None:
    """From the form and the cells of spheres; None if too few show their form.

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
    return Excess("the form of spheres", ratio, sd)


def of_cells(accepted: list[SphereCandidate]) -> list[Excess]:
    """From scores of large cells over those of small ones, a mean over spheres."""
    ratios = np.array([c.fit.shared for c in accepted])
    if len(ratios) < SHARED.fewest:
        return []
    sd = float(ratios.std(ddof=1) / np.sqrt(len(ratios)))
    return [Excess("errors correlated over a quarter of a sphere", ratios.mean(), sd)]


def free_radii(accepted: list[SphereCandidate]) -> Floats:
    """(2, k) radii and their sd, mm, of the spheres that have one."""
    pairs = np.array([(c.fit.free_radius, c.fit.free_radius_sd) for c in accepted])
    pairs = pairs.reshape(-1, 2)
    return np.asarray(pairs[np.isfinite(pairs).all(axis=1)].T)


def of_radii(accepted: list[SphereCandidate]) -> list[Excess]:
    """From the free radii of the spheres, which should be equal within their sd."""
    radius, sd = free_radii(accepted)
    if len(radius) < SHARED.fewest:
        return []
    mean = np.average(radius, weights=sd**-2)
    free = len(radius) - 1
    ratio = float((((radius - mean) / sd) ** 2).sum()) / free
    return [Excess("the scatter of free radii", ratio, np.sqrt(2.0 / free))]


def of_views(squares: float, free: int) -> list[Excess]:
    """From the centre in each single view: chi squared and degrees of freedom."""
    if free < SHARED.fewest:
        return []
    return [Excess("differences between views", squares / free, np.sqrt(2.0 / free))]


def excess_sd(values: Floats, sds: Floats) -> float:
    """Return the sd t that repeated values show beyond their stated ones.

    The t of Paule and Mandel: with w = 1 / (sd^2 + t^2) and the weighted mean,

        sum w (value - mean)^2 = n - 1

    and t = 0 where the stated errors are enough.

    Parameters
    ----------
    values : (n,) repeated measurements of one thing, one or more
    sds : (n,) their stated standard deviations, in the same unit
    """

    def surplus(t: float) -> float:
        w = 1 / (sds**2 + t**2)
        mean = (w * values).sum() / w.sum()
        return float((w * (values - mean) ** 2).sum()) - (len(values) - 1)

    if not np.ptp(values) or surplus(0.0) <= 0:
        return 0.0
    return float(brentq(surplus, 0.0, 10 * float(np.ptp(values))))


def fusion_bias(accepted: list[SphereCandidate], stated_mm: float) -> FusionBias | None:
    """The common radius of the spheres of a mesh; None if no sphere has a radius, or
    if two spheres contradict each other.

    The mean of the free radii near their median with weights 1 / (sd^2 + t^2), where t
    is the median of the sd: no sphere decides alone. Its sd is that of the scatter, but
    at least that of spheres which err by t.

    Parameters
    ----------
    stated_mm : radius that was given
    """
    radius, sd = free_radii(accepted)
    if not len(radius):
        return None
    middle, typical = np.median(radius), np.median(sd)
    near = np.abs(radius - middle) < FUSED.near * middle
    if not near.any():
        return None
    weight = near / (sd**2 + typical**2)
    weight /= weight.sum()
    mean = float(weight @ radius)
    shares = float(weight @ weight)  # one over how many spheres count
    scatter = float(weight @ (radius - mean) ** 2) / max(1.0 - shares, 1e-9)
    sd_mm = float(np.sqrt(shares * max(scatter, typical**2)))
    return FusionBias(stated_mm, mean, sd_mm)


def of_fused_radii(
    accepted: list[SphereCandidate], bias: FusionBias, times: float
) -> Floats:
    """(3 m, 3 m) covariance of the centres from the uncertainty of their radii.

    All spheres share the uncertainty of the mean radius. Each also has the scatter of
    its radius beyond its sd.

    Parameters
    ----------
    times : the variances by points that are counted already
    """
    slides = [c.fit.slide for c in accepted]
    every = np.concatenate(slides)
    radii, sds = free_radii(accepted)
    own = excess_sd(radii, np.sqrt(times) * sds) if len(radii) > 1 else 0.0
    each = block_diag(*[np.outer(slide, slide) for slide in slides])
    return np.asarray(bias.sd_mm**2 * np.outer(every, every) + own**2 * each)


class SharedErrors(NamedTuple):
    """The covariance of all centres with shared errors."""

    covariance: Floats  # (3 m, 3 m) mm^2
    excess: Excess | None  # its ratio to the covariance from single points
    radius_sd: float | None  # of the mean free radius of a merged cloud, mm


Seen = tuple[list[Floats], list[Ints] | None]  # points and views of each sphere
Sums = list[tuple[Floats, Floats]]


def of_points(accepted: list[SphereCandidate], joint: Placement | None) -> Floats:
    """(3 m, 3 m) covariance by points that share errors within small cells only."""
    if joint is not None:
        return joint.covariance
    each = [c.fit.covariance for c in accepted]
    return np.asarray(block_diag(np.empty((0, 0)), *each))


def with_shared_errors(
    accepted: list[SphereCandidate],
    placed: Placement | None,
    joint: tuple[Placement, Sums] | None,
    seen: Seen,
    origins: Floats | None,
    added: Floats,
) -> SharedErrors:
    """The covariance with shared errors.

    Parameters
    ----------
    placed : where views are, if they are known
    joint : the same with the blocks it was made of, if all centres are tied
    seen : points of each sphere where their views belong, and their views if known
    origins : where the scanner stood, or the strength of views by direction; None where
        there are no lines of sight
    added : (3 m, 3 m) covariance of corrections of the centres, part of that of points
    """
    plain = of_points(accepted, None if joint is None else joint[0])
    apart = None if placed is None else of_views(placed.squares, placed.free)
    telling = largest(of_cells(accepted) + of_radii(accepted) + (apart or []))
    if telling is None:
        return SharedErrors(plain, None, None)
    if origins is not None and len(accepted) >= PATCHES.fewest:
        cut = patches(accepted, *seen, origins)
        found = estimate(cut, _motions(cut, joint))
        if found is not None:
            gain, added_by_views = _gain(found.patches, accepted, joint)
            each, likeliest = found.likeliest(gain, added_by_views + added)
            ratio = float(np.trace(likeliest) / np.trace(plain))
            if max(SHARED.surer * telling.ratio, ratio) >= SHARED.surer * SHARED.strong:
                covariance = found.inflated(each, likeliest)
                ratio = float(np.trace(covariance) / np.trace(plain))
                rest = found.without(RADIUS).covariance(gain, added_by_views + added)
                other = float(np.trace(rest) / np.trace(plain))
                excess = Excess("the residuals on spheres", ratio, 0.0, other)
                sd = None if joint else _radius_sd(found, accepted)
                return SharedErrors(covariance, excess, sd)
    if telling.ratio >= SHARED.strong:
        forms = [x - c.fit.centre for c, x in zip(accepted, seen[0], strict=True)]
        telling = of_degree_1(accepted, forms) or telling
    return SharedErrors(plain * telling.ratio, telling, None)


def _motions(p: Patches, joint: tuple[Placement, Sums] | None) -> Floats:
    """(n, 6 v) how the motions of adjusted views raise patches."""
    if joint is None:
        return np.empty((len(p.u), 0))
    arm = np.cross(p.x - joint[0].pivot, p.u) / p.radius
    each = np.hstack([p.u, arm])
    return np.asarray((p.share[:, :, None] * each[:, None]).reshape(len(each), -1))


def _gain(
    p: Patches,
    accepted: list[SphereCandidate],
    joint: tuple[Placement, Sums] | None,
) -> tuple[Floats, Floats]:
    """(n, 3 m) effect of patch errors on centres, (3 m, 3 m) covariance of views."""
    m = len(accepted)
    score = p.weight[:, None] * p.u
    J = np.zeros((len(p.sphere), 3 * m))
    for i, c in enumerate(accepted):
        rows = np.flatnonzero(p.sphere == i)
        if joint is None:
            own = np.s_[3 * i : 3 * i + 3]
            J[rows, own] = score[rows] @ np.linalg.inv(score[rows].T @ p.u[rows])
            continue
        placed, sums = joint
        s = score[rows] / noise(c, sums[i][0])
        J[rows] = s @ placed.gain[3 * i : 3 * i + 3]
        K = lever(c, placed.pivot)
        gains = placed.gain[3 * m :].reshape(-1, 6, 3 * m)
        for v, gain in enumerate(gains):
            J[rows] -= p.share[rows, v : v + 1] * (s @ K @ gain)
    if joint is None:
        return J, np.zeros((3 * m, 3 * m))
    motions = joint[0].gain[3 * m :]
    return J, motions.T @ (joint[0].prior[:, None] * motions)


def _radius_sd(found: Components, accepted: list[SphereCandidate]) -> float:
    """Of the mean of free radii, weighted as `free_radius_sd` says, mm.

    An error of all views that raises all spheres alike is part of the radius, and no
    error of it.
    """
    p, weights = found.patches, [c.fit.free_radius_sd**-2.0 for c in accepted]
    J = np.zeros((len(p.sphere), 1))
    for i, weight in enumerate(weights):
        rows = np.flatnonzero(p.sphere == i)
        u = np.column_stack([p.u[rows], np.ones(len(rows))])
        N = u.T @ (p.weight[rows, None] * u)
        own = np.linalg.solve(N, (p.weight[rows, None] * u).T)[3]
        J[rows, 0] = weight / sum(weights) * own
    return float(np.sqrt(found.without(RADIUS).covariance(J)[0, 0]))


def budget(
    shared: SharedErrors,
    accepted: list[SphereCandidate],
    tied: bool,
    options: PickOptions,
    bias: FusionBias | None,
) -> Floats:
    """(3 m, 3 m) with the stated errors that a single scan cannot reveal.

    Parameters
    ----------
    tied : whether views were placed
    """
    covariance = shared.covariance
    if bias is not None and accepted:
        times = shared.excess.ratio if shared.excess else 1.0
        covariance = covariance + of_fused_radii(accepted, bias, times)
    floor = options.repeatability_mm**2
    if not tied:
        floor += options.registration_mm**2
    return covariance + floor * np.eye(len(covariance))
