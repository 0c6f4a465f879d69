"""How well views lie on each other, by the centres of the spheres that they share.

Each view alone gives centres y_iv of spheres i. Motions T_v and centres x_i follow
from the least sum of w_iv |T_v y_iv - x_i|^2, solved for both in turn; weights fall
where a centre does not fit (Huber). A view that is off by more than the noise of its
points spoils the detection in the merged cloud, so its points are moved first. The
adjustment of all points (`viewpoints`) then finds what is left of all motions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from analysis.alignment import RigidMotion, fit_rigid_motion
from analysis.spheres.centre_fit import MAD, fit_sphere
from analysis.spheres.detections import PickOptions, ViewRegistration
from analysis.spheres.joint_adjustment import Polished
from analysis.spheres.sphere_criteria import SphereCandidate, typical_rms
from analysis.spheres.spheres_of_one_radius import search
from analysis.spheres.thresholds import JUDGE, REGISTRATION, SHARED
from analysis.spheres.view_motions import lever
from sim.core.arrays import Bools, Floats, Ints, connected

STAYS = RigidMotion(np.eye(3), np.zeros(3))


@dataclass(frozen=True, eq=False)
class ViewCentres:
    """Centres (m, v, 3) and their sd (m, v), mm; nan where a view sees no sphere."""

    centre: Floats
    sd: Floats
    noise: float = 0.0  # rms of the points of half of these fits, mm

    @property
    def shared(self) -> Bools:
        """(m, v) which ones another view sees too."""
        seen = np.isfinite(self.sd)
        return np.asarray(seen & (seen.sum(axis=1, keepdims=True) > 1))


def misplaced_views(
    points: Floats,
    view: Ints,
    accepted: list[SphereCandidate],
    options: PickOptions,
) -> list[RigidMotion]:
    """The motions that lay views on each other; none where they do so already.

    Spheres of the merged cloud show whether views agree. If they do not, or are too
    few, spheres are looked for in each view alone.

    Parameters
    ----------
    points : (n, 3) mm
    view : (n,) of each point
    accepted : spheres of the merged cloud
    """
    views = int(view.max()) + 1
    seen = centres_by_view(accepted, points, view, views)
    few = seen.shared.sum(axis=0).min() < REGISTRATION.fewest
    if not few and _farthest(seen, _motions(seen)) < REGISTRATION.far * seen.noise:
        return []
    own = [
        search(points[view == v], options.radius_mm, options)[0] for v in range(views)
    ]
    motions = [STAYS] * views
    for _ in range(REGISTRATION.matches):
        alone = _matched(own, motions, REGISTRATION.same * options.radius_mm)
        motions = _motions(alone)
    if _farthest(alone, motions) <= REGISTRATION.far * alone.noise:
        return []
    return motions


def centres_by_view(
    accepted: list[SphereCandidate], points: Floats, view: Ints, views: int
) -> ViewCentres:
    """Each sphere fitted to the points of each view alone."""
    centre = np.full((len(accepted), views, 3), np.nan)
    rms = []
    sd = np.full((len(accepted), views), np.nan)
    for i, c in enumerate(accepted):
        x, number = points[c.near], view[c.near]
        many = np.bincount(number[c.facing], minlength=views)
        for v in np.flatnonzero(many >= JUDGE.fewest):
            own = number == v
            fit = fit_sphere(x[own], c.fit.centre, c.fit.radius, c.facing[own])
            if fit is not None and fit.settled and fit.used.sum() >= JUDGE.fewest:
                centre[i, v], sd[i, v] = fit.centre, _sd(fit.covariance)
                rms.append(fit.rms)
    return ViewCentres(centre, sd, float(np.median(rms or [0.0])))


def _sd(covariance: Floats) -> float:
    return float(np.sqrt(np.trace(covariance) / 3.0))


def _matched(
    found: list[list[SphereCandidate]], motions: list[RigidMotion], reach: float
) -> ViewCentres:
    """Spheres of single views that are one, being within `reach` after the motions."""
    number = np.repeat(np.arange(len(found)), [len(own) for own in found])
    fits = [c.fit for own in found for c in own]
    y = np.array([fit.centre for fit in fits]).reshape(-1, 3)
    moved = np.array([motions[v](at) for v, at in zip(number, y, strict=True)])
    pairs = cKDTree(moved.reshape(-1, 3)).query_pairs(reach, output_type="ndarray")
    many, sphere = connected(pairs, len(y))
    centre, sd = (
        np.full((many, len(found), 3), np.nan),
        np.full((many, len(found)), np.nan),
    )
    for i in range(many):
        own = np.flatnonzero(sphere == i)
        if len(np.unique(number[own])) == len(own):
            centre[i, number[own]] = y[own]
            sd[i, number[own]] = [_sd(fits[k].covariance) for k in own]
    noise = float(np.median([fit.rms for fit in fits] or [0.0]))
    return ViewCentres(centre, sd, noise)


def _motions(seen: ViewCentres) -> list[RigidMotion]:
    """The motion of each view, in the frame of the one that agrees best with others.

    Views that share too few spheres stay.
    """
    tied = seen.shared
    y, weight = seen.centre, np.where(tied, seen.sd, np.inf) ** -2.0
    motions = [STAYS] * y.shape[1]
    if not tied.any():
        return motions
    spheres = tied.any(axis=1)
    y, weight, tied = y[spheres], weight[spheres], tied[spheres]
    moved, x = y, np.nanmedian(np.where(tied[:, :, None], y, np.nan), axis=1)
    for _ in range(REGISTRATION.rounds):
        off = np.linalg.norm(moved - x[:, None], axis=2) * np.sqrt(weight)
        gate = 3.0 * max(1.0, MAD * float(np.median(off[tied])))
        w = np.where(tied, weight / np.maximum(off / gate, 1.0), 0.0)
        before = moved
        for v in np.flatnonzero(tied.sum(axis=0) >= REGISTRATION.fewest):
            own = tied[:, v]
            motions[v] = fit_rigid_motion(y[own, v], x[own], w[own, v])
        moved = np.stack([motion(y[:, v]) for v, motion in enumerate(motions)], axis=1)
        x = np.nansum(w[:, :, None] * moved, axis=1) / w.sum(axis=1)[:, None]
        if np.nanmax(np.abs(moved - before)) < REGISTRATION.settled * np.nanmin(
            seen.sd
        ):
            break
    return _in_best_frame(motions, x)


def _in_best_frame(motions: list[RigidMotion], x: Floats) -> list[RigidMotion]:
    """Motions relative to the view from which the others differ least at x (m, 3)."""
    first = motions[_middle(np.array([motion.back(x) for motion in motions]))]
    return [
        RigidMotion(first.rotation.T @ m.rotation, first.back(m.translation))
        for m in motions
    ]


def _middle(places: Floats) -> int:
    """Of views that have spheres at places (v, m, 3), the one least far from others."""
    apart = np.linalg.norm(places[:, None] - places, axis=3).mean(axis=2)
    return int(apart.sum(axis=1).argmin())


def _farthest(seen: ViewCentres, motions: Sequence[RigidMotion]) -> float:
    """The largest rms distance by which a motion moves its shared spheres, mm."""
    far = [0.0]
    for v, motion in enumerate(motions):
        y = seen.centre[seen.shared[:, v], v]
        if len(y):
            far.append(float(np.sqrt(((motion(y) - y) ** 2).sum(axis=1).mean())))
    return max(far)


def in_place(
    points: Floats,
    view: Ints,
    origins: Floats | None,
    motions: list[RigidMotion],
) -> tuple[Floats, Floats | None]:
    """Points and places of the scanner, moved with their views."""
    moved = points.astype(np.float64)
    for v, motion in enumerate(motions):
        moved[view == v] = motion(moved[view == v])
    if origins is None:
        return moved, None
    return moved, np.array([m(o) for m, o in zip(motions, origins, strict=True)])


def registrations(
    last: Polished, seen: Bools, numbers: Ints, radius_mm: float
) -> tuple[ViewRegistration, ...]:
    """How far each view lies off the one that agrees best with the others.

    Parameters
    ----------
    last : the adjustment of all points
    seen : (m, v) whether a view sees a sphere
    numbers : of its views
    radius_mm : that was stated
    """
    placed, accepted = last.placed, last.accepted
    if placed is None or not len(placed.of_motions):
        return ()
    seen = seen[:, numbers] & (seen.sum(axis=1, keepdims=True) > 1)
    K = np.array([lever(c, placed.pivot) for c in accepted])
    first = _middle(np.einsum("iab,vb->via", K, placed.total))
    times = max(last.excess.ratio, 1.0) if last.excess else 1.0
    radius, sd_radius = last.radius or (radius_mm, 0.0)
    typical = typical_rms(accepted)
    found = []
    for v, number in enumerate(numbers):
        pick = np.zeros((6, placed.of_motions.shape[0]))
        pick[:, 6 * first : 6 * first + 6] -= np.eye(6)
        pick[:, 6 * v : 6 * v + 6] += np.eye(6)
        motion = placed.total[v] - placed.total[first]
        covariance = times * pick @ placed.of_motions @ pick.T
        own = K[seen[:, v]] if seen[:, v].any() else K
        off = np.sqrt(((own @ motion) ** 2).sum(axis=1).mean())
        square = np.einsum("iab,bc,iac->i", own, covariance, own).mean()
        noise = np.hypot(np.sqrt(square), REGISTRATION.slides * sd_radius)
        slide = REGISTRATION.slides * abs(radius - radius_mm)
        allowed = max(SHARED.certain * noise, REGISTRATION.odd * typical) + slide
        many = int(seen[:, v].sum())
        found.append(
            ViewRegistration(int(number), many, motion, covariance, float(off), allowed)
        )
    return tuple(found)
