"""Input and result of the detection: options, spheres, rejected candidates.

All lengths are in mm, all covariances in mm^2.
"""

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated

import numpy as np
from scipy.spatial.transform import Rotation

from analysis.spheres.thresholds import FUSED, JUDGE, SHARED
from sim.core.arrays import Bools, Floats
from sim.core.options import Checked, NotNegative, Positive, within


class RejectionReason(Enum):
    """Why a candidate is no sphere; the value is what tables print."""

    POINTS = "points"  # too few points on its surface
    UNSETTLED = "not converged"  # the fit of its centre does not converge
    CAP = "cap"  # too little of it is visible
    ATTACHED = "attached"  # most of it lies next to something that sticks out
    STRIP = "strip"  # a ring or strip, as a rod of that radius has
    NORMALS = "normals"  # the surface does not face its centre
    INSIDE = "inside"  # points where an opaque sphere has none
    RADIUS = "radius"  # round, but of another radius
    RMS = "rms"  # rougher than the other spheres of the scan
    DUPLICATE = "duplicate"  # overlaps a better sphere


SURE = RejectionReason.UNSETTLED, RejectionReason.RADIUS, RejectionReason.DUPLICATE
CANDIDATE = r"(-?[\d.]+/){2}-?[\d.]+"  # its name: place in mm
SAME = 0.3  # radii within which a place and a centre are one sphere
UpToHalf = Annotated[float, within(0.0, 0.5, "between 0 and 0.5")]


def place_of(candidate: str) -> Floats:
    """(3,) mm, of a candidate by its name."""
    return np.array(candidate.split("/"), dtype=np.float64)


@dataclass(frozen=True)
class PickOptions(Checked):
    """What is looked for; only the radius has no default.

    Give `radius_max_mm` as well when the radius is known only as a range.
    """

    radius_mm: Positive  # the radius, or the smallest one
    radius_max_mm: Positive | None = None  # the largest radius
    min_cap: UpToHalf = 0.05  # visible share of the surface
    radius_tolerance: UpToHalf = 0.04  # of the free radius, relative
    registration_mm: NotNegative = 0.0  # sd of a view's misplacement in a merged cloud
    repeatability_mm: NotNegative = 0.0  # sd that repeated scans of a centre show
    # a mesh that software made of many views: lines of sight are lost, and the radius
    # that all spheres have in common is sought
    fused: bool = False
    accept: tuple[str, ...] = ()  # names of rejected candidates that are spheres

    def accepts(self, centre: Floats) -> bool:
        """Whether a candidate is a sphere by decision of the user."""
        at = map(place_of, self.accept)
        return any(np.linalg.norm(a - centre) < SAME * self.radius_mm for a in at)

    @property
    def least_cap(self) -> float:
        """Smallest visible share of a sphere's surface, 0 to 1."""
        return max(self.min_cap, FUSED.cap) if self.fused else self.min_cap

    @property
    def unlike(self) -> float:
        """By what factor the rms of spheres of one scan may differ."""
        return FUSED.rougher if self.fused else 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        largest = self.radius_max_mm
        if largest is not None and not self.radius_mm < largest:
            raise ValueError(
                f"radius_max_mm must exceed radius_mm {self.radius_mm}, not {largest}: "
                "leave it out if the radius is known"
            )
        wrong = [one for one in self.accept if not re.fullmatch(CANDIDATE, one)]
        if wrong:
            raise ValueError(f"accept is {wrong[0]}: give a name as in rejected.csv")


@dataclass(frozen=True, eq=False)
class FittedSphere:
    """A sphere that was found, with its quality."""

    centre: Floats  # (3,) mm
    covariance: Floats  # (3, 3) of the centre, mm^2
    radius: float  # the one used in the fit, mm
    rms: float  # of the distances to the surface, mm
    points: int  # that the fit used
    free_radius: float  # fitted along with the centre, a check only, mm
    free_radius_sd: float  # mm
    cap: float  # visible share of the surface, 0 to 1
    views: int  # views that see it; 1 where no view ids were given


@dataclass(frozen=True, eq=False)
class Rejected:
    """A rejected candidate and the reason."""

    centre: Floats  # (3,) mm
    reason: RejectionReason
    detail: str  # the decisive number and its limit
    points: int
    alone: bool = True  # no other criterion fails

    @property
    def near(self) -> bool:
        """Whether it has the radius and fails one criterion only."""
        return self.alone and self.points >= JUDGE.fewest and self.reason not in SURE

    @property
    def told(self) -> str:
        """The detail, and how to accept what may be a sphere."""
        name = "/".join(f"{x:.2f}" for x in self.centre)
        more = (
            f"; all other criteria are met: if it is a sphere, add --accept {name}"
            if self.near
            else ""
        )
        return self.detail + more


