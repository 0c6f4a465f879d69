"""Beam search: labels grow from three nodes along the mechanism's rigid pairs."""

from dataclasses import dataclass

import numpy as np

from analysis.alignment import fit_rigid_motion
from analysis.labels.evidence import (
    NOT_ASSIGNED,
    LabelOptions,
    SphereSet,
    pair_evidence,
    place_evidence,
    predict_from_neighbours,
)
from analysis.labels.mechanism import Mechanism, ordered_from
from analysis.labels.starts import START_TRUST, Start, find_starts
from sim.arrays import Floats, Ints

BRANCHES = 4  # spheres tried for a node in one hypothesis
SHAPE_MODES = 12  # independent ways in which a real shape departs from the predicted
SHAPE_FLOOR_MM = 0.3  # departures smaller than this say nothing


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


def node_evidence(
    mechanism: Mechanism,
    spheres: SphereSet,
    assigned: Ints,
    node: int,
    options: LabelOptions,
    *,
    trust: float,
    without: int = NOT_ASSIGNED,
) -> Floats | None:
    """What each sphere would earn as `node`, the other labels being kept.

    Parameters
    ----------
    trust : how far the predicted shape is believed, 0 to 1
    without : a second node whose label is disregarded

    Returns
    -------
    (m,) log-likelihood ratios less the cost of a label; None where nothing ties it
    """
    mates = [
        (int(assigned[mate]), length)
        for mate, length in mechanism.mates[node]
        if assigned[mate] != NOT_ASSIGNED and mate != without
    ]
    guess = None
    if trust > 0:
        guess = predict_from_neighbours(
            mechanism.nodes_mm, spheres.centres_mm, assigned, node
        )
    if not mates and (guess is None or trust < 0.8):
        return None
    total = np.full(spheres.m, -options.node_cost)
    for sphere, length in mates:
        total += pair_evidence(spheres, sphere, length, options)
    if guess is not None:
        apart = np.linalg.norm(spheres.centres_mm - guess[0], axis=1)
        sd = np.hypot(options.prediction_sd_mm, options.prediction_slope * guess[1])
        total += place_evidence(apart, sd, spheres.reach_mm, trust)
    return total


def grow(
    mechanism: Mechanism,
    spheres: SphereSet,
    base: Ints,
    start: Start,
    options: LabelOptions,
    trust: float = START_TRUST,
) -> Ints:
    """The best labels found from `start`, added to those of `base`."""
    first = base.copy()
    first[start.nodes] = start.spheres
    known = np.flatnonzero(first != NOT_ASSIGNED)
    wanted = np.flatnonzero(first == NOT_ASSIGNED)
    beam: list[tuple[float, Ints]] = [(0.0, first)]
    for node in ordered_from(mechanism, known.tolist(), wanted.tolist()):
        grown = list(beam)  # the node may be missing
        for score, assigned in beam:
            evidence = node_evidence(
                mechanism, spheres, assigned, node, options, trust=trust
            )
            if evidence is None:
                continue
            evidence[assigned[assigned != NOT_ASSIGNED]] = -np.inf
            best = np.argsort(-evidence, kind="stable")[:BRANCHES]
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
    """Score complete labels, whatever the order in which they were found."""
    score = -options.node_cost * int((assigned != NOT_ASSIGNED).sum())
    ends = assigned[mechanism.pairs]
    seen = (ends != NOT_ASSIGNED).all(axis=1)
    for (s, t), length in zip(ends[seen], mechanism.lengths_mm[seen], strict=True):
        score += float(pair_evidence(spheres, int(s), float(length), options)[t])
    return Labelling(assigned, score, _shape_score(mechanism, spheres, assigned))


def _shape_score(mechanism: Mechanism, spheres: SphereSet, assigned: Ints) -> float:
    """Log-likelihood of the whole shape, its departure from the prediction unknown.

    With SHAPE_MODES independent departures of one unknown size the likelihood is
    that of Student's law: rms^-SHAPE_MODES.  So 0.3 mm against 3 mm decides between
    two symmetric labellings, 8 mm against 9 mm does not.
    """
    known = assigned != NOT_ASSIGNED
    if known.sum() < 4:
        return 0.0
    x, y = mechanism.nodes_mm[known], spheres.centres_mm[assigned[known]]
    left = fit_rigid_motion(x, y)(x) - y
    rms = float(np.sqrt(np.mean(np.sum(left**2, axis=1))))
    return -SHAPE_MODES * float(
        np.log(np.hypot(rms, SHAPE_FLOOR_MM) / spheres.reach_mm)
    )


def _continue_elsewhere(
    mechanism: Mechanism, spheres: SphereSet, assigned: Ints, options: LabelOptions
) -> Ints:
    """Start again in parts that missing nodes have cut off."""
    score = judge(mechanism, spheres, assigned, options).score
    while True:
        better = None
        for start in find_starts(mechanism, spheres, assigned, options)[:4]:
            tried = grow(mechanism, spheres, assigned, start, options)
            new = judge(mechanism, spheres, tried, options).score
            if new > score + options.margin:
                better, score = tried, new
        if better is None:
            return assigned
        assigned = better


def search(
    mechanism: Mechanism, spheres: SphereSet, options: LabelOptions
) -> list[Labelling]:
    """Different labellings, the best one first; empty if none can be started."""
    nothing = np.full(mechanism.n, NOT_ASSIGNED, dtype=np.int64)
    found: list[Labelling] = []
    for start in find_starts(mechanism, spheres, nothing, options):
        if any((f.assigned[start.nodes] == start.spheres).all() for f in found):
            continue
        assigned = grow(mechanism, spheres, nothing, start, options)
        assigned = _continue_elsewhere(mechanism, spheres, assigned, options)
        found.append(judge(mechanism, spheres, assigned, options))
        if len(found) == options.runs:
            break
    return sorted(found, key=lambda labelling: -labelling.total)
