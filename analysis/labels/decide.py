"""Which labels stand out from their alternatives, and which are better not given."""

from dataclasses import dataclass

import numpy as np

from analysis.labels.evidence import NOT_ASSIGNED
from analysis.labels.search import Labelling
from analysis.labels.thresholds import WEIGH
from analysis.labels.weigh import Scale
from sim.arrays import Bools, Floats, Ints

NEVER_RIVALLED = 99.0  # margin written where no other sphere comes into question


@dataclass(frozen=True, eq=False)
class Standing:
    """Labels that stand out.

    Parameters
    ----------
    assigned : (n,) sphere of each node, or NOT_ASSIGNED
    evidence, margin : (n,) what each label earns, and its lead; nan without a label
    rivals : (n,) the node it may be confused with, or NOT_ASSIGNED
    ambiguous : (n,) nodes without a label because of such a rival
    confirmed : (m,) spheres known to be nodes, if not which ones
    """

    assigned: Ints
    evidence: Floats
    margin: Floats
    rivals: Ints
    ambiguous: Bools
    confirmed: Ints


def fill(scale: Scale, assigned: Ints) -> Ints:
    """Label free nodes with free spheres where one stands out."""
    filled = assigned.copy()
    table = scale.table(assigned, scale.places(assigned))
    for node in np.argsort(-table.max(axis=1), kind="stable"):
        if filled[node] != NOT_ASSIGNED:
            continue
        row = table[node].copy()
        row[filled[filled != NOT_ASSIGNED]] = -np.inf
        best = int(np.argmax(row))
        second = np.delete(row, best).max(initial=0.0)
        if row[best] > max(second, 0.0) + scale.options.margin:
            filled[node] = best
    return filled


def stand_out(scale: Scale, labels: Ints) -> Standing:
    """Take away the weakest labels until all that are left stand out.

    A pair of nodes that could exchange their spheres loses both labels together.
    """
    n, assigned = scale.mechanism.n, labels.copy()
    rivals = np.full(n, NOT_ASSIGNED, dtype=np.int64)
    evidence, margin = np.full(n, np.nan), np.full(n, np.nan)
    ambiguous = np.zeros(n, dtype=np.bool_)
    while True:
        needed = _needed_evidence(scale, labels, assigned)
        places = scale.places(assigned)
        table = scale.table(assigned, places)
        lack = np.full(n, -np.inf)
        for node in np.flatnonzero(assigned != NOT_ASSIGNED).tolist():
            evidence[node] = table[node, assigned[node]]
            margin[node], rivals[node] = _closest_rival(
                scale, assigned, (places, table), node
            )
            short = needed[node] - evidence[node]
            lack[node] = max(short, scale.options.margin - margin[node])
            ambiguous[node] = short <= 0 and rivals[node] != NOT_ASSIGNED
        if lack.max() <= 0:
            break
        weak = (lack > 0) & ((lack >= lack.max() - 1e-9) | ambiguous)
        assigned[weak] = NOT_ASSIGNED
        evidence[weak] = margin[weak] = np.nan
    ambiguous &= assigned == NOT_ASSIGNED
    kept = (assigned != NOT_ASSIGNED) | ambiguous
    confirmed = np.sort(labels[kept])
    return Standing(assigned, evidence, margin, rivals, ambiguous, confirmed)


def _needed_evidence(scale: Scale, labels: Ints, assigned: Ints) -> Floats:
    """(n,) what a label must earn.

    Any of the loose spheres may happen to lie at the lengths of a missing node, and
    any of the missing nodes may be the one it is laid on. So where nodes are missing,
    one told by two of its lengths and its place must outweigh the logarithm of these
    tries, and the margin for each; none of unknown state is believed that keeps one
    length and breaks another. A node that keeps no length but lies where a trusted
    prediction puts it must outweigh the tries as well. Others need only break even, so
    that a wrong link or a body on the wrong joint is recognised.

    Parameters
    ----------
    labels : (n,) before any was taken away; they tell what is loose and missing
    assigned : (n,) those left; they tell what a node is tied by
    """
    needed = np.zeros(scale.mechanism.n)
    missing = int((labels == NOT_ASSIGNED).sum())
    loose = scale.spheres.m - scale.mechanism.n + missing
    tries = np.log(max(loose, 1)) + np.log(max(missing, 1))
    trusted = scale.trust > WEIGH.trusted
    for node in np.flatnonzero(assigned != NOT_ASSIGNED):
        kept, broken = scale.lengths_at(assigned, int(node))
        told = kept + int(trusted)  # by lengths, and by the place
        if trusted and kept == 0:
            needed[node] = WEIGH.helped + np.log1p(loose) + np.log1p(missing)
        elif not trusted and missing and kept == 1 and broken:
            needed[node] = np.inf
        elif missing and told <= WEIGH.by_chance:
            needed[node] = max(told, 1) * scale.options.margin + tries
        elif not trusted and kept <= 1:
            needed[node] = scale.options.margin
    return needed


def _closest_rival(
    scale: Scale,
    assigned: Ints,
    weighed: tuple[list[Floats | None], Floats],
    node: int,
) -> tuple[float, int]:
    """Margin of a label over any other sphere, free or another node's; that node."""
    places, table = weighed
    m, own = scale.spheres.m, float(table[node, assigned[node]])
    if not np.isfinite(own):  # nothing ties it any more
        return -np.inf, NOT_ASSIGNED
    margin, rival = min(own + scale.options.margin, NEVER_RIVALLED), NOT_ASSIGNED
    owner = np.full(m, NOT_ASSIGNED, dtype=np.int64)
    labelled = np.flatnonzero(assigned != NOT_ASSIGNED)
    owner[assigned[labelled]] = labelled
    lead = own - table[node]
    # Two mates can exchange spheres though neither can take the other's place alone.
    mates = [assigned[mate] for mate, _ in scale.mechanism.mates[node]]
    tried = np.flatnonzero((lead < margin) | np.isin(np.arange(m), mates))
    for sphere in tried[tried != assigned[node]]:
        other = int(owner[sphere])
        loss = float(lead[sphere])
        if other != NOT_ASSIGNED:
            loss = scale.swap_loss(assigned, places, node, other)
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
