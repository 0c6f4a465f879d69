"""The last fit of all spheres together: lines of sight, views put in place, budget."""

from dataclasses import replace

import numpy as np

from analysis.spheres.biweight import BLIND
from analysis.spheres.fit import Fit, refine
from analysis.spheres.fused import of_radii as of_fused_radii
from analysis.spheres.joint_radius import joint_radius
from analysis.spheres.judge import SphereCandidate, fault
from analysis.spheres.picks import (
    Excess,
    FusionBias,
    PickOptions,
    Rejected,
    RejectionReason,
)
from analysis.spheres.shared_errors import (
    largest,
    of_cells,
    of_degree_1,
    of_radii,
    of_views,
)
from analysis.spheres.sights import pull, seen_from
from analysis.spheres.thresholds import SHARED, SIGHTS, VIEWS
from analysis.spheres.views import Placement, blocks, place, scanner_places, unmoved
from sim.arrays import Floats, Ints


def polish(
    accepted: list[SphereCandidate],
    points: Floats,
    view: Ints | None,
    origins: Floats | None,
    options: PickOptions,
    bias: FusionBias | None = None,
) -> tuple[
    list[SphereCandidate], Placement | None, Floats, list[Rejected], Excess | None
]:
    """Return the spheres refitted, the views' motions, and the covariance (3 m, 3 m).

    Then come candidates that turn out to be none, and what errors are shared.

    Parameters
    ----------
    accepted : accepted spheres
    points : (n, 3) mm
    view : (n,) view of each point, if known
    origins : (v, 3) where the scanner stood for each view, if known
    bias : of a fused mesh, which has no lines of sight
    """
    if view is None and origins is not None and len(origins) == 1:
        view = np.zeros(len(points), dtype=np.int64)
    if view is None or not accepted:
        return _polished_merged(accepted, points, options, bias)
    views = int(view.max()) + 1
    if origins is None and bias is None:
        origins = scanner_places(accepted, points, view, views)
    placed = unmoved(views, np.mean([c.fit.centre for c in accepted], axis=0))
    lost = []
    for round_ in range(VIEWS.rounds):
        last = round_ == VIEWS.rounds - 1
        fits = [
            _refit_seen(c, points, view, origins, placed, 1 + last) for c in accepted
        ]
        accepted, more = _sorted_out(accepted, fits, options if last else None)
        lost += more
        joint = views > 1 and len(accepted) >= VIEWS.fewest
        if joint:
            sums = [_sums(c, points, view, origins, placed) for c in accepted]
            placed = place(accepted, sums, placed)
    if origins is None and bias is None:
        accepted = _unpulled(accepted, points)
    tied = placed if joint else None
    seen = [
        placed.move(points[c.points], view[c.points]) - c.fit.centre for c in accepted
    ]
    excess = _shared_error(accepted, placed, seen)
    covariance = _budget(accepted, tied, excess, options, bias)
    if joint:
        told = joint_radius(
            accepted, placed, lambda c, at: _sums(c, points, view, origins, at)
        )
        placed = replace(placed, radius=told)
    return accepted, placed, covariance, lost, excess


def _sorted_out(
    accepted: list[SphereCandidate], fits: list[Fit | None], options: PickOptions | None
) -> tuple[list[SphereCandidate], list[Rejected]]:
    """The candidates with their new fits, and those that fail with them.

    Without options only those without a fit fail.
    """
    kept, lost = [], []
    for c, fit in zip(accepted, fits, strict=True):
        if fit is None:
            lost.append(
                c.rejected(RejectionReason.POINTS, "seen too steeply to be fitted")
            )
            continue
        fitted = replace(c, fit=fit)
        wrong = fault(fitted, options) if options else None
        if wrong is None:
            kept.append(fitted)
        else:
            lost.append(wrong)
    return kept, lost


def _sight(x: Floats, view: Ints, origins: Floats | None) -> Floats:
    """(k, 3) unit vectors from the scanner to the points."""
    if origins is None:
        return BLIND
    d = x - origins[view]
    return np.asarray(d / np.linalg.norm(d, axis=1)[:, None])


