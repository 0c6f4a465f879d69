"""How well spheres fit nodes: log-likelihood ratios against "a sphere by chance".

A rigid pair of nodes seen at its length earns log N(r; 0, variance) + log(reach):
the alternative is a distance spread evenly over the extent of the scan.  A few
pairs may be wrong by much more than the scan's noise (a wrong link, a worn joint),
so the normal law has a broad shoulder, and a few by any amount (a body on the wrong
joint), so what a pair can cost is bounded.  Each labelled node pays a fixed cost.
"""

from dataclasses import dataclass

import numpy as np

from analysis.alignment import fit_rigid_motion
from sim.arrays import Bools, Floats, Ints

NOT_ASSIGNED = -1


@dataclass(frozen=True)
class LabelOptions:
    """What is assumed about a print and its scan when labels are sought.

    Parameters
    ----------
    length_sd_mm : printing and joint play, in a distance inside one body
    fault_sd_mm, fault_share : the broad shoulder of that law and its weight
    misassembled : share of rigid pairs that are not rigid pairs of the print
    node_cost : log-likelihood that a label must earn
    prediction_sd_mm : how near to its neighbours' prediction a node is expected
    prediction_slope : the same, in proportion to the distance from those neighbours
    margin : log-likelihood by which a label must beat its best alternative
    beam, runs : width of the search, and how many starts it tries
    """

    length_sd_mm: float = 0.1
    fault_sd_mm: float = 1.0
    fault_share: float = 0.05
    misassembled: float = 0.05
    node_cost: float = 2.5
    prediction_sd_mm: float = 2.0
    prediction_slope: float = 0.15
    margin: float = 3.0
    beam: int = 12
    runs: int = 8

    def __post_init__(self) -> None:
        for name in ("length_sd_mm", "fault_sd_mm", "prediction_sd_mm", "margin"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, not {getattr(self, name)}")
        for name in ("fault_share", "misassembled"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(
                    f"{name} must be between 0 and 1, not {getattr(self, name)}"
                )
        if self.beam < 1 or self.runs < 1:
            raise ValueError(
                f"beam and runs must be 1 or more, not {self.beam} and {self.runs}"
            )

    def place_sd_mm(self, lever_mm: float) -> float:
        """How near a prediction should hold `lever_mm` away from what ties it."""
        return float(np.hypot(self.prediction_sd_mm, self.prediction_slope * lever_mm))


@dataclass(frozen=True, eq=False)
class SphereSet:
    """Sphere centres with all their mutual distances.

    Parameters
    ----------
    centres_mm : (m, 3)
    distances_mm : (m, m)
    variances_mm2 : (m, m) variance of each distance from the centres' covariances
    reach_mm : largest distance
    """

    centres_mm: Floats
    distances_mm: Floats
    variances_mm2: Floats
    reach_mm: float

    @property
    def m(self) -> int:
        """Number of spheres."""
        return len(self.centres_mm)

    @classmethod
    def of(cls, centres_mm: Floats, covariances_mm2: Floats) -> "SphereSet":
        """From centres (m, 3) and their covariances (m, 3, 3)."""
        apart = centres_mm[:, None] - centres_mm[None]
        distance = np.linalg.norm(apart, axis=2)
        unit = apart / np.where(distance > 0, distance, 1.0)[..., None]
        along = np.einsum("sta,sab,stb->st", unit, covariances_mm2, unit)
        reach = float(distance.max(initial=0.0))
        return cls(centres_mm, distance, along + along.T, reach)


def normal_density(r: Floats, variance: Floats) -> Floats:
    """Density of the normal law at the residual `r`."""
    density: Floats = np.exp(-0.5 * r**2 / variance) / np.sqrt(2 * np.pi * variance)
    return density


def pair_evidence(
    spheres: SphereSet, rows: Ints | int, length_mm: float, options: LabelOptions
) -> Floats:
    """Log-likelihood ratio of spheres `rows` and all spheres being one rigid pair.

    Returns
    -------
    (m,) or (len(rows), m); at a fault of many standard deviations it falls below zero
    """
    r = spheres.distances_mm[rows] - length_mm
    variance = spheres.variances_mm2[rows] + options.length_sd_mm**2
    share = options.fault_share
    likelihood = (1 - share) * normal_density(r, variance)
    likelihood += share * normal_density(r, variance + options.fault_sd_mm**2)
    evidence: Floats = np.log(likelihood * spheres.reach_mm + options.misassembled)
    return evidence


def place_evidence(
    apart_mm: Floats, sd_mm: Floats | float, reach_mm: float, trust: float
) -> Floats:
    """Log-likelihood ratio of nodes lying `apart_mm` from where they were predicted.

    With probability `trust` the prediction holds, else the sphere lies anywhere in
    a volume of reach^3; the loss is bounded, so a wrong prediction cannot forbid.
    """
    volume = reach_mm**3
    peak = volume * (2 * np.pi * sd_mm**2) ** -1.5
    evidence: Floats = np.log(
        1 - trust + trust * peak * np.exp(-0.5 * (apart_mm / sd_mm) ** 2)
    )
    return evidence


def predict_from_neighbours(
    predicted_mm: Floats,
    centres_mm: Floats,
    assigned: Ints,
    node: int,
    excluded: Bools | None = None,
    neighbours: int = 8,
) -> tuple[Floats, float] | None:
    """Where a node should be, by the predicted shape laid on its labelled neighbours.

    Only the nearest labelled nodes are used, so a mechanism in another state than
    the predicted one still has its local shape recognised.

    Returns
    -------
    position (3,) mm and distance of the node from the middle of the neighbours, mm;
    None where fewer than three labelled neighbours span a triangle
    """
    usable = assigned != NOT_ASSIGNED
    usable[node] = False
    if excluded is not None:
        usable &= ~excluded
    near = np.flatnonzero(usable)
    if len(near) < 3:
        return None
    apart = np.linalg.norm(predicted_mm[near] - predicted_mm[node], axis=1)
    near = near[np.argsort(apart, kind="stable")[:neighbours]]
    x = predicted_mm[near]
    singular = np.linalg.svd(x - x.mean(axis=0), compute_uv=False)
    if singular[1] < 0.05 * singular[0]:
        return None
    motion = fit_rigid_motion(x, centres_mm[assigned[near]])
    lever = float(np.linalg.norm(predicted_mm[node] - x.mean(axis=0)))
    return motion(predicted_mm[node]), lever
