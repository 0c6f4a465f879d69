"""Assign spheres to nodes as far as the evidence allows, with reasons."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from analysis.labels.ambiguity import (
    LabelEvidence,
    fill,
    significant_labels,
    symmetric_nodes,
)
from analysis.labels.beam_search import judge, search
from analysis.labels.rigid_distances import Mechanism
from analysis.labels.scoring import NOT_ASSIGNED, LabelOptions, LabelScoring, SphereSet
from analysis.labels.thresholds import GROW, START
from sim.core.arrays import Floats, Ints


class Refusal(Enum):
    """Why a node has its label, or has none."""

    DISTANCES = "distances"
    PREDICTION = "distances and prediction"
    BY_HAND = "stated"
    SYMMETRIC = "one of several symmetric labellings"
    AMBIGUOUS = "unassigned: ambiguous"
    NO_EVIDENCE = "unassigned: no sphere fits"


@dataclass(frozen=True, eq=False)
class Labels(LabelEvidence):
    """The outcome for every node.

    Parameters
    ----------
    reason : (n,) why a node has its label, or none
    group : number of labellings that explain the scan equally well
    trust : share of labelled nodes that bear out the predicted shape
    """

    reason: tuple[Refusal, ...]
    group: int
    trust: float

    @property
    def labelled(self) -> Ints:
        """Nodes with a label."""
        return np.flatnonzero(self.sphere != NOT_ASSIGNED)

    @property
    def missing(self) -> Ints:
        """Nodes without a label."""
        return np.flatnonzero(self.sphere == NOT_ASSIGNED)

    @property
    def unconfirmed(self) -> Ints:
        """Nodes of which not even a set of spheres is known to hold them."""
        lost = [reason is Refusal.NO_EVIDENCE for reason in self.reason]
        return np.flatnonzero(lost)


def label_spheres(
    mechanism: Mechanism,
    centres_mm: Floats,
    covariances_mm2: Floats,
    options: LabelOptions | None = None,
) -> Labels:
    """Label spheres in an unknown pose and state, some missing, some false.

    If few nodes get a label, a second search allows lengths to scatter by more than
    stated.

    Parameters
    ----------
    centres_mm : (m, 3) sphere centres
    covariances_mm2 : (m, 3, 3) their covariances
    """
    options = options or LabelOptions()
    spheres = SphereSet.of(centres_mm, covariances_mm2)
    labels = _label_once(mechanism, spheres, options)
    if len(labels.labelled) >= GROW.few * mechanism.n:
        return labels
    wider = replace(options, length_sd_mm=GROW.wider * options.length_sd_mm)
    again = _label_once(mechanism, spheres, wider)
    return max(labels, again, key=lambda found: len(found.labelled))


def _label_once(
    mechanism: Mechanism, spheres: SphereSet, options: LabelOptions
) -> Labels:
    scoring = LabelScoring(mechanism, spheres, options, START.trust)
    found = search(scoring)
    if not found:
        return _no_labels(mechanism.n)
    first = found[0].assigned
    scoring = replace(scoring, trust=scoring.prediction_trust(first))
    best = judge(scoring, fill(scoring, first))
    stand = significant_labels(scoring, best.assigned)
    symmetric, group = symmetric_nodes(found[1:], best, options.margin)
    reason = _reasons(scoring, stand, symmetric)
    return Labels(**vars(stand), reason=reason, group=group, trust=scoring.trust)


def _reasons(
    scoring: LabelScoring, stand: LabelEvidence, symmetric: Ints
) -> tuple[Refusal, ...]:
    """Why each node has its label, or none."""
    silent: list[Floats | None] = [None] * scoring.mechanism.n
    by_distance = replace(scoring, trust=0.0).table(stand.sphere, silent)
    reasons = []
    for node, sphere in enumerate(stand.sphere):
        if sphere == NOT_ASSIGNED:
            known = stand.ambiguous[node]
            reasons.append(Refusal.AMBIGUOUS if known else Refusal.NO_EVIDENCE)
        elif node in symmetric:
            reasons.append(Refusal.SYMMETRIC)
        else:
            row = by_distance[node]
            lead = row[sphere] - np.delete(row, sphere).max(initial=0.0)
            by_length = np.isfinite(row[sphere]) and lead > scoring.options.margin
            reasons.append(Refusal.DISTANCES if by_length else Refusal.PREDICTION)
    return tuple(reasons)


def labels_by_hand(n: int, nodes: Sequence[str]) -> Labels:
    """Labels of n nodes, stated for each sphere; "" for none."""
    sphere, reason = np.full(n, NOT_ASSIGNED), [Refusal.NO_EVIDENCE] * n
    for k, node in enumerate(nodes):
        if not node:
            continue
        if not (node.isdecimal() and int(node) < n and nodes.count(node) == 1):
            raise ValueError(
                f"column node of spheres.csv has {node!r}: give each node of 0 to "
                f"{n - 1}, or its name, at most once, and leave other rows empty"
            )
        sphere[int(node)], reason[int(node)] = k, Refusal.BY_HAND
    confirmed = sphere[sphere != NOT_ASSIGNED]
    none = _no_labels(n)
    return replace(none, sphere=sphere, confirmed=confirmed, reason=tuple(reason))


def _no_labels(n: int) -> Labels:
    nothing, unknown = np.full(n, NOT_ASSIGNED), np.full(n, np.nan)
    no_nodes, none = np.zeros(n, np.bool_), np.empty(0, np.int64)
    stand = nothing, unknown, unknown, nothing, no_nodes, none
    return Labels(*stand, (Refusal.NO_EVIDENCE,) * n, 0, 0.0)
