"""Where spheres of one radius are: peaks of the votes, each fitted and judged.

A second look at the points that nothing found so far explains takes finer voxels: the
patches of small caps are no wider than the neighbourhoods of the first normals.
"""

from dataclasses import dataclass, replace

import numpy as np

from analysis.spheres.biweight import BLIND
from analysis.spheres.fit import Fit, fit_sphere, refine
from analysis.spheres.grid import Int32s, members, within
from analysis.spheres.judge import (
    FEWEST,
    Candidate,
    fault,
    is_rough,
    odd_ones,
    rivals,
    spread,
    typical_rms,
    visible_cap,
)
from analysis.spheres.normals import Surface, surface
from analysis.spheres.picks import PickOptions, Reason, Rejected
from analysis.spheres.votes import peaks
from sim.arrays import Bools, Floats, Ints

FINEST = 6.0  # voxels a radius, where points are dense enough
COARSEST = 3.0  # voxels a radius, however sparse they are
AGAIN = (8.0, 5.0)  # the same for the second look
REACH = 1.5  # radii around a candidate from which points are taken
PATIENCE = 60  # candidates in a row that are no spheres: then a look is over
MOST = 2_000  # points that tell whether a candidate is a sphere
SCATTERED = 0.15  # rms over the radius of points that lie on nothing
HOPELESS = 3.5  # the same over that of other spheres, from which no fit recovers
TELLING = 4  # spheres that tell how rough spheres are
RADIAL = 0.75  # cosine between normal and radius on a sphere


@dataclass(frozen=True, eq=False)
class Scan:
    """Points with the surface they form, ready to be asked for neighbourhoods."""

    points: Floats
    surface: Surface
    first: Ints
    order: Int32s

    def near(self, centre: Floats, reach: float) -> Ints:
        g = self.surface.grid
        return within(
            self.points, g.low, g.h, g.slots, g.numbers, self.first, self.order,
            centre, reach,
        )  # fmt: skip


def search(
    points: Floats, R: float, options: PickOptions
) -> tuple[list[Candidate], list[Rejected]]:
    """Return the spheres of radius R and the candidates that are none.

    Parameters
    ----------
    points : (n, 3) mm
    R : radius, mm
    """
    voxels = surface(points, R / FINEST, R / COARSEST)
    scan = Scan(points, voxels, *members(voxels.grid.cube, len(voxels.grid.keys)))
    found: list[Candidate] = []
    rejected: list[Rejected] = []
    _try_all(scan, _starts(voxels, R, options), R, options, found, rejected)
    left = points[_unexplained(scan, found)]
    if len(left) >= FEWEST:
        voxels = surface(left, R / AGAIN[0], R / AGAIN[1])
        _try_all(scan, _starts(voxels, R, options), R, options, found, rejected)
    found, double = rivals(found)
    found, odd = odd_ones(found)
    return found, rejected + double + odd


def _starts(voxels: Surface, R: float, options: PickOptions) -> Floats:
    """Where the votes meet, best first."""
    fewest = max(8.0, 0.3 * options.min_cap * 4 * np.pi * (R / voxels.grid.h) ** 2)
    return peaks(voxels, R, fewest, 0.5 * options.min_cap)[0]


def _unexplained(scan: Scan, found: list[Candidate]) -> Bools:
    """Points on no sphere and on no plane."""
    seen = scan.surface
    left = (seen.bent | ~seen.flat)[seen.grid.cube]
    for c in found:
        left[c.on_surface] = False
    return np.asarray(left)


def _try_all(
    scan: Scan,
    starts: Floats,
    R: float,
    options: PickOptions,
    found: list[Candidate],
    rejected: list[Rejected],
) -> None:
    """Fit candidates, best first, until many in a row are no new spheres.

    Appends to `found` and `rejected`; what is close to one of them is not tried again.
    """
    centres = np.full((len(found) + len(starts), 3), np.inf)
    centres[: len(found)] = np.array([c.fit.centre for c in found]).reshape(-1, 3)
    tried = np.array([r.centre for r in rejected]).reshape(-1, 3)
    vain = 0
    for start in starts:
        if vain == PATIENCE:
            break
        if _gap(centres, start) < 0.3 * R or _gap(tried, start) < 0.1 * R:
            continue
        vain += 1
        typical = typical_rms(found) if len(found) >= TELLING else np.nan
        candidate = _candidate(scan, start, R)
        wrong = _wrong(candidate, start, typical, options)
        if wrong is not None and candidate and np.isfinite(typical):
            candidate, wrong = _again(candidate, scan, start, typical, options)
        if wrong is None and candidate:
            candidate = _with_all(candidate, scan)
            wrong = _wrong(candidate, start, typical, options)
        if wrong is not None or candidate is None:
            rejected += [wrong] if wrong else []
        elif _gap(centres, candidate.fit.centre) > 0.1 * R:
            centres[len(found)] = candidate.fit.centre
            found.append(candidate)
            vain = 0


