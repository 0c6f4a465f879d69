"""Which sphere is which node, as far as the evidence goes, and why."""

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from analysis.labels.evidence import (
    NOT_ASSIGNED,
    LabelOptions,
    SphereSet,
    predict_from_neighbours,
)
from analysis.labels.mechanism import Mechanism
from analysis.labels.search import Labelling, judge, node_evidence, search
from sim.arrays import Floats, Ints

FEW = 0.5  # share of labelled nodes below which a second search is made
WIDER = 5.0  # how much more lengths may scatter in it
NEVER_RIVALLED = 99.0  # margin written where no other sphere comes into question


class Reason(Enum):
    """Why a node has its label, or has none."""

    DISTANCES = "distances"
    PREDICTION = "distances and prediction"
    SYMMETRIC = "one of several symmetric labellings"
    AMBIGUOUS = "unassigned: ambiguous"
    NO_EVIDENCE = "unassigned: no sphere fits"


@dataclass(frozen=True, eq=False)
class Labels:
    """The outcome for every node.

    Parameters
    ----------
    sphere : (n,) sphere of each node, or NOT_ASSIGNED
    evidence : (n,) log-likelihood ratio that each label earns; nan without a label
    margin : (n,) by how much it beats the best alternative; nan without a label
    reason : (n,) why
    rivals : (n,) the node it may be confused with, or NOT_ASSIGNED
    confirmed : (m,) spheres known to be nodes, if not which ones
    group : number of labellings that explain the scan equally well
    trust : share of labelled nodes that bear out the predicted shape
    """

    sphere: Ints
    evidence: Floats
    margin: Floats
    reason: tuple[Reason, ...]
    rivals: Ints
    confirmed: Ints
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


def prediction_trust(
    mechanism: Mechanism, spheres: SphereSet, assigned: Ints, options: LabelOptions
) -> float:
    """Share of labelled nodes found where their neighbours in other bodies put them."""
    held, asked = 1.0, 2.0
    for node in np.flatnonzero(assigned != NOT_ASSIGNED):
        mates = np.zeros(mechanism.n, dtype=np.bool_)
        mates[[m for m, _ in mechanism.mates[node]]] = True
        guess = predict_from_neighbours(
            mechanism.nodes_mm, spheres.centres_mm, assigned, int(node), mates
        )
        if guess is not None:
            apart = np.linalg.norm(spheres.centres_mm[assigned[node]] - guess[0])
            sd = np.hypot(options.prediction_sd_mm, options.prediction_slope * guess[1])
            held, asked = held + float(apart < 3 * sd), asked + 1
    return held / asked


def _all_evidence(
    mechanism: Mechanism,
    spheres: SphereSet,
    assigned: Ints,
    options: LabelOptions,
    trust: float,
) -> Floats:
    """(n, m) what each sphere would earn as each node, the other labels being kept."""
    table = np.full((mechanism.n, spheres.m), -np.inf)
    for node in range(mechanism.n):
        row = node_evidence(mechanism, spheres, assigned, node, options, trust=trust)
        if row is not None:
            table[node] = row
    return table


def _fill(assigned: Ints, table: Floats, margin: float) -> Ints:
    """Label free nodes with free spheres where one stands out."""
    filled = assigned.copy()
    for node in np.argsort(-table.max(axis=1), kind="stable"):
        if filled[node] != NOT_ASSIGNED:
            continue
        row = table[node].copy()
        row[filled[filled != NOT_ASSIGNED]] = -np.inf
        best = int(np.argmax(row))
        second = np.delete(row, best).max(initial=0.0)
        if row[best] > max(second, 0.0) + margin:
            filled[node] = best
    return filled


def _swap_margin(
    mechanism: Mechanism,
    spheres: SphereSet,
    assigned: Ints,
    pair: tuple[int, int],
    options: LabelOptions,
    trust: float,
) -> float:
    """What is lost when two nodes exchange their spheres."""
    j, k = pair
    loss = 0.0
    for node, other in ((j, k), (k, j)):
        row = node_evidence(
            mechanism, spheres, assigned, node, options, trust=trust, without=other
        )
        if row is not None:
            loss += float(row[assigned[node]] - row[assigned[other]])
    return loss


def _closest_rival(
    mechanism: Mechanism,
    spheres: SphereSet,
    assigned: Ints,
    table: Floats,
    node: int,
    options: LabelOptions,
    trust: float,
) -> tuple[float, int]:
    """Margin of a label over any other sphere, free or another node's; that node."""
    own = float(table[node, assigned[node]])
    margin, rival = own + options.margin, NOT_ASSIGNED
    owner = np.full(spheres.m, NOT_ASSIGNED, dtype=np.int64)
    labelled = np.flatnonzero(assigned != NOT_ASSIGNED)
    owner[assigned[labelled]] = labelled
    for sphere in np.argsort(-table[node], kind="stable"):
        if sphere == assigned[node]:
            continue
        if own - table[node, sphere] > min(margin, NEVER_RIVALLED):
            break
        other = int(owner[sphere])
        if other == NOT_ASSIGNED:
            lead = own - float(table[node, sphere])
        else:
            lead = _swap_margin(
                mechanism, spheres, assigned, (node, other), options, trust
            )
        if lead < margin:
            margin, rival = lead, other
    return min(margin, NEVER_RIVALLED), rival


