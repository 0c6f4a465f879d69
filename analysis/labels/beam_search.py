"""Beam search: labels grow from three nodes along the mechanism's rigid pairs.

A search starts where three nodes can be laid on three spheres (`find_starts`).
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from analysis.alignment import fit_rigid_motion
from analysis.labels.rigid_distances import ordered_from
from analysis.labels.scoring import (
    NOT_ASSIGNED,
    LabelScoring,
    pair_evidence,
    place_evidence,
)
from analysis.labels.thresholds import GROW, START
from sim.core.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Start:
    """Nodes (3,) laid on spheres (3,), and the scores by which starts are ranked."""

    nodes: Ints
    spheres: Ints
    distance_score: float
    place_score: float


def _fits(of: LabelScoring, length_mm: float) -> Bools:
    """(m, m) which pairs of spheres have this distance."""
    spheres = of.spheres
    sd = np.sqrt(spheres.variances_mm2 + of.options.length_sd_mm**2)
    close: Bools = np.abs(spheres.distances_mm - length_mm) < START.gate * sd
    np.fill_diagonal(close, val=False)
    return close


def _embeddings(
    of: LabelScoring, triple: tuple[int, int, int], free: Bools
) -> tuple[Ints, Floats]:
    """All ways to lay three nodes on free spheres, (q, 3), with their evidence (q,)."""
    a, b, c = triple
    length = {j: dict(of.mechanism.mates[j]) for j in triple}
    allowed = free[:, None] & free[None]
    ab = _fits(of, length[a][b]) & allowed
    ac = _fits(of, length[a][c]) & allowed
    first, second = np.nonzero(ab)
    third = ac[first].copy()
    third[np.arange(len(first)), second] = False
    if c in length[b]:
        third &= _fits(of, length[b][c])[second]
    row, s_c = np.nonzero(third)
    embeddings = np.stack([first[row], second[row], s_c], axis=1)
    if len(embeddings) > START.most_per_triple:
        embeddings = embeddings[:: len(embeddings) // START.most_per_triple + 1]
    score = np.zeros(len(embeddings))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if triple[j] in length[triple[i]]:
            apart = length[triple[i]][triple[j]]
            rows = pair_evidence(of.spheres, embeddings[:, i], apart, of.options)
            score += rows[np.arange(len(embeddings)), embeddings[:, j]]
    return embeddings, score


def _place_scores(
    of: LabelScoring, triple: tuple[int, int, int], embeddings: Ints
) -> Floats:
    """How many nodes near the triple fall on spheres when the prediction is laid there.

    Returns
    -------
    (q,) sums of log-likelihood ratios over the nearest nodes
    """
    x, spheres, options = of.mechanism.nodes_mm, of.spheres, of.options
    middle = x[list(triple)].mean(axis=0)
    lever = np.linalg.norm(x - middle, axis=1)
    near = np.argsort(lever, kind="stable")[: START.near_nodes]
    motion = fit_rigid_motion(x[list(triple)], spheres.centres_mm[embeddings])
    moved = np.einsum("qab,nb->qna", motion.rotation, x[near])
    moved += motion.translation[:, None]
    apart, _ = cKDTree(spheres.centres_mm).query(moved)
    sd = np.hypot(options.prediction_sd_mm, options.prediction_slope * lever[near])
    each = place_evidence(np.asarray(apart), sd, spheres.reach_mm, START.trust)
    return np.asarray(each.sum(axis=1))


def find_starts(of: LabelScoring, assigned: Ints) -> list[Start]:
    """Starts among nodes and spheres still free, the most promising ones first.

    Half of them are ranked by how few rivals they have (which needs no prediction),
    half by the predicted shape around them (which symmetric structures need); the
    two rankings are interleaved.
    """
    free = np.ones(of.spheres.m, dtype=np.bool_)
    free[assigned[assigned != NOT_ASSIGNED]] = False
    open_triples = of.mechanism.triples_of(assigned == NOT_ASSIGNED)
    spread = open_triples[:: max(1, len(open_triples) // START.most_triples)]
    starts: list[Start] = []
    for triple in spread:
        embeddings, distance_score = _embeddings(of, triple, free)
        if len(embeddings) == 0:
            continue
        place = _place_scores(of, triple, embeddings)
        rare = distance_score - np.log(len(embeddings))
        best = np.argsort(-place, kind="stable")[: START.best]
        keep = np.unique(np.r_[best, np.argmax(rare)])
        starts += [
            Start(np.array(triple), embeddings[q], float(rare[q]), float(place[q]))
            for q in keep
        ]
    by_distance = sorted(starts, key=lambda s: -s.distance_score)
    by_place = sorted(starts, key=lambda s: -s.place_score)
    return [s for both in zip(by_place, by_distance, strict=True) for s in both]


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


def grow(of: LabelScoring, base: Ints, start: Start) -> Ints:
    """The best labels found from `start`, added to those of `base`."""
    first = base.copy()
    first[start.nodes] = start.spheres
    known = np.flatnonzero(first != NOT_ASSIGNED)
    missing = np.flatnonzero(first == NOT_ASSIGNED)
    beam: list[tuple[float, Ints]] = [(0.0, first)]
    for node in ordered_from(of.mechanism, known.tolist(), missing.tolist()):
        grown = list(beam)  # the node may be missing
        for score, assigned in beam:
            evidence = of.node(assigned, node, of.place(assigned, node))
            if evidence is None:
                continue
            evidence[assigned[assigned != NOT_ASSIGNED]] = -np.inf
            best = np.argsort(-evidence, kind="stable")[: GROW.branches]
            for sphere in best[evidence[best] > 0]:
                child = assigned.copy()
                child[node] = sphere
                grown.append((score + float(evidence[sphere]), child))
        grown.sort(key=lambda hypothesis: -hypothesis[0])
        beam = grown[: of.options.beam]
    return beam[0][1]


def judge(of: LabelScoring, assigned: Ints) -> Labelling:
    """Score complete labels, whatever the order in which they were found.

    A body on the wrong joint breaks several of its pairs for one reason, so the total
    cost of its broken pairs is bounded.
    """
    mechanism, options = of.mechanism, of.options
    score = -options.node_cost * int((assigned != NOT_ASSIGNED).sum())
    ends = assigned[mechanism.pairs]
    seen = np.flatnonzero((ends != NOT_ASSIGNED).all(axis=1))
    earned = np.zeros(len(ends))
    for p in seen:
        length = float(mechanism.lengths_mm[p])
        earned[p] = pair_evidence(of.spheres, ends[p, 0], length, options)[ends[p, 1]]
    lost = np.bincount(
        mechanism.pair_body,
        weights=np.minimum(earned, 0.0),
        minlength=len(mechanism.bodies),
    )
    score += float(np.maximum(earned, 0.0).sum())
    score += float(np.maximum(lost, np.log(options.misassembled)).sum())
    return Labelling(assigned, score, _shape_score(of, assigned))


def _shape_score(of: LabelScoring, assigned: Ints) -> float:
    """Log-likelihood of the whole shape, its departure from the prediction unknown.

    With k = GROW.shape_modes independent departures of one unknown size the likelihood
    is that of Student's law: rms^-k.  So 0.3 mm against 3 mm decides between two
    symmetric labellings, 8 mm against 9 mm does not.
    """
    known = assigned != NOT_ASSIGNED
    if known.sum() < 4:
        return 0.0
    x, y = of.mechanism.nodes_mm[known], of.spheres.centres_mm[assigned[known]]
    left = fit_rigid_motion(x, y)(x) - y
    rms = float(np.sqrt(np.mean(np.sum(left**2, axis=1))))
    return -GROW.shape_modes * float(
        np.log(np.hypot(rms, GROW.shape_floor_mm) / of.spheres.reach_mm)
    )


def _continue_elsewhere(of: LabelScoring, assigned: Ints) -> Ints:
    """Start again in parts that missing nodes separate from the labelled ones.

    Three of U loose spheres can be laid on any of B free bodies, so chance has
    U^3 B tries: a part must earn more than their logarithm.
    """
    score = judge(of, assigned).score
    while True:
        better = None
        loose = of.spheres.m - int((assigned != NOT_ASSIGNED).sum())
        bodies = len(of.mechanism.triples_of(assigned == NOT_ASSIGNED))
        tries = np.log(max(loose, 1) ** 3 * max(bodies, 1))
        for start in find_starts(of, assigned)[:4]:
            tried = grow(of, assigned, start)
            new = judge(of, tried).score
            if new > score + max(of.options.margin, tries):
                better, score, tries = tried, new, 0.0
        if better is None:
            return assigned
        assigned = better


def _hang_elsewhere(of: LabelScoring, assigned: Ints) -> Ints:
    """Repeat without labels that rest on a single length, if this frees bodies.

    If a body hangs on another joint, one of its spheres may by chance lie where another
    of its nodes is expected. Then the body is not found as a whole.
    """
    held = assigned != NOT_ASSIGNED
    weak = [j for j in np.flatnonzero(held) if of.lengths_at(assigned, int(j))[0] < 2]
    free = assigned.copy()
    free[weak] = NOT_ASSIGNED
    triples = of.mechanism.triples_of
    if triples(~held) == triples(free == NOT_ASSIGNED):
        return assigned
    tried = _continue_elsewhere(of, free)
    before, after = judge(of, assigned).score, judge(of, tried).score
    return tried if after > before + of.options.margin else assigned


def search(of: LabelScoring) -> list[Labelling]:
    """Different labellings, the best one first; empty if none can be started."""
    nothing = np.full(of.mechanism.n, NOT_ASSIGNED, dtype=np.int64)
    labellings: list[Labelling] = []
    for start in find_starts(of, nothing):
        if any((f.assigned[start.nodes] == start.spheres).all() for f in labellings):
            continue
        assigned = _continue_elsewhere(of, grow(of, nothing, start))
        labellings.append(judge(of, _hang_elsewhere(of, assigned)))
        if len(labellings) == of.options.runs:
            break
    most = max((f.score for f in labellings), default=0.0)
    # best first: by lengths and shape among those that lengths do not decide
    return sorted(labellings, key=lambda f: (f.score < most - GROW.decisive, -f.total))
