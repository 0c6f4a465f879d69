"""How well spheres fit nodes: log-likelihood ratios against "a sphere by chance".

A rigid pair of nodes seen at its length earns log N(r; 0, variance) + log(reach):
the alternative is a distance spread evenly over the extent of the scan.  A few
pairs may be wrong by much more than the scan's noise (a wrong link, a worn joint),
so the normal law has a broad shoulder, and a few by any amount (a body on the wrong
joint), so what a pair can cost is bounded.  Each labelled node pays a fixed cost.
`LabelScoring` has what each sphere would earn as a node, the other labels unchanged.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from analysis.alignment import fit_rigid_motion
from analysis.labels.rigid_distances import Mechanism
from analysis.labels.thresholds import WEIGH
from sim.core.arrays import Bools, Floats, Ints
from sim.core.options import Checked, Count, Positive, Requirement

NOT_ASSIGNED = -1
Share = Annotated[float, Requirement("between 0 and 1", lambda share: 0 < share < 1)]


@dataclass(frozen=True)
class LabelOptions(Checked):
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

    length_sd_mm: Positive = 0.1
    fault_sd_mm: Positive = 1.0
    fault_share: Share = 0.05
    misassembled: Share = 0.05
    node_cost: float = 2.5
    prediction_sd_mm: Positive = 2.0
    prediction_slope: float = 0.15
    margin: Positive = 3.0
    beam: Count = 12
    runs: Count = 8

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
    return np.asarray(np.exp(-0.5 * r**2 / variance) / np.sqrt(2 * np.pi * variance))


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
    return np.asarray(np.log(likelihood * spheres.reach_mm + options.misassembled))


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


@dataclass(frozen=True, eq=False)
class LabelScoring:
    """Scores labels of one mechanism on one set of spheres.

    Parameters
    ----------
    trust : how far the predicted shape is believed, 0 to 1
    """

    mechanism: Mechanism
    spheres: SphereSet
    options: LabelOptions
    trust: float

    def places(self, assigned: Ints) -> list[Floats | None]:
        """For each node, what the predicted shape says of every sphere (m,).

        None where it says nothing. Lengths change with each label; this is costly
        and nearly the same whatever single label is looked at.
        """
        return [self.place(assigned, node) for node in range(self.mechanism.n)]

    def place(self, assigned: Ints, node: int) -> Floats | None:
        """The same for one node."""
        if self.trust < WEIGH.unbelieved:
            return None
        guess = predict_from_neighbours(
            self.mechanism.nodes_mm, self.spheres.centres_mm, assigned, node
        )
        if guess is None:
            return None
        apart = np.linalg.norm(self.spheres.centres_mm - guess[0], axis=1)
        sd = self.options.place_sd_mm(guess[1])
        # Never believed so much that a part on the wrong joint could not be seen.
        trust = min(self.trust, WEIGH.believed)
        return place_evidence(apart, sd, self.spheres.reach_mm, trust)

    def node(
        self,
        assigned: Ints,
        node: int,
        place: Floats | None,
        without: int = NOT_ASSIGNED,
    ) -> Floats | None:
        """Log-likelihood ratios (m,) of all spheres as `node`, less a label's cost.

        Parameters
        ----------
        assigned : (n,) the labels
        place : (m,) what the predicted shape says
        without : a second node whose label is disregarded

        Returns
        -------
        None where nothing ties the node
        """
        mates = self._assigned_mates(assigned, node, without)
        if not mates and (place is None or self.trust < WEIGH.believed):
            return None
        total = np.full(self.spheres.m, -self.options.node_cost)
        for sphere, length in mates:
            total += pair_evidence(self.spheres, sphere, length, self.options)
        return total if place is None else total + place

    def _assigned_mates(
        self, assigned: Ints, node: int, without: int
    ) -> list[tuple[int, float]]:
        return [
            (int(assigned[mate]), length)
            for mate, length in self.mechanism.mates[node]
            if assigned[mate] != NOT_ASSIGNED and mate != without
        ]

    def table(self, assigned: Ints, places: list[Floats | None]) -> Floats:
        """(n, m) the same for every node; -inf where nothing ties it."""
        table = np.full((self.mechanism.n, self.spheres.m), -np.inf)
        for node, place in enumerate(places):
            row = self.node(assigned, node, place)
            if row is not None:
                table[node] = row
        return table

    def swap_loss(
        self, assigned: Ints, places: list[Floats | None], j: int, k: int
    ) -> float:
        """What is lost when two nodes exchange their spheres.

        The distance between the two stays what it is, so it is left out.
        """
        loss = 0.0
        for node, other in ((j, k), (k, j)):
            row = self.node(assigned, node, places[node], without=other)
            if row is not None:
                loss += float(row[assigned[node]] - row[assigned[other]])
        return loss

    def lengths_at(self, assigned: Ints, node: int) -> tuple[int, int]:
        """How many rigid lengths the label of `node` keeps, and how many it breaks."""
        here = int(assigned[node])
        right = broken = 0
        for sphere, length in self._assigned_mates(assigned, node, NOT_ASSIGNED):
            sd = np.hypot(
                np.sqrt(self.spheres.variances_mm2[here, sphere]),
                self.options.length_sd_mm,
            )
            r = self.spheres.distances_mm[here, sphere] - length
            right += int(abs(r) < WEIGH.tight * sd)
            broken += int(abs(r) >= WEIGH.tight * sd)
        return right, broken

    def prediction_trust(self, assigned: Ints) -> float:
        """Share of labelled nodes found where nodes of other bodies put them."""
        held, asked = 1.0, 2.0
        for node in np.flatnonzero(assigned != NOT_ASSIGNED):
            excluded = np.zeros(self.mechanism.n, dtype=np.bool_)
            excluded[[mate for mate, _ in self.mechanism.mates[node]]] = True
            centres = self.spheres.centres_mm
            guess = predict_from_neighbours(
                self.mechanism.nodes_mm, centres, assigned, int(node), excluded
            )
            if guess is not None:
                off = np.linalg.norm(centres[assigned[node]] - guess[0])
                near = off < 3 * self.options.place_sd_mm(guess[1])
                held, asked = held + float(near), asked + 1
        return held / asked
