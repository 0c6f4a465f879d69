"""What repeated scans of the same spheres show beyond their stated errors."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.spatial import KDTree

from analysis.spheres.scatter import excess_sd
from sim.arrays import Floats

FEWEST = 2  # scans that see a sphere


@dataclass(frozen=True, eq=False)
class Repeat:
    """The spheres of one scan, mm."""

    centres: Floats  # (m, 3)
    variances: Floats  # (m, 3) of each coordinate, mm^2
    radii: Floats  # (m,) each fitted along with its centre
    radius_sds: Floats  # (m,)


@dataclass(frozen=True)
class Repeatability:
    """Standard deviations that the stated errors do not explain, mm."""

    radius_mm: float
    centre_mm: float | None  # of a coordinate; None where no sphere stayed in place
    groups: int  # spheres that two or more scans saw in one place

    @property
    def advised_mm(self) -> float:
        """What to state as the repeatability of a centre."""
        return max(self.radius_mm, self.centre_mm or 0.0)


def repeatability(scans: Sequence[Repeat], reach_mm: float) -> Repeatability:
    """The scatter of radii over all scans, and of the centres that stayed in place.

    An error of the radius along the line of sight moves a centre by as much when the
    radius is held; that is why the radii speak for the centres too.

    Parameters
    ----------
    reach_mm : spheres of two scans that are closer are the same
    """
    radii = np.concatenate([scan.radii for scan in scans])
    sds = np.concatenate([scan.radius_sds for scan in scans])
    groups = in_place(scans, reach_mm)
    values = [v for group, _ in groups for v in group.T]
    variances = [v for _, group in groups for v in group.T]
    centre = pooled_excess(values, variances) if groups else None
    return Repeatability(excess_sd(radii, sds), centre, len(groups))


def in_place(scans: Sequence[Repeat], reach_mm: float) -> list[tuple[Floats, Floats]]:
    """Centres (k, 3) and variances (k, 3) of each sphere that k > 1 scans show."""
    trees = [KDTree(scan.centres) for scan in scans]
    groups = []
    for place in scans[0].centres:
        found = [tree.query(place) for tree in trees]
        there = [
            (scan, int(i))
            for scan, (distance, i) in zip(scans, found, strict=True)
            if distance < reach_mm
        ]
        if len(there) >= FEWEST:
            centres = np.array([scan.centres[i] for scan, i in there])
            groups.append((centres, np.array([s.variances[i] for s, i in there])))
    return groups


def pooled_excess(values: Sequence[Floats], variances: Sequence[Floats]) -> float:
    """The one t that explains the scatter of several repeated quantities.

    With w = 1 / (variance + t^2) and each quantity's own weighted mean, the sum over
    all of w (value - mean)^2 equals the sum of their counts less one each.
    """

    def surplus(t: float) -> float:
        total = 0.0
        for x, v in zip(values, variances, strict=True):
            w = 1.0 / (v + t**2)
            total += float((w * (x - (w * x).sum() / w.sum()) ** 2).sum()) - len(x) + 1
        return total

    if surplus(0.0) <= 0.0:
        return 0.0
    widest = max(float(np.ptp(x)) for x in values)
    return float(brentq(surplus, 0.0, 10.0 * widest))
