"""The last fit of all spheres together: lines of sight, views put in place, budget."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import block_diag

from analysis.spheres.biweight import BLIND
from analysis.spheres.budget import Seen, Sums, budget, with_shared_errors
from analysis.spheres.fit import Fit, refine
from analysis.spheres.joint_radius import (
    joint_radius,
    mean_radius,
    shared_radius,
    unmoved_radius,
)
from analysis.spheres.judge import SphereCandidate, fault
from analysis.spheres.patches import told_apart
from analysis.spheres.picks import (
    ErrorComponent,
    Excess,
    FusionBias,
    PickOptions,
    Rejected,
    RejectionReason,
)
from analysis.spheres.sights import pull, seen_from
from analysis.spheres.thresholds import SIGHTS, VIEWS
from analysis.spheres.views import (
    Placement,
    blocks,
    place,
    scanner_places,
    sights,
    unmoved,
)
from sim.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Polished:
    """The spheres refitted, with the covariance of all, and what it is made of."""

    accepted: list[SphereCandidate]
    placed: Placement | None  # the views, where they are known
    covariance: Floats  # (3 m, 3 m) mm^2
    lost: list[Rejected]  # candidates that turn out to be none
    excess: Excess | None
    components: tuple[ErrorComponent, ...]
    radius: tuple[float, float] | None  # that all balls tell and its sd, mm


def polish(
    accepted: list[SphereCandidate],
    points: Floats,
    view: Ints | None,
    origins: Floats | None,
    options: PickOptions,
    bias: FusionBias | None = None,
) -> Polished:
    """Fit all spheres again, views put in place and errors that are shared counted.

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
    lost, joint = [], None
    for round_ in range(VIEWS.rounds):
        last = round_ == VIEWS.rounds - 1
        fits = (_refit_seen(c, points, view, origins, placed, last) for c in accepted)
        accepted, more = _sorted_out(accepted, fits, options if last else None)
        lost += more
        joint = None
        if views > 1 and len(accepted) >= VIEWS.fewest:
            sums = [_sums(c, points, view, origins, placed) for c in accepted]
            placed = place(accepted, sums, placed)
            joint = placed, sums
    doubt = np.zeros((3 * len(accepted), 3 * len(accepted)))
    if origins is None and bias is None and accepted:
        accepted, doubt = _unpulled(accepted, points, seen_from(accepted, points))
    numbers = [view[c.points] for c in accepted]
    moved = [placed.move(points[c.points], view[c.points]) for c in accepted]
    found = _with_budget(
        (accepted, placed, lost), joint, (moved, numbers), origins, doubt, options, bias
    )
    if joint is None:
        return found
    free = joint_radius(
        accepted, placed, lambda c, at: _sums(c, points, view, origins, at)
    )
    return replace(found, radius=_as_shared(found, joint, free))


def _as_shared(
    found: Polished, joint: tuple[Placement, Sums], free: tuple[float, float]
) -> tuple[float, float]:
    """Radius and its sd, mm: `free` of views that slide, where no errors are shared."""
    if found.excess is None:
        return free
    times = max(found.excess.ratio, 1.0)
    still = unmoved_radius(found.accepted, joint[1], joint[0], times)
    return shared_radius((free[0], float(np.sqrt(times)) * free[1]), still)


def _polished_merged(
    accepted: list[SphereCandidate],
    points: Floats,
    options: PickOptions,
    bias: FusionBias | None,
) -> Polished:
    """The same where nobody knows which view a point is of."""
    fits = (_refit(c, points) for c in accepted)
    accepted, lost = _sorted_out(accepted, fits, options)
    ways, doubt = None, np.zeros((3 * len(accepted), 3 * len(accepted)))
    if bias is None and accepted:
        views = seen_from(accepted, points)
        accepted, doubt = _unpulled(accepted, points, views)
        ways = told_apart(views) if len(views) else None
    seen = [points[c.points] for c in accepted], None
    return _with_budget((accepted, None, lost), None, seen, ways, doubt, options, bias)


def _with_budget(
    fitted: tuple[list[SphereCandidate], Placement | None, list[Rejected]],
    joint: tuple[Placement, Sums] | None,
    seen: Seen,
    origins: Floats | None,
    doubt: Floats,
    options: PickOptions,
    bias: FusionBias | None,
) -> Polished:
    """The spheres, the views and what was lost, with the covariance of all centres."""
    accepted, placed, lost = fitted
    shared = with_shared_errors(
        accepted, placed, joint, seen, origins if bias is None else None, doubt
    )
    covariance = budget(shared, accepted, joint is not None, options, bias)
    sd = shared.radius_sd
    radius = None if sd is None else (mean_radius(accepted), sd)
    return Polished(
        accepted, placed, covariance, lost, shared.excess, shared.components, radius
    )


def _sorted_out(
    accepted: list[SphereCandidate],
    fits: Iterable[Fit | None],
    options: PickOptions | None,
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


def _around(
    c: SphereCandidate,
    points: Floats,
    view: Ints,
    origins: Floats | None,
    placed: Placement,
) -> tuple[Floats, Floats, Ints]:
    """Points around a sphere (k, 3) where their views belong, the unit vectors from the
    scanner to each, and their views."""
    seen = view[c.near]
    x = placed.move(points[c.near], seen)
    return x, BLIND if origins is None else sights(x, seen, origins), seen


def _refit(c: SphereCandidate, points: Floats) -> Fit | None:
    """The same sphere fitted again from where it is."""
    theta = np.append(c.fit.centre, c.fit.radius)
    return refine(points[c.near], theta, c.fit.scale, BLIND, rounds=2, last=True)


def _refit_seen(
    c: SphereCandidate,
    points: Floats,
    view: Ints,
    origins: Floats | None,
    placed: Placement,
    last: bool,
) -> Fit | None:
    """The same sphere fitted to points moved with their views."""
    x, sight, _ = _around(c, points, view, origins, placed)
    theta = np.append(c.fit.centre, c.fit.radius)
    return refine(x, theta, c.fit.scale, sight, rounds=1 + last, last=last)


def _sums(
    c: SphereCandidate,
    points: Floats,
    view: Ints,
    origins: Floats | None,
    placed: Placement,
) -> tuple[Floats, Floats]:
    """The blocks A (v, 4, 4) and g (v, 4) of a sphere."""
    x, sight, seen = _around(c, points, view, origins, placed)
    theta = np.append(c.fit.centre, c.fit.radius)
    views = len(placed.motions)
    return blocks(x, c.fit.used, sight, theta, c.fit.scale, seen, views)


def _unpulled(
    accepted: list[SphereCandidate], points: Floats, views: Floats
) -> tuple[list[SphereCandidate], Floats]:
    """Take back the pull towards scanners of which nobody says where they stood.

    Returns
    -------
    the spheres, and (3 m, 3 m) by how much their covariance grew
    """
    moved = [_moved(c, -pull(c, points, views)) for c in accepted]
    grown = [
        new.fit.covariance - old.fit.covariance
        for new, old in zip(moved, accepted, strict=True)
    ]
    return moved, np.asarray(block_diag(*grown))


def _moved(c: SphereCandidate, by: Floats) -> SphereCandidate:
    """The sphere elsewhere, by a distance that is itself in doubt."""
    covariance = c.fit.covariance + SIGHTS.doubt**2 * np.outer(by, by)
    return replace(
        c, fit=replace(c.fit, centre=c.fit.centre + by, covariance=covariance)
    )
