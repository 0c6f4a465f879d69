"""Criteria for spheres: each candidate alone, then compared with the others."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from analysis.spheres.cells_on_a_sphere import cell_areas, cells
from analysis.spheres.centre_fit import MAD, Fit
from analysis.spheres.detections import PickOptions, Rejected, RejectionReason
from analysis.spheres.form_deviation import ROUND
from analysis.spheres.thresholds import BIWEIGHT, FUSED, JUDGE
from sim.core.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class SphereCandidate:
    """A fit and the points of the scan it was made from."""

    fit: Fit
    near: Ints  # (k,) points around it, those of the fit
    facing: Bools  # (k,) whether their normal is radial
    cap: float  # visible share of the surface
    spread: float  # smallest eigenvalue of the mean u u^T of its points
    lengthwise: Floats = field(default_factory=lambda: ROUND)  # see `form_deviation`
    wall: int = 0  # points on a tube of its radius that ends in it, likewise

    @cached_property
    def points(self) -> Ints:
        """Points of the scan that the fit uses."""
        return self.near[self.fit.used]

    @cached_property
    def on_surface(self) -> Ints:
        """Points of the scan at the height of the surface, used or not."""
        return self.near[np.abs(self.fit.height) < BIWEIGHT.tukey * self.fit.scale]

    @property
    def level(self) -> int:
        """How many these are."""
        return len(self.on_surface)

    @property
    def width(self) -> float:
        """Spread of its points over that of a round cap of that size."""
        return self.spread / _spread_of_cap(self.cap)

    @property
    def evident(self) -> float:
        """The width times the share that it uses of the points at its height.

        Both are small of what is a strip of a finger, few of whose points it explains.
        """
        return self.width * len(self.points) / max(self.level, 1)

    @cached_property
    def rising(self) -> Ints:
        """Which points (of `near`) rise above the sphere, clear of its noise."""
        e, R = self.fit.height, self.fit.radius
        least = min(BIWEIGHT.tukey * self.fit.scale, JUDGE.clear_of_noise * R)
        return np.flatnonzero((e > least) & (e < JUDGE.rise * R))

    @cached_property
    def beyond(self) -> Ints:
        """Which of these are on a surface that faces the centre.

        A tube leaves the sphere inside it so, along its axis; what is attached to a
        sphere does not face its centre.
        """
        return self.rising[self.facing[self.rising]]

    def rejected(self, reason: RejectionReason, detail: str) -> Rejected:
        return Rejected(self.fit.centre, reason, detail, len(self.points))


def visible_cap(x: Floats, centre: Floats) -> float:
    """Share of the sphere's surface that has points, on cells that hold three each."""
    for n in range(10, 1, -1):
        seen = np.flatnonzero(np.bincount(cells(x, centre, n)))
        if len(x) >= 3 * len(seen):
            break
    return float(cell_areas(n)[seen].sum())


def spread(x: Floats, centre: Floats) -> float:
    """Smallest eigenvalue of the mean u u^T: small for a ring or a strip."""
    u = x - centre
    u /= np.linalg.norm(u, axis=1)[:, None]
    return float(np.linalg.eigvalsh(u.T @ u / len(u))[0])


def _spread_of_cap(cap: float) -> float:
    """What `spread` is for a round cap: with c = 1 - 2 cap, (2 - c - c^2) / 6."""
    c = max(1 - 2 * cap, 0.0)
    return (2 - c - c * c) / 6


def fault(
    c: SphereCandidate, options: PickOptions, typical: float = np.nan
) -> Rejected | None:
    """Return why this is no sphere, with the decisive number, or None.

    Parameters
    ----------
    typical : rms of other spheres, mm, if it is known
    """
    if len(c.points) < JUDGE.fewest:
        detail = f"{len(c.points)} points, at least {JUDGE.fewest} needed"
        return c.rejected(RejectionReason.POINTS, detail)
    wrong = [*_too_little(c, options), *_strip(c, options), *_other_surface(c, options)]
    if is_rough(c, 1.2 * unlike(c, options) * typical):
        detail = f"points scatter by {c.fit.rms:.3f} mm, of others by {typical:.3f}"
        wrong.insert(0, c.rejected(RejectionReason.RMS, detail))
    if not wrong or (c.fit.settled and options.accepts(c.fit.centre)):
        return None
    return replace(wrong[0], alone=len(wrong) == 1)


def _too_little(c: SphereCandidate, options: PickOptions) -> Iterator[Rejected]:
    """Why too little of it is visible for a decision."""
    fit, points = c.fit, len(c.points)
    if not fit.settled:
        yield c.rejected(
            RejectionReason.UNSETTLED,
            f"the fit of its centre did not converge: last step {fit.step:.2g} mm",
        )
    if c.cap < options.least_cap:
        yield c.rejected(
            RejectionReason.CAP,
            f"only {c.cap:.3f} of it is visible, at least {options.least_cap} needed",
        )
    if points < (JUDGE.open + JUDGE.crowded / points) * c.level:
        yield c.rejected(
            RejectionReason.ATTACHED,
            f"only {points} of {c.level} points are away from other surfaces",
        )


