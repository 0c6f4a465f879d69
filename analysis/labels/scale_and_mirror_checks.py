"""Checks of the scan by its labelled spheres: scale, unit, mirror image."""

from dataclasses import dataclass
from enum import Enum
from itertools import combinations

import numpy as np
from scipy.spatial.distance import pdist

from analysis.labels.assign_labels import Labels, label_spheres
from analysis.labels.rigid_distances import Mechanism
from analysis.labels.scoring import NOT_ASSIGNED, LabelOptions
from analysis.labels.thresholds import BODY
from sim.core.arrays import Floats, Ints

SCALES = 0.7  # logarithm of the largest ratio that is tried, either way
BIN = 0.001  # of the logarithm: what prints and scans spread it over
HEAPS = 5  # of ratios that are tried
UNIT_FACTORS = (1000.0, 100.0, 25.4, 10.0, 1 / 10, 1 / 25.4, 1 / 100, 1 / 1000)


class Handedness(Enum):
    """Whether the scan is a mirror image of the structure."""

    SAME = "same"
    MIRRORED = "mirrored"
    UNDECIDABLE = "unknown: each body is flat, so its mirror image looks the same"


@dataclass(frozen=True, eq=False)
class RigidPairs:
    """Labelled rigid pairs as they were scanned.

    Parameters
    ----------
    pairs : (p, 2) nodes
    length_mm, scanned_mm : (p,) distance in the structure and in the scan
    u_mm : (p,) standard uncertainty of their difference
    """

    pairs: Ints
    length_mm: Floats
    scanned_mm: Floats
    u_mm: Floats

    @property
    def z(self) -> Floats:
        """(p,) differences in units of their uncertainty."""
        return np.asarray((self.scanned_mm - self.length_mm) / self.u_mm)

    def largest(self, errors: Floats, nodes: Floats) -> Floats:
        """Largest difference in units of u that small errors (draws, n, 3) of the nodes
        (n, 3) make."""
        if len(self.pairs) == 0:
            return np.zeros(len(errors))
        i, j = self.pairs.T
        apart = nodes[j] - nodes[i]
        unit = apart / np.linalg.norm(apart, axis=1, keepdims=True)
        change = np.einsum("dpa,pa->dp", errors[:, j] - errors[:, i], unit)
        return np.asarray(np.abs(change / self.u_mm).max(axis=1))


def scanned_pairs(
    mechanism: Mechanism,
    labels: Labels,
    centres_mm: Floats,
    covariance_mm2: Floats,
    length_sd_mm: Floats,
) -> RigidPairs:
    """The rigid pairs of which both ends have a label.

    Parameters
    ----------
    covariance_mm2 : (3m, 3m) of all centres together
    length_sd_mm : (pairs of the mechanism,) from all but the sphere centres
    """
    ends = labels.sphere[mechanism.pairs]
    seen = (ends != NOT_ASSIGNED).all(axis=1)
    s, t = ends[seen].T
    apart = centres_mm[s] - centres_mm[t]
    scanned = np.linalg.norm(apart, axis=1)
    unit = apart / scanned[:, None]
    m = len(centres_mm)
    blocks = covariance_mm2.reshape(m, 3, m, 3).swapaxes(1, 2)
    both = blocks[s, s] + blocks[t, t] - blocks[s, t] - blocks[t, s]
    variance = np.einsum("pa,pab,pb->p", unit, both, unit) + length_sd_mm[seen] ** 2
    return RigidPairs(
        mechanism.pairs[seen], mechanism.lengths_mm[seen], scanned, np.sqrt(variance)
    )


def link_scale(pairs: RigidPairs) -> tuple[float, float]:
    """Scanned over simulated length, and its standard uncertainty.

    Lengths that are off by more than three robust standard deviations (a wrong
    link) are left out.  Without a labelled pair both are nan.
    """
    if len(pairs.pairs) == 0:
        return float("nan"), float("nan")
    ratio = pairs.scanned_mm / pairs.length_mm
    middle = np.median(ratio)
    spread = 1.4826 * np.median(np.abs(ratio - middle))
    usual = np.maximum(spread, pairs.u_mm / pairs.length_mm)
    usual_ones = np.abs(ratio - middle) <= 3 * usual
    w = (pairs.length_mm[usual_ones] / pairs.u_mm[usual_ones]) ** 2
    return float((w * ratio[usual_ones]).sum() / w.sum()), float(1 / np.sqrt(w.sum()))


