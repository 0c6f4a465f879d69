"""Detect spheres of one radius: peaks of the votes are fitted and checked.

A second pass over the unexplained points uses finer voxels, since the patches of small
caps are no wider than the neighbourhoods of the first normals.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from analysis.spheres.centre_fit import BLIND, Fit, fit_sphere, refine
from analysis.spheres.centre_votes import Surface, peaks, radial, surface
from analysis.spheres.detections import PickOptions, Rejected, RejectionReason
from analysis.spheres.form_deviation import far_wall, free_ways, lengthwise, on_wall
from analysis.spheres.sphere_criteria import (
    SphereCandidate,
    fault,
    in_line,
    odd_ones,
    rivals,
    spread,
    typical_rms,
    visible_cap,
)
from analysis.spheres.thresholds import FUSED, JUDGE, SEARCH
from analysis.spheres.voxel_grid import Int32s, holding, members, within
from sim.core.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Scan:
    """Points with their surface; `near` finds neighbourhoods."""

    points: Floats
    surface: Surface
    first: Ints
    order: Int32s
    fused: bool  # of a mesh

    def near(self, centre: Floats, reach: float) -> Ints:
        g = self.surface.grid
        return within(
            self.points, g.low, g.h, g.keys, self.first, self.order, centre, reach
        )


def search(
    points: Floats, R: float, options: PickOptions
) -> tuple[list[SphereCandidate], list[Rejected]]:
    """Return the spheres of radius R and the candidates that are none.

    Parameters
    ----------
    points : (n, 3) mm
    R : radius, mm
    """
    scan = _scan(points, R, options)
    accepted: list[SphereCandidate] = []
    rejected: list[Rejected] = []
    _try_all(scan, _starts(scan.surface, R, options), R, options, accepted, rejected)
    rest = _rest(scan, accepted, R)
    if rest is not None:
        _try_all(scan, _starts(rest, R, options), R, options, accepted, rejected)
    accepted, double = rivals(accepted, FUSED.apart * R if scan.fused else 0.0)
    accepted, ends = _without_ends(scan, accepted, options)
    accepted, odd = odd_ones(accepted, options)
    return accepted, rejected + double + ends + odd


def _scan(points: Floats, R: float, options: PickOptions) -> Scan:
    """The points in voxels, whose members tell the voxel of each point as well."""
    voxels = surface(points, R / SEARCH.finest, R / SEARCH.coarsest)
    first, order = members(voxels.grid.cube, len(voxels.grid.keys))
    lean = replace(voxels, grid=replace(voxels.grid, cube=order[:0]))
    return Scan(points, lean, first, order, options.fused)


def _starts(voxels: Surface, R: float, options: PickOptions) -> Floats:
    """Where the votes meet, best first."""
    fewest = max(8.0, 0.3 * options.min_cap * 4 * np.pi * (R / voxels.grid.h) ** 2)
    return peaks(voxels, R, fewest, 0.5 * options.min_cap)[0]


def _rest(scan: Scan, accepted: list[SphereCandidate], R: float) -> Surface | None:
    """Finer voxels of what no sphere explains, if that is enough for one."""
    left = scan.points[_unexplained(scan, accepted)]
    if len(left) < JUDGE.fewest:
        return None
    return surface(left, R / SEARCH.finest_again, R / SEARCH.coarsest_again)


def _unexplained(scan: Scan, accepted: list[SphereCandidate]) -> Bools:
    """Points on no sphere and on no plane."""
    left = np.empty(len(scan.points), np.bool_)
    curved = scan.surface.bent | ~scan.surface.flat
    left[scan.order] = np.repeat(curved, np.diff(scan.first))
    for c in accepted:
        left[c.on_surface] = False
    return left


def _try_all(
    scan: Scan,
    starts: Floats,
    R: float,
    options: PickOptions,
    accepted: list[SphereCandidate],
    rejected: list[Rejected],
) -> None:
    """Fit candidates, best first, until many in a row are no new spheres.

    Appends to `accepted` and `rejected`; what is close to one of them is not tried
    again.
    """
    centres = np.full((len(accepted) + len(starts), 3), np.inf)
    centres[: len(accepted)] = np.array([c.fit.centre for c in accepted]).reshape(-1, 3)
    tried = np.array([r.centre for r in rejected]).reshape(-1, 3)
    vain = 0
    for start in starts:
        if vain == SEARCH.patience:
            break
        if _nearest(centres, start) < 0.3 * R or _nearest(tried, start) < 0.1 * R:
            continue
        vain += 1
        typical = typical_rms(accepted) if len(accepted) >= SEARCH.telling else np.nan
        candidate = _candidate(scan, start, R)
        wrong = _wrong(candidate, start, typical, options)
        if wrong is not None and candidate and np.isfinite(typical):
            candidate, wrong = _again(candidate, scan, start, typical, options)
        if wrong is None and candidate:
            candidate = _with_all(candidate, scan)
            wrong = _wrong(candidate, start, typical, options)
        if wrong is not None or candidate is None:
            rejected += [wrong] if wrong else []
        elif _nearest(centres, candidate.fit.centre) > 0.1 * R:
            centres[len(accepted)] = candidate.fit.centre
            accepted.append(candidate)
            vain = 0


def _again(
    c: SphereCandidate, scan: Scan, start: Floats, typical: float, options: PickOptions
) -> tuple[SphereCandidate, Rejected | None]:
    """The fit with the noise of the other spheres of the scan.

    It starts at the first fit, unless that is on no surface, and at the peak of the
    votes: with large attached parts the wide gates of a first fit lead it astray.
    """
    for place in (c.fit.centre, start):
        if place is c.fit.centre and c.fit.rms > SEARCH.scattered * c.fit.radius:
            continue
        rough = SEARCH.hopeless * typical
        again = _refitted(c, scan, place, typical, rounds=3, roughest=rough)
        wrong = _wrong(again, start, typical, options)
        if again and wrong is None:
            return again, None
    return c, _wrong(c, start, typical, options)


def _with_all(c: SphereCandidate, scan: Scan) -> SphereCandidate | None:
    """The fit with all points around where it is."""
    near = scan.near(c.fit.centre, SEARCH.reach * c.fit.radius)
    facing = _facing(scan, near, scan.points[near] - c.fit.centre)
    whole = replace(c, near=near, facing=facing)
    new = _refitted(whole, scan, c.fit.centre, c.fit.scale, rounds=1)
    if new is None:
        return None
    x = scan.points[near] - new.fit.centre
    wall = on_wall(new.fit, x, new.beyond)
    return replace(new, lengthwise=lengthwise(new.fit, x, new.facing), wall=wall)


def _without_ends(
    scan: Scan, candidates: list[SphereCandidate], options: PickOptions
) -> tuple[list[SphereCandidate], list[Rejected]]:
    """Reject ends of tubes whose wall is visible only farther away."""
    fits = [c.fit for c in candidates]
    centres = np.array([fit.centre for fit in fits]).reshape(-1, 3)
    judged = []
    for c in candidates:
        apart = np.linalg.norm(centres - c.fit.centre, axis=1) / c.fit.radius
        others = [fits[k] for k in np.flatnonzero(apart < JUDGE.far + 3.0)]
        known = options.accepts(c.fit.centre)
        end = None if known else in_line(c, _far(c, scan, others), scan.fused)
        judged.append((c, end))
    passed = [c for c, wrong in judged if wrong is None]
    return passed, [wrong for _, wrong in judged if wrong is not None]


def _far(c: SphereCandidate, scan: Scan, others: list[Fit]) -> int:
    """Points on a tube in line with it, however far, that are of no other sphere
    near."""
    ways = free_ways(c.fit, scan.points[c.near] - c.fit.centre)
    if not len(ways):
        return 0
    reach = np.hypot(1.0, JUDGE.far) * c.fit.radius
    x = scan.points[scan.near(c.fit.centre, reach)] - c.fit.centre
    return far_wall(c.fit, x, ways, others)


def _refitted(
    c: SphereCandidate,
    scan: Scan,
    place: Floats,
    scale: float,
    *,
    rounds: int,
    roughest: float = np.inf,
) -> SphereCandidate | None:
    """The fit from another place and scale."""
    theta = np.append(place, c.fit.radius)
    x = scan.points[c.near]
    fit = refine(x, theta, scale, BLIND, rounds=rounds, roughest=roughest)
    if fit is None:
        return None
    cap, width = _extent(x, fit)
    return _creased(replace(c, fit=fit, cap=cap, spread=width), scan)


def _wrong(
    c: SphereCandidate | None, start: Floats, typical: float, options: PickOptions
) -> Rejected | None:
    """Why a candidate is no sphere like those found before it."""
    if c is None:
        detail = "no sphere fits the points around this position"
        return Rejected(start, RejectionReason.POINTS, detail, 0)
    return fault(c, options, typical)


def _nearest(centres: Floats, at: Floats) -> float:
    return float(np.sqrt(((centres - at) ** 2).sum(axis=1).min(initial=np.inf)))


def _candidate(scan: Scan, start: Floats, R: float) -> SphereCandidate | None:
    """Fit some of the points around a place where a sphere may be."""
    near = scan.near(start, SEARCH.reach * R)
    near = near[:: 1 + len(near) // SEARCH.most_points]
    x = scan.points[near]
    facing = _facing(scan, near, x - start)
    fit = fit_sphere(x, start, R, facing)
    if fit is None:
        return None
    cap, width = _extent(x, fit)
    return _creased(SphereCandidate(fit, near, facing, cap, width), scan)


def _creased(c: SphereCandidate, scan: Scan) -> SphereCandidate:
    """The candidate, of which what rises faces it by its nearest points too.

    Normals of voxels round the creases between a sphere and its clamps, so that clamps
    seem to go on with it as a tube does.
    """
    if len(c.rising) <= JUDGE.beyond * len(c.points):
        return c
    x = scan.points[c.near] - c.fit.centre
    some = x[:: 1 + len(x) // SEARCH.most_points]
    rising = x[c.rising]
    many = (FUSED if scan.fused else JUDGE).nearest
    _, nearest = cKDTree(some).query(rising, min(many, len(some)))
    from_middle = some[nearest] - some[nearest].mean(axis=1, keepdims=True)
    spread = np.einsum("kia,kib->kab", from_middle, from_middle)
    normals = np.linalg.eigh(spread)[1][:, :, 0]
    along = np.abs(np.einsum("ij,ij->i", normals, rising))
    facing = c.facing.copy()
    facing[c.rising] &= along > SEARCH.radial * np.linalg.norm(rising, axis=1)
    return replace(c, facing=facing)


def _extent(x: Floats, fit: Fit) -> tuple[float, float]:
    """Visible cap and spread of a fit's points."""
    seen = x[fit.used]
    if not len(seen):
        return 0.0, 0.0
    return visible_cap(seen, fit.centre), spread(seen, fit.centre)


def _facing(scan: Scan, near: Ints, x: Floats) -> Bools:
    """Which points lie on a surface whose normal points to the centre at zero."""
    g = scan.surface.grid
    voxel = holding(scan.points, near, g.low, g.h, g.keys)
    return radial(scan.surface.normals, scan.surface.flat, voxel, x, SEARCH.radial)
