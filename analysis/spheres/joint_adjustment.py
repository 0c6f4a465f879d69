"""The last fit of all spheres together: lines of sight, motions of views, budget.

`joint_radius` adjusts the common radius of all spheres together with centres and views.
A wrong stated radius moves the views: each slides along its line of sight until its
caps fit, and the spheres then confirm the stated radius. So the radius must be an
unknown, like centres and motions. The heights of `analysis.spheres.view_motions` then
follow

    e = u . (dc_i - K_i tau_v) + dR

If neighbouring points share errors, this hardly determines the radius: a matching
window smooths steep surfaces, which looks like a slide and a larger sphere. The radius
from views at the scanner's own poses is then better (`unmoved_radius`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import block_diag

from analysis.alignment import RigidMotion
from analysis.spheres.centre_covariance import Seen, Sums, budget, with_shared_errors
from analysis.spheres.centre_fit import BLIND, Fit, refine
from analysis.spheres.detections import (
    Excess,
    FusionBias,
    PickOptions,
    Rejected,
    RejectionReason,
)
from analysis.spheres.sphere_criteria import SphereCandidate, fault
from analysis.spheres.thresholds import SHARED, VIEWPOINTS, VIEWS
from analysis.spheres.variance_components import merge_close
from analysis.spheres.view_motions import (
    Placement,
    blocks,
    lever,
    misplacement,
    noise,
    normal_equations,
    place,
    solved,
    unmoved,
)
from analysis.spheres.viewpoints import pull, scanner_places, seen_from, sight_lines
from sim.core.arrays import Floats, Ints

SumsOf = Callable[[SphereCandidate, Placement], tuple[Floats, Floats]]


def joint_radius(
    accepted: list[SphereCandidate], placed: Placement, sums: SumsOf
) -> tuple[float, float]:
    """Radius and its standard deviation, mm, whatever radius was stated.

    The prior of each view is the scanner's pose, with the sd `VIEWS.misplaced_mm`.

    Parameters
    ----------
    accepted : spheres, fitted with the stated radius
    placed : the views, placed with it
    sums : the blocks A (v, 4, 4), g (v, 4) of a sphere, see
        `analysis.spheres.view_motions`
    """
    pivot, own = placed.pivot, 1 + 3 * len(accepted)
    reach = _reach(accepted, pivot)
    misplaced = np.repeat([VIEWS.misplaced_mm, VIEWS.misplaced_mm / reach], 3)
    weight = misplaced**-2.0
    prior = np.tile(weight, len(placed.motions))
    for _ in range(VIEWS.rounds):
        H, right = normal_equations(
            accepted, [sums(c, placed) for c in accepted], pivot
        )
        H[own:, own:] += np.diag(prior)
        right[own:] -= prior * placed.motions.ravel()
        inverse, rise = solved(H, right, own, weight)
        larger, moves = float(rise[0]), rise[1:own].reshape(-1, 3)
        accepted = [
            _moved_and_larger(c, by, larger)
            for c, by in zip(accepted, moves, strict=True)
        ]
        tau = rise[own:].reshape(-1, 6)
        placed = replace(placed, motions=placed.motions + tau)
    return accepted[0].fit.radius, float(np.sqrt(inverse[0, 0]))


def _moved_and_larger(c: SphereCandidate, by: Floats, larger: float) -> SphereCandidate:
    fit = replace(c.fit, centre=c.fit.centre + by, radius=c.fit.radius + larger)
    return replace(c, fit=fit)


def unmoved_radius(
    accepted: list[SphereCandidate], placed: Placement, sums: SumsOf, shared: float
) -> tuple[float, float]:
    """Radius and its sd, mm, from views at the scanner's own poses.

    The misplacement of views at that radius is estimated as in `place`; it raises all
    spheres together.

    Parameters
    ----------
    accepted, placed, sums : as in `joint_radius`
    shared : factor on the variance from single points
    """
    still = replace(placed, motions=np.zeros_like(placed.motions))
    own = accepted
    for _ in range(VIEWS.rounds):
        rise, variance, gain = [], [], []
        for c in own:
            A, g = sums(c, still)
            inverse = np.linalg.inv(A.sum(axis=0))
            rise.append(inverse @ g.sum(axis=0))
            variance.append(inverse[3, 3] * noise(c, A) * shared)
            raised = A[:, :, :3] @ lever(c, placed.pivot)  # (v, 4, 6) by its motion
            gain.append(inverse[3] @ raised.transpose(1, 0, 2).reshape(4, -1))
        weight = 1.0 / np.array(variance)
        larger = float(weight @ np.array(rise)[:, 3] / weight.sum())
        own = [
            _moved_and_larger(c, by[:3], larger)
            for c, by in zip(own, rise, strict=True)
        ]
    radius = own[0].fit.radius
    moved = (weight @ np.array(gain) / weight.sum()).reshape(-1, 6)
    off = radius - accepted[0].fit.radius
    at = [(A, g - off * A[:, :, 3]) for A, g in (sums(c, placed) for c in accepted)]
    H, right = normal_equations(accepted, at, placed.pivot)
    reach = _reach(accepted, placed.pivot)
    sd = misplacement(H[1:, 1:], right[1:], 3 * len(own), placed.motions, reach)
    square = 1.0 / weight.sum() + ((moved * sd) ** 2).sum()
    return radius, float(np.sqrt(square))


def shared_radius(
    joint: tuple[float, float], unmoved: tuple[float, float]
) -> tuple[float, float]:
    """Radius and its sd, mm, if neighbouring points share errors.

    With views that slide along their lines of sight, only the change of heights over
    the incidence determines the radius, which shared errors falsify. So the result of
    `joint_radius` counts only if it agrees with that of views that do not slide.
    """
    (a, sd_a), (b, sd_b) = joint, unmoved
    if abs(a - b) > SHARED.certain * np.hypot(sd_a, sd_b):
        return unmoved
    weights = np.array([sd_a, sd_b]) ** -2.0
    return float(weights @ [a, b] / weights.sum()), float(weights.sum() ** -0.5)


def mean_radius(accepted: list[SphereCandidate]) -> float:
    """Of the free radii of spheres, weighted as their sd say, mm."""
    weight = np.array([c.fit.free_radius_sd for c in accepted]) ** -2.0
    return float(weight @ [c.fit.free_radius for c in accepted] / weight.sum())


def _reach(accepted: list[SphereCandidate], pivot: Floats) -> float:
    return max(float(np.linalg.norm(c.fit.centre - pivot)) for c in accepted)


@dataclass(frozen=True, eq=False)
class Polished:
    """The refitted spheres, and the covariance of all."""

    accepted: list[SphereCandidate]
    placed: Placement | None  # the views, where they are known
    covariance: Floats  # (3 m, 3 m) mm^2
    lost: list[Rejected]  # candidates that the last fit rejects
    excess: Excess | None
    radius: tuple[float, float] | None  # common to all spheres, and its sd, mm


def polish(
    accepted: list[SphereCandidate],
    points: Floats,
    view: Ints | None,
    origins: Floats | None,
    options: PickOptions,
    bias: FusionBias | None = None,
    moved: Sequence[RigidMotion] = (),
) -> Polished:
    """Fit all spheres again with adjusted views and shared errors.

    Parameters
    ----------
    accepted : accepted spheres
    points : (n, 3) mm
    view : (n,) view of each point, if known
    origins : (v, 3) where the scanner stood for each view, if known
    bias : of a fused mesh, which has no lines of sight
    moved : by which the points of each view were moved before, if they were
    """
    if view is None and origins is not None and len(origins) == 1:
        view = np.zeros(len(points), dtype=np.int64)
    placed, joint = None, None
    if view is None or not accepted:
        fits = (_refit(c, points) for c in accepted)
        accepted, lost = _sorted_out(accepted, fits, options)
    else:
        if origins is None and bias is None:
            views = int(view.max()) + 1
            origins = scanner_places(accepted, points, view, views)
        scan = _ViewedScan(points, view, origins, moved)
        accepted, placed, joint, lost = _with_placed_views(scan, accepted, options)
    growth, sight = np.zeros((3 * len(accepted), 3 * len(accepted))), origins
    if origins is None and bias is None and accepted:
        viewpoints = seen_from(accepted, points)
        accepted, growth = _without_pull(accepted, points, viewpoints)
        if view is None and len(viewpoints):
            sight = merge_close(viewpoints)
    if placed is None or view is None:
        seen: Seen = [points[c.points] for c in accepted], None
    else:
        each = [view[c.points] for c in accepted]
        seen = [placed.move(points[c.points], view[c.points]) for c in accepted], each
    shared = with_shared_errors(
        accepted, placed, joint, seen, sight if bias is None else None, growth
    )
    covariance = budget(shared, accepted, joint is not None, options, bias)
    sd = shared.radius_sd
    radius = None if sd is None else (mean_radius(accepted), sd)
    if joint is not None:
        radius = _radius_of_views(accepted, joint[0], scan.sums, shared.excess)
    return Polished(accepted, placed, covariance, lost, shared.excess, radius)


@dataclass(frozen=True, eq=False)
class _ViewedScan:
    """Points, the view that saw each, and where its scanner stood, if that is known."""

    points: Floats
    view: Ints
    origins: Floats | None
    moved: Sequence[RigidMotion]

    def around(
        self, c: SphereCandidate, placed: Placement
    ) -> tuple[Floats, Floats, Ints]:
        """Points around a sphere (k, 3) where their views belong, the unit vectors from
        the scanner to each, and their views."""
        seen = self.view[c.near]
        x = placed.move(self.points[c.near], seen)
        sight = BLIND if self.origins is None else sight_lines(x, seen, self.origins)
        return x, sight, seen

    def refit(self, c: SphereCandidate, placed: Placement, last: bool) -> Fit | None:
        """The same sphere fitted to points moved with their views."""
        x, sight, _ = self.around(c, placed)
        theta = np.append(c.fit.centre, c.fit.radius)
        return refine(x, theta, c.fit.scale, sight, rounds=1 + last, last=last)

    def sums(self, c: SphereCandidate, placed: Placement) -> tuple[Floats, Floats]:
        """The blocks A (v, 4, 4) and g (v, 4) of a sphere."""
        x, sight, seen = self.around(c, placed)
        theta = np.append(c.fit.centre, c.fit.radius)
        views = len(placed.motions)
        return blocks(x, c.fit.used, sight, theta, c.fit.scale, seen, views)


def _with_placed_views(
    scan: _ViewedScan, accepted: list[SphereCandidate], options: PickOptions
) -> tuple[
    list[SphereCandidate], Placement, tuple[Placement, Sums] | None, list[Rejected]
]:
    """Adjust spheres and views in turn.

    Returns
    -------
    spheres; views; views with their blocks, if spheres are enough; rejected candidates
    """
    views = int(scan.view.max()) + 1
    pivot = np.mean([c.fit.centre for c in accepted], axis=0)
    placed = unmoved(views, pivot, scan.moved)
    lost, joint = [], None
    for round_ in range(VIEWS.rounds):
        last = round_ == VIEWS.rounds - 1
        fits = (scan.refit(c, placed, last) for c in accepted)
        accepted, more = _sorted_out(accepted, fits, options if last else None)
        lost += more
        joint = None
        if views > 1 and len(accepted) >= VIEWS.fewest:
            sums = [scan.sums(c, placed) for c in accepted]
            placed = place(accepted, sums, placed)
            joint = placed, sums
    return accepted, placed, joint, lost


def _radius_of_views(
    accepted: list[SphereCandidate],
    placed: Placement,
    sums: SumsOf,
    excess: Excess | None,
) -> tuple[float, float]:
    """Radius and its sd, mm: of views that slide, where no errors are shared."""
    free = joint_radius(accepted, placed, sums)
    if excess is None:
        return free
    times = max(min(excess.ratio, excess.but_radius), 1.0)
    if placed.before.any():  # the stated poses are wrong
        return free[0], float(np.sqrt(times)) * free[1]
    still = unmoved_radius(accepted, placed, sums, times)
    return shared_radius((free[0], float(np.sqrt(times)) * free[1]), still)


def _sorted_out(
    accepted: list[SphereCandidate],
    fits: Iterable[Fit | None],
    options: PickOptions | None,
) -> tuple[list[SphereCandidate], list[Rejected]]:
    """The candidates with their new fits, and those that fail with them.

    Without options only those without a fit fail.
    """
    passed, lost = [], []
    for c, fit in zip(accepted, fits, strict=True):
        if fit is None:
            lost.append(
                c.rejected(RejectionReason.POINTS, "too few remain in the joint fit")
            )
            continue
        fitted = replace(c, fit=fit)
        wrong = fault(fitted, options) if options else None
        if wrong is None:
            passed.append(fitted)
        else:
            lost.append(wrong)
    return passed, lost


def _refit(c: SphereCandidate, points: Floats) -> Fit | None:
    """The same sphere fitted again from where it is."""
    theta = np.append(c.fit.centre, c.fit.radius)
    return refine(points[c.near], theta, c.fit.scale, BLIND, rounds=2, last=True)


def _without_pull(
    accepted: list[SphereCandidate], points: Floats, views: Floats
) -> tuple[list[SphereCandidate], Floats]:
    """Correct the bias towards scanners whose places are not stated.

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
    """The sphere elsewhere, by a distance that has an error itself."""
    covariance = c.fit.covariance + VIEWPOINTS.pull_error**2 * np.outer(by, by)
    return replace(
        c, fit=replace(c.fit, centre=c.fit.centre + by, covariance=covariance)
    )
