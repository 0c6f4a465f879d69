"""Find the spheres of a point cloud without manual input.

`common_radius` finds the radius of the spheres if only a range is known. `other_size`
finds spheres of another size, so that a message can name it.

`facing_fits` takes the points that face the scanner. At steep incidence a scanner's
beam is wide on the surface, and mixes it with what is behind: ASTM E3125 therefore fits
the points inside a cone of 120 degrees about the line of sight, with the radius held.
Errors along the beam are not independent from point to point, as they come from
texture, temperature and the electronics of a scan line, so

    u^2 = s^2 (J^T J)^-1 n / n_eff,   n_eff = n / (1 + 2 sum of correlations)

where the correlation of residuals is taken over neighbours on the surface.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import KDTree, cKDTree

from analysis.alignment import RigidMotion
from analysis.spheres.centre_covariance import fusion_bias
from analysis.spheres.centre_fit import BLIND, MAD, heights, minimise
from analysis.spheres.detections import (
    FittedSphere,
    PickOptions,
    Picks,
    Rejected,
    RejectionReason,
)
from analysis.spheres.joint_adjustment import polish
from analysis.spheres.registration import in_place, misplaced_views, registrations
from analysis.spheres.sphere_criteria import SphereCandidate, typical_rms
from analysis.spheres.spheres_of_one_radius import search
from analysis.spheres.thresholds import BIWEIGHT, FIT, JUDGE, OTHERS, RADIUS
from sim.core.arrays import Bools, Floats, Ints


def common_radius(points: Floats, options: PickOptions) -> float | None:
    """Return the radius for which most of the scan lies on spheres; None without any.

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
    """Sum of (cap R)^2 over unobstructed spheres of equal radius, mm^2.

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


def find_spheres(
    points: Floats,
    options: PickOptions,
    view: Ints | None = None,
    origins: Floats | None = None,
) -> Picks:
    """Return the spheres of a scan with covariances, and the rejected candidates.

    Parameters
    ----------
    points : (n, 3) scan points, mm, finite, in any order
    options : the radius and what makes a sphere acceptable
    view : (n,) number of the view that saw each point; None for a merged cloud.
        With two or more views the centres and one rigid motion a view are
        adjusted together. Numbers may have gaps.
    origins : (v, 3) where the scanner stood for each view, mm, if that is known;
        else it is found from the caps each view sees. One origin needs no `view`.
    """
    numbers = np.arange(1) if view is None else np.flatnonzero(np.bincount(view))
    if view is not None and len(numbers) <= view.max(initial=0):
        view = np.searchsorted(numbers, view)
        origins = None if origins is None else origins[numbers]
    if len(points) < JUDGE.fewest:
        return Picks((), (), np.zeros((0, 0)), np.nan)
    if options.radius_max_mm is not None:
        radius = common_radius(points, options)
        if radius is None:
            middle = float(np.sqrt(options.radius_mm * options.radius_max_mm))
            rejected = search(points, middle, options)[1]
            return Picks((), tuple(rejected), np.zeros((0, 0)), np.nan)
        options = replace(options, radius_mm=radius, radius_max_mm=None)
    accepted, rejected = search(points, options.radius_mm, options)
    bias = None
    if options.fused:
        bias = fusion_bias(accepted, options.radius_mm)
    if bias is not None:
        options = replace(options, radius_mm=bias.radius_mm)
        accepted, rejected = search(points, bias.radius_mm, options)
    moved: list[RigidMotion] = []
    if view is not None and len(numbers) > 1:
        moved = misplaced_views(points, view, accepted, options)
        if moved:
            points, origins = in_place(points, view, origins, moved)
            accepted, rejected = search(points, options.radius_mm, options)
    last = polish(accepted, points, view, origins, options, bias, moved)
    accepted, covariance, placed = last.accepted, last.covariance, last.placed
    spheres = tuple(
        _sphere(c, covariance[3 * k : 3 * k + 3, 3 * k : 3 * k + 3], view)
        for k, c in enumerate(accepted)
    )
    seen = _seen(accepted, view, numbers)
    return Picks(
        spheres,
        tuple(sorted(rejected + last.lost, key=lambda c: (not c.near, -c.points))),
        covariance,
        typical_rms(accepted),
        motions=() if placed is None else placed.listed(numbers),
        registrations=registrations(last, seen, numbers, options.radius_mm),
        seen=seen,
        excess=last.excess,
        fusion=bias,
        joint_radius=last.radius,
    )


def _seen(accepted: list[SphereCandidate], view: Ints | None, numbers: Ints) -> Bools:
    """(m, v) whether a view has enough points on a sphere to locate it.

    Parameters
    ----------
    view : of each point, without gaps
    numbers : that its views had, in ascending order
    """
    if view is None:
        return np.zeros((0, 0), dtype=np.bool_)
    seen = np.zeros((len(accepted), numbers[-1] + 1), dtype=np.bool_)
    for own, c in zip(seen, accepted, strict=True):
        points = np.bincount(view[c.points], minlength=len(numbers))
        own[numbers] = points >= JUDGE.fewest
    return seen


def _sphere(c: SphereCandidate, covariance: Floats, view: Ints | None) -> FittedSphere:
    return FittedSphere(
        centre=c.fit.centre,
        covariance=covariance,
        radius=c.fit.radius,
        rms=c.fit.rms,
        points=len(c.points),
        free_radius=c.fit.free_radius,
        free_radius_sd=c.fit.free_radius_sd,
        cap=c.cap,
        views=1 if view is None else len(np.unique(view[c.points])),
    )


SUSPECTS = (
    RejectionReason.RADIUS,
    RejectionReason.RMS,
    RejectionReason.CAP,
    RejectionReason.POINTS,
    RejectionReason.NORMALS,
)


@dataclass(frozen=True)
class OtherSize:
    """Some spheres of one radius, mm."""

    radius: float
    spread: float  # standard deviation of their radii
    many: int

    def __str__(self) -> str:
        return (
            f"{self.many} spheres of radius {self.radius:.2f} +- {self.spread:.2g} mm"
        )


def other_size(points: Floats, picks: Picks, radius: float) -> OtherSize | None:
    """The commonest size among rejected candidates that are round, if there is one.

    Parameters
    ----------
    points : (n, 3) of the scan, mm
    radius : that was looked for, mm
    """
    suspects = _suspects(picks, radius)
    if len(suspects) < OTHERS.fewest:
        return None
    points = points[:: 1 + len(points) // OTHERS.most_points]
    tree = KDTree(points)
    spheres: list[Floats] = []
    for candidate in suspects:
        fit = _round_near(points, tree, candidate.centre, radius)
        if fit is not None and all(
            np.linalg.norm(fit[:3] - other[:3]) > fit[3] for other in spheres
        ):
            spheres.append(fit)
    radii = np.array([fit[3] for fit in spheres])
    if len(radii) < OTHERS.fewest:
        return None
    near_median = np.abs(radii - np.median(radii)) < OTHERS.alike * np.median(radii)
    alike = radii[near_median]
    if len(alike) < OTHERS.fewest:
        return None
    return OtherSize(float(alike.mean()), float(alike.std(ddof=1)), len(alike))


def _suspects(picks: Picks, radius: float) -> list[Rejected]:
    """Rejected candidates that may be of another size, away from the spheres found."""
    usual = np.median([s.points for s in picks.spheres]) if picks.spheres else 0.0
    away = OTHERS.apart * radius
    suspects = [
        c
        for c in picks.rejected
        if c.reason in SUSPECTS
        and c.points > OTHERS.enough * usual
        and (np.linalg.norm(picks.centres - c.centre, axis=1) > away).all()
    ]
    return sorted(suspects, key=lambda c: -c.points)[: OTHERS.most]


def _round_near(
    points: Floats, tree: KDTree, place: Floats, radius: float
) -> Floats | None:
    """Centre and radius (4,) of what is roundest near a place, or None."""
    best, least = None, OTHERS.round
    for reach in OTHERS.reaches:
        near = points[tree.query_ball_point(place, reach * radius)]
        fit, roughness = round_fit(near)
        if roughness < least and OTHERS.smallest < fit[3] / radius < OTHERS.largest:
            best, least = fit, roughness
    return best


def round_fit(x: Floats) -> tuple[Floats, float]:
    """Centre and radius (4,) of the sphere that most of `x` (n, 3) lie on, and rms / R.

    Where too few points lie on any sphere the roughness is infinite.

    Starts from |x|^2 = 2 c.x + (R^2 - |c|^2), linear in c; then the biweight of the
    heights is least.
    """
    if len(x) < OTHERS.fewest_points:
        return np.zeros(4), np.inf
    origin = x.mean(axis=0)
    y, every = x - origin, np.ones(len(x), dtype=np.bool_)
    A = np.column_stack([2.0 * y, every])
    *c, k = np.linalg.lstsq(A, np.einsum("ij,ij->i", y, y), rcond=None)[0]
    theta = np.array([*c, np.sqrt(max(k + np.dot(c, c), 0.0))])
    for _ in range(OTHERS.rounds):
        scale = max(MAD * float(np.median(np.abs(heights(y, theta)))), 1e-9)
        theta, _ = minimise(y, every, BLIND, theta, scale, True, FIT.coarse)
    e = heights(y, theta)
    on = np.abs(e) < BIWEIGHT.tukey * scale
    rms, R = float(np.sqrt(np.mean(e[on] ** 2))) if on.any() else np.inf, theta[3]
    theta[:3] += origin
    return theta, (rms / R if on.mean() >= OTHERS.share and R > 0.0 else np.inf)


CONE = 60.0  # degrees from the line of sight, the half angle of ASTM E3125's cone
ROUNDS = 40
SETTLED = 1e-7  # mm that the centre moves in the last round, over its radius
FEWEST = 50  # points that face the scanner
REACH = 4.0  # robust scales beyond which a point is of something else
BINS = 12  # of distance on the surface, for the correlation of residuals
FARTHEST = 0.4  # of the reach of the points, up to which residuals are correlated


@dataclass(frozen=True, eq=False)
class FacingFit:
    """A sphere through the points that face the scanner.

    Parameters
    ----------
    centre : (3,) mm
    radius : mm, held or fitted
    covariance : (3, 3), or (4, 4) with the radius, mm^2, correlation counted
    points : used
    effective : how many independent ones they are worth
    """

    centre: Floats
    radius: float
    covariance: Floats
    points: int
    effective: float


def facing_fits(
    points: Floats, radius: float, origin: Floats, cone: float = CONE
) -> tuple[FacingFit, FacingFit]:
    """The largest sphere of a scan, with its radius held, and with it fitted.

    Parameters
    ----------
    points : (n, 3) mm
    radius : nominal, mm
    origin : (3,) where the scanner stood, mm
    cone : degrees from the line of sight within which points count

    Raises
    ------
    ValueError
        where the scan shows no sphere of that radius, or too few points face the
        scanner
    """
    picks = find_spheres(points, PickOptions(radius_mm=radius), None, origin[None])
    if not picks.spheres:
        raise ValueError(f"no sphere has radius {radius:g} mm: check radius and unit")
    first = max(picks.spheres, key=lambda one: one.points)
    near = np.linalg.norm(points - first.centre, axis=1) < 1.5 * radius
    start = np.append(first.centre, radius)
    limits = cone, REACH * first.rms
    held = _settled(points[near], start, origin, limits, free=False)
    return held, _settled(points[near], start, origin, limits, free=True)


def _settled(
    x: Floats, start: Floats, origin: Floats, limits: tuple[float, float], *, free: bool
) -> FacingFit:
    """Gauss-Newton's method; each round chooses anew which points count."""
    theta, cone_and_gate = start.copy(), limits
    for _ in range(ROUNDS):
        used, J, e = _facing(x, theta, origin, cone_and_gate)
        own = J if free else J[:, :3]
        step = np.linalg.lstsq(own, e, rcond=None)[0]
        theta[: len(step)] += step
        if np.abs(step).max() < SETTLED * theta[3]:
            break
    used, J, e = _facing(x, theta, origin, cone_and_gate)
    own = J if free else J[:, :3]
    effective = len(e) / _inflation(x[used], e)
    dof = max(len(e) - own.shape[1], 1)
    square = float(e @ e) / dof
    covariance = square * np.linalg.inv(own.T @ own) * len(e) / effective
    return FacingFit(theta[:3], float(theta[3]), covariance, len(e), effective)