def _strip(c: SphereCandidate, options: PickOptions) -> Iterator[Rejected]:
    """Whether it is a strip of another surface, such as a tube or a finger."""
    points, width = len(c.points), c.width
    if width < JUDGE.narrow:
        yield c.rejected(
            RejectionReason.STRIP,
            f"the visible cap is too narrow: {width:.2f} of the width of a round one, "
            f"at least {JUDGE.narrow} needed",
        )
    if c.evident < JUDGE.evident:
        yield c.rejected(
            RejectionReason.STRIP,
            f"the visible cap is too narrow or too sparse: relative width {width:.2f} "
            f"x share of nearby points on it {points / c.level:.2f} = {c.evident:.2f}, "
            f"at least {JUDGE.evident} needed",
        )
    difference, sd = c.lengthwise
    most = JUDGE.lengthwise_narrow if width < JUDGE.narrow_beyond else JUDGE.lengthwise
    if difference - JUDGE.chance * sd > most:
        yield c.rejected(
            RejectionReason.STRIP,
            f"its principal curvatures differ by {difference:.2f} +- {sd:.2f} (times "
            f"the radius), at most {most} is allowed",
        )
    wall, around = c.wall / points, (len(c.beyond) - c.wall) / points
    limits = FUSED if options.fused else JUDGE
    most = min(limits.wall + limits.closed * around, FUSED.most_wall)
    most += limits.chance_wall / points
    if wall > most:
        yield c.rejected(
            RejectionReason.STRIP,
            f"{wall:.2f} of its points continue as a tube of the same radius (at most "
            f"{most:.2f} is allowed)",
        )
    rim = max(1.0, np.sqrt(JUDGE.whole / c.cap))
    wide = FUSED.beyond_wide if options.fused else JUDGE.beyond_wide * rim
    most = JUDGE.beyond if width < JUDGE.narrow_beyond else wide
    beyond = len(c.beyond) / points
    creased = 0.0 if options.fused else len(c.rising) / points - beyond
    most = max(most, creased) + JUDGE.chance_beyond / points
    if beyond > most:
        yield c.rejected(
            RejectionReason.STRIP,
            f"the surface continues beyond the cap at {beyond:.2f} of its points, at "
            f"most {most:.2f} allowed (cap: {width:.2f} of the width of a round one)",
        )


def in_line(c: SphereCandidate, far: int, fused: bool) -> Rejected | None:
    """Whether so many points are on a tube in line with it that it is the tube's end.

    Parameters
    ----------
    far : how many; see `form.far_wall`
    fused : whether of a mesh
    """
    points, limits = len(c.points), FUSED if fused else JUDGE
    share, most = far / points, limits.far_wall + JUDGE.chance_far / points
    if share <= most:
        return None
    return c.rejected(
        RejectionReason.STRIP,
        f"{share:.2f} of its points lie on a tube of the same radius in line with it "
        f"(at most {most:.2f} is allowed): scan the gap between them to decide",
    )


def _other_surface(c: SphereCandidate, options: PickOptions) -> Iterator[Rejected]:
    """Whether normals, points inside or its own radius indicate another surface."""
    fit, points, R = c.fit, len(c.points), c.fit.radius
    share = float(c.facing[fit.used].mean())
    least = JUDGE.facing_round if _has_own_radius(c) else JUDGE.facing
    if share < least:
        yield c.rejected(
            RejectionReason.NORMALS,
            f"only {share:.2f} of its normals are radial, at least {least} needed",
        )
    inside = int((fit.height < -max(BIWEIGHT.tukey * fit.scale, 0.1 * R)).sum())
    if inside > 3 + JUDGE.inside * points:
        yield c.rejected(
            RejectionReason.INSIDE, f"{inside} points inside it, {points} on it"
        )
    off, sd = abs(fit.free_radius - R), fit.free_radius_sd
    by_chance = 3 * sd * (FUSED.radius_sd_factor if options.fused else 1.0)
    most = (FUSED if options.fused else JUDGE).vague * R
    if off > np.hypot(options.radius_tolerance * R, by_chance) or sd > most:
        unsure = f"is too uncertain (at most +- {most:.3f} mm)"
        yield c.rejected(
            RejectionReason.RADIUS,
            f"free-fit radius {fit.free_radius:.3f} +- {sd:.3f} mm "
            + (unsure if sd > most else f"differs from {R:g} mm"),
        )


