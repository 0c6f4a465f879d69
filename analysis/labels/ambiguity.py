"""Labels that are significant against their alternatives, and those to withdraw."""

from dataclasses import dataclass

import numpy as np

from analysis.labels.beam_search import Labelling
from analysis.labels.scoring import NOT_ASSIGNED, LabelScoring
from analysis.labels.thresholds import WEIGH
from sim.core.arrays import Bools, Floats, Ints

NO_COMPETITOR = 99.0  # margin written where no other sphere comes into question


@dataclass(frozen=True, eq=False)
class LabelEvidence:
    """Significant labels.

    Parameters
    ----------
    sphere : (n,) sphere of each node, or NOT_ASSIGNED
    evidence : (n,) log-likelihood ratio that each label earns; nan without a label
    margin : (n,) by how much it beats the best alternative; nan without a label
    rivals : (n,) the node it may be confused with, or NOT_ASSIGNED
    ambiguous : (n,) nodes without a label because of such a rival
    confirmed : (m,) spheres known to be nodes, if not which ones
    """

    sphere: Ints
    evidence: Floats
    margin: Floats
    rivals: Ints
    ambiguous: Bools
    confirmed: Ints


def fill(scoring: LabelScoring, assigned: Ints) -> Ints:
    """Label free nodes with free spheres where one clearly fits best."""
    filled = assigned.copy()
    table = scoring.table(assigned, scoring.places(assigned))
    for node in np.argsort(-table.max(axis=1), kind="stable"):
        if filled[node] != NOT_ASSIGNED:
            continue
        row = table[node].copy()
        row[filled[filled != NOT_ASSIGNED]] = -np.inf
        best = int(np.argmax(row))
        second = np.delete(row, best).max(initial=0.0)
        if row[best] > max(second, 0.0) + scoring.options.margin:
            filled[node] = best
    return filled


def significant_labels(scoring: LabelScoring, labels: Ints) -> LabelEvidence:
    """Withdraw the weakest labels until all others are significant.

    A pair of nodes that could exchange their spheres loses both labels together.
    """
    n, assigned = scoring.mechanism.n, labels.copy()
    rivals = np.full(n, NOT_ASSIGNED, dtype=np.int64)
    evidence, margin = np.full(n, np.nan), np.full(n, np.nan)
    ambiguous = np.zeros(n, dtype=np.bool_)
    while True:
        needed = _needed_evidence(scoring, labels, assigned)
        places = scoring.places(assigned)
        table = scoring.table(assigned, places)
        lack = np.full(n, -np.inf)
        for node in np.flatnonzero(assigned != NOT_ASSIGNED).tolist():
            evidence[node] = table[node, assigned[node]]
            margin[node], rivals[node] = _closest_rival(
                scoring, assigned, (places, table), node
            )
            short = needed[node] - evidence[node]
            lack[node] = max(short, scoring.options.margin - margin[node])
            ambiguous[node] = short <= 0 and rivals[node] != NOT_ASSIGNED
        if lack.max() <= 0:
            break
        weak = (lack > 0) & ((lack >= lack.max() - 1e-9) | ambiguous)
        assigned[weak] = NOT_ASSIGNED
        evidence[weak] = margin[weak] = np.nan
    ambiguous &= assigned == NOT_ASSIGNED
    certain = (assigned != NOT_ASSIGNED) | ambiguous
    confirmed = np.sort(labels[certain])
    return LabelEvidence(assigned, evidence, margin, rivals, ambiguous, confirmed)


def _needed_evidence(scoring: LabelScoring, labels: Ints, assigned: Ints) -> Floats:
    """(n,) what a label must earn.

    By chance any loose sphere may lie at the lengths of a missing node, and any missing
    node may be assigned to it. So if nodes are missing, a node found by two lengths and
    its place must outweigh the logarithm of these tries, and the margin for each.
    Without a trusted prediction, a node that keeps one length and breaks another gets
    no label. A node that keeps no length but lies at its trusted prediction must
    outweigh the tries as well. Others need only break even, so that a wrong link or a
    body on the wrong joint is recognised.

    Parameters
    ----------
    labels : (n,) before any was withdrawn; they define loose spheres, missing nodes
    assigned : (n,) those that remain; they define the lengths of a node
    """
    needed = np.zeros(scoring.mechanism.n)
    missing = int((labels == NOT_ASSIGNED).sum())
    loose = scoring.spheres.m - scoring.mechanism.n + missing
    tries = np.log(max(loose, 1)) + np.log(max(missing, 1))
    trusted = scoring.trust > WEIGH.trusted
    for node in np.flatnonzero(assigned != NOT_ASSIGNED):
        right, broken = scoring.lengths_at(assigned, int(node))
        signs = right + int(trusted)  # by lengths, and by the place
        if trusted and right == 0:
            needed[node] = WEIGH.helped + np.log1p(loose) + np.log1p(missing)
        elif not trusted and missing and right == 1 and broken:
            needed[node] = np.inf
        elif missing and signs <= WEIGH.by_chance:
            needed[node] = max(signs, 1) * scoring.options.margin + tries
        elif not trusted and right <= 1:
            needed[node] = scoring.options.margin
    return needed


def _closest_rival(
    scoring: LabelScoring,
    assigned: Ints,
    weighed: tuple[list[Floats | None], Floats],
    node: int,
) -> tuple[float, int]:
    """Margin of a label over any other sphere, free or another node's; that node."""
    places, table = weighed
    m, own = scoring.spheres.m, float(table[node, assigned[node]])
    if not np.isfinite(own):  # nothing ties it any more
        return -np.inf, NOT_ASSIGNED
    margin, rival = min(own + scoring.options.margin, NO_COMPETITOR), NOT_ASSIGNED
    owner = np.full(m, NOT_ASSIGNED, dtype=np.int64)
    labelled = np.flatnonzero(assigned != NOT_ASSIGNED)
    owner[assigned[labelled]] = labelled
    lead = own - table[node]
    # Two mates can exchange spheres though neither can take the other's place alone.
    mates = [assigned[mate] for mate, _ in scoring.mechanism.mates[node]]
    tried = np.flatnonzero((lead < margin) | np.isin(np.arange(m), mates))
    for sphere in tried[tried != assigned[node]]:
        other = int(owner[sphere])
        loss = float(lead[sphere])
        if other != NOT_ASSIGNED:
            loss = scoring.swap_loss(assigned, places, node, other)
        if loss < margin:
            margin, rival = loss, other
    return margin, rival


def symmetric_nodes(
    labellings: list[Labelling], best: Labelling, margin: float
) -> tuple[Ints, int]:
    """Nodes that rival labellings place elsewhere, and the number of labellings."""
    rivals = [
        f
        for f in labellings
        if f.total > best.total - margin
        and (f.assigned != best.assigned).mean() > WEIGH.whole_shape
    ]
    differ = np.zeros(len(best.assigned), dtype=np.bool_)
    for rival in rivals:
        differ |= rival.assigned != best.assigned
    return np.flatnonzero(differ), 1 + len(rivals)