@dataclass(frozen=True, eq=False)
class ViewMotion:
    """Correction of one view's pose: x -> pivot + t + Rot(w) (x - pivot)."""

    view: int
    translation: Floats  # (3,) mm
    rotation: Floats  # (3,) rad
    pivot: Floats  # (3,) mm

    def __call__(self, x: Floats) -> Floats:
        """Points (n, 3) where the view belongs."""
        turned = Rotation.from_rotvec(self.rotation).apply(x - self.pivot)
        return np.asarray(self.pivot + self.translation + turned)


@dataclass(frozen=True, eq=False)
class ViewRegistration:
    """By how much a view lies off the one that agrees best with the others."""

    view: int
    spheres: int  # that it shares with other views
    motion: Floats  # (6,) shift of the middle of all spheres, mm, and turn, rad
    covariance: Floats  # (6, 6)
    off_mm: float  # rms distance by which its spheres lie off
    allowed_mm: float  # that noise and the error of the radius explain

    @property
    def offset_mm(self) -> tuple[float, float]:
        """Length of the shift and its sd."""
        return _length(self.motion[:3], self.covariance[:3, :3])

    @property
    def angle_deg(self) -> tuple[float, float]:
        """Angle of the turn and its sd."""
        value, sd = _length(self.motion[3:], self.covariance[3:, 3:])
        return float(np.rad2deg(value)), float(np.rad2deg(sd))

    @property
    def misplaced(self) -> bool:
        """Whether it is off by more than noise explains."""
        return self.off_mm > self.allowed_mm


def _length(x: Floats, covariance: Floats) -> tuple[float, float]:
    """Length of a vector (3,) and its sd; without length the largest sd."""
    length = float(np.linalg.norm(x))
    if not length:
        return 0.0, float(np.sqrt(np.linalg.eigvalsh(covariance)[-1]))
    return length, float(np.sqrt(x @ covariance @ x)) / length


@dataclass(frozen=True)
class Excess:
    """A ratio of the variance that is seen to the one that was stated."""

    sign: str  # from what
    ratio: float
    sd: float  # of the ratio, where it is one
    but_radius: float = np.inf  # ratio without an error that all radii share, if known

    @property
    def counts(self) -> bool:
        """Whether it is more than chance."""
        return bool(self.ratio > 1.0 + SHARED.certain * self.sd)

    @property
    def summary(self) -> str:
        """One line for the reader of the results."""
        return (
            "neighbouring points have correlated errors: variances of centres are "
            f"multiplied by {self.ratio:.1f}, estimated from {self.sign}; if stated "
            "uncertainties are too large, give each view as a file, or scan without "
            "smoothing"
        )


@dataclass(frozen=True)
class FusionBias:
    """The common error of the radius of all spheres in a fused mesh."""

    stated_mm: float  # radius that was given
    radius_mm: float  # that the spheres have in common in the mesh
    sd_mm: float  # of that

    @property
    def summary(self) -> str:
        """One line for the reader of the results."""
        off = 100.0 * (self.radius_mm / self.stated_mm - 1.0)
        sd = 100.0 * self.sd_mm / self.stated_mm
        size = "large" if off > 0 else "small"
        return (
            f"spheres are {abs(off):.1f} +- {sd:.1g} % too {size} in this fused mesh; "
            f"centres are fitted with the radius {self.radius_mm:.4g} mm"
        )


@dataclass(frozen=True, eq=False)
class Picks:
    """All spheres of a scan, best seen first, and the rejected candidates."""

    spheres: tuple[FittedSphere, ...]
    rejected: tuple[Rejected, ...]
    covariance: Floats  # (3 m, 3 m) of all centres together, mm^2
    noise: float  # sd of the points normal to the surface, mm; nan without spheres
    motions: tuple[ViewMotion, ...] = field(default=())
    registrations: tuple[ViewRegistration, ...] = ()  # of views that share spheres
    seen: Bools = field(default_factory=lambda: np.zeros((0, 0), dtype=np.bool_))
    # (m, v) whether the sphere is seen in the view; empty where views are not known
    excess: Excess | None = None  # of the covariance over that by points
    fusion: FusionBias | None = None  # of a fused mesh
    # that all spheres have, and its sd with shared errors, mm; None where it is no more
    # than the mean of their own
    joint_radius: tuple[float, float] | None = None

    @property
    def apart(self) -> tuple[Rejected, ...]:
        """The rejected candidates that overlap no sphere."""
        return tuple(c for c in self.rejected if not self.overlaps(c.centre))

    def overlaps(self, place: Floats) -> bool:
        """Whether a sphere (3,), mm, is less than two radii from one that was found."""
        away = np.linalg.norm(self.centres - place, axis=1)
        return bool((away < [2.0 * sphere.radius for sphere in self.spheres]).any())

    @property
    def centres(self) -> Floats:
        """(m, 3) centres, mm."""
        return np.array([s.centre for s in self.spheres]).reshape(-1, 3)
