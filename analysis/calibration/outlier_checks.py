"""Scans that would mislead a calibration: a wrong sphere or label, one scan twice.

A node whose sphere is somewhere else by s shifts the misclosures of its pose by A_j s.
With P = V^-1 - V^-1 G N^-1 G^T V^-1 the most likely shift, and what is not explained
without it (Baarda, A Testing Procedure for Use in Geodetic Networks, 1968), are

    s = (A_j^T P A_j)^+ A_j^T P t,      T = s^T A_j^T P t,

and T is distributed as chi^2 where nothing is wrong, with the rank r of A_j^T P A_j.
Variances that were estimated have grown by what is wrong; of the f free residuals

    F = (T / r) / ((chi^2 - T) / (f - r))

then decides (Pope, The Statistics of Residuals, 1976).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from analysis.calibration.as_built_fit import (
    Calibration,
    Pose,
    covariance_of_rows,
    inverse,
    linearised,
)
from analysis.calibration.as_built_unknowns import Model
from sim.core.arrays import Floats

CHANCE = 1e-4  # of any node being called wrong in poses where none is
ALIKE = 2.0  # ratio of chances that separates no suspects
SHOWN = 1e-6  # share of A_j^T V^-1 A_j left in directions in which a shift shows
SAME = 1e-9  # mm, below which lengths of two scans are one measurement


@dataclass(frozen=True)
class Suspect:
    """A node that the other lengths and poses contradict.

    Parameters
    ----------
    shift_mm : how far its sphere is from where they put it
    chance : that a right one seems as far, among all nodes of all poses
    """

    pose: str
    node: int
    shift_mm: float
    chance: float


def suspects(calibration: Calibration, poses: Sequence[Pose]) -> list[Suspect]:
    """Every node that was seen, the least likely first."""
    model, several = calibration.model, sum(int(p.seen.sum()) for p in poses)
    kappa = float(calibration.theta[-1]) if model.scale else 0.0
    S, out = np.linalg.inv(calibration.information), []
    for pose, adjusted in zip(poses, calibration.adjusted_mm, strict=True):
        x = np.where(pose.seen[:, None], adjusted, model.structure.r0)
        rows = linearised(model, pose, x, kappa)
        W, _ = inverse(covariance_of_rows(rows, calibration.variances))
        M, Pt = W @ rows.G, W @ (rows.t - rows.G @ calibration.theta)
        P = W - M @ S @ M.T
        for node in np.flatnonzero(pose.seen):
            A = rows.A[:, 3 * node : 3 * node + 3]
            shift, T, rank = _shift(A.T @ P @ A, A.T @ W @ A, A.T @ Pt)
            chance = min(1.0, several * _tail(calibration, T, rank))
            size = float(np.linalg.norm(shift))
            out.append((T, Suspect(pose.name, int(node), size, chance)))
    return [one for _, one in sorted(out, key=lambda pair: -pair[0])]


def _shift(H: Floats, whole: Floats, slope: Floats) -> tuple[Floats, float, int]:
    """The likeliest shift (3,), T, and its degrees of freedom."""
    value, vector = np.linalg.eigh(H)
    shown = value > SHOWN * max(float(np.trace(whole)), 1e-300)
    along = vector[:, shown]
    shift: Floats = along @ ((along.T @ slope) / value[shown])
    return shift, float(shift @ slope), int(shown.sum())


def _tail(calibration: Calibration, T: float, rank: int) -> float:
    """The chance of T where nothing is wrong."""
    free = calibration.chi2_dof - rank
    if rank == 0 or free <= 0:
        return 1.0
    if not len(calibration.variances):
        return float(stats.chi2.sf(T, rank))
    left = max(calibration.chi2 - T, 1e-300)
    return float(stats.f.sf(T / rank / (left / free), rank, free))


def refuse_suspects(calibration: Calibration, poses: Sequence[Pose]) -> None:
    """Refuse poses of which a node is certainly not where its label says."""
    ranked = suspects(calibration, poses)
    if not ranked or ranked[0].chance > CHANCE:
        return
    first = ranked[0]
    alike = [s for s in ranked if s.chance <= ALIKE * first.chance]  # of two poses
    where = " or ".join(f"node {s.node} of {s.pose}" for s in alike)
    size = float(np.ptp(calibration.model.structure.r0, axis=0).max())
    far = f"{first.shift_mm:.2g} mm" if first.shift_mm < 0.1 * size else "far"
    raise ValueError(
        f"{where} is about {far} from the position that the other nodes and poses "
        "give: check its sphere and its label, or leave it out (--leave-out "
        f"{first.pose}:{first.node})"
    )


def refuse_repeated(model: Model, poses: Sequence[Pose]) -> None:
    """Refuse two poses that are one scan: it would count twice."""
    lengths = [_lengths(model, pose) for pose in poses]
    for b, pose in enumerate(poses):
        for a in range(b):
            apart = np.abs(lengths[a] - lengths[b])
            both = np.isfinite(apart)
            if both.any() and apart[both].max() < SAME:
                raise ValueError(
                    f"{poses[a].name} and {pose.name} are the same scan, which would "
                    "count twice: give each pose once"
                )


def _lengths(model: Model, pose: Pose) -> Floats:
    """(r,) what the measured nodes say of each row; nan where one was not seen."""
    seen = pose.seen
    nodes = np.where(seen[:, None], pose.nodes_mm, model.structure.r0)
    hidden = (model.touched & ~seen).any(axis=1)
    return np.where(hidden, np.nan, model.evaluate(nodes)[0])