def rivals(
    candidates: list[SphereCandidate], apart: float = 0.0
) -> tuple[list[SphereCandidate], list[Rejected]]:
    """Of candidates that share points, select the best determined one.

    Parameters
    ----------
    apart : smallest distance of two centres, mm
    """
    best: list[SphereCandidate] = []
    rejected = []
    for c in sorted(candidates, key=lambda c: -len(c.points) / c.fit.rms**2):
        rival = next((k for k in best if _shared(c, k, apart) > JUDGE.shared), None)
        if rival is None:
            best.append(c)
            continue
        distance = float(np.linalg.norm(c.fit.centre - rival.fit.centre))
        if distance > 0.1 * c.fit.radius:
            detail = f"{distance:.2f} mm from a sphere that fits better"
            rejected.append(c.rejected(RejectionReason.DUPLICATE, detail))
    return best, rejected


def _shared(c: SphereCandidate, better: SphereCandidate, apart: float) -> float:
    """Share of a candidate's points that lie on the other's surface too; all where
    its centre is nearer than `apart`."""
    distance = np.linalg.norm(c.fit.centre - better.fit.centre)
    if distance < apart:
        return 1.0
    if distance > c.fit.radius + better.fit.radius:
        return 0.0
    return float(np.isin(c.points, better.on_surface).mean())


def odd_ones(
    candidates: list[SphereCandidate], options: PickOptions
) -> tuple[list[SphereCandidate], list[Rejected]]:
    """Reject candidates much rougher, sparser, larger or smaller than the others."""
    typical, middle = typical_rms(candidates), _common_radius(candidates)
    density = _typical([len(c.points) / c.cap for c in candidates], candidates)
    alike, rejected = [], []
    for c in candidates:
        points = len(c.points)
        off, sd = abs(c.fit.free_radius - middle[0]), c.fit.free_radius_sd
        alike_to = 0.5 * options.radius_tolerance * c.fit.radius
        if options.accepts(c.fit.centre):
            alike.append(c)
        elif is_rough(c, unlike(c, options) * typical):
            detail = f"points scatter by {c.fit.rms:.3f} mm, of others by {typical:.3f}"
            rejected.append(c.rejected(RejectionReason.RMS, detail))
        elif off > np.hypot(alike_to, JUDGE.chance * np.hypot(sd, middle[1])):
            detail = (
                f"free-fit radius {c.fit.free_radius:.3f} +- {sd:.3f} mm differs from "
                f"the others' {middle[0]:.3f} mm"
            )
            rejected.append(c.rejected(RejectionReason.RADIUS, detail))
        elif points < JUDGE.sparse * density * c.cap and not _has_own_radius(c):
            detail = (
                f"only {points} points; others {density * c.cap:.0f} on an equal area"
            )
            rejected.append(c.rejected(RejectionReason.POINTS, detail))
        else:
            alike.append(c)
    return alike, rejected


def _common_radius(candidates: list[SphereCandidate]) -> tuple[float, float]:
    """Median of the free radii that points determine, and their scatter, mm.

    Of few spheres the scatter is infinite.
    """
    radii = np.array([c.fit.free_radius for c in candidates if _has_own_radius(c)])
    if len(radii) < JUDGE.telling:
        return 0.0, np.inf
    middle = float(np.median(radii))
    return middle, MAD * float(np.median(np.abs(radii - middle)))


def _has_own_radius(c: SphereCandidate) -> bool:
    """Whether the points themselves determine a radius."""
    return c.fit.free_radius_sd < JUDGE.round * c.fit.radius


def unlike(c: SphereCandidate, options: PickOptions) -> float:
    """By what factor its rms may be larger than that of the others anyway."""
    many = len(c.points) >= JUDGE.many and c.evident > JUDGE.clear
    return JUDGE.rough_clear if many and _has_own_radius(c) else options.unlike


def is_rough(c: SphereCandidate, typical: float) -> bool:
    """Whether the rms is larger than that of other spheres.

    The rms of n points has the relative sd (2 n)^-1/2.
    """
    excess = c.fit.rms / max(typical, JUDGE.smooth * c.fit.radius) - 1
    if excess > JUDGE.rough - 1:
        return True
    by_chance = JUDGE.chance / np.sqrt(2 * len(c.points)) if len(c.points) else np.inf
    return bool(excess > max(JUDGE.rougher - 1, by_chance)) and not _has_own_radius(c)


def typical_rms(candidates: list[SphereCandidate]) -> float:
    """The rms that half of all points on spheres have; nan without spheres."""
    return _typical([c.fit.rms for c in candidates], candidates)


def _typical(values: list[float], candidates: list[SphereCandidate]) -> float:
    """Median of the candidates' values, each weighted with its points."""
    if not candidates:
        return np.nan
    order = np.argsort(values)
    points = np.cumsum([len(candidates[k].points) for k in order])
    return float(values[order[int(np.searchsorted(points, points[-1] / 2))]])
