"""Find the spheres of a point cloud, without a hand."""

from dataclasses import replace

import numpy as np

from analysis.spheres.fused import fusion_bias
from analysis.spheres.judge import SphereCandidate, typical_rms
from analysis.spheres.picks import FittedSphere, PickOptions, Picks
from analysis.spheres.polish import polish
from analysis.spheres.radius import common_radius
from analysis.spheres.search import search
from analysis.spheres.thresholds import JUDGE
from sim.arrays import Bools, Floats, Ints


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
    _check(points, view, origins)
    numbers = np.arange(1) if view is None else np.flatnonzero(np.bincount(view))
    if view is not None and len(numbers) <= view.max(initial=0):
        view = np.searchsorted(numbers, view)
        origins = None if origins is None else origins[numbers]
    if len(points) < JUDGE.fewest:
        return Picks((), (), np.zeros((0, 0)), np.nan)
    if options.radius_max_mm is not None:
        radius = common_radius(points, options)
        if radius is None:
            return Picks((), (), np.zeros((0, 0)), np.nan)
        options = replace(options, radius_mm=radius, radius_max_mm=None)
    accepted, rejected = search(points, options.radius_mm, options)
    bias = None
    if options.fused:
        bias = fusion_bias(accepted, options.radius_mm)
    if bias is not None:
        options = replace(options, radius_mm=bias.radius_mm)
        accepted, rejected = search(points, bias.radius_mm, options)
    last = polish(accepted, points, view, origins, options, bias)
    accepted, covariance, placed = last.accepted, last.covariance, last.placed
    spheres = tuple(
        _sphere(c, covariance[3 * k : 3 * k + 3, 3 * k : 3 * k + 3], view)
        for k, c in enumerate(accepted)
    )
    return Picks(
        spheres,
        tuple(rejected + last.lost),
        covariance,
        typical_rms(accepted),
        () if placed is None else placed.listed(numbers),
        _seen(accepted, view, numbers),
        last.excess,
        last.components,
        bias,
        last.radius,
    )


def _seen(accepted: list[SphereCandidate], view: Ints | None, numbers: Ints) -> Bools:
    """(m, v) whether a view has enough points on a sphere to tell where it is.

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


def _check(points: Floats, view: Ints | None, origins: Floats | None) -> None:
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"points must have shape (n, 3), not {points.shape}")
    if view is not None and view.shape != points.shape[:1]:
        raise ValueError(
            f"view must name one view a point: {len(points)} points, "
            f"but shape {view.shape}"
        )
    if view is not None and len(view) and not 0 <= view.min() <= view.max() < 10_000:
        raise ValueError(
            f"views must be numbered from 0 up, not from {view.min()} to {view.max()}"
        )
    if origins is not None:
        views = 1 if view is None else int(view.max(initial=0)) + 1
        if origins.shape != (views, 3):
            raise ValueError(
                f"origins must have shape ({views}, 3), one a view, not {origins.shape}"
            )
    if not np.isfinite(points).all():
        bad = int((~np.isfinite(points).all(axis=1)).sum())
        raise ValueError(
            f"{bad} of {len(points)} points are not finite: drop them first"
        )