def _again(
    c: Candidate, scan: Scan, start: Floats, typical: float, options: PickOptions
) -> tuple[Candidate, Rejected | None]:
    """The fit with the scale of the noise that other spheres show.

    From where it was, unless its points lie on nothing, and from where the votes met:
    where much is attached, the wide gates of a first fit let it stray.
    """
    for place in (c.fit.centre, start):
        if place is c.fit.centre and c.fit.rms > SCATTERED * c.fit.radius:
            continue
        rough = HOPELESS * typical
        again = _refitted(c, scan, place, 2 * typical, rounds=3, roughest=rough)
        wrong = _wrong(again, start, typical, options)
        if again and wrong is None:
            return again, None
    return c, _wrong(c, start, typical, options)


def _with_all(c: Candidate, scan: Scan) -> Candidate | None:
    """The fit with all points around where it is."""
    near = scan.near(c.fit.centre, REACH * c.fit.radius)
    facing = _facing(scan, near, scan.points[near] - c.fit.centre)
    whole = replace(c, near=near, facing=facing)
    return _refitted(whole, scan, c.fit.centre, c.fit.scale, rounds=1)


def _refitted(
    c: Candidate,
    scan: Scan,
    place: Floats,
    scale: float,
    *,
    rounds: int,
    roughest: float = np.inf,
) -> Candidate | None:
    """The fit from another place and scale."""
    theta = np.append(place, c.fit.radius)
    x = scan.points[c.near]
    fit = refine(x, theta, scale, BLIND, rounds=rounds, roughest=roughest)
    if fit is None:
        return None
    cap, width = _extent(x, fit)
    return replace(c, fit=fit, cap=cap, spread=width)


def _wrong(
    c: Candidate | None, start: Floats, typical: float, options: PickOptions
) -> Rejected | None:
    """Why a candidate is no sphere like those found before it."""
    if c is None:
        detail = "no sphere goes through the points that face it"
        return Rejected(start, Reason.POINTS, detail, 0)
    if is_rough(c, 1.2 * typical):
        detail = f"rms {c.fit.rms:.3f} mm, others {typical:.3f} mm"
        return c.rejected(Reason.RMS, detail)
    return fault(c, options)


def _gap(centres: Floats, at: Floats) -> float:
    return float(np.sqrt(((centres - at) ** 2).sum(axis=1).min(initial=np.inf)))


def _candidate(scan: Scan, start: Floats, R: float) -> Candidate | None:
    """Fit some of the points around a place where a sphere may be."""
    near = scan.near(start, REACH * R)
    near = near[:: 1 + len(near) // MOST]
    x = scan.points[near]
    facing = _facing(scan, near, x - start)
    fit = fit_sphere(x, start, R, facing)
    if fit is None:
        return None
    cap, width = _extent(x, fit)
    return Candidate(fit, near, facing, cap, width)


def _extent(x: Floats, fit: Fit) -> tuple[float, float]:
    """Visible cap and spread of a fit's points."""
    seen = x[fit.used]
    if not len(seen):
        return 0.0, 0.0
    return visible_cap(seen, fit.centre), spread(seen, fit.centre)


def _facing(scan: Scan, near: Ints, x: Floats) -> Bools:
    """Which points lie on a surface whose normal points to the centre at zero."""
    voxel = scan.surface.grid.cube[near]
    along = np.abs(np.einsum("ij,ij->i", scan.surface.normals[voxel], x))
    facing = along > RADIAL * np.linalg.norm(x, axis=1)
    return np.asarray(scan.surface.flat[voxel] & facing)
