"""Beam search: labels grow from three nodes along the mechanism's rigid pairs."""

from dataclasses import dataclass

import numpy as np

from analysis.alignment import fit_rigid_motion
from analysis.labels.evidence import (
    NOT_ASSIGNED,
    LabelOptions,
    SphereSet,
    pair_evidence,
)
from analysis.labels.mechanism import Mechanism, ordered_from
from analysis.labels.starts import Start, find_starts
from analysis.labels.thresholds import GROW, START
from analysis.labels.weigh import Scale
from sim.arrays import Ints


@dataclass(frozen=True, eq=False)
class Labelling:
    """One complete hypothesis.

    Parameters
    ----------
    assigned : (n,) sphere of each node, or NOT_ASSIGNED
    score : log-likelihood ratio of all rigid pairs, less the cost of the labels
    shape_score : the same for the whole predicted shape
    """

    assigned: Ints
    score: float
    shape_score: float

    @property
    def total(self) -> float:
        """By this, labellings are compared."""
        return self.score + self.shape_score


def grow(
    mechanism: Mechanism,
    spheres: SphereSet,
    base: Ints,
    start: Start,
    options: LabelOptions,
    trust: float = START.trust,
) -> Ints:
    """The best labels found from `start`, added to those of `base`."""
    scale = Scale(mechanism, spheres, options, trust)
    first = base.copy()
    first[start.nodes] = start.spheres
    known = np.flatnonzero(first != NOT_ASSIGNED)
    wanted = np.flatnonzero(first == NOT_ASSIGNED)
    beam: list[tuple[float, Ints]] = [(0.0, first)]
    for node in ordered_from(mechanism, known.tolist(), wanted.tolist()):
        grown = list(beam)  # the node may be missing
        for score, assigned in beam:
            evidence = scale.node(assigned, node, scale.place(assigned, node))
            if evidence is None:
                continue
            evidence[assigned[assigned != NOT_ASSIGNED]] = -np.inf
            best = np.argsort(-evidence, kind="stable")[: GROW.branches]
            for sphere in best[evidence[best] > 0]:
                child = assigned.copy()
                child[node] = sphere
                grown.append((score + float(evidence[sphere]), child))
        grown.sort(key=lambda hypothesis: -hypothesis[0])
        beam = grown[: options.beam]
    return beam[0][1]


def judge(
    mechanism: Mechanism, spheres: SphereSet, assigned: Ints, options: LabelOptions
) -> Labelling:
    """Score complete labels, whatever the order in which they were found.

    A body on the wrong joint breaks several of its pairs by one cause: what its
    broken pairs cost together is bounded.
    """
    score = -options.node_cost * int((assigned != NOT_ASSIGNED).sum())
    ends = assigned[mechanism.pairs]
    seen = np.flatnonzero((ends != NOT_ASSIGNED).all(axis=1))
    earned = np.zeros(len(ends))
    for p in seen:
        length = float(mechanism.lengths_mm[p])
        earned[p] = pair_evidence(spheres, ends[p, 0], length, options)[ends[p, 1]]
    lost = np.bincount(
        mechanism.pair_body,
        weights=np.minimum(earned, 0.0),
        minlength=len(mechanism.bodies),
    )
    score += float(np.maximum(earned, 0.0).sum())
    score += float(np.maximum(lost, np.log(options.misassembled)).sum())
    return Labelling(assigned, score, _shape_score(mechanism, spheres, assigned))


def _shape_score(mechanism: Mechanism, spheres: SphereSet, assigned: Ints) -> float:
    """Log-likelihood of the whole shape, its departure from the prediction unknown.

    With k = GROW.shape_modes independent departures of one unknown size the likelihood
    is that of Student's law: rms^-k.  So 0.3 mm against 3 mm decides between two
    symmetric labellings, 8 mm against 9 mm does not.
    """
    known = assigned != NOT_ASSIGNED
    if known.sum() < 4:
        return 0.0
    x, y = mechanism.nodes_mm[known], spheres.centres_mm[assigned[known]]
    left = fit_rigid_motion(x, y)(x) - y
    rms = float(np.sqrt(np.mean(np.sum(left**2, axis=1))))
    return -GROW.shape_modes * float(
        np.log(np.hypot(rms, GROW.shape_floor_mm) / spheres.reach_mm)
    )


def _continue_elsewhere(
    mechanism: Mechanism, spheres: SphereSet, assigned: Ints, options: LabelOptions
) -> Ints:
    """Start again in parts that missing nodes have cut off.

    Three of U loose spheres can be laid on any of B free bodies, so chance has
    U^3 B tries: a part must earn more than their logarithm.
    """
    score = judge(mechanism, spheres, assigned, options).score
    while True:
        better = None
        loose = spheres.m - int((assigned != NOT_ASSIGNED).sum())
        bodies = len(mechanism.triples_of(assigned == NOT_ASSIGNED))
        tries = np.log(max(loose, 1) ** 3 * max(bodies, 1))
        for start in find_starts(mechanism, spheres, assigned, options)[:4]:
            tried = grow(mechanism, spheres, assigned, start, options)
            new = judge(mechanism, spheres, tried, options).score
            if new > score + max(options.margin, tries):
                better, score, tries = tried, new, 0.0
        if better is None:
            return assigned
        assigned = better


def _hang_elsewhere(
    mechanism: Mechanism, spheres: SphereSet, assigned: Ints, options: LabelOptions
) -> Ints:
    """Try again without the labels that a single length ties, where bodies are free.

    Where a body hangs on another joint, one of its spheres may happen to lie where
    another of its nodes was sought, and then the body is not found as a whole.
    """
    scale = Scale(mechanism, spheres, options, START.trust)
    held = assigned != NOT_ASSIGNED
    weak = [
        j for j in np.flatnonzero(held) if scale.lengths_at(assigned, int(j))[0] < 2
    ]
    free = assigned.copy()
    free[weak] = NOT_ASSIGNED
    if mechanism.triples_of(~held) == mechanism.triples_of(free == NOT_ASSIGNED):
        return assigned
    tried = _continue_elsewhere(mechanism, spheres, free, options)
    before = judge(mechanism, spheres, assigned, options).score
    after = judge(mechanism, spheres, tried, options).score
    return tried if after > before + options.margin else assigned


def search(
    mechanism: Mechanism, spheres: SphereSet, options: LabelOptions
) -> list[Labelling]:
    """Different labellings, the best one first; empty if none can be started."""
    nothing = np.full(mechanism.n, NOT_ASSIGNED, dtype=np.int64)
    labellings: list[Labelling] = []
    for start in find_starts(mechanism, spheres, nothing, options):
        if any((f.assigned[start.nodes] == start.spheres).all() for f in labellings):
            continue
        assigned = grow(mechanism, spheres, nothing, start, options)
        assigned = _continue_elsewhere(mechanism, spheres, assigned, options)
        assigned = _hang_elsewhere(mechanism, spheres, assigned, options)
        labellings.append(judge(mechanism, spheres, assigned, options))
        if len(labellings) == options.runs:
            break
    return _ranked(labellings)


def _ranked(labellings: list[Labelling]) -> list[Labelling]:
    """Best first: by lengths and shape among those that lengths do not decide."""
    most = max((f.score for f in labellings), default=0.0)
    return sorted(labellings, key=lambda f: (f.score < most - GROW.decisive, -f.total))
