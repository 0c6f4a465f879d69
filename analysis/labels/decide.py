"""Which labels stand out from their alternatives, and which are better not given."""

from dataclasses import dataclass

import numpy as np

from analysis.labels.evidence import NOT_ASSIGNED
from analysis.labels.search import Labelling
from analysis.labels.weigh import Scale
from sim.arrays import Bools, Floats, Ints

NEVER_RIVALLED = 99.0  # margin written where no other sphere comes into question
WHOLE_SHAPE = 0.25  # share of nodes labelled otherwise that makes it another labelling
TRUSTED = 0.5  # trust from which the prediction counts beside a single length
HELPED = 2.2  # what a label must earn that a trusted prediction alone ties


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
    needed = _needed_evidence(scale, labels)
    while True:
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


def _needed_evidence(scale: Scale, labels: Ints) -> Floats:
    """(n,) what a label must earn.

    A node tied by one length alone, in a scan where nodes are missing, may be missing
    too while one of the U loose spheres happens to lie at that length: it must earn
    log(1 + U) more.  One that keeps no length but lies where a trusted prediction puts
    it must outweigh the missing nodes as well.  Two lengths seldom agree by chance, nor
    does one where the prediction is trusted: such a node need only break even, so that
    a wrong link or a body on the wrong joint is still recognised.
    """
    needed = np.zeros(scale.mechanism.n)
    loose = np.log1p(scale.spheres.m - int((labels != NOT_ASSIGNED).sum()))
    missing = np.log1p(int((labels == NOT_ASSIGNED).sum()))
    trusted = scale.trust > TRUSTED
    for node in np.flatnonzero(labels != NOT_ASSIGNED):
        kept = scale.kept_lengths(labels, int(node))
        if trusted and kept == 0:
            needed[node] = HELPED + loose + missing
        elif not trusted and kept <= 1:
            needed[node] = scale.options.margin + (loose if missing else 0.0)
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
    found: list[Labelling], best: Labelling, margin: float
) -> tuple[Ints, int]:
    """Nodes that rival labellings place elsewhere, and the number of labellings."""
    rivals = [
        f
        for f in found
        if f.total > best.total - margin
        and (f.assigned != best.assigned).mean() > WHOLE_SHAPE
    ]
    differ = np.zeros(len(best.assigned), dtype=np.bool_)
    for rival in rivals:
        differ |= rival.assigned != best.assigned
    return np.flatnonzero(differ), 1 + len(rivals)
