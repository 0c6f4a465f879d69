"""What each sphere would earn as a node, the other labels being kept."""

from dataclasses import dataclass

import numpy as np

from analysis.labels.evidence import (
    NOT_ASSIGNED,
    LabelOptions,
    SphereSet,
    pair_evidence,
    place_evidence,
    predict_from_neighbours,
)
from analysis.labels.mechanism import Mechanism
from analysis.labels.thresholds import WEIGH
from sim.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Scale:
    """Weighs labels of one mechanism on one set of spheres.

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
        if self.trust < WEIGH.doubted:
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
        kept = broken = 0
        for sphere, length in self._assigned_mates(assigned, node, NOT_ASSIGNED):
            sd = np.hypot(
                np.sqrt(self.spheres.variances_mm2[here, sphere]),
                self.options.length_sd_mm,
            )
            r = self.spheres.distances_mm[here, sphere] - length
            kept += int(abs(r) < WEIGH.tight * sd)
            broken += int(abs(r) >= WEIGH.tight * sd)
        return kept, broken

    def prediction_trust(self, assigned: Ints) -> float:
        """Share of labelled nodes found where nodes of other bodies put them."""
        held, asked = 1.0, 2.0
        for node in np.flatnonzero(assigned != NOT_ASSIGNED):
            guess = predict_from_neighbours(
                self.mechanism.nodes_mm,
                self.spheres.centres_mm,
                assigned,
                int(node),
                self._mates(int(node)),
            )
            if guess is not None:
                found = self.spheres.centres_mm[assigned[node]]
                near = np.linalg.norm(found - guess[0]) < 3 * self.options.place_sd_mm(
                    guess[1]
                )
                held, asked = held + float(near), asked + 1
        return held / asked

    def _mates(self, node: int) -> Bools:
        mates = np.zeros(self.mechanism.n, dtype=np.bool_)
        mates[[mate for mate, _ in self.mechanism.mates[node]]] = True
        return mates
