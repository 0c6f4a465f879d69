"""Why a scan shows no sphere: hints at another unit or radius, never applied."""

import dataclasses
from collections import Counter

import numpy as np

from analysis.spheres.detections import PickOptions, Picks
from analysis.spheres.find import OtherSize, find_spheres, other_size
from pipeline.io.length_units import Unit
from pipeline.io.point_cloud import HINT
from sim.core.arrays import Floats


def no_sphere_hint(
    picks: Picks, points: Floats, unit: Unit, options: PickOptions
) -> str:
    """One line that says why `picks` cannot be the scan's spheres, or nothing.

    The line ends with what would give spheres, if there is such a thing.

    Parameters
    ----------
    points : (n, 3) mm, as read with `unit`
    """
    R, many = used_radius(picks, options), len(picks.spheres)
    if len(points) > HINT.most_points:
        points = points[:: len(points) // HINT.most_points + 1]
    if many == 0:
        extent = " x ".join(f"{side:.3g}" for side in np.ptp(points, axis=0))
        to = "" if options.radius_max_mm is None else f" to {options.radius_max_mm:g}"
        what = (
            f"no sphere of radius {R:g}{to} mm was found among {len(points)} points "
            f"(extent {extent} mm)"
        )
    elif picks.noise > HINT.rough * R:
        what = (
            f"the candidates of radius {R:g} mm ({many}) are too rough for spheres: "
            f"their points deviate by {picks.noise:.2g} mm rms"
        )
    elif many < HINT.fewest and (
        hint := other_unit(points, unit, options, HINT.fewest)
    ):
        return f"E-UNIT found only {many} of the spheres of radius {R:g} mm, but {hint}"
    else:
        return _wrong_radius(picks, R)
    hint = (
        other_unit(points, unit, options, 1)
        or other_radius(picks, points, options)
        or too_coarse(points, R)
        or near_misses(picks)
    )
    advice = hint or "check radius and unit, or scan more densely"
    return f"E-NO-SPHERES {what}: {advice}"


def near_misses(picks: Picks) -> str:
    """A remark on candidates that fail one criterion only, or nothing."""
    near = [c for c in picks.apart if c.near]
    if not near:
        return ""
    one = len(near) == 1
    return (
        f"{len(near)} rejected candidate{'s' * (not one)} of that radius "
        f"fail{'s' * one} one criterion only; the first fails the criterion "
        f"{near[0].reason.value}: {near[0].told}"
    )


def used_radius(picks: Picks, options: PickOptions) -> float:
    """The radius of the fits; without any, the one that was asked for, mm."""
    return picks.spheres[0].radius if picks.spheres else options.radius_mm


def own_radius(picks: Picks) -> tuple[float, float]:
    """The radius of the spheres by free fits, and its sd, mm.

    Of several views `analysis.spheres.joint_adjustment`, else the spheres' weighted
    mean: where neighbouring points share errors, its variance is as much more than
    points tell as that of centres is.
    """
    if picks.joint_radius is not None:
        return picks.joint_radius
    more = np.sqrt(picks.excess.ratio) if picks.excess else 1.0
    free = np.array([sphere.free_radius for sphere in picks.spheres])
    weight = np.array([sphere.free_radius_sd for sphere in picks.spheres]) ** -2.0
    return float(weight @ free / weight.sum()), float(more * weight.sum() ** -0.5)


def radius_remark(used: float, own: float, sd: float, slack: float = 0.0) -> str:
    """A remark where the spheres contradict the radius of the fits, or nothing.

    Parameters
    ----------
    used, own, sd : mm; see `used_radius` and `own_radius`
    slack : by which `own` may be off for other reasons, mm
    """
    if abs(own - used) < max(HINT.odd * used, HINT.sure * sd, slack):
        return ""
    return (
        f"the spheres are {own / used:.4f} times as large as stated, {own:.4g} +- "
        f"{sd:.2g} mm, not {used:g}: ingest with "
        f"--sphere-radius-mm {own:.4g} if that is the printed radius, else check the "
        "scanner's scale"
    )


def radius_hint(picks: Picks, options: PickOptions) -> str:
    """The same for a scan, where noise makes caps seem smaller or larger."""
    used = used_radius(picks, options)
    return radius_remark(used, *own_radius(picks), of_noise(picks, used))


def shared_errors(picks: Picks, options: PickOptions) -> list[str]:
    """Notes on errors that points share, and on the radius error that these may hide.

    None where the radius is off: residuals of that are alike on neighbouring points.
    """
    if picks.excess is None or radius_hint(picks, options):
        return []
    notes = [picks.excess.summary]
    used, (_, sd) = used_radius(picks, options), own_radius(picks)
    if HINT.certain * sd < HINT.wrong * used:
        return notes
    share = 100.0 * sd / used
    seen, refused = (100 * HINT.odd, 100 * HINT.wrong)
    hidden = (
        "neighbouring points have correlated errors, so the radius of the spheres has "
        f"a standard deviation of {share:.2g} %. Errors of the stated radius below "
        f"{max(HINT.sure * share, seen):.2g} % give no warning, below "
        f"{max(HINT.certain * share, refused):.2g} % no error: measure a printed sphere"
    )
    return [*notes, hidden]


def with_noise(sd: float, slack: float) -> float:
    """The sd of a radius that noise may also change by anything up to `slack`, mm.

    Residuals of a wrong radius count as noise: not for radii that are refused.
    """
    return float(np.hypot(sd, slack / np.sqrt(3.0)))


def of_noise(picks: Picks, used: float) -> float:
    """By how much noise of a direction that is not known may change radii, mm."""
    return HINT.caps * picks.noise**2 / used


def _wrong_radius(picks: Picks, R: float) -> str:
    """Why centres fitted with R would be wrong: a cap seen from one side slides."""
    own, sd = own_radius(picks)
    if abs(own - R) < max(HINT.wrong * R, HINT.certain * sd, of_noise(picks, R)):
        return ""
    return (
        f"E-RADIUS the spheres found ({len(picks.spheres)}) have the radius {own:.4g} "
        f"+- {sd:.2g} mm, {own / R:.3f} times {R:g} mm: rerun with "
        f"--sphere-radius-mm {own:.4g} if it is the printed one, or check the "
        "scanner's scale"
    )


def other_unit(points: Floats, unit: Unit, options: PickOptions, fewest: int) -> str:
    """A remark on the unit in which at least `fewest` spheres appear, or nothing."""
    found = {
        other: _tried(points * (other.mm / unit.mm), options)
        for other in Unit
        if other is not unit
    }
    best = max(found, key=lambda other: len(found[other].spheres))
    if len(found[best].spheres) < fewest:
        return ""
    radius = options.radius_mm * unit.mm / best.mm
    return (
        f"in {best.value} {len(found[best].spheres)} spheres are found: rerun with "
        f"--unit {best.value} if that is the file's unit, or with --sphere-radius-mm "
        f"{radius:.4g} if that is the radius"
    )


def too_coarse(points: Floats, R: float) -> str:
    """A remark on coordinates that are multiples of a large step, or nothing."""
    steps = [np.diff(np.unique(axis)).min(initial=np.inf) for axis in points.T]
    step = max((s for s in steps if np.isfinite(s)), default=0.0)
    if step < HINT.coarse * R:
        return ""
    return (
        f"coordinates are rounded to {step:.3g} mm: export more digits, or move the "
        "origin close to the scan"
    )


def other_radius(picks: Picks, points: Floats, options: PickOptions) -> str:
    """A remark on another radius that the scan's spheres have, or nothing."""
    size = other_size(points, picks, options.radius_mm)
    if size is None:
        low = HINT.smallest * options.radius_mm
        high = HINT.largest * (options.radius_max_mm or options.radius_mm)
        wide = dataclasses.replace(options, radius_mm=low, radius_max_mm=high)
        spheres = _tried(points, wide).spheres
        if not spheres:
            return ""
        radii = np.array([sphere.free_radius for sphere in spheres])
        common = radii[np.abs(radii - np.median(radii)) < 0.1 * np.median(radii)]
        sd = np.std(common, ddof=1) if len(common) > 1 else spheres[0].free_radius_sd
        size = OtherSize(float(common.mean()), float(sd), len(common))
    if abs(size.radius / options.radius_mm - 1.0) < options.radius_tolerance:
        return ""
    return f"the scan has {size}: rerun with that radius if it is the printed one"


def left_out(picks: Picks, points: Floats, options: PickOptions) -> str:
    """A remark on spheres of another size among those of the right one, or nothing."""
    size = other_size(points, picks, used_radius(picks, options))
    return "" if size is None else f"{size} left out"


def _tried(points: Floats, options: PickOptions) -> Picks:
    """Credible spheres among `points`."""
    nothing = Picks((), (), np.zeros((0, 0)), np.nan)
    try:
        picks = find_spheres(points, options)
    except ValueError:  # larger than anything that is searched in cells of a radius
        return nothing
    return nothing if picks.noise > HINT.rough * options.radius_mm else picks


def reasons(picks: Picks) -> str:
    """How many candidates were rejected for which reason, the commonest first."""
    counts = Counter(candidate.reason.value for candidate in picks.rejected)
    return ", ".join(f"{many} {reason}" for reason, many in counts.most_common())
