"""From labelled spheres and a simulated run to a verdict, on the nodes both have."""

from dataclasses import dataclass, replace

import numpy as np

from analysis.alignment import align
from analysis.labels.assign import Labels
from analysis.labels.checks import (
    Handedness,
    RigidPairs,
    covariance_factor,
    handedness,
    link_scale,
    scanned_pairs,
)
from analysis.labels.completion import (
    ScannedNodes,
    axes_of,
    complete_rigidly,
    seen_nodes,
)
from analysis.labels.mechanism import Mechanism
from analysis.shape_factors import ScannedShapeFactor, scanned_shape_factor
from analysis.uncertainty import (
    SCAN_SOURCES,
    UncertaintyOptions,
    length_sd_mm,
    play_covariance,
    sources,
    stop_error,
)
from analysis.validation import (
    Acceptance,
    Comparison,
    Lengths,
    Verdict,
    compare_shapes,
)
from sim.arrays import Bools, Floats, Ints
from sim.morph.measures import characteristic_length, shape_factor

ENOUGH = 0.8  # share of the nodes below which the whole shape is not judged
FEWEST = 4  # nodes without which an alignment leaves nothing to compare


@dataclass(frozen=True, eq=False)
class Judged:
    """A comparison, and what it was made on.

    Parameters
    ----------
    used : (n,) nodes compared; all, or the subset that scan and simulation share
    nodes : scanned positions of all nodes, as far as known
    comparison : errors, limits, verdict
    scanned : S of the scan, its uncertainty from the scan alone, its bias
    S_simulated : of the same nodes
    L_mm : characteristic length of the same nodes in the initial configuration
    pairs : rigid lengths as scanned
    scatter_sd_mm : what their scatter says was not stated
    scale, scale_u : scanned over simulated length
    hand : whether the scan is mirrored
    """

    used: Bools
    nodes: ScannedNodes
    comparison: Comparison
    scanned: ScannedShapeFactor
    S_simulated: float
    L_mm: float
    pairs: RigidPairs
    scatter_sd_mm: float
    scale: float
    scale_u: float
    hand: Handedness

    @property
    def all_nodes(self) -> bool:
        """Whether no node was left out."""
        return bool(self.used.all())


def judge_scan(
    steps_mm: Floats,
    mechanism: Mechanism,
    labels: Labels,
    centres_mm: Floats,
    covariance_mm2: Floats,
    uncertainty: UncertaintyOptions,
    acceptance: Acceptance,
    input_covariance: Floats | None = None,
) -> Judged:
    """Compare the last simulated step with labelled spheres.

    Parameters
    ----------
    steps_mm : (steps, n, 3) simulated configurations; the first one gives L
    covariance_mm2 : (3m, 3m) of all sphere centres together
    input_covariance : (3n, 3n) mm^2 in the simulation's frame, of all n nodes
    """
    typical = float(length_sd_mm(uncertainty, mechanism.lengths_mm).mean())
    nodes = complete_rigidly(
        seen_nodes(labels.sphere, centres_mm, covariance_mm2), mechanism, typical
    )
    used = nodes.known
    if used.sum() < FEWEST:
        raise ValueError(
            f"only {int(used.sum())} of {mechanism.n} nodes could be labelled: scan "
            "again from more sides, or check scale_mm and the structure"
        )
    own_sd = length_sd_mm(uncertainty, mechanism.lengths_mm)
    stated = scanned_pairs(mechanism, labels, centres_mm, covariance_mm2, own_sd)
    scatter = _scatter_sd(stated)
    own_sd = length_sd_mm(uncertainty, mechanism.lengths_mm, scatter)
    pairs = scanned_pairs(mechanism, labels, centres_mm, covariance_mm2, own_sd)
    simulated = steps_mm[-1][used]
    scanned = nodes.positions_mm[used]
    axes = np.ix_(*2 * (axes_of(np.flatnonzero(used)),))
    play = play_covariance(
        mechanism.nodes_mm, mechanism.pairs, uncertainty.joint_play_sd_mm
    )
    motion = align(simulated, scanned).motion
    found = sources(
        uncertainty,
        scanned,
        nodes.covariance_mm2[axes],
        scatter,
        stop_error(steps_mm)[used] @ motion.rotation.T,
        motion.turn_covariance(play[axes]),
        None
        if input_covariance is None
        else motion.turn_covariance(input_covariance[axes]),
    )
    L = characteristic_length(steps_mm[0][used])
    compared = compare_shapes(
        simulated, scanned, L, found, _among(pairs, used), acceptance
    )
    loose = len(centres_mm) - len(labels.confirmed)
    compared = _withhold(compared, used, labels, loose)
    of_scan = np.sum([found[name] for name in SCAN_SOURCES], axis=0)
    scale, scale_u = link_scale(pairs)
    return Judged(
        used,
        nodes,
        compared,
        scanned_shape_factor(scanned, L, of_scan),
        shape_factor(simulated, L),
        L,
        pairs,
        scatter,
        scale,
        scale_u,
        handedness(mechanism, labels, centres_mm),
    )


def _among(pairs: RigidPairs, used: Bools) -> Lengths:
    """The rigid lengths, their ends counted among the nodes that are used."""
    place = np.cumsum(used) - 1
    return Lengths(place[pairs.pairs], pairs.scanned_mm - pairs.length_mm, pairs.u_mm)


def _scatter_sd(pairs: RigidPairs) -> float:
    """Error of each node and axis that explains the scatter of rigid lengths."""
    excess = covariance_factor(pairs) ** 2 - 1
    return float(np.sqrt(excess * np.median(pairs.u_mm**2) / 2)) if excess > 0 else 0.0


def _withhold(
    compared: Comparison, used: Bools, labels: Labels, loose: int
) -> Comparison:
    """Nothing agrees on too few nodes, nor while spheres and nodes are left over."""
    n, known = len(used), int(used.sum())
    if compared.verdict is not Verdict.AGREES:
        return compared
    if loose and labels.unconfirmed.size:
        why = (
            f"nodes {listed(labels.unconfirmed)} have no sphere, and {loose} spheres "
            "have no node: is a part on the wrong joint, or are the spheres not balls "
            "of this part? look at labels.csv"
        )
        return replace(compared, verdict=Verdict.CANNOT_TELL, why=why)
    if known >= ENOUGH * n:
        return compared
    why = (
        f"only {known} of {n} nodes could be compared (of {len(labels.confirmed)} "
        f"spheres that fit); missing: {listed(np.flatnonzero(~used))}; scan again so "
        f"that {ENOUGH:.0%} are seen"
    )
    return replace(compared, verdict=Verdict.CANNOT_TELL, why=why)


def listed(nodes: Ints, most: int = 12) -> str:
    """Node numbers as text, shortened where there are many."""
    text = ", ".join(str(j) for j in nodes[:most])
    return text + (f" and {len(nodes) - most} more" if len(nodes) > most else "")