def _symmetric_nodes(
    found: list[Labelling], best: Labelling, margin: float
) -> tuple[Ints, int]:
    """Nodes that rival labellings place elsewhere, and the number of labellings."""
    rivals = [
        f
        for f in found
        if f.total > best.total - margin and (f.assigned != best.assigned).mean() > 0.25
    ]
    differ = np.zeros(len(best.assigned), dtype=np.bool_)
    for rival in rivals:
        differ |= rival.assigned != best.assigned
    return np.flatnonzero(differ), 1 + len(rivals)


def label_spheres(
    mechanism: Mechanism,
    centres_mm: Floats,
    covariances_mm2: Floats,
    options: LabelOptions | None = None,
) -> Labels:
    """Label spheres in an unknown pose and state, some missing, some false.

    Where few nodes get a label, a second search allows for lengths that scatter by
    more than was stated.

    Parameters
    ----------
    centres_mm : (m, 3) sphere centres
    covariances_mm2 : (m, 3, 3) their covariances
    """
    options = options or LabelOptions()
    spheres = SphereSet.of(centres_mm, covariances_mm2)
    labels = _label_once(mechanism, spheres, options)
    if len(labels.labelled) >= FEW * mechanism.n:
        return labels
    wider = replace(options, length_sd_mm=WIDER * options.length_sd_mm)
    again = _label_once(mechanism, spheres, wider)
    return max(labels, again, key=lambda found: len(found.labelled))


def _label_once(
    mechanism: Mechanism, spheres: SphereSet, options: LabelOptions
) -> Labels:
    found = search(mechanism, spheres, options)
    if not found:
        return _no_labels(mechanism.n)
    trust = prediction_trust(mechanism, spheres, found[0].assigned, options)
    table = _all_evidence(mechanism, spheres, found[0].assigned, options, trust)
    assigned = _fill(found[0].assigned, table, options.margin)
    best = judge(mechanism, spheres, assigned, options)
    symmetric, group = _symmetric_nodes(found[1:], best, options.margin)
    return _decide(mechanism, spheres, best, symmetric, group, trust, options)


def _no_labels(n: int) -> Labels:
    nothing = np.full(n, NOT_ASSIGNED, dtype=np.int64)
    unknown = np.full(n, np.nan)
    empty = np.empty(0, dtype=np.int64)
    why = (Reason.NO_EVIDENCE,) * n
    return Labels(nothing, unknown, unknown, why, nothing, empty, 0, 0.0)


def _decide(
    mechanism: Mechanism,
    spheres: SphereSet,
    best: Labelling,
    symmetric: Ints,
    group: int,
    trust: float,
    options: LabelOptions,
) -> Labels:
    """Drop labels that do not stand out; the rest get their reason."""
    n, assigned = mechanism.n, best.assigned.copy()
    reason = [Reason.NO_EVIDENCE] * n
    rivals = np.full(n, NOT_ASSIGNED, dtype=np.int64)
    evidence, margin = np.full(n, np.nan), np.full(n, np.nan)
    confirmed = set(assigned[assigned != NOT_ASSIGNED].tolist())
    while True:
        table = _all_evidence(mechanism, spheres, assigned, options, trust)
        weak = []
        for node in np.flatnonzero(assigned != NOT_ASSIGNED):
            evidence[node] = table[node, assigned[node]]
            margin[node], rivals[node] = _closest_rival(
                mechanism, spheres, assigned, table, int(node), options, trust
            )
            if margin[node] < options.margin or evidence[node] < 0:
                weak.append(node)
        if not weak:
            break
        weakest = min(margin[weak])
        for node in weak:
            if margin[node] <= weakest + 1e-9 or rivals[node] != NOT_ASSIGNED:
                alone = evidence[node] < 0 or rivals[node] == NOT_ASSIGNED
                if alone:
                    confirmed.discard(int(assigned[node]))
                reason[node] = Reason.NO_EVIDENCE if alone else Reason.AMBIGUOUS
                assigned[node] = NOT_ASSIGNED
                evidence[node] = margin[node] = np.nan
    by_distance = _all_evidence(mechanism, spheres, assigned, options, 0.0)
    for node in np.flatnonzero(assigned != NOT_ASSIGNED):
        row = by_distance[node]
        lead = row[assigned[node]] - np.delete(row, assigned[node]).max(initial=0.0)
        told = np.isfinite(row[assigned[node]]) and lead > options.margin
        reason[node] = Reason.DISTANCES if told else Reason.PREDICTION
        if node in symmetric:
            reason[node] = Reason.SYMMETRIC
    return Labels(
        assigned,
        evidence,
        margin,
        tuple(reason),
        rivals,
        np.array(sorted(confirmed), dtype=np.int64),
        group,
        trust,
    )
