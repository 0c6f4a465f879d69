"""Find the spheres of known radius in a point cloud, without a hand."""

from dataclasses import dataclass

import numpy as np

from analysis.spheres.cells import cell_areas, cells
from analysis.spheres.fit import TUKEY, Fit, fit_sphere
from analysis.spheres.grid import Int32s, members, within
from analysis.spheres.normals import Surface, surface
from analysis.spheres.picks import PickOptions, Picks, Reason, Rejected, Sphere
from analysis.spheres.votes import peaks
from sim.arrays import Bools, Floats, Ints

REACH = 1.5  # radii around a candidate from which points are taken
FEWEST = 12  # points on a sphere
RADIAL = 0.75  # cosine between normal and radius on a sphere
FACING = 0.6  # share of a sphere's points whose normal is radial
INSIDE = 0.1  # points inside a sphere over points on it
ROUGH = 2.5  # rms over what is typical of the scan's spheres
VAGUE = 0.15  # sd of the free radius over the radius: a surface hardly round
CLOSEST = 1.6  # radii between two centres
MOST = 1_000  # candidates that are fitted


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


def find_spheres(
    points: Floats, options: PickOptions, view: Ints | None = None
) -> Picks:
    """Return the spheres of a scan with covariances, and the rejected candidates.

    Parameters
    ----------
    points : (n, 3) scan points, mm, finite, in any order
    options : the radius and what makes a sphere acceptable
    view : (n,) number of the view that saw each point; None for a merged cloud.
        With two or more views the centres and one rigid motion a view are
        adjusted together.
    """
    _check(points, view)
    if len(points) < FEWEST:
        return Picks((), (), np.zeros((0, 0)), np.nan)
    R = options.radius_mm
    voxels = surface(points, R / 8, R / 3)
    scan = Scan(points, voxels, *members(voxels.grid.cube, len(voxels.grid.keys)))
    fewest = max(8.0, 0.3 * options.min_cap * 4 * np.pi * (R / voxels.grid.h) ** 2)
    centres, _ = peaks(voxels, R, fewest)
    judged = [_judge(scan, centre, R, options, view) for centre in centres[:MOST]]
    return _settle_rivals(judged, R)


def _judge(
    scan: Scan, start: Floats, R: float, options: PickOptions, view: Ints | None
) -> Sphere | Rejected:
    """Fit one candidate and test it by itself."""
    near = scan.near(start, REACH * R)
    x = scan.points[near] - start
    facing = _facing(scan, near, x)
    fit = fit_sphere(x, np.zeros(3), R, facing)
    if fit is None:
        detail = f"no sphere through the {int(facing.sum())} points that face it"
        return Rejected(start, Reason.POINTS, detail, int(facing.sum()))
    points = int(fit.used.sum())
    cap = _cap(x[fit.used], fit.centre)
    reason = _fault(fit, facing, R, cap, options)
    centre = start + fit.centre
    if reason is not None:
        return Rejected(centre, *reason, points)
    rms = float(np.sqrt(np.mean(fit.height[fit.used] ** 2)))
    views = 1 if view is None else len(np.unique(view[near[fit.used]]))
    return Sphere(
        centre, fit.covariance, R, rms, points,
        fit.free_radius, fit.free_radius_sd, cap, views,
    )  # fmt: skip


def _facing(scan: Scan, near: Ints, x: Floats) -> Bools:
    """Which points lie on a surface whose normal points to the centre at zero."""
    voxel = scan.surface.grid.cube[near]
    along = np.abs(np.einsum("ij,ij->i", scan.surface.normals[voxel], x))
    facing = along > RADIAL * np.linalg.norm(x, axis=1)
    return np.asarray(scan.surface.flat[voxel] & facing)


def _cap(x: Floats, centre: Floats) -> float:
    """Share of the sphere's surface that has points."""
    n = int(np.clip(np.sqrt(len(x) / 12), 2, 8))
    return float(cell_areas(n)[np.unique(cells(x, centre, n))].sum())


def _fault(
    fit: Fit, facing: Bools, R: float, cap: float, options: PickOptions
) -> tuple[Reason, str] | None:
    """Return why this is no sphere, with the number that decides, or None."""
    points = int(fit.used.sum())
    if points < FEWEST:
        return Reason.POINTS, f"{points} points on it, at least {FEWEST} wanted"
    if cap < options.min_cap:
        return Reason.CAP, f"{cap:.3f} is visible, at least {options.min_cap} wanted"
    share = float(facing[fit.used].mean())
    if share < FACING:
        return Reason.NORMALS, f"{share:.2f} of its points face it, not {FACING}"
    inside = int((fit.height < -max(TUKEY * fit.scale, 0.1 * R)).sum())
    if inside > 3 + INSIDE * points:
        return Reason.INSIDE, f"{inside} points inside it, {points} on it"
    off, sd = abs(fit.free_radius - R), fit.free_radius_sd
    if off > options.radius_tolerance * R + 3 * sd or sd > VAGUE * R:
        return Reason.RADIUS, f"its own radius is {fit.free_radius:.3f} +- {sd:.3f} mm"
    return None


def _settle_rivals(judged: list[Sphere | Rejected], R: float) -> Picks:
    """Keep the best of overlapping spheres; drop those much rougher than the rest."""
    spheres = sorted(
        (s for s in judged if isinstance(s, Sphere)), key=lambda s: -s.points
    )
    rejected = [s for s in judged if isinstance(s, Rejected)]
    kept: list[Sphere] = []
    for s in spheres:
        gaps = [float(np.linalg.norm(s.centre - k.centre)) for k in kept]
        closest = min(gaps, default=np.inf)
        if closest > CLOSEST * R:
            kept.append(s)
        elif closest > 0.1 * R:
            detail = f"{closest:.2f} mm from a sphere with more points"
            rejected.append(Rejected(s.centre, Reason.DUPLICATE, detail, s.points))
    noise = _typical_rms(kept)
    limit = ROUGH * noise
    for s in kept:
        if s.rms > limit:
            detail = f"rms {s.rms:.3f} mm, others {noise:.3f} mm"
            rejected.append(Rejected(s.centre, Reason.RMS, detail, s.points))
    kept = [s for s in kept if s.rms <= limit]
    covariance = np.zeros((3 * len(kept), 3 * len(kept)))
    for k, s in enumerate(kept):
        covariance[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = s.covariance
    return Picks(tuple(kept), tuple(rejected), covariance, noise)


def _typical_rms(spheres: list[Sphere]) -> float:
    """The rms that half of all points on spheres have; nan without spheres."""
    ordered = sorted(spheres, key=lambda s: s.rms)
    points = np.cumsum([s.points for s in ordered])
    if not ordered:
        return np.nan
    return ordered[int(np.searchsorted(points, points[-1] / 2))].rms


def _check(points: Floats, view: Ints | None) -> None:
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"points must have shape (n, 3), not {points.shape}")
    if view is not None and view.shape != points.shape[:1]:
        raise ValueError(
            f"view must name one view a point: {len(points)} points, "
            f"but shape {view.shape}"
        )
    if not np.isfinite(points).all():
        bad = int((~np.isfinite(points).all(axis=1)).sum())
        raise ValueError(
            f"{bad} of {len(points)} points are not finite: drop them first"
        )