def _refit(c: SphereCandidate, points: Floats) -> Fit | None:
    """The same sphere fitted again from where it is."""
    theta = np.append(c.fit.centre, c.fit.radius)
    return refine(points[c.near], theta, c.fit.scale, BLIND, rounds=2)


def _refit_seen(
    c: SphereCandidate,
    points: Floats,
    view: Ints,
    origins: Floats | None,
    placed: Placement,
    rounds: int,
) -> Fit | None:
    """The same sphere fitted to points moved with their views."""
    x = placed.move(points[c.near], view[c.near])
    theta = np.append(c.fit.centre, c.fit.radius)
    sight = _sight(x, view[c.near], origins)
    return refine(x, theta, c.fit.scale, sight, rounds=rounds)


def _sums(
    c: SphereCandidate,
    points: Floats,
    view: Ints,
    origins: Floats | None,
    placed: Placement,
) -> tuple[Floats, Floats]:
    """The blocks A (v, 4, 4) and g (v, 4) of a sphere."""
    seen = view[c.near]
    x = placed.move(points[c.near], seen)
    theta = np.append(c.fit.centre, c.fit.radius)
    sight = _sight(x, seen, origins)
    views = len(placed.motions)
    return blocks(x, c.fit.used, sight, theta, c.fit.scale, seen, views)


def _unpulled(accepted: list[SphereCandidate], points: Floats) -> list[SphereCandidate]:
    """Take back the pull towards scanners of which nobody says where they stood."""
    if not accepted:
        return accepted
    views = seen_from(accepted, points)
    return [_moved(c, -pull(c, points, views)) for c in accepted]


def _moved(c: SphereCandidate, by: Floats) -> SphereCandidate:
    """The sphere elsewhere, by a distance that is itself in doubt."""
    covariance = c.fit.covariance + SIGHTS.doubt**2 * np.outer(by, by)
    return replace(
        c, fit=replace(c.fit, centre=c.fit.centre + by, covariance=covariance)
    )


def _shared_error(
    accepted: list[SphereCandidate], placed: Placement | None, seen: list[Floats]
) -> Excess | None:
    """By how much variances exceed those of points, if they do, and what tells."""
    apart = None if placed is None else of_views(placed.squares, placed.free)
    telling = largest(of_cells(accepted) + of_radii(accepted) + (apart or []))
    if telling is None or telling.ratio < SHARED.strong:
        return telling
    return of_degree_1(accepted, seen, apart) or telling


def _budget(
    accepted: list[SphereCandidate],
    joint: Placement | None,
    excess: Excess | None,
    options: PickOptions,
    bias: FusionBias | None,
) -> Floats:
    """(3 m, 3 m) covariance of all centres, with what single scans cannot show."""
    size = 3 * len(accepted)
    covariance = np.zeros((size, size))
    if joint is not None:
        covariance += joint.covariance
    else:
        for k, c in enumerate(accepted):
            covariance[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = c.fit.covariance
    if excess is not None:
        covariance *= excess.ratio
    if bias is not None and accepted:
        covariance += of_fused_radii(accepted, bias)
    floor = options.repeatability_mm**2
    if joint is None:
        floor += options.registration_mm**2
    return covariance + floor * np.eye(size)


def _polished_merged(
    accepted: list[SphereCandidate],
    points: Floats,
    options: PickOptions,
    bias: FusionBias | None,
) -> tuple[
    list[SphereCandidate], Placement | None, Floats, list[Rejected], Excess | None
]:
    """The same where nobody knows which view a point is of."""
    fits = [_refit(c, points) for c in accepted]
    accepted, lost = _sorted_out(accepted, fits, options)
    if bias is None:
        accepted = _unpulled(accepted, points)
    seen = [points[c.points] - c.fit.centre for c in accepted]
    excess = _shared_error(accepted, None, seen)
    covariance = _budget(accepted, None, excess, options, bias)
    return accepted, None, covariance, lost, excess