def covariance_factor(pairs: RigidPairs) -> float:
    """By how much the scatter of rigid lengths exceeds what was stated, in sd; >= 1.

    The median of |z| is used, so that one wrong link does not hide itself; a factor
    that chance explains (twice its own standard error) counts as 1.
    """
    p = len(pairs.pairs)
    if p < 8:
        return 1.0
    factor = float(np.median(np.abs(pairs.z - np.median(pairs.z))) / 0.6745)
    chance = 1 + 2 * 1.17 / np.sqrt(p)
    return factor if factor > chance else 1.0


def handedness(mechanism: Mechanism, labels: Labels, centres_mm: Floats) -> Handedness:
    """Compare signed volumes of four nodes of one body; planar bodies tell nothing."""
    votes = 0.0
    for body in mechanism.bodies:
        known = [j for j in body if labels.sphere[j] != NOT_ASSIGNED]
        for four in combinations(known[:6], 4):
            x = mechanism.nodes_mm[list(four)]
            y = centres_mm[labels.sphere[list(four)]]
            model, scan = np.linalg.det(x[1:] - x[0]), np.linalg.det(y[1:] - y[0])
            edge = float(np.linalg.norm(x[1:] - x[0], axis=1).max())
            if abs(model) > BODY.flat * edge**3:
                votes += float(np.sign(model * scan))
    if votes == 0:
        return Handedness.UNDECIDABLE
    return Handedness.SAME if votes > 0 else Handedness.MIRRORED


def wrong_scale(
    mechanism: Mechanism,
    centres_mm: Floats,
    covariances_mm2: Floats,
    options: LabelOptions,
) -> float | None:
    """How long the scan's links come out over the mechanism's, if one ratio fits.

    The ratios of all distances between spheres to all rigid lengths heap up at it; it
    is accepted where at least half of the nodes can then be labelled.
    """
    lengths = np.log(np.unique(np.round(mechanism.lengths_mm, 3)))
    apart = np.log(pdist(centres_mm))
    ratios = (apart[:, None] - lengths).ravel()
    edges = np.arange(-SCALES, SCALES + BIN, BIN)
    votes = np.histogram(ratios, edges)[0]
    heaps = np.convolve(votes, np.ones(3), mode="same")
    for place in np.argsort(-heaps, kind="stable")[:HEAPS]:
        near = ratios[np.abs(ratios - edges[place] - BIN / 2) < 1.5 * BIN]
        scale = float(np.exp(np.median(near))) if len(near) else 1.0
        if _fits(mechanism, centres_mm / scale, covariances_mm2 / scale**2, options):
            return scale
    return None


def wrong_unit(
    mechanism: Mechanism,
    centres_mm: Floats,
    covariances_mm2: Floats,
    options: LabelOptions,
) -> float | None:
    """Factor on the scan that would make its spheres fit the bodies, if there is one.

    Asked only when hardly a label was found; of the usual factors between units the
    one nearest to the ratio of the extents is tried.
    """
    span = np.linalg.norm(np.ptp(centres_mm, axis=0))
    extent = np.linalg.norm(np.ptp(mechanism.nodes_mm, axis=0))
    ratio = np.log(extent / span)
    factor = min(UNIT_FACTORS, key=lambda f: abs(np.log(f) - ratio))
    if abs(np.log(factor) - ratio) > np.log(2.0):
        return None
    fits = _fits(mechanism, factor * centres_mm, factor**2 * covariances_mm2, options)
    return factor if fits else None


def _fits(
    mechanism: Mechanism,
    centres_mm: Floats,
    covariances_mm2: Floats,
    options: LabelOptions,
) -> bool:
    """Whether at least half of the nodes can be labelled."""
    labels = label_spheres(mechanism, centres_mm, covariances_mm2, options)
    return len(labels.labelled) >= 0.5 * mechanism.n
