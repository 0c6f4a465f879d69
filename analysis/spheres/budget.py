"""The covariance of all centres: points, errors that they share, views, fused radii.

Points alone give each centre A^-1 B A^-1 (`fit`), and views that were placed tie them
together (`views`). Where balls or views show that neighbouring points share errors
(`shared_errors`), components of variance are learnt from what is left on all balls
(`components`) and what centres and motions make of them takes its place. Of meshes,
whose lines of sight are lost, and where too few balls tell, variances are multiplied.
"""

from typing import NamedTuple

import numpy as np

from analysis.spheres.components import Components, learnt
from analysis.spheres.fused import of_radii as of_fused_radii
from analysis.spheres.judge import SphereCandidate
from analysis.spheres.patches import Patches, patches
from analysis.spheres.picks import ErrorComponent, Excess, FusionBias, PickOptions
from analysis.spheres.shared_errors import (
    largest,
    of_cells,
    of_degree_1,
    of_radii,
    of_views,
)
from analysis.spheres.thresholds import PATCHES, SHARED
from analysis.spheres.views import Placement, lever, noise
from sim.arrays import Floats, Ints


class SharedErrors(NamedTuple):
    """The covariance of all centres with what points share, and what it is made of."""

    covariance: Floats  # (3 m, 3 m) mm^2
    excess: Excess | None  # by how much it is more than points tell
    components: tuple[ErrorComponent, ...]
    radius_sd: float | None  # of the mean free radius of a merged cloud, mm


Seen = tuple[list[Floats], list[Ints] | None]  # points and views of each ball
Sums = list[tuple[Floats, Floats]]


def of_points(accepted: list[SphereCandidate], joint: Placement | None) -> Floats:
    """(3 m, 3 m) covariance by points that share errors within small cells only."""
    if joint is not None:
        return joint.covariance
    covariance = np.zeros((3 * len(accepted), 3 * len(accepted)))
    for k, c in enumerate(accepted):
        covariance[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = c.fit.covariance
    return covariance


def with_shared_errors(
    accepted: list[SphereCandidate],
    placed: Placement | None,
    joint: tuple[Placement, Sums] | None,
    seen: Seen,
    origins: Floats | None,
    doubt: Floats,
) -> SharedErrors:
    """The covariance with shared errors.

    Parameters
    ----------
    placed : where views are, if they are known
    joint : the same with the blocks it was made of, if all centres are tied
    seen : points of each ball where their views belong, and their views if known
    origins : where the scanner stood, or the strength of views by direction; None where
        there are no lines of sight
    doubt : (3 m, 3 m) covariance of what was taken back, part of that of points
    """
    plain = of_points(accepted, None if joint is None else joint[0])
    apart = None if placed is None else of_views(placed.squares, placed.free)
    telling = largest(of_cells(accepted) + of_radii(accepted) + (apart or []))
    if telling is None:
        return SharedErrors(plain, None, (), None)
    if origins is not None and len(accepted) >= PATCHES.fewest:
        cut = patches(accepted, *seen, origins)
        found = learnt(cut, _motions(cut, joint))
        if found is not None:
            gain, beside = _gain(found.patches, accepted, joint)
            each, likeliest = found.likeliest(gain, beside + doubt)
            ratio = float(np.trace(likeliest) / np.trace(plain))
            if max(SHARED.surer * telling.ratio, ratio) >= SHARED.surer * SHARED.strong:
                covariance = found.doubted(each, likeliest)
                ratio = float(np.trace(covariance) / np.trace(plain))
                excess = Excess("what is left on balls", ratio, 0.0)
                sd = None if joint else _radius_sd(found, accepted)
                return SharedErrors(covariance, excess, found.told, sd)
    if telling.ratio >= SHARED.strong:
        forms = [x - c.fit.centre for c, x in zip(accepted, seen[0], strict=True)]
        telling = of_degree_1(accepted, forms) or telling
    return SharedErrors(plain * telling.ratio, telling, (), None)


def _motions(p: Patches, joint: tuple[Placement, Sums] | None) -> Floats:
    """(n, 6 v) by how much motions of views that were placed raise patches."""
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
    """(n, 3 m) what errors of patches make of centres, (3 m, 3 m) what views add."""
    m = len(accepted)
    score = p.weight[:, None] * p.u
    J = np.zeros((len(p.ball), 3 * m))
    for i, c in enumerate(accepted):
        rows = np.flatnonzero(p.ball == i)
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

    An error of all views that raises all balls alike is what would be told, and no
    error of it.
    """
    p, weights = found.patches, [c.fit.free_radius_sd**-2.0 for c in accepted]
    J = np.zeros((len(p.ball), 1))
    for i, weight in enumerate(weights):
        rows = np.flatnonzero(p.ball == i)
        u = np.column_stack([p.u[rows], np.ones(len(rows))])
        N = u.T @ (p.weight[rows, None] * u)
        own = np.linalg.solve(N, (p.weight[rows, None] * u).T)[3]
        J[rows, 0] = weight / sum(weights) * own
    return float(np.sqrt(found.without("all views alike, radius").covariance(J)[0, 0]))


def budget(
    shared: SharedErrors,
    accepted: list[SphereCandidate],
    tied: bool,
    options: PickOptions,
    bias: FusionBias | None,
) -> Floats:
    """(3 m, 3 m) with what single scans cannot show.

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
