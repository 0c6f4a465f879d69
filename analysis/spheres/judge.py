"""Which candidates are spheres: each by itself, then against the others of the scan."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analysis.spheres.biweight import TUKEY
from analysis.spheres.cells import cell_areas, cells
from analysis.spheres.fit import Fit
from analysis.spheres.picks import PickOptions, Reason, Rejected
from sim.arrays import Bools, Floats, Ints

FEWEST = 20  # points on a sphere
FACING = 0.6  # share of a sphere's points whose normal is radial
FACING_ROUND = 0.2  # the same where the points themselves tell that they lie round
ROUND = 0.03  # sd of the free radius over the radius below which they do
INSIDE = 0.1  # points inside a sphere over points on it
OPEN = 0.2  # of the points at its height that a sphere may use, with many points
CROWDED = 8.0  # over its points: how much larger that share must be with few
NARROW = 0.18  # spread of a sphere's points over that of a round cap
VAGUE = 0.08  # sd of the free radius over the radius: a surface hardly round
ROUGH = 1.4  # rms over what is typical of the scan's spheres
ROUGHER = 1.2  # the same where points hardly tell a sphere, if it is beyond chance too
CHANCE = 3.0  # of its own sd, by which an rms of few points exceeds what is typical
SPARSE = 0.12  # points a visible area over what is typical of the scan's spheres
SHARED = 0.3  # of a sphere's points that a better sphere has too


@dataclass(frozen=True, eq=False)
class Candidate:
    """A fit and the points of the scan it was made from."""

    fit: Fit
    near: Ints  # (k,) points around it, those of the fit
    facing: Bools  # (k,) whether their normal is radial
    cap: float  # visible share of the surface
    spread: float  # smallest eigenvalue of the mean u u^T of its points

    @cached_property
    def points(self) -> Ints:
        """Points of the scan that the fit uses."""
        return self.near[self.fit.used]

    @cached_property
    def on_surface(self) -> Ints:
        """Points of the scan at the height of the surface, used or not."""
        return self.near[np.abs(self.fit.height) < TUKEY * self.fit.scale]

    @property
    def level(self) -> int:
        """How many these are."""
        return len(self.on_surface)

    def rejected(self, reason: Reason, detail: str) -> Rejected:
        return Rejected(self.fit.centre, reason, detail, len(self.points))


def visible_cap(x: Floats, centre: Floats) -> float:
    """Share of the sphere's surface that has points, on cells that hold three each."""
    for n in range(10, 1, -1):
        seen = np.unique(cells(x, centre, n))
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


def fault(c: Candidate, options: PickOptions) -> Rejected | None:
    """Return why this is no sphere, with the number that decides, or None."""
    fit, points, R = c.fit, len(c.points), c.fit.radius
    if points < FEWEST:
        return c.rejected(Reason.POINTS, f"{points} points, at least {FEWEST} wanted")
    if not fit.settled:
        return c.rejected(
            Reason.UNSETTLED, f"its centre still moves, {fit.step:.2g} mm in a step"
        )
    if c.cap < options.min_cap:
        return c.rejected(
            Reason.CAP, f"{c.cap:.3f} is visible, at least {options.min_cap} wanted"
        )
    if points < (OPEN + CROWDED / points) * c.level:
        return c.rejected(
            Reason.ATTACHED, f"{points} of {c.level} points are clear of other things"
        )
    width = c.spread / _spread_of_cap(c.cap)
    if width < NARROW:
        return c.rejected(
            Reason.STRIP, f"as wide as {width:.2f} of a cap, not {NARROW}"
        )
    share = float(c.facing[fit.used].mean())
    wanted = FACING_ROUND if _tells_round(c) else FACING
    if share < wanted:
        return c.rejected(
            Reason.NORMALS, f"{share:.2f} of its points face it, not {wanted}"
        )
    inside = int((fit.height < -max(TUKEY * fit.scale, 0.1 * R)).sum())
    if inside > 3 + INSIDE * points:
        return c.rejected(Reason.INSIDE, f"{inside} points inside it, {points} on it")
    off, sd = abs(fit.free_radius - R), fit.free_radius_sd
    if off > np.hypot(options.radius_tolerance * R, 3 * sd) or sd > VAGUE * R:
        return c.rejected(
            Reason.RADIUS, f"its own radius is {fit.free_radius:.3f} +- {sd:.3f} mm"
        )
    return None


def rivals(candidates: list[Candidate]) -> tuple[list[Candidate], list[Rejected]]:
    """Keep of each group that shares points the one that points fix best."""
    kept: list[Candidate] = []
    rejected = []
    for c in sorted(candidates, key=lambda c: -len(c.points) / c.fit.rms**2):
        rival = next((k for k in kept if _shared(c, k) > SHARED), None)
        if rival is None:
            kept.append(c)
            continue
        gap = float(np.linalg.norm(c.fit.centre - rival.fit.centre))
        if gap > 0.1 * c.fit.radius:
            detail = f"{gap:.2f} mm from a sphere that fits better"
            rejected.append(c.rejected(Reason.DUPLICATE, detail))
    return kept, rejected


def _shared(c: Candidate, better: Candidate) -> float:
    """Share of a candidate's points that lie on the other's surface too."""
    gap = np.linalg.norm(c.fit.centre - better.fit.centre)
    if gap > c.fit.radius + better.fit.radius:
        return 0.0
    return float(np.isin(c.points, better.on_surface).mean())


def odd_ones(
    candidates: list[Candidate],
) -> tuple[list[Candidate], list[Rejected]]:
    """Drop what is much rougher or sparser than half of all points on spheres are."""
    typical = typical_rms(candidates)
    density = _typical([len(c.points) / c.cap for c in candidates], candidates)
    kept, rejected = [], []
    for c in candidates:
        points = len(c.points)
        if is_rough(c, typical):
            detail = f"rms {c.fit.rms:.3f} mm, others {typical:.3f} mm"
            rejected.append(c.rejected(Reason.RMS, detail))
        elif points < SPARSE * density * c.cap and not _tells_round(c):
            detail = f"{points} points, others {density * c.cap:.0f} on that area"
            rejected.append(c.rejected(Reason.POINTS, detail))
        else:
            kept.append(c)
    return kept, rejected


def _tells_round(c: Candidate) -> bool:
    """Whether the points themselves tell that they lie on a sphere of that radius."""
    return c.fit.free_radius_sd < ROUND * c.fit.radius


def is_rough(c: Candidate, typical: float) -> bool:
    """Whether the rms is larger than that of other spheres.

    The rms of n points has the relative sd (2 n)^-1/2.
    """
    excess = c.fit.rms / typical - 1
    by_chance = CHANCE / np.sqrt(2 * len(c.points)) if len(c.points) else np.inf
    if _tells_round(c):
        return bool(excess > ROUGH - 1)
    return bool(excess > min(ROUGH - 1, max(ROUGHER - 1, by_chance)))


def typical_rms(candidates: list[Candidate]) -> float:
    """The rms that half of all points on spheres have; nan without spheres."""
    return _typical([c.fit.rms for c in candidates], candidates)


def _typical(values: list[float], candidates: list[Candidate]) -> float:
    """Median of the candidates' values, each weighted with its points."""
    if not candidates:
        return np.nan
    order = np.argsort(values)
    points = np.cumsum([len(candidates[k].points) for k in order])
    return float(values[order[int(np.searchsorted(points, points[-1] / 2))]])