def _facing(
    x: Floats, theta: Floats, origin: Floats, limits: tuple[float, float]
) -> tuple[Bools, Floats, Floats]:
    """Which points count (n,), their J (k, 4) and heights (k,) above the sphere."""
    d = x - theta[:3]
    r = np.linalg.norm(d, axis=1)
    u = d / r[:, None]
    sight = (origin - theta[:3]) / np.linalg.norm(origin - theta[:3])
    e = r - theta[3]
    cone, gate = limits
    used = (u @ sight > np.cos(np.deg2rad(cone))) & (np.abs(e) < gate)
    if used.sum() < FEWEST:
        raise ValueError(
            f"{int(used.sum())} points face the scanner within {cone:g} degrees: "
            f"{FEWEST} are needed"
        )
    return used, np.column_stack([u[used], np.ones(int(used.sum()))]), e[used]


def _inflation(x: Floats, e: Floats) -> float:
    """1 + the sum of the correlations of a residual with all others, 1 or more.

    Correlations are averaged in rings of distance, up to the first that is not
    positive: beyond it they are noise.
    """
    reach = FARTHEST * float(np.linalg.norm(x - x.mean(axis=0), axis=1).max())
    pairs = cKDTree(x).query_pairs(reach, output_type="ndarray")
    apart = np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)
    product = e[pairs[:, 0]] * e[pairs[:, 1]]
    ring = np.minimum((apart / reach * BINS).astype(np.int64), BINS - 1)
    count = np.bincount(ring, minlength=BINS)
    mean = np.bincount(ring, product, BINS) / np.maximum(count, 1) / np.mean(e**2)
    stop = int(np.argmax(mean <= 0)) if (mean <= 0).any() else BINS
    return 1.0 + 2.0 * float((mean * count)[:stop].sum()) / len(x)
