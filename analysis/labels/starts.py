"""Where a search for labels may start: three nodes laid on three spheres."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from analysis.alignment import fit_rigid_motion
from analysis.labels.evidence import (
    NOT_ASSIGNED,
    LabelOptions,
    SphereSet,
    pair_evidence,
    place_evidence,
)
from analysis.labels.mechanism import Mechanism
from analysis.labels.thresholds import START
from sim.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Start:
    """Nodes (3,) laid on spheres (3,), and the scores by which starts are ranked."""

    nodes: Ints
    spheres: Ints
    distance_score: float
    place_score: float


def _fits(spheres: SphereSet, length_mm: float, options: LabelOptions) -> Bools:
    """(m, m) which pairs of spheres have this distance."""
    sd = np.sqrt(spheres.variances_mm2 + options.length_sd_mm**2)
    close: Bools = np.abs(spheres.distances_mm - length_mm) < START.gate * sd
    np.fill_diagonal(close, val=False)
    return close


def _embeddings(
    mechanism: Mechanism,
    spheres: SphereSet,
    triple: tuple[int, int, int],
    free: Bools,
    options: LabelOptions,
) -> tuple[Ints, Floats]:
    """All ways to lay three nodes on free spheres, (q, 3), with their evidence (q,)."""
    a, b, c = triple
    length = {j: dict(mechanism.mates[j]) for j in triple}
    allowed = free[:, None] & free[None]
    ab = _fits(spheres, length[a][b], options) & allowed
    ac = _fits(spheres, length[a][c], options) & allowed
    first, second = np.nonzero(ab)
    third = ac[first].copy()
    third[np.arange(len(first)), second] = False
    if c in length[b]:
        third &= _fits(spheres, length[b][c], options)[second]
    row, s_c = np.nonzero(third)
    embeddings = np.stack([first[row], second[row], s_c], axis=1)
    if len(embeddings) > START.most_per_triple:
        embeddings = embeddings[:: len(embeddings) // START.most_per_triple + 1]
    score = np.zeros(len(embeddings))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if triple[j] in length[triple[i]]:
            rows = pair_evidence(
                spheres, embeddings[:, i], length[triple[i]][triple[j]], options
            )
            score += rows[np.arange(len(embeddings)), embeddings[:, j]]
    return embeddings, score


def _place_scores(
    mechanism: Mechanism,
    spheres: SphereSet,
    triple: tuple[int, int, int],
    embeddings: Ints,
    options: LabelOptions,
) -> Floats:
    """How many nodes near the triple fall on spheres when the prediction is laid there.

    Returns
    -------
    (q,) sums of log-likelihood ratios over the nearest nodes
    """
    x = mechanism.nodes_mm
    middle = x[list(triple)].mean(axis=0)
    lever = np.linalg.norm(x - middle, axis=1)
    near = np.argsort(lever, kind="stable")[: START.near_nodes]
    motion = fit_rigid_motion(x[list(triple)], spheres.centres_mm[embeddings])
    moved = np.einsum("qab,nb->qna", motion.rotation, x[near])
    moved += motion.translation[:, None]
    apart, _ = cKDTree(spheres.centres_mm).query(moved)
    sd = np.hypot(options.prediction_sd_mm, options.prediction_slope * lever[near])
    each = place_evidence(np.asarray(apart), sd, spheres.reach_mm, START.trust)
    scores: Floats = each.sum(axis=1)
    return scores


def find_starts(
    mechanism: Mechanism,
    spheres: SphereSet,
    assigned: Ints,
    options: LabelOptions,
) -> list[Start]:
    """Starts among nodes and spheres still free, the most promising ones first.

    Half of them are ranked by how few rivals they have (which needs no prediction),
    half by the predicted shape around them (which symmetric structures need); the
    two rankings are interleaved.
    """
    free = np.ones(spheres.m, dtype=np.bool_)
    free[assigned[assigned != NOT_ASSIGNED]] = False
    open_triples = mechanism.triples_of(assigned == NOT_ASSIGNED)
    spread = open_triples[:: max(1, len(open_triples) // START.most_triples)]
    starts: list[Start] = []
    for triple in spread:
        embeddings, distance_score = _embeddings(
            mechanism, spheres, triple, free, options
        )
        if len(embeddings) == 0:
            continue
        place = _place_scores(mechanism, spheres, triple, embeddings, options)
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
